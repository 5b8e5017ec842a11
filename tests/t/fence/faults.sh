# levels: full strict
# limit: 150
# Bad input and faults: whatever breaks, nothing is allowed by it, nobody hangs, nothing is left behind.
. "$T_LIB"

CALLER=$T_VICTIMS/plain_calls-static

# Of the session's own children by the mark that each carries.
left_over() {
	local f
	for f in $(grep -lszE "^T_MARK=$S\$" /proc/[0-9]*/environ 2>/dev/null); do
		[[ $(tr '\0' ' ' <"${f%environ}cmdline" 2>/dev/null) != *"sleep 77"* ]] || echo "$f"
	done
}

nothing_left() {
	[ -z "$(left_over)" ]
}

t_names_that_cannot_be_read() {
	cat >bad.py <<-'END'
		import ctypes, mmap, os, sys
		if os.uname().machine != "x86_64":
		    sys.exit(77)
		libc = ctypes.CDLL(None)
		# What no hook sees: number and arguments moved to where the kernel wants them, syscall, ret.
		code = mmap.mmap(-1, 4096, prot=7)
		code.write(bytes.fromhex("4889f8 4889f7 4889d6 4889ca 4d89c2 4d89c8 4531c9 0f05 c3"))
		raw = ctypes.CFUNCTYPE(ctypes.c_long, *[ctypes.c_long] * 6)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
		page = mmap.mmap(-1, 8192)
		start = ctypes.addressof(ctypes.c_char.from_buffer(page))
		libc.munmap(ctypes.c_void_p(start + 4096), 4096)
		# nowhere; in the kernel; at the last byte before a hole, without an end; too long
		ctypes.memset(start, ord("a"), 4096)
		long = ctypes.create_string_buffer(b"a/" * 5000)
		for at in (0, 8, -1, -4096, start + 4095, start, ctypes.addressof(long)):
		    for call in ((257, -100, at, 0, 0), (263, -100, at, 0), (59, at, 0, 0), (42, 0, at, 16), (90, at, 0o777)):
		        if raw(*(call + (0,) * (6 - len(call)))) >= 0:
		            sys.exit("%d did something with %x" % (call[0], at))
		print("still here", flush=True)
		os._exit(0)
	END
	fence python3 bad.py
	rc_is 0
	out_is "still here"
}

t_an_argument_list_of_two_megabytes() {
	policy <<-END
		[commands]
		deny = $T_VICTIMS/esctool ... wipe
	END
	fence python3 -c '
import os, sys
def run(*last):
    pid = os.fork()
    if pid == 0:
        try:
            os.execv(sys.argv[1], ["esctool", "-q"] + ["-" + "x" * 99000] * 20 + list(last))
        except OSError as e:
            os._exit(40)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(run("wipe"))' "$T_VICTIMS/esctool"
	missing wipe
	out_is 40
}

t_no_descriptor_left_in_the_agent() {
	fence python3 -c '
import errno, os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
held = []
while True:
    try:
        held.append(os.open("file", os.O_RDONLY))
    except OSError as e:
        print(errno.errorcode[e.errno])
        break
try:
    os.open(os.path.expanduser("~/.ssh/id_rsa"), os.O_RDONLY)
    print("read")
except OSError:
    pass
os.close(held.pop())
print(os.read(os.open("file", os.O_RDONLY), 5).decode())'
	rc_is 0
	out_is "$(printf 'EMFILE\nhello')"
}

t_no_descriptor_left_in_the_supervisor() {
	bg it bash -c "until [ -e go ]; do sleep 0.05; done; $CALLER open ~/.ssh/id_rsa
		echo key \$?; until [ -e again ]; do sleep 0.05; done; $CALLER open file; echo file \$?"
	until_true 10 has_session || fail "it did not begin"
	prlimit --pid "$BG" --nofile=3:64 || skip "the supervisor cannot be limited from here"
	touch go
	until_true 10 grep -q '^key' "$S/it.out" || true
	prlimit --pid "$BG" --nofile=64:64
	touch again
	bg_wait it
	no_decoy
	out_lacks "key 0"
}

has_session() {
	pale session list 2>/dev/null | grep -q .
}

t_ten_thousand_at_once() {
	fence "$CALLER" threads 10000 ~/.ssh/id_rsa
	out_is "10000 of 10000 failed"
	fence "$CALLER" open file
	rc_is 0
}

# kill_in_phase WHO: in a session that works all the time, after a while that differs.
killed_in_phase() {
	local who=$1 wait pid
	for wait in 0.01 0.03 0.06 0.1 0.2 0.4; do
		bg it bash -c "sleep 77 & while :; do $CALLER open file; $CALLER open ~/.ssh/id_rsa && echo read; done"
		sleep "$wait"
		case $who in
		supervisor) pid=$BG ;;
		helper) until_true 10 helper_of "$BG" && pid=$(helper_of "$BG") ;;
		agent) until_true 10 agent_of "$BG" && pid=$(agent_of "$BG") ;;
		esac
		[ -z "$pid" ] || kill -9 $pid
		until_true 10 dead "$BG" || fail "$who killed after $wait: it hangs"
		until_true 10 nothing_left || fail "$who killed after $wait: left behind: $(left_over)"
		! grep -q read "$S/it.out" || fail "$who killed after $wait: allowed"
		wait "$BG" 2>/dev/null
	done
	# A ledger whose writer was killed is cut short, and says so.
	[ "$who" != agent ] || verifies
}

# After a hundredth of a second it need not be there.
helper_of() {
	pgrep -P "$1" -x pale-helper
}

agent_of() {
	pgrep -P "$1" -x bash
}

dead() {
	[ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}

t_the_supervisor_is_killed() {
	killed_in_phase supervisor
}

t_the_helper_is_killed() {
	killed_in_phase helper
}

t_the_agent_is_killed() {
	killed_in_phase agent
}

scenario "$@"
