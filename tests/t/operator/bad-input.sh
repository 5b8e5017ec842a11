# limit: 60
# What is broken, hostile or too long: an error that says so or a denial, never an allow or a crash.
. "$T_LIB"

# --- the policy -------------------------------------------------------------------------------------

# refused LINE POLICY [CODE]: the policy (a printf format) stops a start, with a finding at that line.
refused() {
	# shellcheck disable=SC2059
	printf "$2" | policy
	fence touch made
	rc_is 125
	LC_ALL=C grep -qaE "policy.ini:$1:[0-9]+: error: .*\[${3:-[a-z0-9-]+}\]" "$S/err" ||
		fail "no finding at line $1 of: $2"
	missing made
	run pale lint
	rc_is 1
}

t_policy_unknown_key() {
	refused 2 '[files]\nwrit = /x\n' unknown-key
	cat "$S/out" "$S/err" | grep -q 'write' || fail "no suggestion"
}

t_policy_unknown_section() {
	refused 1 '[filse]\nwrite = /x\n'
}

t_policy_all_findings_at_once() {
	refused 2 '[session]\nmode = sideways\n[files]\nwrit = /x\n[network]\nmode = maybe\n[nonsense]\n'
	fence true
	err_has "policy.ini:4:"
	err_has "policy.ini:6:"
	err_has "policy.ini:7:"
}

t_policy_bad_lines() {
	refused 1 '[files\nwrite = /x\n'
	refused 2 '[files]\nwrite /x\n'
	refused 2 '[files]\nwrite = /x ; comment\n'
	refused 2 '[files]\n write = /x\n'
	refused 2 '[files]\nwrite = /x\r\n'
	refused 2 '[files]\nwrite = /\0x\n'
	refused 2 '[files]\nwrite = /\377x\n'
	refused 2 "[files]\nwrite = /$(printf %0300d 1)\n"
	refused 2 '[files]\nwrite = \n'
	refused 3 '[session]\nmode = read-only\nmode = workspace-write\n'
}

# malformed.txt has policies (`=== `, then a printf format) and what lint prints of each, to the letter.
t_policy_messages() {
	local line
	while IFS= read -r line; do
		[[ $line == "=== "* ]] || continue
		# shellcheck disable=SC2059
		printf "${line#=== }" >bad.ini
		chmod 600 bad.ini
		run pale lint bad.ini
		rc_is 1 "$line"
		printf '%s\n' "$line"
		cat "$S/out" "$S/err" | sed "s,^$W/,,"
	done <"$T_BASE/t/malformed.txt" >"$S/said"
	[ "$(grep -c '^=== ' "$S/said")" -ge 40 ] || fail "too few policies"
	diff "$T_BASE/t/malformed.txt" "$S/said" >"$S/diff" || fail "$(cat "$S/diff")"
}

t_policy_may_not_say_danger() {
	refused 2 '[session]\nmode = danger\n'
	refused 2 '[files]\nsensitive = /x\n'
	refused 2 '[commands]\ndenylist = x\n'
}

t_policy_bad_values() {
	refused 2 '[session]\ntimeout = soon\n'
	refused 2 '[session]\napprovals = maybe\n'
	refused 2 '[network]\nallow = host:99999\n'
	refused 2 '[network]\nallow = 10.0.0.0/99\n'
	refused 2 '[commands]\nallow = "unclosed\n'
	refused 2 '[commands]\nallow = (a|b\n'
}

t_policy_others_can_write() {
	printf '[files]\n' | policy
	chmod 666 ~/.config/pale/policy.ini
	fence touch made
	rc_is 125
	err_has policy.ini
	missing made
}

t_policy_is_a_directory_or_a_fifo() {
	mkdir -p ~/.config/pale/policy.ini
	fence touch made
	rc_is 125
	rmdir ~/.config/pale/policy.ini
	mkfifo -m 600 ~/.config/pale/policy.ini
	fence touch made
	rc_is 125
	missing made
}

t_policy_huge() {
	head -c 9000000 /dev/zero | tr '\0' '#' >huge.ini
	chmod 600 huge.ini
	run pale run -p huge.ini -- touch made
	rc_is 125
	missing made
}

t_policy_random_bytes() {
	local i
	for i in 1 2 3 4 5 6 7 8; do
		head -c $((i * 311)) /dev/urandom >random.ini
		chmod 600 random.ini
		run pale run -p random.ini -- touch made
		rc_is 125
		run pale lint random.ini
		rc_is 1
	done
	missing made
}

# --- the session's files ------------------------------------------------------------------------------

# The same user breaks what the processes map.  spoil FILE COMMAND...: then everything is denied.
spoil() {
	local file=$1 dir
	shift
	bg_until_go 'env cat file; env touch made; env cat ~/.ssh/id_rsa; true'
	dir=$(dirname "$(find "$XDG_RUNTIME_DIR" -name "$file")")
	chmod u+w "$dir/$file"
	(cd "$dir" && "$@") || fail "cannot spoil"
	: >go
	bg_wait spoilt
	no_decoy
	[ "$RC" -lt 128 ] || fail "it crashed"
}

# A session that has begun, so that `pale run` itself has read its files, and goes on where there is a `go`.
bg_until_go() {
	bg spoilt bash -c ": >begun; until test -e go; do sleep 0.02; done; $1"
	until_true 10 test -e begun || fail "it does not begin"
}

t_image_garbage() {
	spoil image bash -c 'head -c 4096 /dev/urandom >new && mv new image'
	missing made
	out_lacks hello
	err_has "pale: denied"
}

t_image_truncated() {
	spoil image bash -c 'head -c 1000 image >new && mv new image'
	missing made
	out_lacks hello
}

t_image_empty() {
	spoil image bash -c ': >new && mv new image'
	missing made
	out_lacks hello
}

t_image_header_byte() {
	spoil image bash -c 'cp image new && printf X | dd of=new bs=1 seek=13 conv=notrunc 2>/dev/null && mv new image'
	missing made
	out_lacks hello
}

# Its version: as after an upgrade the hooks know of nothing, and the supervisor judges by what it has mapped.
t_image_version_byte() {
	spoil image bash -c 'cp image new && printf X | dd of=new bs=1 seek=9 conv=notrunc 2>/dev/null && mv new image'
	out_has hello
	exists made
	recorded read deny "$HOME/.ssh/id_rsa" '"via":"kernel"'
}

# The body is summed at each start: a byte that is not what was compiled denies everything.
# Each program that starts checks the header and, where it follows them, the offsets; `pale run` and the supervisor
# have checked all of the image.
t_image_scribbled() {
	local at
	for at in 0 300 1500 4000 9000 20000; do
		bg_until_go 'env cat file; env touch made; env ls / >/dev/null; git status >/dev/null 2>&1; true'
		python3 - "$(find "$XDG_RUNTIME_DIR" -name image)" $at <<'PY'
import os, sys
p, at = sys.argv[1], int(sys.argv[2])
d = bytearray(open(p, "rb").read())
for i in range(at, min(at + 600, len(d))): d[i] = (i * 167 + at) & 255
open(p + ".new", "wb").write(d)
os.rename(p + ".new", p)
PY
		: >go
		bg_wait spoilt
		[ "$RC" -lt 128 ] || fail "it crashed at $at"
		! grep -qiE 'segmentation|abort|smash' "$S/err" || fail "it crashed at $at"
		if [ $at = 0 ]; then
			out_lacks hello
			missing made
			err_has "policy cannot be read"
		fi
		rm -f begun go made
	done
}

t_image_removed() {
	spoil image rm image
	missing made
	out_lacks hello
}

t_socket_removed() {
	printf '[commands]\nask = touch\n' | policy
	spoil agent.sock rm agent.sock
	missing made
}

t_session_dir_elsewhere() {
	mkdir -p fake
	fsh 'PALE_SESSION_DIR=$PWD/fake cat ~/.ssh/id_rsa; PALE_SESSION_DIR= cat ~/.ssh/id_rsa; LD_PRELOAD= cat ~/.ssh/id_rsa'
	rc_not 0
	no_decoy
}

# --- what is not there ----------------------------------------------------------------------------------

# A copy of the installation that may be broken.
copied() {
	cp -r "$T_STAGE" "$S/copy"
	chmod -R u+w "$S/copy"
	PATH=$S/copy/bin:$PATH
}

t_missing_preload() {
	copied
	rm "$S/copy/lib/pale/libpale.so"
	fence touch made
	rc_is 125
	err_has libpale.so
	missing made
}

t_unreadable_preload() {
	copied
	chmod 000 "$S/copy/lib/pale/libpale.so"
	fence touch made
	rc_is 125
	missing made
}

t_preload_is_no_library() {
	copied
	echo "not a library" >"$S/copy/lib/pale/libpale.so"
	fence touch made
	[ "$RC" = 125 ] || [ "$RC" = 126 ] || fail "exit status $RC"
	missing made
}

t_preload_path_with_a_space() {
	cp -r "$T_STAGE" "$S/a copy"
	run "$S/a copy/bin/pale" run -q -- touch made
	rc_is 125
	missing made
}

t_missing_helper() {
	copied
	rm "$S/copy/libexec/pale/pale-helper"
	fence touch made
	rc_is 125
	err_has pale-helper
	missing made
}

t_helper_is_something_else() {
	copied
	cp /bin/true "$S/copy/libexec/pale/pale-helper"
	fence touch made
	rc_is 125
	missing made
}

t_no_home() {
	run env -u HOME pale run -q -- cat file
	[ "$RC" = 125 ] || [ "$RC" = 0 ] || fail "exit status $RC"
	run env -u XDG_RUNTIME_DIR pale run -q -- cat file
	rc_is 0
	run env XDG_RUNTIME_DIR=/nonexistent pale run -q -- cat file
	rc_is 0
}

# --- too long, not text -----------------------------------------------------------------------------------

# Judged to its last word, however long it is.
t_argv_of_a_mebibyte() {
	printf '[commands]\ndeny = true ... --evil\n' | policy
	cat >big.py <<-'EOF2'
		import subprocess
		for last in ("--good", "--evil"):
		    try:
		        print(subprocess.run(["/bin/true"] + ["x" * 100000] * 11 + [last]).returncode)
		    except OSError as e:
		        print(e.errno)
	EOF2
	fence python3 big.py
	rc_is 0
	out_is "0
13"
	recorded exec deny /bin/true
	verifies
}

t_more_words_than_the_kernel_takes() {
	fence python3 -c '
import subprocess
try:
    print(subprocess.run(["/bin/true"] + ["x"] * 140000).returncode)
    print(subprocess.run(["/bin/true"] + ["x"] * 400000).returncode)
except OSError as e:
    print(e.errno)'
	# As bare: E2BIG, on which programs divide their work, and no denial.
	out_is "$(printf '0\n7')"
	not_denied
	verifies
}
t_argv_just_below_the_limit() {
	fence python3 -c 'import subprocess; print(subprocess.run(["/bin/true"] + ["x" * 100000] * 2).returncode)'
	rc_is 0
	out_is 0
	verifies
}

t_operator_argv_of_a_mebibyte() {
	run python3 -c 'import subprocess, sys
sys.exit(subprocess.run(["pale", "run", "-q", "--", "/bin/echo"] + ["x" * 100000] * 11).returncode)'
	[ "$RC" = 126 ] || [ "$RC" = 125 ] || [ "$RC" = 0 ] || fail "exit status $RC"
	verifies
}

t_path_of_a_mebibyte() {
	fence python3 -c '
import os
for call in (lambda p: open(p), os.unlink, os.mkdir, os.rmdir, lambda p: os.rename(p, p), os.listdir,
             lambda p: os.symlink("x", p), lambda p: os.truncate(p, 0), lambda p: os.execv(p, [p])):
    try:
        call("/" + "a/" * 524288)
        print("done")
    except OSError as e:
        print(e.errno)'
	rc_is 0
	out_lacks "done"
	! grep -vqE '^(36|13)$' "$S/out" || fail "other errors than ENAMETOOLONG and EACCES"
	verifies
}

t_names_that_are_no_text() {
	fsh $'printf x >$\'bad\\377name\\001\'; cat $\'bad\\377name\\001\'
		mkdir -p $\'new\\nline\'; cat <$\'/tmp/../nowhere\\377\'; touch $\'../out\\377side\''
	out_has x
	exists $'bad\377name\001'
	missing $'../out\377side'
	python3 - "$S/err" <<'PY' || fail "raw bytes in pale's line"
import sys
for line in open(sys.argv[1], "rb"):
    assert not line.startswith(b"pale: ") or all(32 <= c < 127 for c in line[:-1]), line
PY
	verifies
	ledgers | python3 -c 'import json, sys; [json.loads(l) for l in sys.stdin]' || fail "the ledger is no JSON"
	run pale log
	python3 -c 'import sys; assert all(c == 10 or 32 <= c < 127 for c in open(sys.argv[1], "rb").read())' "$S/out" ||
		fail "raw bytes in pale log"
}

# Deeper than PATH_MAX: what is over the limit is refused, by whatever way it is named.
t_deep_tree() {
	fence python3 -c '
import os
os.mkdir("d"); os.chdir("d")
up = "../"
try:
    for i in range(100):
        os.mkdir("x" * 100); os.chdir("x" * 100); up += "../"
except OSError as e: print("errno", e.errno)
for p in (up + "../outside", "../" * 1000 + "etc/../" + os.environ["HOME"] + "/outside"):
    try:
        open(p, "w")
        print("written")
    except OSError as e: print("errno", e.errno)'
	rc_is 0
	out_lacks written
	! grep -vqE '^errno (36|13|2)$' "$S/out" || fail "other errors"
	missing ../outside
	verifies
}

t_few_descriptors() {
	fsh 'ulimit -n 8; cat file; cat ~/.ssh/id_rsa; echo x >../outside; true'
	out_has hello
	no_decoy
	missing ../outside
}

t_small_stack() {
	fsh 'ulimit -s 256; cat file; cat ~/.ssh/id_rsa; true'
	out_has hello
	no_decoy
}

t_no_memory() {
	fsh 'ulimit -v 60000; cat file; cat ~/.ssh/id_rsa; true'
	out_has hello
	no_decoy
}

t_closed_stdio() {
	fsh 'cat file >&- 2>&-; cat ~/.ssh/id_rsa 2>&-
		cat ~/.ssh/id_rsa <&- ; exec 0<&- 1>&- 2>&-; cat ~/.ssh/id_rsa; rm -f ~/elsewhere/file'
	no_decoy
	exists ~/elsewhere/file
}

# --- the command line -------------------------------------------------------------------------------

# wrong WORDS COMMAND...: usage that is refused, in these words.
wrong() {
	local words=$1
	shift
	run "$@"
	rc_is 2 "$*"
	out_is ""
	err_has "$words"
}

t_words_that_are_too_many() {
	local sub
	for sub in pending grants watch doctor init; do
		wrong "$sub takes no operand: \`extra\`" pale $sub extra
	done
	wrong "trust takes one directory" pale trust a b
	wrong "trust takes one directory" pale trust --json
	wrong "version takes --json" pale version x
	run pale version --json
	python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["version"]' "$S/out" || fail "no version"
}

t_words_that_are_unknown() {
	wrong "unknown option \`--bogus\`" pale pending --bogus
	wrong "did you mean \`--json\`" pale pending --jsn
	wrong "unknown option \`-x\`" pale pending -x
	for word in foo tcsh; do
		run pale help $word
		rc_is 2
		err_lacks "did you mean"
	done
	wrong "unknown shell \`tcsh\`: one of bash, zsh, fish" pale completion tcsh
	wrong "did you mean \`log\`" pale lgo
	run pale help --help
	rc_is 0
}

t_hosts_and_paths_of_explain() {
	wrong "explain connect takes HOST" pale explain connect foo:99999
	wrong "explain connect takes HOST" pale explain connect https://example.com/x
	wrong "explain write takes a path" pale explain write ''
	wrong "explain exec takes a command" pale explain exec 'a "b'
}

# Nothing is known inside: one line says where to ask, and nothing is denied for it.
t_for_another_terminal() {
	local sub
	OPTS=(-n)
	for sub in pending grants log doctor; do
		fence pale $sub
		rc_is 1
		file_is "$S/err" "pale: \`pale $sub\` is for another terminal, outside of the session"
	done
}

scenario "$@"
