# needs: root
# Limits that cgroups hold, on a machine where root may make them: what they hold, that they go, and that
# what a killed pale left goes with the next start.
. "$T_LIB"

# Where they are made, from inside of one; else there is nothing to test.
cgroups() {
	run pale run -v --limit processes=50 -- cat /proc/self/cgroup
	! grep -q '^pale: limits: .* by systemd scope' "$S/err" || skip "a scope of systemd's holds the limits here"
	grep -q '^pale: limits: .* by cgroup' "$S/err" || skip "root can make no cgroup here"
	LINE=$(grep -m1 'pale-[a-z0-9]*\.[0-9]*$' "$S/out")
	[ -n "$LINE" ] || fail "the agent is in no cgroup of its own"
	NAME=${LINE##*/}
	# 8:pids:/path or 0::/path; what is mounted may begin below its root.
	local controller at
	controller=$(cut -d: -f2 <<<"$LINE")
	if [ -n "$controller" ]; then
		at=$(findmnt -rno TARGET,OPTIONS -t cgroup | grep -w "${controller%%,*}" | head -1 | cut -d' ' -f1)
	else
		at=$(findmnt -rno TARGET -t cgroup2 | head -1)
	fi
	PLACE=$at$(dirname "${LINE#*:*:}")
	[ -d "$PLACE" ] || skip "the place of the cgroups is not to be seen here"
}

all_left() {
	ls -d "$PLACE"/$1 2>/dev/null
	true
}

t_processes() {
	need findmnt
	cgroups
	run pale run -v --limit processes=40 -- python3 -c '
import os, time
n = 0
try:
    while n < 200:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        n += 1
except OSError as e:
    print(e.errno, n < 40)'
	rc_is 0
	out_is "11 True"
	err_has "pale: limit processes 40 of --limit reached"
	recorded session/limit "" "limit processes 40"
	[ -z "$(all_left "$NAME")" ] || fail "left behind: $(all_left "$NAME")"
}

t_fork_bomb() {
	need findmnt
	cgroups
	run pale run -v --limit processes=100 --timeout 3s -- bash -c ':(){ :|:& };:; sleep 60'
	rc_is 124
	err_has "pale: limit processes 100 of --limit reached"
	err_has "pale: time limit 3s of --timeout reached: ended"
	[ -z "$(all_left "$NAME")" ] || fail "left behind: $(all_left "$NAME")"
}

# All of it together, which no resource limit holds.
t_memory() {
	need findmnt
	cgroups
	run pale run -v --limit memory=120M -- cat /proc/self/cgroup
	grep -q '^pale: limits: memory 120M by cgroup' "$S/err" || skip "root can make no cgroup for memory here"
	grep -q '^SwapTotal: *0 kB' /proc/meminfo || skip "what is swapped out is counted elsewhere on some machines"
	run pale run -v --limit memory=120M -- python3 -c '
import os, signal
for _ in range(3):
    if os.fork() == 0:
        x = b"x" * (80 << 20)
        signal.pause()
signal.alarm(25)
print(os.WTERMSIG(os.wait()[1]))'
	rc_is 0
	out_is 9
	err_has "pale: limit memory 120M of --limit reached"
}

t_swept() {
	need findmnt
	cgroups
	mkdir "$PLACE/pale-aaaaaa.4194303" 2>/dev/null || skip "nothing can be made there by hand"
	run pale run -q --limit processes=50 -- true
	rc_is 0
	[ -z "$(all_left pale-aaaaaa.4194303)" ] || {
		rmdir "$PLACE/pale-aaaaaa.4194303"
		fail "left behind"
	}
}

scenario "$@"
