# levels: full strict hooks
# A rule that names a program by its path holds for the file that symbolic links on that path lead to.
. "$T_LIB"

# A rule's path, a link itself or below one, and each way to start what lies there.
t_a_path_with_links() {
	mkdir real && ln -s real bin && cp /bin/true real/tool-1.2 && ln -s tool-1.2 real/tool && cp /bin/true real/other
	policy <<-END
		[commands]
		deny = $W/bin/tool
		deny = ($W/bin/other|/nowhere/at/all) -x
		deny = /bin/cat
	END
	local line
	while read -r line; do
		fsh "$line"
		rc_is 126 "$line"
		explains "$line" deny
	done <<-END
		bin/tool
		real/tool
		$W/real/tool-1.2
		cd bin && ./tool-1.2 a b
		bin/other -x
		real/other -x
		/bin/cat f
		/usr/bin/cat f
		cat f
	END
	fsh "bin/other; real/other -y"
	rc_is 0
}

# Pale says the same before anything runs.
explains() {
	[[ $1 != cd* ]] || return 0
	# shellcheck disable=SC2086 # its words
	pale explain exec $1 >"$S/said" 2>&1
	grep -qi "$2" "$S/said" || fail "explain of $1: $(head -3 "$S/said")"
}

# An allow goes no further than its name: xzcat is not xz, though both are one file; python3 is python3.11.  It
# follows no link that somebody else than root has made.
t_an_allow_names_one_program() {
	need xz
	[ -L /usr/bin/python3 ] && [ -L /usr/bin/xzcat ] || skip "links of another distribution"
	mkdir real && cp /bin/true real/tool && ln -s real bin
	policy <<-END
		[commands]
		default = deny
		allow = /usr/bin/xzcat f
		allow = /bin/python3 t.py
		allow = $W/bin/tool
	END
	touch t.py f
	run pale run -q --judge -- /usr/bin/python3 t.py
	rc_is 0
	run pale run -q --judge -- /usr/bin/xz f
	rc_is 126
	run pale run -q --judge -- real/tool
	rc_is 126
}

# What a project installs runs by its name (node_modules/.bin, a venv): a name is any file that is called so, and a
# path is the one file.
t_a_name_is_any_file_and_a_path_is_one() {
	local ls cat
	ls=$(command -v ls) cat=$(command -v cat)
	mkdir -p node_modules/.bin
	cp /bin/true node_modules/.bin/ls
	cp /bin/true node_modules/.bin/cat
	printf '[commands]\ndefault = deny\nallow = ls\nallow = %s\n' "$cat" | policy
	fsh "$ls -d . && PATH=\$PWD/node_modules/.bin:\$PATH && ls /not/there; exit \$?"
	rc_is 0
	fsh 'PATH=$PWD/node_modules/.bin:$PATH; cat /not/there; exit $?'
	rc_is 126
	fsh "PATH=\$PWD/node_modules/.bin:\$PATH; $cat /dev/null; exit \$?"
	rc_is 0
}

# One file does another thing by another argv[0]: an allow covers it by the name that the rule says.
t_an_allow_is_for_one_name() {
	need xz
	policy <<-END
		[commands]
		default = deny
		allow = xz -kf f
		allow = $(command -v xz) -kf f
		allow = python3 t.py
	END
	echo text >f
	echo 'print("runs")' >t.py
	fsh 'xz -kf f; exit $?'
	rc_is 0
	exists f.xz
	rm f.xz
	for name in unxz xzcat lzma; do
		fsh "(exec -a $name xz -kf f)"
		rc_is 126 "$name"
	done
	missing f.xz
	# python3.11 is called python3, or python.
	fsh '(exec -a python python3 t.py); python3 t.py; exit $?'
	out_is "runs
runs"
}

# Of a file that is many programs a rule names one.
t_one_of_many_programs() {
	need busybox
	[ "$T_LEVEL" != hooks ] || skip "a static program does not run at level hooks"
	mkdir bin && cp "$(command -v busybox)" bin/busybox && ln -s busybox bin/wget && ln -s busybox bin/echo
	printf '[commands]\ndeny = %s/bin/wget\n' "$W" | policy
	fsh 'bin/wget http://localhost:1/'
	rc_is 126
	fsh 'bin/echo fine'
	rc_is 0
	out_is fine
}

scenario "$@"
