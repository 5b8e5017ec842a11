# levels: full strict
# limit: 90
# What is left where `pale run` is killed ends, whatever it shed of where it came from.
. "$T_LIB"

ways='"$T_VICTIMS/shed" W/pids
"$T_VICTIMS/shed" W/pids keep
"$T_VICTIMS/shed-static" W/pids
"$T_VICTIMS/shed-static" W/pids keep
env -i "$T_VICTIMS/shed" W/pids
env -i "$T_VICTIMS/shed-static" W/pids
setsid env -i LD_PRELOAD= "$T_VICTIMS/shed" W/pids
env PALE_SESSION_DIR=/nowhere "$T_VICTIMS/shed-static" W/pids keep'

# A session in the background in which each of the ways has left a process; their pids are in ./pids.
session() {
	local way all=
	rm -f pids
	while read -r way; do all+="${way//W\//$W\/}; "; done <<<"$ways"
	bg it bash -c "$all touch begun; sleep 300"
	until_true 20 eval '[ "$(wc -l <pids)" = 8 ]' || fail "it does not begin: $(cat "$S/it.err")"
}

all_gone() {
	local pid
	for pid in $(cat pids); do
		until_true 15 eval '! kill -0 '"$pid" || fail "left after $1: $(ps -o pid,stat,args -p "$pid")"
	done
}

t_the_helper_ends_what_is_left() {
	session
	kill -9 "$BG"
	all_gone "the launcher's end"
	until_true 10 recorded session/end "" "pale run died" || fail "the ledger does not say it"
}

t_the_warden_ends_what_is_left() {
	session
	kill -9 "$(pgrep -P "$BG" -x pale-helper)" "$BG"
	all_gone "the launcher's and the helper's end"
}

t_another_session_is_left_alone() {
	local first
	session
	first=$BG
	mv pids first
	session
	kill -9 "$BG"
	all_gone "the launcher's end"
	for pid in $(cat first); do
		kill -0 "$pid" || fail "a process of the other session was ended"
	done
	kill -9 "$first"
	mv first pids
	all_gone "the end of the first"
}

# What waits in carried calls has used up the descriptors of pale run.
t_without_a_descriptor() {
	local way
	cat >many.py <<-'END'
		import os, socket, sys, time
		os.mkdir("sockets")
		for i in range(100):
		    if os.fork() == 0:
		        for fd in (0, 1, 2): os.close(fd)
		        with open("pids", "a") as f: f.write("%d\n" % os.getpid())
		        try: s = socket.socket(socket.AF_UNIX); s.bind("sockets/%d" % i); s.listen(1)
		        except OSError: pass
		        time.sleep(300)
		        os._exit(0)
		time.sleep(float(sys.argv[1]))
	END
	for way in "1 --" "300 --limit time=3s --"; do
		rm -rf sockets pids
		# shellcheck disable=SC2086
		run bash -c 'ulimit -n 64; exec pale run -q ${1#* } python3 many.py ${1%% *}' - "$way"
		[ "$(wc -l <pids)" -ge 20 ] || fail "few began: $(wc -l <pids)"
		all_gone "the end by $way"
	done
}

t_the_mark_stays() {
	fsh 'ulimit -q 5000; ulimit -S -q 4000
		ulimit -q; sleep 20 & prlimit --pid $! --msgqueue=5000; prlimit --msgqueue=1; kill $!
		python3 -c "import resource; resource.setrlimit(resource.RLIMIT_MSGQUEUE, (5, 5))"; grep msgqueue /proc/self/limits'
	[ "$(grep -c "Operation not permitted\|not allowed to raise" "$S/err")" -ge 4 ] || fail "a limit was changed"
	[ "$(sed -n 1p "$S/out")" = "$(awk '/msgqueue/ { print $4 }' "$S/out")" ] || fail "it is another one at the end"
}

scenario "$@"
