# needs: python3 sqlite3
# limit: 60
# Python and files: the standard library's own idioms, databases, locks, servers on loopback.

c_python_files_and_modes() {
	cat >p.py <<-'END'
		import os, pathlib, shutil, stat, sys
		os.umask(0o27)
		p = pathlib.Path("tree/a/b")
		p.mkdir(parents=True)
		(p / "f").write_text("text")
		(p / "f").chmod(0o4755)
		(p / "l").symlink_to("f")
		(p / "h").hardlink_to(p / "f")
		os.mkfifo("tree/fifo", 0o666)
		shutil.copytree("tree/a", "copy", symlinks=True)
		shutil.copy2(p / "f", "copied")
		shutil.move("copy/b", "moved")
		os.replace("copied", "replaced")
		os.renames("moved/h", "deep/er/h")
		print(sorted((str(q), oct(q.lstat().st_mode), q.lstat().st_nlink) for q in pathlib.Path(".").rglob("*")))
		os.utime("replaced", (1e9, 1e9 + .5))
		print(os.stat("replaced").st_mtime_ns, os.access("replaced", os.X_OK), os.path.realpath("tree/a/b/l")[-10:])
		fd = os.open("tree", os.O_RDONLY | os.O_DIRECTORY)
		os.mkdir("at", dir_fd=fd)
		os.rename("at", "at2", src_dir_fd=fd, dst_dir_fd=fd)
		os.symlink("x", "dangling", dir_fd=fd)
		print(os.readlink("dangling", dir_fd=fd), sorted(os.listdir(fd)), os.fstat(fd).st_nlink)
		os.fchdir(fd)
		print(os.getcwd()[-5:], sorted(e.name for e in os.scandir() if e.is_dir()))
		os.chdir("..")
		for what in (lambda: os.rmdir("tree"), lambda: os.mkdir("tree"), lambda: os.unlink("tree"), lambda: open("no/x", "w"),
		             lambda: os.link("tree", "t2"), lambda: os.rename("tree", "tree/a/x"),
		             lambda: os.open("tree/a/b/l", os.O_NOFOLLOW),
		             lambda: os.open("replaced", os.O_DIRECTORY), lambda: os.readlink("replaced"),
		             lambda: os.chdir("replaced")):
		    try: what()
		    except OSError as e: print(type(e).__name__, e)
		shutil.rmtree("tree")
		with open("trunc", "w+b", buffering=0) as f:
		    f.write(b"0123456789"); f.truncate(4); f.seek(0, 2); f.write(b"x")
		os.truncate("trunc", 3)
		print(open("trunc").read(), os.sysconf("SC_PAGESIZE"), shutil.disk_usage(".").total > 0)
		with open("replaced", "rb") as a, open("sent", "wb") as b:
		    print(os.sendfile(b.fileno(), a.fileno(), 0, 99), os.copy_file_range(a.fileno(), b.fileno(), 99, 0))
		os.setxattr("sent", "user.note", b"hi")
		print(os.listxattr("sent"), os.getxattr("sent", "user.note"))
	END
	python3 p.py
}

c_python_tempfile() {
	cat >p.py <<-'END'
		import os, tempfile
		with tempfile.TemporaryFile() as f:
		    f.write(b"x"); print(os.fstat(f.fileno()).st_nlink)
		with tempfile.NamedTemporaryFile("w", suffix=".t", delete=False) as f: f.write("kept")
		print(oct(os.stat(f.name).st_mode), open(f.name).read(), os.path.dirname(f.name) == tempfile.gettempdir())
		os.unlink(f.name)
		with tempfile.TemporaryDirectory(dir=".") as d:
		    print(oct(os.stat(d).st_mode)); open(d + "/x", "w").close()
		with tempfile.SpooledTemporaryFile(10) as f: f.write(b"y" * 99); f.seek(0); print(len(f.read()))
		fd, name = tempfile.mkstemp(prefix="made-", dir=".")
		os.fchmod(fd, 0o600); os.write(fd, b"z"); os.close(fd); os.rename(name, "made")
		fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o640)
		os.write(fd, b"named late")
		os.link(f"/proc/self/fd/{fd}", "late", src_dir_fd=os.open("/", os.O_RDONLY))
		print(open("late").read(), oct(os.fstat(fd).st_mode))
		fd = os.memfd_create("m"); os.write(fd, b"mem"); print(open(f"/proc/self/fd/{fd}").read())
	END
	python3 p.py
}

c_python_imports_and_caches() {
	mkdir -p pkg/sub
	echo 'from .sub import value' >pkg/__init__.py
	echo 'value = 41' >pkg/sub/__init__.py
	echo 'import pkg; print("main of pkg", pkg.value)' >pkg/__main__.py
	echo 'import zipped.inner as z; print(z.__loader__.__class__.__name__, z.n)' >z.py
	mkdir zipped && echo 'n = 7' >zipped/inner.py && touch zipped/__init__.py
	python3 -c 'import zipfile; z = zipfile.ZipFile("lib.zip", "w")
[z.writestr(n, open(n).read()) for n in ("zipped/__init__.py", "zipped/inner.py")]'
	rm -r zipped
	python3 -m pkg && ls pkg/__pycache__ pkg/sub/__pycache__
	PYTHONPATH=lib.zip python3 z.py
	python3 -c 'import importlib, pkg, sys; open("pkg/sub/__init__.py", "w").write("value = 4200")
importlib.reload(pkg.sub); print(pkg.sub.value)'
	PYTHONPYCACHEPREFIX=$PWD/cache python3 -m pkg && find cache -name '*.pyc' | sed 's,.*/,,' | sort
	python3 -m compileall -q pkg && python3 -m zipapp -o app.pyz -p '/usr/bin/env python3' pkg && ./app.pyz
	python3 -m ensurepip --version >/dev/null
	python3 -c 'import ctypes, ssl, lzma, bz2, decimal, _ctypes
print(ctypes.CDLL(None).getppid() > 0, ctypes.CDLL("libm.so.6") is not None)'
	find . -name '*.pyc' -delete
	rm -rf lib.zip app.pyz cache
}

c_python_sqlite_wal() {
	cat >p.py <<-'END'
		import os, sqlite3, sys, time
		def db():
		    c = sqlite3.connect("d.sqlite", timeout=20, isolation_level=None)
		    c.execute("pragma journal_mode=wal")
		    return c
		c = db()
		c.execute("create table t (who, n)")
		c.close()
		pids = []
		for who in range(2):
		    pid = os.fork()
		    if pid == 0:
		        c = db()
		        for n in range(100):
		            c.execute("begin immediate")
		            c.execute("insert into t values (?, ?)", (who, n)); c.execute("commit")
		        os._exit(0)
		    pids.append(pid)
		print([os.waitpid(p, 0)[1] for p in pids])
		c = db()
		print(sorted(os.listdir()), c.execute("select who, count(*), sum(n) from t group by who").fetchall())
		c.execute("create table big as "
		    "with recursive r(i) as (select 1 union all select i + 1 from r where i < 20000) select i, hex(i) h from r")
		c.execute("create index bi on big(h)")
		print(c.execute("select count(*), max(h) from big where h > '39'").fetchall(),
		    c.execute("pragma integrity_check").fetchall())
		m = sqlite3.connect("copy.sqlite")
		c.backup(m)
		print(m.execute("select count(*) from big").fetchone())
		m.close()
		c.execute("pragma wal_checkpoint(truncate)")
		c.close()
	END
	python3 p.py && ls
	rm -f d.sqlite* copy.sqlite
	echo 'create table t(a); insert into t values(1),(2); .dump' | sed 's/; /;\n/g' | sqlite3 -batch cli.sqlite
	sqlite3 cli.sqlite \
		'pragma journal_mode=delete; begin; insert into t values(3); commit; vacuum; select * from t;
		attach "other.sqlite" as o; create table o.x as select * from t;'
	sqlite3 -csv -header other.sqlite 'select a, a*a as sq from x'
	printf '%s\n' '.mode json' 'select count(*) n from t;' '.backup back.sqlite' '.shell echo from a shell' |
		sqlite3 cli.sqlite
	rm -f ./*.sqlite
}

c_python_locks_and_maps() {
	cat >p.py <<-'END'
		import errno, fcntl, mmap, os, struct, dbm.dumb, shelve, pickle, threading
		f = open("lock", "w+b")
		def child(how):
		    pid = os.fork()
		    if pid == 0:
		        g = open("lock", "r+b")
		        try: how(g)
		        except OSError as e: os._exit(e.errno)
		        os._exit(0)
		    return os.waitpid(pid, 0)[1] >> 8
		fcntl.flock(f, fcntl.LOCK_EX)
		print(child(lambda g: fcntl.flock(g, fcntl.LOCK_EX | fcntl.LOCK_NB)))
		fcntl.flock(f, fcntl.LOCK_UN)
		fcntl.lockf(f, fcntl.LOCK_EX, 10, 0)
		print(child(lambda g: fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 5)),
		    child(lambda g: fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 10)))
		print(struct.unpack("hhqqi4x",
		    fcntl.fcntl(open("lock", "r+b"), 36, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 20, 5, 0)))[0])
		f.truncate(8192)
		m = mmap.mmap(f.fileno(), 8192)
		if os.fork() == 0:
		    m[4096:4100] = b"mmap"
		    m.flush()
		    os._exit(0)
		os.wait()
		print(m[4096:4100], os.pread(f.fileno(), 4, 4096))
		a = mmap.mmap(-1, 4096)
		a.write(b"anon"); print(a[:4])
		with shelve.Shelf(dbm.dumb.open("shelf", "c")) as s: s["k"] = [1, 2, {"x": 3}]
		print(dbm.dumb.open("shelf")[b"k"] is not None)
		total, guard = 0, threading.Lock()
		def add(i):
		    global total
		    for j in range(40):
		        with open(f"t{i}", "a") as t: t.write("x")
		        with guard: total += 1
		ts = [threading.Thread(target=add, args=(i,)) for i in range(8)]
		[t.start() for t in ts]; [t.join() for t in ts]
		print(total, sum(os.path.getsize(f"t{i}") for i in range(8)))
	END
	python3 p.py
}

c_python_asyncio() {
	cat >p.py <<-'END'
		import asyncio, os, sys
		async def serve(r, w):
		    w.write((await r.readline()).upper()); await w.drain(); w.close()
		async def main():
		    p = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
		    print((await p.communicate(b"through cat"))[0], p.returncode)
		    p = await asyncio.create_subprocess_shell("echo out; echo err >&2; exit 6", stdout=-1, stderr=-1)
		    print(await p.communicate(), p.returncode)
		    ps = [await asyncio.create_subprocess_exec("sh", "-c", f"exit {i}") for i in range(12)]
		    print(await asyncio.gather(*(p.wait() for p in ps)))
		    p = await asyncio.create_subprocess_exec("sleep", "9")
		    p.terminate(); print(await p.wait())
		    tcp = await asyncio.start_server(serve, "127.0.0.1", 0)
		    port = tcp.sockets[0].getsockname()[1]
		    unix = await asyncio.start_unix_server(serve, "s.sock")
		    async def ask(opening):
		        r, w = await opening
		        w.write(b"question\n")
		        return await r.read()
		    print(await asyncio.gather(*(ask(asyncio.open_connection("127.0.0.1", port)) for _ in range(20))))
		    print(await ask(asyncio.open_connection("localhost", port)), await ask(asyncio.open_unix_connection("s.sock")))
		    try: await asyncio.wait_for(asyncio.sleep(9), .05)
		    except asyncio.TimeoutError: print("timeout")
		    print(await asyncio.to_thread(lambda: open("by-thread", "w").write("abc")))
		    tcp.close(); unix.close()
		    await tcp.wait_closed()
		    try: await asyncio.open_connection("127.0.0.1", port)
		    except OSError as e: print(type(e).__name__, e.errno)
		asyncio.run(main())
	END
	python3 p.py
}

c_python_sockets() {
	cat >p.py <<-'END'
		import array, os, select, socket, threading
		a, b = socket.socketpair()
		a.sendmsg([b"fd"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [os.open("/dev/null", os.O_RDONLY)]))])
		print(b.recvmsg(9, 99)[0], socket.AF_UNIX == a.family)
		l = socket.create_server(("127.0.0.1", 0), reuse_port=True)
		c = socket.socket(); c.setblocking(False)
		print(c.connect_ex(l.getsockname()) in (0, 115), select.select([], [c], [], 5)[1] == [c],
		    c.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
		s, peer = l.accept()
		print(peer == c.getsockname(), s.send(b"x" * 10), c.recv(99), c.getpeername() == l.getsockname())
		s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1); s.shutdown(socket.SHUT_WR); print(c.recv(9))
		if socket.has_ipv6:
		    try:
		        l6 = socket.create_server(("::1", 0), family=socket.AF_INET6)
		        c6 = socket.create_connection(l6.getsockname()[:2]); print(c6.family.name)
		    except OSError as e: print(e)
		u = socket.socket(socket.AF_UNIX); u.bind("u.sock"); u.listen()
		k = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM); k.connect("u.sock"); print(u.accept()[1], k.getpeername())
		try: socket.socket(socket.AF_UNIX).connect("none.sock")
		except OSError as e: print(e)
		try: socket.socket(socket.AF_UNIX).bind("u.sock")
		except OSError as e: print(e)
		print(socket.getaddrinfo("127.0.0.1", 80, type=socket.SOCK_STREAM), socket.gethostbyname("localhost"),
		    socket.getservbyname("https"))
		q = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); q.bind("q.sock"); q.listen()
		p = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); p.connect("q.sock"); p.send(b"packet")
		print(q.accept()[0].recv(99))
		print(len(socket.if_nameindex()) > 0)
		e = select.epoll(); e.register(s.fileno(), select.EPOLLIN); c.send(b"y"); print(len(e.poll(5)))
	END
	python3 p.py
}

c_python_http_server() {
	mkdir site && echo '<p>page' >site/index.html && head -c 3000000 /dev/zero >site/big
	cat >p.py <<-'END'
		import functools, http.server, threading, urllib.request, urllib.error, xmlrpc.server, xmlrpc.client, json
		class Quiet(http.server.SimpleHTTPRequestHandler):
		    def log_message(self, *a): pass
		s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory="site"))
		threading.Thread(target=s.serve_forever, daemon=True).start()
		url = f"http://127.0.0.1:{s.server_port}/"
		get = lambda u: urllib.request.urlopen(u, timeout=10).read()
		print(get(url), len(get(url + "big")), len({len(get(url + "big")) for _ in range(5)}))
		try: get(url + "none")
		except urllib.error.HTTPError as e: print(e)
		print(get(url.replace("127.0.0.1", "localhost")))
		urllib.request.urlretrieve(url + "big", "fetched")
		x = xmlrpc.server.SimpleXMLRPCServer(("127.0.0.1", 0), logRequests=False)
		x.register_function(pow)
		threading.Thread(target=x.serve_forever, daemon=True).start()
		print(xmlrpc.client.ServerProxy(f"http://127.0.0.1:{x.server_address[1]}/").pow(2, 10))
		s.shutdown(); s.server_close()
		try: get(url)
		except urllib.error.URLError as e: print(e)
	END
	python3 p.py
	sha256sum fetched
}

c_python_unittest_and_tools() {
	mkdir tests && touch tests/__init__.py
	cat >mod.py <<-'END'
		"""
		>>> double(2)
		4
		"""
		import logging, logging.handlers
		def double(x): return 2 * x
		def log():
		    h = logging.handlers.RotatingFileHandler("app.log", maxBytes=200, backupCount=2)
		    l = logging.getLogger("x"); l.addHandler(h); l.setLevel(20)
		    for i in range(20): l.info("line %d %s", i, "." * 20)
	END
	cat >tests/test_mod.py <<-'END'
		import unittest, mod, os, tempfile
		class T(unittest.TestCase):
		    def test_double(self): self.assertEqual(mod.double(3), 6)
		    def test_dir(self):
		        with tempfile.TemporaryDirectory() as d: self.assertEqual(os.listdir(d), [])
		    @unittest.expectedFailure
		    def test_wrong(self): self.assertEqual(1, 2)
	END
	python3 -m unittest -v 2>&1 | sed 's/ in [0-9.]*s//'
	python3 -m doctest -v mod.py | tail -2
	python3 -c 'import mod; mod.log()' && wc -l app.log*
	echo '{"b":1,"a":[2]}' | python3 -m json.tool --sort-keys
	python3 -m tarfile -c t.tar mod.py tests &&
		python3 -m tarfile -l t.tar | sort && mkdir x && python3 -m tarfile -e t.tar x && ls -A x
	python3 -m zipfile -c t.zip mod.py && python3 -m zipfile -t t.zip
	python3 -m base64 -e mod.py | head -1
	python3 -m py_compile mod.py && python3 -m timeit -n 1 -r 1 'open("mod.py").close()' >/dev/null
	python3 -m cProfile -o prof mod.py && python3 -c 'import pstats; print(pstats.Stats("prof").total_calls > 0)'
	python3 -m trace --count -C cov mod.py >/dev/null && ls cov | grep -c mod
	find . -name '*.pyc' -delete
	rm -rf t.tar t.zip prof cov x/tests/__pycache__
}
