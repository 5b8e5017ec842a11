# nightly: hooks strict
# limit: 240
# A policy that is loaded anew into a session that runs: what is running sees it at its next call.
. "$T_LIB"

# The policy of the session's beginning, with more lines in [files].
base_policy() {
	{
		printf '%s\n' "preset = agent" "[commands]" "deny = ls" "[files]" "write = $HOME/elsewhere" "$@"
	} | policy
}

# Runs a program in a session behind our back; what is written to $S/in are its lines.
begin() {
	mkfifo "$S/in"
	pale run "$@" <"$S/in" >"$S/said" 2>"$S/err" &
	RUN=$!
	exec 7>"$S/in"
	for _ in $(seq 200); do
		grep -q ready "$S/said" 2>/dev/null && return
		sleep 0.05
	done
	fail "the session does not begin"
}

# One deed inside: its answer is the last line said.
deed() {
	local n
	n=$(wc -l <"$S/said")
	echo "$*" >&7
	for _ in $(seq 400); do
		[ "$(wc -l <"$S/said")" -gt "$n" ] && { SAID=$(tail -1 "$S/said"); return; }
		sleep 0.02
	done
	fail "no answer to: $*"
}

says() {
	deed "$1"
	[ "$SAID" = "$2" ] || fail "$1: $SAID, not $2"
}

finish() {
	exec 7>&-
	wait "$RUN"
}

reload() {
	pale policy reload "$@" >"$S/out" 2>"$S/err2"
	RC=$?
}

program() {
	cat >"$W/child.py" <<'END'
import os, sys
print("ready", flush=True)
for line in sys.stdin:
    verb, path = line.split()
    try:
        if verb == "read":
            open(path).close()
        elif verb == "write":
            open(path, "w").close()
        elif verb == "run":
            import subprocess
            subprocess.check_call([path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print("yes", flush=True)
    except OSError as e:
        print("no", flush=True)
END
}

t_running_python() {
	program
	base_policy
	begin -- python3 child.py
	says "write $W/made" yes
	says "write $HOME/elsewhere/made" yes
	says "write $HOME/other" no
	base_policy "write = $HOME/other" "readonly = made" "deny = file"
	reload
	[ "$RC" = 0 ] || fail "reload: $(cat "$S/err2")"
	says "write $W/made" no
	says "read $W/file" no
	says "write $HOME/other" yes
	says "write $HOME/elsewhere/made" yes
	grep -q "1 past denials would now be allowed" "$S/out" || fail "what is opened is not said: $(cat "$S/out")"
	grep -q "past allows would now be denied" "$S/out" || fail "what is closed is not said"
	base_policy
	reload
	says "write $W/made" yes
	says "read $W/file" yes
	says "write $HOME/other" no
	finish
	recorded policy/reload "" "generation=1" "past denials would now be allowed: write $HOME/other"
	recorded policy/reload "" "generation=2"
	verifies
}

# What no hook holds, or sees: the supervisor judges by the new policy at once.
unhooked() {
	[ "$T_LEVEL" != hooks ] || return 0
	base_policy
	begin -- "$@"
	says "read $W/file" yes
	says "write $HOME/other" no
	base_policy "write = $HOME/other" "readonly = made" "deny = file"
	reload
	[ "$RC" = 0 ] || fail "reload: $(cat "$S/err2")"
	says "read $W/file" no
	says "thread $W/file" no
	says "write $W/made" no
	says "write $HOME/other" yes
	base_policy
	reload
	says "read $W/file" yes
	says "write $W/made" yes
	rm "$HOME/other"
	says "write $HOME/other" no
	finish
	verifies
}

t_static_program() {
	unhooked "$T_VICTIMS/reader-static"
}

t_bare_calls() {
	unhooked "$T_VICTIMS/reader" raw
}

# A child that shares the memory of its parent, a thread that was there, a process that did not run meanwhile.
t_whoever_runs() {
	local pid
	base_policy
	# Not the session's own command: `pale run` stops with that.
	begin -- bash -c '"$1"; true' - "$T_VICTIMS/reader"
	pid=$(pgrep -P "$(pgrep -P "$RUN" -x bash)" -x reader)
	for verb in read thread vfork; do
		says "$verb $W/file" yes
	done
	base_policy "deny = file"
	reload
	says "vfork $W/file" no
	says "thread $W/file" no
	base_policy
	reload
	says "thread $W/file" yes
	kill -STOP "$pid"
	base_policy "deny = file"
	reload
	[ "$RC" = 0 ] || fail "reload: $(cat "$S/err2")"
	kill -CONT "$pid"
	says "read $W/file" no
	says "vfork $W/file" no
	finish
}

t_errors_keep_the_old() {
	program
	base_policy "deny = file"
	begin -- python3 child.py
	says "read $W/file" no
	{ echo "preset = agent"; echo "[files]"; echo "denny = x"; echo "[commands]"; echo "alow = git"; } | policy
	reload
	[ "$RC" != 0 ] || fail "a policy with errors is loaded"
	grep -q "policy.ini:3:[0-9]*: error: " "$S/err2" || fail "no finding of line 3: $(cat "$S/err2")"
	grep -q "policy.ini:5:[0-9]*: error: " "$S/err2" || fail "no finding of line 5: $(cat "$S/err2")"
	grep -q "the old policy stays" "$S/err2" || fail "it is not said what holds"
	says "read $W/file" no
	says "write $HOME/elsewhere/made" yes
	recorded policy/reload deny "the policy has errors"
	[ -z "$(find "$XDG_RUNTIME_DIR" -name 'image*.new')" ] || fail "something is left behind"
	base_policy
	reload
	says "read $W/file" yes
	finish
	verifies
}

# A nested run's own narrower policy still holds, inside the new outer one.
t_nested() {
	mkdir closed
	echo in >closed/f
	printf '%s\n' "preset = agent" "[files]" "deny = closed" >tight.ini
	base_policy
	begin -- pale run -q -p tight.ini -- "$T_VICTIMS/reader"
	says "read $W/closed/f" no
	says "read $W/file" yes
	base_policy "write = $HOME/other" "deny = file"
	reload
	[ "$RC" = 0 ] || fail "reload: $(cat "$S/err2")"
	says "read $W/file" no
	says "read $W/closed/f" no
	says "write $HOME/other" no
	says "write $W/made" yes
	base_policy "write = $HOME/other"
	reload
	says "read $W/file" yes
	says "vfork $W/closed/f" no
	finish
	verifies
}

# What waits for an answer is judged anew.
t_pending() {
	printf '%s\n' "preset = agent" "[commands]" "ask = cp file copy" | policy
	bg waits bash -c 'cp file copy; echo "status $?"'
	pending_id >"$S/id"
	printf '%s\n' "preset = agent" "[commands]" "allow = cp file copy" | policy
	reload
	bg_wait waits
	out_is "status 0"
	exists copy
	rm copy
	recorded approval/cancelled allow "loaded again"
	printf '%s\n' "preset = agent" "[commands]" "ask = cp file copy" | policy
	bg waits bash -c 'cp file copy; echo "status $?"'
	pending_id >"$S/id"
	printf '%s\n' "preset = agent" "[commands]" "deny = cp file copy" | policy
	reload
	bg_wait waits
	out_is "status 126"
	missing copy
	denied exec "cp file copy" "policy.ini:3"
	recorded approval/cancelled deny "loaded again"
	# What it still asks waits on.
	printf '%s\n' "preset = agent" "[commands]" "ask = cp file copy" | policy
	bg waits bash -c 'cp file copy; echo "status $?"'
	pending_id >"$S/id"
	printf '%s\n' "preset = agent" "[commands]" "ask = cp file copy" "deny = ls" | policy
	reload
	run pale approve "$(cat "$S/id")"
	rc_is 0 "pale approve"
	bg_wait waits
	out_is "status 0"
	verifies
}

t_reads_floor() {
	{ echo "[session]"; echo "reads = floor"; } >"$S/floor"
	program
	base_policy
	cat "$S/floor" >>"$HOME/.config/pale/policy.ini"
	begin -- python3 child.py
	says "read $W/file" yes
	base_policy "deny = file"
	cat "$S/floor" >>"$HOME/.config/pale/policy.ini"
	reload
	[ "$RC" = 0 ] || fail "reload: $(cat "$S/err2")"
	says "read $W/file" no
	[ "$T_LEVEL" != full ] || grep -q "reads = floor: programs without hooks can still read" "$S/out" ||
		fail "what stays open is not said"
	finish
}

# A hundred reloads under four processes: each deed between an answer and the next reload is judged by that
# answer's policy.  Old images that stay mapped are bounded.
t_hundred() {
	local i n
	cat >"$W/open.py" <<'END'
import os, sys, time

def stable():
    with open("now") as f:
        return f.read()

def deed(path):
    try:
        os.close(os.open(path, os.O_RDONLY))
        return "yes"
    except PermissionError:
        return "no"

wrong = judged = 0
print("ready", flush=True)
while True:
    before = stable()
    if before == "end":
        break
    time.sleep(0.001)
    got = deed("file")
    if before != "?" and before == stable():
        judged += 1
        if got != before.split()[1]:
            wrong += 1
with open("/proc/self/maps") as f:
    print("wrong", wrong, "judged", judged > 50, "few", sum("/image" in line for line in f) <= 66, flush=True)
END
	printf '?' >now
	base_policy
	begin -- bash -c 'for i in 1 2 3 4; do python3 open.py 2>/dev/null & done; wait'
	until_true 10 bash -c "[ \$(grep -c ready '$S/said') = 4 ]" || fail "they do not begin"
	for i in $(seq 50); do
		for n in "no deny = file" yes; do
			printf '?' >"$S/now"
			mv "$S/now" now
			if [ "$n" = yes ]; then base_policy; else base_policy "${n#no }"; fi
			reload
			[ "$RC" = 0 ] || fail "reload $i: $(cat "$S/err2")"
			printf '%s' "$i ${n%% *}" >"$S/now"
			mv "$S/now" now
			sleep 0.02
		done
	done
	printf end >"$S/now"
	mv "$S/now" now
	finish
	[ "$(grep -c "^wrong 0 judged True few True$" "$S/said")" = 4 ] || fail "$(cat "$S/said")"
	recorded policy/reload "" "generation=100 "
	verifies
}

# A `pale run` that is stopped cannot gather: that is said, nothing changes, and its late word counts for nothing.
t_stopped_launcher() {
	base_policy
	begin -- bash -c '"$1"; true' - "$T_VICTIMS/reader"
	kill -STOP "$RUN"
	base_policy "deny = file"
	reload
	kill -CONT "$RUN"
	[ "$RC" != 0 ] || fail "a stopped run loads a policy"
	grep -q "pale run does not answer: the old policy stays" "$S/err2" || fail "not said: $(cat "$S/err2")"
	says "read $W/file" yes
	reload
	[ "$RC" = 0 ] || fail "reload: $(cat "$S/err2")"
	says "read $W/file" no
	finish
	recorded policy/reload deny "does not answer"
	recorded policy/reload "" "generation=1 "
	verifies
}

# Beyond what one process maps again it leaves each call to whoever is behind it.
t_beyond_what_is_mapped() {
	local i
	base_policy
	begin -- "$T_VICTIMS/reader"
	for i in $(seq 35); do
		base_policy "deny = file"
		reload
		says "read $W/file" no
		base_policy
		reload
		says "read $W/file" yes
	done
	says "write $HOME/other" no
	[ "$T_LEVEL" != strict ] || { finish; return; }
	deed maps
	[ "$SAID" -gt 60 ] && [ "$SAID" -le 66 ] || fail "$SAID images are mapped"
	finish
}

# The helper dies while a reload is under way: what asks is denied, and the ledger says what happened.
t_helper_killed() {
	local helper i
	printf '%s\n' "preset = agent" "[commands]" "ask = touch" "[files]" "deny = file" | policy
	bg killed bash -c 'echo >ready; until test -e go; do sleep 0.05; done
		cat file; touch a; echo "status $?"; cat ~/.ssh/id_rsa'
	until_true 10 test -e ready || fail "no start"
	helper=$(pgrep -P $BG -x pale-helper)
	(for i in $(seq 40); do pale policy reload; done >/dev/null 2>&1) &
	sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
	kill -9 "$helper"
	wait $!
	reload
	[ "$RC" != 0 ] || fail "a dead helper loads a policy"
	: >go
	bg_wait killed
	rc_is 125
	out_is ""
	missing a
	run pale log verify
	out_has "no end record"
}

# Nothing inside marks, exchanges or unmarks what all judge by, or loads a policy.
# A session that ends while it is asked is no failure of the others.
t_one_ends_meanwhile() {
	local first helper
	policy <<<"preset = agent"
	bg first bash -c 'echo >one; until test -e go; do sleep 0.05; done'
	first=$BG
	bg second bash -c 'echo >two; until test -e go; do sleep 0.05; done'
	until_true 20 test -e one -a -e two || fail "no start"
	helper=$(pgrep -P "$first" -x pale-helper)
	kill -STOP "$first"
	(sleep 1 && kill -9 "$helper") &
	run pale policy reload
	kill -CONT "$first"
	rc_is 0
	[ ! -s "$S/err" ] || fail "said: $(cat "$S/err")"
	: >go
	bg_wait second
	wait "$first" || true
}

t_attacked() {
	local d
	base_policy "deny = file"
	cat >"$W/attack.py" <<'END'
import ctypes, mmap, os, subprocess, sys
d = os.environ["PALE_SESSION_DIR"]
image = d + "/image"
libc = ctypes.CDLL(None, use_errno=True)

def could(what, fn):
    try:
        got = fn()
    except (OSError, ValueError, SystemError):
        return
    if got is None or (isinstance(got, int) and got >= 0):
        print("could:", what, flush=True)

def opened(path, flags):
    fd = os.open(path, flags)
    os.close(fd)

def call(nr, *args):
    if libc.syscall(nr, *args) < 0:
        raise OSError(ctypes.get_errno(), "call")

try:
    ro = os.open(image, os.O_RDONLY)
    size = os.fstat(ro).st_size
except OSError:
    ro, size = 0, 4096
could("open for writing", lambda: opened(image, os.O_WRONLY))
could("open of the descriptor", lambda: opened("/proc/self/fd/%d" % ro, os.O_WRONLY))
could("open of its directory", lambda: opened(d + "/image.new", os.O_WRONLY | os.O_CREAT))
could("chmod", lambda: os.chmod(image, 0o600))  # above level hooks
could("fchmod", lambda: os.fchmod(ro, 0o600))  # above level hooks
could("fchmod by number", lambda: call(91, ro, 0o600))  # above level hooks
could("chmod through proc", lambda: os.chmod("/proc/self/fd/%d" % ro, 0o600))  # above level hooks
could("rename over", lambda: os.rename("file2", image))
could("rename away", lambda: os.rename(image, "away"))
could("rename of another's new one", lambda: os.rename("file2", d + "/image.new"))
could("unlink", lambda: os.unlink(image))
could("link", lambda: os.link(image, "linked"))
could("link of the descriptor", lambda: os.link("/proc/self/fd/%d" % ro, "linked", follow_symlinks=True))
could("truncate", lambda: os.truncate(image, 0))
could("truncate by descriptor", lambda: os.ftruncate(ro, 0))
could("symlink", lambda: os.symlink("/dev/null", d + "/image.1"))
could("rename of the directory", lambda: os.rename(d, d + "x"))
could("a shared mapping to write",
    lambda: mmap.mmap(ro, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE).close())

def through_maps():
    with open("/proc/self/maps") as f:
        at = next(int(l.split("-")[0], 16) for l in f if l.rstrip().endswith("/image"))
    got = libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(4096), 3)
    if got < 0:
        raise OSError(ctypes.get_errno(), "mprotect")

def through_mem():
    with open("/proc/self/maps") as f:
        at = next(int(l.split("-")[0], 16) for l in f if l.rstrip().endswith("/image"))
    fd = os.open("/proc/self/mem", os.O_RDWR)
    os.pwrite(fd, b"\1\0\0\0", at + 16)

could("its mapping", through_maps)
could("its mapping through mem", through_mem)

def reload():
    p = subprocess.run(["pale", "policy", "reload"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return 0 if p.returncode == 0 else -1

def nested():
    p = subprocess.run(["pale", "run", "-q", "--", "pale", "policy", "reload"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return 0 if p.returncode == 0 else -1

could("reload", reload)
could("reload from a nested run", nested)
could("read", lambda: opened("file", os.O_RDONLY))
print("ready", flush=True)
sys.stdin.readline()
could("read afterwards", lambda: opened("file", os.O_RDONLY))
print("done", flush=True)
END
	[ "$T_LEVEL" != hooks ] || sed -i '/# above level hooks/d' attack.py
	: >file2
	begin -- python3 attack.py
	d=$(echo "$XDG_RUNTIME_DIR"/pale/*)
	[ "$(stat -c '%a %h' "$d/image")" = "400 1" ] || fail "its mode or links: $(stat -c '%a %h' "$d/image")"
	[ "$(od -An -tu4 -j20 -N4 "$d/image")" -ge 0 ] || fail "no image"
	base_policy "deny = file" "write = $HOME/other"
	reload
	[ "$RC" = 0 ] || fail "reload: $(cat "$S/err2")"
	says x done
	finish
	! grep "^could" "$S/said" || fail "it could"
	not_recorded policy/reload "" "generation=2"
	verifies
}

scenario "$@"
