# needs: python3 python3-venv python3-pip python3-wheel python3-setuptools python3-pip-whl python3-setuptools-whl
# limit: 60
# Python starting programs and itself: subprocess, multiprocessing, ptys, environments of its own.

c_python_subprocess_modes() {
	cat >p.py <<-'END'
		import os, signal, subprocess as sp, sys
		print(sp.run(["echo", "list"], capture_output=True, text=True))
		print(sp.run("echo shell; echo err >&2; exit 3", shell=True, capture_output=True, text=True))
		print(sp.run(["sh", "-c", "echo $0 $1", "a", "b c"], stdout=sp.PIPE, close_fds=False, text=True).stdout)
		print(sp.run(["pwd"], cwd="/", stdout=sp.PIPE, text=True, preexec_fn=lambda: os.umask(0o77)).stdout)
		print(sp.run("umask", shell=True, stdout=sp.PIPE, text=True, umask=0o27).stdout)
		print(sp.run(["env"], env={"A": "1"}, stdout=sp.PIPE, text=True).stdout.count("A=1"))
		p = sp.Popen(["sleep", "9"], start_new_session=True)
		print(os.getsid(p.pid) == p.pid, p.poll())
		os.killpg(p.pid, signal.SIGTERM)
		print(p.wait())
		r, w = os.pipe()
		sp.run(["sh", "-c", f"echo passed >&{w}"], pass_fds=[w])
		os.close(w)
		print(os.read(r, 99))
		try: sp.run(["sleep", "9"], timeout=.2)
		except sp.TimeoutExpired as e: print(e.cmd)
		for words in ["nonesuch"], ["./p.py"], ["/"], [""]:
		    try: sp.run(words)
		    except OSError as e: print(type(e).__name__, e.errno, e.filename)
		try: sp.run(["true"], cwd="nowhere")
		except OSError as e: print(e)
		print(sp.getstatusoutput("echo out; false"), sp.check_output(["tr", "a-z", "A-Z"], input=b"hello"))
		print(os.system("exit 5") >> 8, os.popen("echo popen").read(), os.spawnlp(os.P_WAIT, "sh", "sh", "-c", "exit 7"))
		pid = os.posix_spawn("/bin/sh", ["sh", "-c", "echo spawned >&4; exit 2"], os.environ,
		    file_actions=[(os.POSIX_SPAWN_OPEN, 4, "by-action", os.O_WRONLY | os.O_CREAT, 0o640)],
		    setsigmask=[signal.SIGUSR1])
		print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), open("by-action").read())
		p = sp.Popen(["bc-is-not-here-but-cat-is"], executable="/bin/cat", stdin=sp.PIPE, stdout=sp.PIPE, bufsize=0)
		print(p.communicate(b"x" * 300000)[0].count(b"x"))
	END
	python3 p.py
}

c_python_subprocess_many_threads() {
	cat >p.py <<-'END'
		import subprocess, concurrent.futures as cf
		def one(i):
		    name = f"f{i % 7}-{i}"
		    with open(name, "w") as f: subprocess.run(["echo", str(i)], stdout=f, check=True)
		    return int(subprocess.run(f"cat {name}; rm {name}", shell=True, capture_output=True).stdout)
		with cf.ThreadPoolExecutor(8) as pool:
		    print(sum(pool.map(one, range(80))))
	END
	python3 p.py
}

# START is one of fork, spawn, forkserver.
multiprocessing() {
	cat >p.py <<-'END'
		import multiprocessing as mp, os, sys
		from multiprocessing import shared_memory
		def square(x): return x * x
		def fill(name, i):
		    m = shared_memory.SharedMemory(name)
		    m.buf[i] = i + 1
		    m.close()
		def talk(conn, q, lock, value):
		    conn.send({"got": conn.recv()})
		    with lock: value.value += 1
		    q.put(os.getpid() != os.getppid())
		if __name__ == "__main__":
		    ctx = mp.get_context(sys.argv[1])
		    with ctx.Pool(3) as pool:
		        print(pool.map(square, range(20)), pool.apply_async(square, (9,)).get())
		    pipes = [ctx.Pipe() for _ in range(3)]
		    q, lock, value = ctx.Queue(), ctx.Lock(), ctx.Value("i", 0)
		    ps = [ctx.Process(target=talk, args=(b, q, lock, value)) for a, b in pipes]
		    for p in ps: p.start()
		    for a, b in pipes: a.send("word")
		    print([a.recv() for a, b in pipes], [q.get() for p in ps])
		    for p in ps: p.join()
		    print(value.value, [p.exitcode for p in ps])
		    m = shared_memory.SharedMemory(create=True, size=16)
		    ps = [ctx.Process(target=fill, args=(m.name, i)) for i in range(4)]
		    for p in ps: p.start()
		    for p in ps: p.join()
		    print(bytes(m.buf[:6]))
		    m.close()
		    m.unlink()
		    with ctx.Manager() as man:
		        d = man.dict(a=1)
		        d["b"] = man.list([1, 2])
		        d["b"].append(3)
		        print(d.keys(), list(d["b"]))
	END
	python3 p.py "$1"
}
c_python_multiprocessing_fork() { multiprocessing fork; }
c_python_multiprocessing_spawn() { multiprocessing spawn; }
c_python_multiprocessing_forkserver() { multiprocessing forkserver; }

c_python_executor_and_semaphores() {
	cat >p.py <<-'END'
		import concurrent.futures as cf, hashlib, multiprocessing as mp
		def work(n): return n, hashlib.sha256(open("data", "rb").read() * n).hexdigest()[:8]
		def hold(s, b, q):
		    b.wait()
		    with s: q.put(1)
		if __name__ == "__main__":
		    open("data", "wb").write(b"\1\2" * 5000)
		    with cf.ProcessPoolExecutor(4) as ex:
		        for n, h in ex.map(work, range(1, 12)): print(n, h)
		    s, b, q = mp.BoundedSemaphore(2), mp.Barrier(4), mp.SimpleQueue()
		    ps = [mp.Process(target=hold, args=(s, b, q)) for _ in range(4)]
		    [p.start() for p in ps]
		    print(sum(q.get() for p in ps), [p.join() for p in ps])
	END
	python3 p.py
}

c_python_venv_and_pip() {
	mkdir -p src/hello
	echo 'def main(): print("hello from a wheel", __name__)' >src/hello/__init__.py
	cat >src/setup.py <<-'END'
		from setuptools import setup
		setup(name="hello", version="1.2", packages=["hello"], entry_points={"console_scripts": ["hello = hello:main"]})
	END
	(cd src && python3 setup.py -q bdist_wheel) >log 2>&1 || cat log
	ls src/dist
	python3 -m venv env
	env/bin/pip install -q --no-index --disable-pip-version-check src/dist/*.whl
	env/bin/hello
	env/bin/pip list --disable-pip-version-check | grep hello
	. env/bin/activate
	python -c 'import hello, sys; print(sys.prefix == sys.base_prefix, hello.__file__[-40:])'
	pip uninstall -q -y hello
	python -c 'import hello' 2>&1 | tail -1
	deactivate
	# What pip and the byte compiler write holds times.
	find . -name '*.pyc' -delete
	rm -rf src log env/lib/python3.11/site-packages/pip*
}

c_python_pty() {
	cat >p.py <<-'END'
		import os, pty, sys, termios, time, tty
		seen = b""
		def read(fd):
		    global seen
		    data = os.read(fd, 1024)
		    seen += data
		    return data
		print(pty.spawn(["sh", "-c", "tty >/dev/null && echo is a tty; stty size; exit 4"], read) >> 8, flush=True)
		pid, fd = pty.fork()
		if pid == 0:
		    print(os.isatty(0), os.ttyname(0) == os.ttyname(1), os.getsid(0) == os.getpid(),
		        open("/dev/tty", "w").write("by tty\n"), flush=True)
		    print(input("say: ")[::-1])
		    os._exit(3)
		out = b""
		os.write(fd, b"olleh\n")
		try:
		    while b := os.read(fd, 1000): out += b
		except OSError as e: print(e.errno)
		print(out.replace(b"\r", b""), os.waitpid(pid, 0)[1] >> 8)
		m, s = os.openpty()
		tty.setraw(s)
		os.write(m, b"\3raw\4")
		print(os.read(s, 9), termios.tcgetattr(s)[3] & termios.ICANON)
	END
	python3 p.py
}

c_python_curses_in_a_pty() {
	cat >c.py <<-'END'
		import curses
		def main(w):
		    curses.curs_set(0)
		    curses.start_color()
		    w.addstr(2, 3, "hello from curses %dx%d" % (curses.COLS, curses.LINES))
		    w.refresh()
		    k = w.getch()
		    open("key", "w").write(chr(k))
		curses.wrapper(main)
	END
	cat >p.py <<-'END'
		import fcntl, os, pty, struct, termios
		pid, fd = pty.fork()
		if pid == 0:
		    os.environ["TERM"] = "xterm"
		    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 90, 0, 0))
		    os.execlp("python3", "python3", "c.py")
		out = b""
		while b"hello from" not in out: out += os.read(fd, 1000)
		os.write(fd, b"q")
		try:
		    while b := os.read(fd, 1000): out += b
		except OSError: pass
		print(b"hello from curses 90x30" in out, os.waitpid(pid, 0)[1], open("key").read())
	END
	python3 p.py
}

c_python_signals_and_children() {
	cat >p.py <<-'END'
		import os, signal, time, select
		r, w = os.pipe()
		os.set_blocking(w, False)
		signal.set_wakeup_fd(w)
		signal.signal(signal.SIGCHLD, lambda *a: open("seen", "a").write("chld\n"))
		signal.signal(signal.SIGUSR1, lambda *a: open("seen", "a").write("usr1\n"))
		pid = os.fork()
		if pid == 0:
		    os.kill(os.getppid(), signal.SIGUSR1)
		    time.sleep(.1)
		    os.abort()
		select.select([r], [], [], 5)
		print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
		time.sleep(.1)
		print(sorted(open("seen")))
		pid = os.fork()
		if pid == 0:
		    signal.pause()
		fd = os.pidfd_open(pid)
		signal.pidfd_send_signal(fd, signal.SIGUSR2)
		print(select.select([fd], [], [], 5)[0] == [fd], os.waitid(os.P_PIDFD, fd, os.WEXITED).si_status)
		signal.signal(signal.SIGALRM, lambda *a: 1 / 0)
		signal.setitimer(signal.ITIMER_REAL, .1)
		try: time.sleep(5)
		except ZeroDivisionError: print("alarm")
	END
	ulimit -c 0
	python3 p.py
}

c_python_tracebacks_and_exit() {
	python3 -c 'open("/nonesuch/x")'
	echo $?
	python3 -c 'import sys; sys.exit("words")'
	echo $?
	python3 -c 'import subprocess; print(subprocess.run(["python3", "-c", "import os; os.kill(os.getpid(), 9)"]))'
	python3 -X faulthandler -c 'import os, signal; os.kill(os.getpid(), signal.SIGTERM)'
	echo $?
	echo 'print(input())' >i.py
	echo fed | python3 i.py
	echo 'print("stdin")' | python3 -
	python3 -m this | head -1
	python3 -c 'import os; os.write(1, b"x" * 100000)' | head -c 10
}
