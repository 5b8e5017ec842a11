# limit: 400
# needs: root
# Each ring by itself, older kernels, and machines that lack a ring.
. "$T_LIB"
. "$T_BASE/t/escapes/measure.sh"
own_net "$@"

# A copy of what is installed, whose pale can be told to leave rings away.
# rings LETTERS [ABI]: with no newer Landlock than that
rings() {
	[ -d "$S/rings" ] || { cp -r "$T_STAGE" "$S/rings" && cp "$T_VICTIMS/pale-rings" "$S/rings/bin/pale"; }
	measure "rings.$1" static env PALE_RINGS="$1" \
		"$S/rings/bin/pale" run -q "${GIVEN[@]}" --level full ${2:+--abi-max "$2"} --
}

# Those of the table whose rings say this one, at this ABI: Ln is Landlock from ABI n on, and below it the
# supervisor, where it is not the filter.
held_by() {
	"$T_VICTIMS/escape-static" list | awk -v ring="$1" -v abi="$2" '
		{ since = match($3, /L[0-9]+/) ? substr($3, RSTART + 1, RLENGTH - 1) : 0 }
		ring == "L" && since > abi { next }
		index($3, ring) || (ring == "S" && since > abi && !index($3, "F")) { print $1 }' | sort
}

# alone RING AT-LEAST ABI
alone() {
	local got
	rings "$1" "$3"
	got=$(comm -12 <(held_by "$1" "$3") <(escaped "rings.$1" | cut -d' ' -f2 | sort) |
		grep -vxFf <(awk '$1 == "full.static" { print $2 }' "$E/lost.txt"))
	[ -z "$got" ] || fail "ring $1 alone does not hold at ABI $3: $got"
	[ "$(held_by "$1" "$3" | wc -l)" -ge "$2" ] || fail "too few"
}

t_the_supervisor_alone() {
	alone S 350 "$(abi)"
}

t_the_supervisor_alone_before_landlock_scopes() {
	alone S 370 2
}

# How many it must hold at least: it held fewer before it had scopes.
at_least() {
	[ "$1" -ge 6 ] && echo 140 || echo 115
}

t_landlock_alone() {
	alone L "$(at_least "$(abi)")" "$(abi)"
}

t_landlock_of_debian_12_alone() {
	alone L "$(at_least 2)" 2
}

t_the_filter_alone() {
	alone F 65 "$(abi)"
}

# Without any of them little is stopped (a hook in cat; pale itself, which no one may look into; a second
# listener): it is they that hold.
t_none() {
	local n few=260
	[ -z "${ESCAPE_NET:-}" ] || few=400
	rings ""
	n=$(escaped rings. | grep -cv hung)
	# About ten of these want name spaces, which containers do not give.
	[ "$n" -ge $few ] || fail "only $n got through: $(grep -v worked "$S/results/rings.")"
}

t_what_is_installed_has_no_such_switch() {
	PALE_RINGS='' fence "$T_VICTIMS/plain_calls-static" open ~/.ssh/id_rsa
	denied read "$HOME/.ssh/id_rsa"
	! grep -q PALE_RINGS "$T_STAGE/bin/pale" "$T_STAGE/lib/pale/libpale.so" "$T_STAGE/libexec/pale/pale-helper" ||
		fail "it is there"
}

# What Landlock does not hold there is the supervisor's and the filter's.
t_older_kernels() {
	local abi
	for abi in 6 5 4 3 2 1; do
		measure "abi$abi.static" static "$T_STAGE/bin/pale" run -q "${GIVEN[@]}" --level full --abi-max $abi --
	done
	as_known abi{1,2,3,4,5,6}.static
}

t_no_landlock() {
	run "$T_STAGE/bin/pale" run --level full --abi-max 0 -- touch ran
	rc_is 125
	err_has "level full is not available here"
	err_has Landlock
	missing ran
}

# A process tree that has a listener already, as in some containers.
t_listener_taken() {
	cat >taken.py <<-'END'
		import ctypes, os, struct, sys
		libc = ctypes.CDLL(None, use_errno=True)
		code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
		prog = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
		libc.prctl(38, 1, 0, 0, 0)
		fd = libc.syscall(317, 1, 8, prog)
		if fd < 0:
		    sys.exit(99)
		os.set_inheritable(fd, True)
		os.execv(sys.argv[1], ["pale", "run", "--", "touch", "ran"])
	END
	run python3 taken.py "$T_STAGE/bin/pale"
	rc_is 125
	err_has "level full is not available here"
	err_has listener
	missing ran
}

scenario "$@"
