# levels: full strict
# limit: 60
# A process that waits in a carried call can be stopped, goes on, and can be ended, as it can bare.
. "$T_LIB"

# stops.py NAME...: for each call a process that waits in it; it is told to stop, to go on and to end, each by two
# signals.  One line for each.
stops() {
	cat >stops.py <<-'END'
		import os, resource, signal, socket, subprocess, sys, threading, time
		resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
		os.path.exists("f") or os.mkfifo("f")
		kept = []
		def full(family, name):
		    """The address of a listener that has no room."""
		    kept.append(socket.socket(family))
		    kept[-1].bind(name)
		    kept[-1].listen(0)
		    name = kept[-1].getsockname()
		    for _ in range(4):
		        kept.append(socket.socket(family))
		        kept[-1].setblocking(False)
		        kept[-1].connect_ex(name)
		    return name
		def dgram(family=socket.AF_INET):
		    return socket.socket(family, socket.SOCK_DGRAM)
		tcp, unix = full(socket.AF_INET, ("127.0.0.1", 0)), full(socket.AF_UNIX, "u")
		kept.append(dgram(socket.AF_UNIX))
		kept[-1].bind("d")
		def send():
		    s = dgram(socket.AF_UNIX)
		    while True:
		        s.sendto(bytes(1000), "d")
		def unhooked(*words):
		    os.environ.pop("LD_PRELOAD", None)
		    os.execvp(words[0], words)
		def thread(act):
		    t = threading.Thread(target=act)
		    t.start()
		    t.join()
		acts = {
		    "reads a FIFO": lambda: open("f"),
		    "writes a FIFO": lambda: open("f2", "w"),
		    "unhooked": lambda: unhooked("cat", "f"),
		    "unhooked writes": lambda: unhooked("dd", "status=none", "of=f2"),
		    "connects": lambda: socket.socket().connect(tcp),
		    "connects a path": lambda: socket.socket(socket.AF_UNIX).connect(unix),
		    "sends": send,
		    "receives": lambda: dgram().recvfrom(9),
		    "asks": lambda: open("asked", "w"),
		}
		for n in [n for n in acts if n != "unhooked" and n != "unhooked writes"]:
		    acts["thread " + n] = lambda act=acts[n]: thread(act)
		os.path.exists("f2") or os.mkfifo("f2")
		def begin(act):
		    pid = os.fork()
		    if pid:
		        return pid
		    signal.signal(signal.SIGINT, signal.SIG_DFL)
		    os.setpgid(0, 0)
		    act()
		    os._exit(7)
		def told(pid, sig, flag=0):
		    """What waitpid(2) says within some seconds after sig."""
		    os.kill(pid, sig)
		    for _ in range(400):
		        r, status = os.waitpid(pid, os.WNOHANG | flag)
		        if r:
		            return os.waitstatus_to_exitcode(status) if not flag else status & 0xff
		        time.sleep(.02)
		    os.kill(pid, signal.SIGKILL)
		    os.waitpid(pid, 0)
		    return "deaf to %s" % sig
		STOPPED = 0x7f
		names = [n for n in acts if n.removeprefix("thread ") in sys.argv[1:]]
		for stop, end in ((signal.SIGTSTP, signal.SIGINT), (signal.SIGSTOP, signal.SIGHUP)):
		    made = {n: begin(acts[n]) for n in names}
		    time.sleep(1)
		    for n, pid in made.items():
		        said = [told(pid, stop, os.WUNTRACED)]
		        if said == [STOPPED]:
		            said.append(os.waitid(os.P_PID, pid, os.WCONTINUED | os.WNOHANG) or "held")
		            os.kill(pid, signal.SIGCONT)
		            said.append(os.waitid(os.P_PID, pid, os.WCONTINUED).si_code == os.CLD_CONTINUED)
		            time.sleep(.1)
		            said.append(told(pid, end))
		        print(n, "ok" if said == [STOPPED, "held", True, -end] else said)
		    made = {n: begin(acts[n]) for n in names}
		    time.sleep(1)
		    for n, pid in made.items():
		        said = told(pid, signal.SIGQUIT)
		        if said != -signal.SIGQUIT:
		            print(n, "is not ended by SIGQUIT:", said)
	END
	fence python3 -B stops.py "$@"
	rc_is 0
	[ -s "$S/out" ] || fail "nothing was tried"
	! grep -v ' ok$' "$S/out" || fail "deaf"
}

t_open() {
	stops 'reads a FIFO' 'writes a FIFO' unhooked 'unhooked writes'
}

t_sockets() {
	stops connects 'connects a path' sends receives
}

# The question is withdrawn when the process stops, and asked again when it goes on.
t_questions() {
	policy <<<$'[files]\nask = asked'
	stops asks
	recorded approval/request ask asked
	recorded approval/cancelled '' asked
	not_recorded approval/decision '.*'
}

# What a person sends is heard; what a timer sends leaves the question where it is.
t_signals_at_a_question() {
	policy <<<$'[session]\ntimeout = 60s\n[files]\nask = asked'
	cat >m.c <<-'END'
		#include <fcntl.h>
		#include <signal.h>
		#include <stdio.h>
		#include <sys/time.h>
		#include <unistd.h>
		static void rings(int s) { (void)s; }
		static void ends(int s) { _exit(s); }
		int main(void)
		{
			struct sigaction a = { .sa_handler = rings }, b = { .sa_handler = ends };
			struct itimerval often = { { 0, 20000 }, { 0, 20000 } };
			sigaction(SIGALRM, &a, 0);
			sigaction(SIGTERM, &b, 0);
			setitimer(ITIMER_REAL, &often, 0);
			dprintf(creat("pid", 0600), "%d", getpid());
			return open("asked", O_CREAT | O_WRONLY, 0600) < 0;
		}
	END
	gcc -o m m.c && gcc -static -o s m.c || fail "does not compile"
	for m in ./m ./s; do
		rm -f asked
		bg one $m
		pending_id >"$S/id"
		sleep 0.7
		[ "$(pending_id)" = "$(cat "$S/id")" ] || fail "a timer took the question back"
		pale approve "$(cat "$S/id")" >"$S/out" || fail "no answer"
		bg_wait one
		rc_is 0 "$m"
		rm asked
		bg one $m
		pending_id >"$S/id"
		kill -TERM "$(cat pid)"
		bg_wait one
		rc_is 15 "$m"
		missing asked
	done
}

scenario "$@"
