# What Landlock grants and refuses by itself, and what became of an exec.
. "$T_LIB"

# No hook can be in it.
RAW=$T_VICTIMS/raw-static
FLIP=$T_VICTIMS/flip

say_script() {
	printf '#!/bin/sh\necho "ran $1" >>"%s/ran"\n' "$W" >"$W/say.sh"
	chmod 755 "$W/say.sh"
	policy <<-'END'
		[commands]
		deny = say.sh -evil
	END
}

flips() {
	say_script
	OPTS=(--level "$1")
	fence "$FLIP" "$2" "$W/say.sh" -good -evil
	rc_is 0
	err_has "rounds $2"
	[ -s "$W/ran" ] || fail "nothing ran at all"
	grep -q '^ran -good$' "$W/ran" || fail "what was allowed never ran"
}

# A second thread rewrites the words while the kernel reads them again: what is not what was judged is killed.
words_cannot_be_flipped() {
	local i
	# That one comes between is a matter of luck, and more so where the machine is busy.
	for i in 1 2 3 4 5; do
		flips "$1" 400
		! grep -q 'evil' "$W/ran" || fail "denied words ran: $(grep -c evil "$W/ran")"
		[ -z "$(records exec deny "it changed after pale judged it")" ] || return 0
	done
	fail "no words were changed in time to be found out"
}

t_strict_words_cannot_be_flipped() {
	words_cannot_be_flipped strict
}

t_full_words_cannot_be_flipped() {
	words_cannot_be_flipped full
}

t_static_program_is_carried() {
	echo open >"$W/plain"
	for level in full strict; do
		OPTS=(--level $level)
		fence "$RAW" "$W/plain"
		rc_is 0 "$level"
		out_is open
		fence "$RAW" "$HOME/.ssh/id_rsa"
		rc_not 0 "$level"
		no_decoy
		denied read "$HOME/.ssh/id_rsa"
	done
}

# Of /etc and /dev only what is used again and again has a rule of Landlock's; the rest is opened for who asks.
t_rare_entries_are_carried() {
	local level
	for level in full strict; do
		OPTS=(--level $level)
		same_as_bare 'cat /etc/debian_version /etc/passwd | wc
			ls /etc/apt /etc/default; : </dev/ptmx; head -c1 /dev/zero | wc -c'
		fence "$RAW" /etc/debian_version
		rc_is 0 "$level"
		out_is "$(cat /etc/debian_version)"
	done
}

t_new_program_in_a_carved_directory_is_explained() {
	OPTS=(--level full)
	policy <<-'END'
		[files]
		write = ~/tools*
	END
	fsh 'cp /bin/echo ~/tools-echo && env -i ~/tools-echo ran'
	rc_is 126
	out_lacks ran
	denied exec "$HOME/tools-echo ran" "newer than the session"
	recorded exec allow tools-echo
}

t_scripts_and_descriptors_are_proven() {
	printf '#!/bin/sh\necho "$0 $@"\n' >"$W/one"
	printf '#!%s/one -x\n' "$W" >"$W/two"
	chmod 755 "$W/one" "$W/two"
	OPTS=(--level strict)
	fsh './one a; ./two b; cd ..; work/one c; exec work/two d'
	rc_is 0
	out_is "./one a
$W/one -x ./two b
work/one c
$W/one -x $W/two d"
	fence python3 -c '
import os
fd = os.open("/bin/echo", os.O_RDONLY)
os.execve(fd, ["echo", "by", "number"], {})'
	rc_is 0
	out_is "by number"
}

# The kernel errors of a failed exec, and a caller that goes on undisturbed.
t_failed_exec_leaves_the_caller() {
	OPTS=(--level strict)
	printf 'no program\n' >"$W/text"
	printf '#!/nowhere/sh\n' >"$W/lost"
	: >"$W/plain"
	chmod 755 "$W/text" "$W/lost"
	fence python3 -c '
import errno, os
for name in "text", "lost", "plain", "missing":
    try:
        os.execv("./" + name, [name])
    except OSError as e:
        print(name, errno.errorcode[e.errno])
print("alive")'
	rc_is 0
	out_is "text ENOEXEC
lost ENOENT
plain EACCES
missing ENOENT
alive"
}

# A thread that executes becomes its process; what the kernel itself refuses goes on at once.
t_threads_and_broken_files_are_let_go() {
	OPTS=(--level strict)
	fence timeout 20 python3 -c '
import os, threading
for i in range(10):
    pid = os.fork()
    if pid == 0:
        t = threading.Thread(target=lambda: os.execv("/bin/echo", ["echo", "thread"]))
        t.start()
        t.join()
        os._exit(9)
    assert os.waitpid(pid, 0)[1] == 0
with open("broken", "wb") as f:
    f.write(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\0\x3e\0\x01" + bytes(200))
os.chmod("broken", 0o755)
for i in range(10):
    try:
        os.execv("./broken", ["broken"])
    except OSError as e:
        print(e.errno)'
	rc_is 0
	[ "$(grep -cx thread "$S/out")" = 10 ] || fail "not every thread executed"
	[ "$(grep -cx 8 "$S/out")" = 10 ] || fail "not every refusal came back"
}

t_too_many_words_are_refused_as_bare() {
	OPTS=(--level full)
	fence python3 -c '
import os
try:
    os.execve("/bin/true", ["true"] + ["x"] * 400000, {})
except OSError as e:
    print(e.errno)'
	out_is 7
	not_denied
}

# The n-th line of the trace with the word, or nothing.
line_of() {
	grep -n "$1" "$S/trace" | cut -d: -f1
}

traced() {
	run strace -f -qq -e trace=landlock_create_ruleset,recvfrom,mkdir -o "$S/trace" pale run -q --agent codex -- true
	rc_is 0
	[ "$(grep -c 'landlock_create_ruleset({' "$S/trace")" = 1 ] || fail "not one ruleset: $(cat "$S/trace")"
}

# The ruleset is there before the helper's word, and holds; but nothing is made on the disk for a session that
# may not be.
t_planned_while_the_helper_compiles() {
	need strace
	missing "$HOME/.codex"
	traced
	[ "$(line_of 'landlock_create_ruleset({')" -gt "$(line_of ready)" ] || fail "planned before .codex was made"
	[ "$(line_of 'mkdir(.*/.codex')" -gt "$(line_of ready)" ] || fail ".codex was made too early"
	traced
	[ "$(line_of 'landlock_create_ruleset({')" -lt "$(line_of ready)" ] || fail "planned after the helper had compiled"
	fence "$RAW" "$HOME/.ssh/id_rsa"
	rc_not 0
	no_decoy
	denied read "$HOME/.ssh/id_rsa"
	fence "$RAW" "$W/file"
	rc_is 0
}

scenario "$@"
