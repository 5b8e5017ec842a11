# levels: full strict
# limit: 120
# Roundabout ways to what is refused on the straight one: by descriptors that are only places, by what
# changes between the look and the act, by a child that is nobody's.
. "$T_LIB"

# A terminal and a process of the same user outside the session: sets PTS and PID.
outside() {
	python3 -c 'if True:
		import os, select, time
		m, s = os.openpty()
		print(os.getpid(), os.ttyname(s), flush=True)
		end = time.time() + 20
		while time.time() < end:
			if select.select([m], [], [], 0.2)[0]:
				print("typed", os.read(m, 99), flush=True)' >"$S/outside" &
	until_true 5 test -s "$S/outside" || fail "nobody is outside"
	read -r PID PTS <"$S/outside"
}

t_a_foreign_terminal_by_its_place() {
	outside
	fence "$T_VICTIMS/turns" place "$PTS" 2
	rc_is 0
	out_is "Permission denied"
	fence "$T_VICTIMS/turns" place "$PTS" 0
	rc_is 0
}

t_a_foreign_process_by_its_place() {
	local what
	outside
	for what in environ maps mem auxv stat; do
		fence "$T_VICTIMS/turns" place "/proc/$PID/$what" 0
		rc_is 0 "$what"
		out_is "No such file or directory"
	done
}

t_a_foreign_process_is_not_changed() {
	outside
	fsh "echo 999 >/proc/$PID/oom_score_adj"
	rc_is 1
	fence "$T_VICTIMS/turns" place "/proc/$PID/oom_score_adj" 2
	rc_is 0
	[ "$(cat "/proc/$PID/oom_score_adj")" != 999 ] || fail "it was changed"
	fsh 'echo 999 >/proc/self/oom_score_adj && cat /proc/self/oom_score_adj'
	rc_is 0 "its own"
}

t_no_child_leaves_a_nested_run() {
	fsh "pale run -q --preset review -- $T_VICTIMS/turns parent made"
	rc_is 0
	missing made
}

# What a nested run is started with is the session's around to judge; but once.
t_a_launcher_launches_once() {
	need gcc
	cat >again.c <<-END
		#include <stdlib.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		__attribute__((constructor)) static void again(void)
		{
			char *args[] = { "touch", "made", NULL };

			unsetenv("LD_PRELOAD");
			syscall(SYS_execve, "/usr/bin/touch", args, environ);
		}
	END
	gcc -D_GNU_SOURCE -shared -fPIC -o again.so again.c || fail "gcc"
	printf '[commands]\ndeny = touch\n' >"$S/inner.ini"
	fsh "pale run -q -p $S/inner.ini -- $T_VICTIMS/turns again $T_STAGE/bin/pale $W/again.so"
	rc_not 0
	missing made
}

t_a_socket_by_a_descriptor_that_changes() {
	policy <<-END
		[network]
		unix = $W/good
	END
	python3 -c 'if True:
		import select, socket, sys, time
		all = [socket.socket(socket.AF_UNIX) for _ in sys.argv[1:]]
		for s, p in zip(all, sys.argv[1:]):
			s.bind(p)
			s.listen(4096)
		end = time.time() + 20
		while time.time() < end:
			for s in select.select(all, [], [], 1)[0]:
				s.accept()[0].close()' "$W/good" "$HOME/bad" &
	until_true 5 test -S "$HOME/bad" || fail "no socket"
	fence "$T_VICTIMS/turns" socket "$W/good" "$HOME/bad" 2000
	rc_is 0
}

# At full the floor is all that holds what is finer than directories.
t_a_path_that_stops_being_a_terminal() {
	[ "$T_LEVEL" = strict ] || skip "level full promises the floor"
	echo mine >.envrc
	fence "$T_VICTIMS/turns" pty .envrc 20
	rc_is 0
	need script
	fence script -qc 'echo said >/dev/tty' /dev/null
	rc_is 0
	out_has said
}

t_words_that_a_tracer_writes() {
	policy <<-END
		[commands]
		deny = echo wrong
	END
	fence "$T_VICTIMS/turns" traced /bin/echo right wrong 100
	out_lacks wrong
	# At full what a tracer leaves alone runs.
	[ "$T_LEVEL" = full ] || { rc_is 0 && err_has "another process traces it"; }
}

scenario "$@"
