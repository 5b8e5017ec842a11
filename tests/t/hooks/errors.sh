# levels: full strict hooks
# limit: 120
# Errors as bare: one table of calls with bad arguments, made bare and inside in one run.
. "$T_LIB"

# same GROUP MIN: each row of the group gives what it gives bare, with hooks and without libc's own.
same() {
	local victim
	for victim in errors errors-static; do
		# A static program does not start at level hooks.
		[ "$T_LEVEL $victim" != "hooks errors-static" ] || continue
		mkdir "$W/bare-$victim" "$W/in-$victim"
		(cd "$W/bare-$victim" && "$T_VICTIMS/$victim" "$1") >"$S/bare" || fail "the bare run failed"
		[ "$(wc -l <"$S/bare")" -ge "$2" ] || fail "too few rows: $(wc -l <"$S/bare")"
		cd "$W/in-$victim" && OPTS=(-w "$W") && fence "$T_VICTIMS/$victim" "$1"
		rc_is 0
		# Without openat2, the hooks can prove a path only by this flag.
		[ "$(abi)" -ge 3 ] || sed -i 's,fl=[0-9]*\([0-9]\{5\}\),fl=\1,' "$S"/{bare,out}
		# And a denial comes before what leaves the constraint of RESOLVE_BENEATH.
		[ "$(abi)" -ge 3 ] || sed -i '/id_rsa.*RESOLVE_BENEATH/s/EXDEV/EACCES/' "$S"/{bare,out}
		diff "$S/bare" "$S/out" >"$S/diff" || fail "$victim $1 differs: $(head -c 3000 "$S/diff")"
	done
}

# A bad pointer is EFAULT and no crash, whatever memory it points to.
t_pointers() {
	same pointers 300
}

# The lowest free descriptor with the flags that were asked for, by links, above "..", below /proc/self, with threads.
t_descriptors() {
	same lowest 100
}

# openat2's checks, kinds of sockets, addresses of a wrong family, "." and "..", other devices, /proc.
t_arguments() {
	same arguments 100
}

scenario "$@"
