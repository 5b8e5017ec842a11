# needs: bash dash procps psmisc python3 gcc util-linux socat lsof
# limit: 60
# Many processes, deep ones, and how they talk to each other.

c_thousand_short_processes() {
	local i
	for i in {1..500}; do /bin/true || echo bad; done
	seq 400 | xargs -n 1 -P 4 sh -c 'exit 0' -
	echo $?
	for i in {1..100}; do echo "$i" | cat; done | cksum
	find /etc/alternatives -maxdepth 1 -name 'a*' -exec test -e {} \; -exec true {} \; && echo done
}

c_parallel_processes() {
	local i
	for i in {1..200}; do (echo "$i" >"o.$i"; cat "o.$i" >"p.$i"; mv "p.$i" "q.$i") & done
	wait
	cat q.* | sort -n | cksum
	ls | wc -l
	seq 200 | xargs -P 50 -I{} sh -c 'mkdir d.{} && echo {} >d.{}/f && ln d.{}/f l.{} && rm o.{} q.{}'
	cat l.* | sort -n | cksum
	rm -r d.* l.*
	for i in {1..20}; do for j in {1..10}; do echo "$i $j" >>shared & done; done
	wait
	sort shared | cksum && rm shared
}

c_deep_trees() {
	cat >deep <<-'END'
		#!/bin/sh
		[ "$1" = 0 ] && { pwd | sed 's/.*\///'; cat "$2"; exit 7; }
		sh "$0" $(($1 - 1)) "$2"
		exit $?
	END
	chmod +x deep && echo leaf >leaf && ./deep 60 leaf
	echo $?
	bash -c 'f() { [ $1 = 0 ] && echo bottom || (f $(($1 - 1))); }; f 60'
	python3 -c '
import subprocess, sys
code = "import subprocess, sys; n = int(sys.argv[1]); "
code += "print(n) if n == 0 else "
code += "sys.exit(subprocess.call([sys.executable, \"-c\", sys.argv[2], str(n - 1), sys.argv[2]]) + 1)"
print(subprocess.call([sys.executable, "-S", "-E", "-c", code, "6", code]))'
	env -i sh -c 'env | grep -vc "^\(LD_PRELOAD\|PALE\|PWD\|_\|SHLVL\)"
		env -i bash -c "echo inner >inner; exec env -i cat inner"'
	exec -a other sh -c 'echo "$0"; exec sh -c "exec sh -c \"exec cat inner\""'
}

c_interpreters() {
	printf '#!/bin/sh\necho "sh $0 $*"\n' >a &&
		printf '#!./a one two\n' >b && printf '#!/usr/bin/env -S bash -e\necho "env $1"\nfalse\necho no\n' >c &&
		printf '#! /usr/bin/awk -f\nBEGIN { print "awk", ARGV[1] }\n' >d && printf \
		'#!/usr/bin/python3 -S\nimport sys\nprint("py", sys.argv[1:])\n' >e && printf '#!b\n' >f && chmod +x a b c d e f
	./a x && ./b y && ./c z
	echo $?
	./d w && ./e 'a b' "c'd" && PATH=$PWD:$PATH b q && (cd / && "$OLDPWD/e" r) && ./f 2>/dev/null
	echo $?
	for i in 1 2 3 4 5 6; do printf '#!./s%d\n' $((i - 1)) >s$i; done &&
		printf '#!/bin/sh\necho chain\n' >s0 && chmod +x s? && ./s3 && ./s6 2>&1 | sed 's/.*: //'
	cp /bin/true mytrue && ./mytrue && ln -s /bin/echo myecho &&
		./myecho linked && /lib64/ld-linux-x86-64.so.2 /bin/echo by the loader && bash ./a < /dev/null &&
		sh -s <a && . ./a && command -v a || type -t ls && hash -r && (exec ./a) && echo 'echo from stdin' | sh &&
		xargs ./a <<<'1 2' && nice ./a n && env X=1 ./a e && time -p true 2>/dev/null; setsid -w ./a s
	chmod -x a && ./a
	sh a r
	rm mytrue
}

c_python_spawns() {
	cat >p.py <<-'END'
		import os, signal, subprocess, sys
		run = subprocess.run
		for kw in ({}, {"close_fds": False}, {"start_new_session": True}, {"cwd": "/"}, {"env": {}},
		    {"env": {"PATH": "/bin"}}, {"shell": True}, {"preexec_fn": lambda: os.umask(0)},
		    {"process_group": 0} if sys.version_info > (3, 11) else {}):
		    cmd = "echo $((1 + 1)); exit 3" if kw.get("shell") else ["/bin/sh", "-c", "pwd | grep -c .; exit 3"]
		    r = run(cmd, capture_output=True, **kw)
		    print(sorted(kw), r.returncode, r.stdout, r.stderr)
		print(os.system("exit 4"), os.popen("echo popen").read(),
		    os.WEXITSTATUS(os.spawnv(os.P_WAIT, "/bin/sh", ["sh", "-c", "exit 5"])), os.spawnlp(os.P_WAIT, "true", "true"))
		pid = os.posix_spawn("/bin/sh", ["sh", "-c", "echo spawned; cat <&3 >&4"], {},
		    file_actions=[(os.POSIX_SPAWN_OPEN, 3, "p.py", os.O_RDONLY, 0),
		    (os.POSIX_SPAWN_OPEN, 4, "copied", os.O_WRONLY | os.O_CREAT, 0o640), (os.POSIX_SPAWN_CLOSE, 0)],
		    setsigdef=[signal.SIGPIPE])
		print(os.waitpid(pid, 0)[1], open("copied").read() == open("p.py").read())
		try: os.posix_spawn("/nosuch", ["x"], {})
		except OSError as e: print(e.errno)
		try: run(["p.py"])
		except OSError as e: print(e.errno, e.filename)
		for fn in (lambda: os.execv("/bin/echo", ["echo", "execv"]),
		    lambda: os.execvpe("sh", ["sh", "-c", "echo $A"], {"A": "execvpe", "PATH": "/bin"}),
		    lambda: os.execle("/bin/sh", "sh", "-c", "echo $B", {"B": "execle"}),
		    lambda: os.execv(os.open("/bin/echo", os.O_RDONLY), ["echo", "fexecve"])):
		    sys.stdout.flush()
		    if os.fork() == 0: fn()
		    os.wait()
		m = os.memfd_create("prog")
		os.write(m, b"#!/bin/sh\necho memfd\n")
		p = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
		print(p.communicate(b"x" * 1000000)[0].count(b"x"), p.returncode)
		p = subprocess.Popen(["sleep", "9"]); p.terminate(); print(p.wait())
		try: run(["sleep", "9"], timeout=0.2)
		except subprocess.TimeoutExpired: print("timeout")
		r, w = os.pipe(); os.set_inheritable(w, True)
		run(["sh", "-c", "echo passed >&%d" % w], pass_fds=[w]); print(os.read(r, 99))
	END
	python3 p.py
}

c_fifos_and_sockets() {
	mkfifo a b
	(while read -r x; do echo "reply $x"; done <a >b) &
	exec 7>a 8<b
	for i in 1 2 3; do echo $i >&7 && read -r r <&8 && echo "$r"; done
	exec 7>&- 8<&-
	wait
	seq 50000 >a & cksum <a
	wait
	(echo x >a) & cat a; wait
	python3 - <<-'END'
		import os, socket, array, threading
		a, b = socket.socketpair()
		a.sendall(b"x" * 1000); print(len(b.recv(2000, socket.MSG_WAITALL if 0 else 0)))
		f = os.open("made", os.O_CREAT | os.O_RDWR, 0o600)
		socket.send_fds(a, [b"fd"], [f]); msg, fds, _, _ = socket.recv_fds(b, 10, 1); os.write(fds[0], b"through")
		print(msg, open("made").read())
		s = socket.socket(socket.AF_UNIX); s.bind("sock"); s.listen()
		def serve():
		    c, _ = s.accept(); c.sendall(c.recv(99).upper()); c.close()
		t = threading.Thread(target=serve); t.start()
		c = socket.socket(socket.AF_UNIX); c.connect("sock"); c.sendall(b"hello"); print(c.recv(99)); t.join()
		t = socket.socket(); t.bind(("127.0.0.1", 0)); t.listen(); t_name = t.getsockname()
		c = socket.create_connection(t_name); d, _ = t.accept(); c.sendall(b"tcp"); print(d.recv(9))
		t.close()
		try: socket.create_connection(t_name, 1)
		except OSError as e: print(type(e).__name__)
		os.remove("sock")
		r, w = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK); os.write(w, b"p")
		print(os.read(r, 9), os.splice(0, w, 0) if 0 else "")
	END
	rm -f made
}

# A reader that is killed while it waits leaves nobody behind.
c_fifo_whose_reader_was_killed() {
	local i lost=0
	for i in {1..15}; do
		rm -f a && mkfifo a && timeout 0.1 cat a
		(echo x >a) &
		timeout 0.5 cat a >/dev/null || lost=1
		kill $! && wait
	done 2>/dev/null
	echo "lost $lost"
	rm a
}

# Both make a datagram socket, if only to ask or to signal themselves.
c_socat_and_fuser() {
	socat UNIX-LISTEN:us,unlink-early EXEC:'tr a-z A-Z' & until_true 2 test -S us
	echo through socat | socat -t 5 - UNIX-CONNECT:us
	wait
	rm -f us
	sleep 3 7>held & sleep 0.1
	fuser held 2>/dev/null | wc -w
	kill $!
} 2>/dev/null

c_locks() {
	flock lk sh -c 'flock -n lk echo no || echo busy; flock -s -n lk echo no || echo busy'
	flock -s lk flock -s -n lk echo shared
	(flock 9 && echo in && sleep 0.1) 9>lk2 & (sleep 0.03; flock -w 5 9 && echo after) 9>lk2
	wait
	flock -E 9 -n lk true && echo free
	python3 - <<-'END'
		import fcntl, os, struct, threading, time, multiprocessing
		f = open("pl", "w+"); f.write("x" * 100); f.flush()
		fcntl.lockf(f, fcntl.LOCK_EX, 10, 5)
		pid = os.fork()
		if pid == 0:
		    g = open("pl", "r+")
		    try: fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 0)
		    except OSError as e: print("held", e.errno, flush=True)
		    fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 50); print("beside", flush=True)
		    fl = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 5, 1, 0)
		    print(struct.unpack("hhqqi4x", fcntl.fcntl(g, fcntl.F_GETLK, fl))[0] == fcntl.F_WRLCK, flush=True)
		    os._exit(0)
		os.waitpid(pid, 0)
		F_OFD_SETLK = 37
		a, b = open("ofd", "w"), open("ofd", "w")
		fcntl.fcntl(a, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
		try: fcntl.fcntl(b, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
		except OSError as e: print("ofd", e.errno)
		try: os.open("excl", os.O_CREAT | os.O_EXCL); os.open("excl", os.O_CREAT | os.O_EXCL)
		except OSError as e: print("exists", e.errno)
		def add(n):
		    for _ in range(50):
		        with open("count", "a+") as c:
		            fcntl.flock(c, fcntl.LOCK_EX); c.seek(0); v = int(c.read() or 0); c.truncate(0); c.write(str(v + 1))
		            c.flush()
		ps = [multiprocessing.Process(target=add, args=(i,)) for i in range(4)]
		[p.start() for p in ps]; [p.join() for p in ps]; print(open("count").read())
	END
	seq 20 | xargs -P 10 -I{} flock sum sh -c 'n=$(cat total 2>/dev/null); echo $((n + {})) >total' && cat total
}

c_daemons_and_who_is_there() {
	(setsid sh -c 'echo $$ >daemon
		trap "echo stopped >>daemon; exit" TERM; while :; do sleep 0.02; done' >/dev/null 2>&1 </dev/null &)
	until_true 5 test -s daemon
	local pid
	pid=$(cat daemon)
	kill -0 "$pid" && ps -o comm=,stat= -p "$pid" | awk '{ print $1 }' && pgrep -P "$$" | wc -l | grep -c . &&
		cat "/proc/$pid/comm" && tr '\0' ' ' <"/proc/$pid/cmdline" | cut -c1-5 &&
		readlink "/proc/$pid/cwd" | sed 's/.*\///' && kill "$pid" &&
		until_true 5 grep -q stopped daemon && tail -1 daemon
	rm daemon
	exec 6<"$0" && readlink /proc/self/fd/6 | sed 's/.*\///' && ls /proc/self/fd | head -2 && readlink /proc/$$/exe &&
		cat /proc/self/comm && grep -c . /proc/self/maps >/dev/null && wc -l </proc/self/status | grep -c . &&
		lsof -p $$ 2>/dev/null | grep -c task.sh && ps -e | wc -l | grep -c . && pstree -A $$ | head -1 | cut -c1-4
	sleep 5 & pkill -P $$ -x sleep; wait $!
	echo $?
	sleep 5 & killall -q -u "$(id -un)" -w -y 3s nosuchname; kill %1 2>/dev/null; wait
	pidof nosuch || echo none; timeout 2 tail -f /dev/null --pid=999999999; nohup sh -c 'echo n' 2>/dev/null | cat
	nice -n 19 nice; prlimit --nofile=100 sh -c 'ulimit -n'; choom -n 500 -- cat /proc/self/oom_score_adj
}
