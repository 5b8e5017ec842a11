# levels: full strict hooks
# limit: 90
# What is seen from inside: other processes do not exist, with whatever words and by whatever way they are looked
# for; the session's own are there, and a nested run has its own.
. "$T_LIB"

# A process outside, whose command line holds a secret: its pid in $OTHER.
other() {
	bash -c 'exec -a "tool --password=hunter2" sleep 300' &
	OTHER=$!
	until_true 5 grep -q hunter2 /proc/$OTHER/cmdline || fail "no process to look at"
}

# Ways to look at process argv[1]: "WAY: what it gave".
looker() {
	cat >look.py <<-'END'
		import errno, os, sys
		pid, own, proc = sys.argv[1], os.getpid(), "/proc/" + sys.argv[1]
		def whole(fd):
		    try:
		        return os.read(fd, 4000)
		    finally:
		        os.close(fd)
		def at(dirfd, name):
		    return whole(os.open(name, os.O_RDONLY, dir_fd=dirfd))
		def in_directory(where, name):
		    os.chdir(where)
		    try:
		        return whole(os.open(name, os.O_RDONLY))
		    finally:
		        os.chdir(here)
		def by_link(to):
		    if os.path.islink("link"):
		        os.unlink("link")
		    os.symlink(to, "link")
		    return open("link", "rb").read()
		here = os.getcwd()
		files = "cmdline stat statm status comm environ maps cgroup limits mountinfo mounts wchan io smaps auxv " \
		    "oom_score_adj net/dev"
		ways = {f: lambda f=f: open(proc + "/" + f, "rb").read() for f in files.split()}
		ways.update({
		    "list": lambda: os.listdir(proc),
		    "list tasks": lambda: os.listdir(proc + "/task"),
		    "list descriptors": lambda: os.listdir(proc + "/fd"),
		    "scandir": lambda: list(os.scandir(proc)),
		    "task": lambda: open(f"{proc}/task/{pid}/cmdline", "rb").read(),
		    "up from self": lambda: open(f"/proc/self/../{pid}/cmdline", "rb").read(),
		    "up from thread-self": lambda: open(f"/proc/thread-self/../../../{pid}/cmdline", "rb").read(),
		    "up from own": lambda: open(f"/proc/{own}/task/../../{pid}/stat", "rb").read(),
		    "slashes": lambda: open(f"//proc/.//{pid}/./cmdline", "rb").read(),
		    "from /": lambda: in_directory("/", f"proc/{pid}/cmdline"),
		    "from /proc": lambda: in_directory("/proc", f"{pid}/cmdline"),
		    "from its directory": lambda: in_directory(proc, "cmdline"),
		    "beside /proc": lambda: at(os.open("/proc", os.O_RDONLY | os.O_DIRECTORY), pid + "/comm"),
		    "beside a place": lambda: at(os.open("/proc", os.O_PATH), pid + "/comm"),
		    "beside its place": lambda: at(os.open(proc, os.O_PATH), "cmdline"),
		    "link to the file": lambda: by_link(proc + "/cmdline"),
		    "link to the directory": lambda: (by_link(proc), open("link/cmdline", "rb").read())[1],
		    "link from root": lambda: open(f"/proc/self/root/proc/{pid}/cmdline", "rb").read(),
		    "its directory's files": lambda: open(proc + "/cwd/file", "rb").read(),
		    "written": lambda: whole(os.open(proc + "/comm", os.O_WRONLY)),
		    "made": lambda: whole(os.open(proc + "/comm", os.O_RDWR | os.O_CREAT, 0o600)),
		})
		def link_itself(name):
		    return os.readlink("", dir_fd=os.open(proc + "/" + name, os.O_PATH | os.O_NOFOLLOW))
		if len(sys.argv) > 2:
		    ways.update({"link " + l: lambda l=l: link_itself(l) for l in ("exe", "cwd", "root", "fd/1", "ns/mnt")})
		for name, way in ways.items():
		    try:
		        way()
		        print(f"{name}: seen")
		    except OSError as e:
		        print(f"{name}: {errno.errorcode[e.errno]}")
	END
}

# The kernel itself refuses to follow the links of a process that may not be traced, and to tell where they lead.
nothing_is_seen() {
	local links="^its directory's files: EACCES$\|^link \(exe\|cwd\|root\|fd/1\|ns/mnt\): EACCES$"
	[ "$(wc -l <"$S/out")" = "${1:-38}" ] || fail "not all ways were tried: $(wc -l <"$S/out")"
	! grep -v ': ENOENT$' "$S/out" | grep -v "$links" || fail "something is seen"
}

t_others_do_not_exist() {
	looker
	other
	fence python3 look.py $OTHER
	rc_is 0
	nothing_is_seen
	out_lacks hunter2
	fence python3 look.py 1
	nothing_is_seen
	[ "$T_LEVEL" != hooks ] || return 0
	fence python3 look.py $OTHER links
	nothing_is_seen 43
}

# Neither said nor counted as denied, but recorded.  What would have changed another process is both.
t_looks_are_recorded_quietly() {
	other
	fsh "cat /proc/$OTHER/cmdline; ps -ef; ps aux; pgrep -x tool; true"
	not_denied
	out_lacks hunter2
	recorded read deny "/proc/$OTHER/cmdline" 'outside the session'
	recorded session/end '' 'denied=0 '
	run pale session show
	out_lacks 'outside the session'
	fsh "echo 1000 >/proc/$OTHER/oom_score_adj"
	rc_not 0
	recorded write deny "/proc/$OTHER/oom_score_adj" 'outside the session'
}

# A thread of somebody else's that leads no process has a number as well, and no entry in a listing.
t_other_threads() {
	python3 -c '
import threading, time
t = threading.Thread(target=time.sleep, args=(300,))
t.start()
print(t.native_id, flush=True)' >"$S/tid" &
	until_true 5 test -s "$S/tid" || fail "no thread"
	looker
	fence python3 look.py "$(cat "$S/tid")"
	nothing_is_seen
	kill $!
}

t_own_processes_are_there() {
	looker
	fsh 'sleep 100 & python3 look.py $!; kill $!'
	[ "$(grep -c ': seen$' "$S/out")" -ge 33 ] || fail "own processes are hidden"
	fsh 'sleep 101 & until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done
		ps -e -o args= | grep -x "sleep 101"
		ps -o args= -p $!; pgrep -x sleep; pgrep -f "^sleep 101"; kill $!'
	[ "$(grep -c '^sleep 101$' "$S/out")" = 2 ] &&
		[ "$(grep -c '^[0-9]*$' "$S/out")" = 2 ] || fail "ps or pgrep does not list it"
	fsh 'sleep 102 & top -b -n1 | grep -w sleep; kill $!'
	out_has sleep
	fence python3 -c 'import threading; t = threading.Thread(target=lambda: print(open("/proc/thread-self/comm").read(),
    open(f"/proc/{threading.get_native_id()}/stat").read()[:1])); t.start(); t.join()'
	rc_is 0
	out_has python3
	not_denied
}

t_what_is_nobodys_is_there() {
	fence cat /proc/meminfo /proc/stat /proc/uptime /proc/loadavg /proc/version /proc/filesystems /proc/mounts \
		/proc/net/dev /proc/sys/kernel/ostype /proc/self/maps /proc/thread-self/status
	rc_is 0
	not_denied
	fsh 'ls /proc | grep -c "^[0-9]"'
	rc_is 0
}

# By system calls that no hook sees.
t_static_programs_see_none() {
	local path
	[ "$T_LEVEL" != hooks ] || return 0
	other
	ln -s /proc/$OTHER/cmdline link
	for path in cmdline stat status comm environ task fd . task/$OTHER/stat ../$OTHER/stat; do
		fence "$T_VICTIMS/carried-static" one 0 "/proc/$OTHER/$path"
		rc_is 2 "$path"
	done
	for path in link "/proc/self/../$OTHER/stat" \
		"/proc/self/cwd/link" "/proc/thread-self/../../../$OTHER/status" /proc/1/cgroup; do
		fence "$T_VICTIMS/carried-static" one 0 "$path"
		rc_is 2 "$path"
	done
	fence busybox ps
	out_lacks hunter2
	not_denied
}

# What a nested run starts sees its own, not those around it; the other way round all are seen.
t_nested_runs_have_their_own() {
	[ "$T_LEVEL" != hooks ] || return 0
	fsh 'exec -a "outer --password=hunter2" sleep 50 & outer=$!
		pale run -q -n -- bash -c "sleep 51 & ps -e -o args=; cat /proc/$outer/cmdline /proc/\$!/cmdline; kill \$!"
		kill $outer'
	out_has 'sleep 51'
	out_lacks hunter2
}

# Modes, owner and times of a terminal that somebody else sits at are held as its opening is; of the session's own
# ptys they are not.
t_terminals_of_others() {
	local way raw
	[ "$T_LEVEL" != hooks ] || return 0
	cat >hold.py <<-'END'
		import os, time
		master, slave = os.openpty()
		os.chmod(os.ttyname(slave), 0o620)
		os.utime(slave, (1e9, 1e9))
		print(os.ttyname(slave), flush=True)
		time.sleep(300)
	END
	cat >change.py <<-'END'
		import ctypes, os, sys
		libc, pts = ctypes.CDLL(None, use_errno=True), sys.argv[1].encode()
		place = os.open(pts, os.O_PATH)
		by_place, times = b"/proc/self/fd/%d" % place, (ctypes.c_long * 4)(5, 0, 5, 0)
		os.symlink(pts, "pts")
		def raw(*args):
		    if libc.syscall(*args) < 0:
		        raise OSError(ctypes.get_errno(), "")
		ways = [
		    lambda: os.chmod(pts, 0o666), lambda: os.chmod(by_place, 0o666), lambda: os.chmod("pts", 0o666),
		    lambda: os.chmod(b"/dev/../dev/pts/../pts/" + pts[9:], 0o666),
		    lambda: os.chmod(pts[9:], 0o666, dir_fd=os.open("/dev/pts", os.O_RDONLY)),
		    lambda: os.chown(pts, -1, os.getgid()), lambda: os.chown(pts, os.getuid(), -1),
		    lambda: os.lchown(pts, os.getuid(), -1),
		    lambda: os.utime(pts), lambda: os.utime(pts, (7, 7)), lambda: os.utime(by_place, (7, 7)),
		    lambda: raw(90, pts, 0o666), lambda: raw(268, -100, pts, 0o666), lambda: raw(452, place, b"", 0o666, 0x1000),
		    lambda: raw(92, pts, os.getuid(), -1), lambda: raw(260, place, b"", os.getuid(), -1, 0x1000),
		    lambda: raw(280, -100, pts, times, 0), lambda: raw(132, pts, None), lambda: raw(235, pts, None),
		]
		if sys.argv[2:]:  # its own: all works
		    sys.exit(not [way() for way in ways[:4] + ways[5:]])
		for i, way in enumerate(ways):
		    try:
		        way()
		        print("done", i)
		    except OSError as e:
		        e.errno in (13, 38) or print(i, e)
	END
	python3 hold.py >"$S/pts" &
	until_true 5 test -s "$S/pts" || fail "no terminal"
	stat -c '%a %u %g %X %Y' "$(cat "$S/pts")" >"$S/before"
	fence python3 change.py "$(cat "$S/pts")"
	rc_is 0
	out_is ''
	stat -c '%a %u %g %X %Y' "$(cat "$S/pts")" | diff - "$S/before" || fail "it was changed"
	denied chmod "$(cat "$S/pts")" 'outside the session'
	rm pts
	fence python3 -c 'import os, subprocess, sys
m, s = os.openpty()
sys.exit(subprocess.call([sys.executable, "change.py", os.ttyname(s), "own"]))'
	rc_is 0 "$(cat "$S/err")"
	not_denied
}

# --- without opening ------------------------------------------------------------------------------------

# Links, attributes and events by system calls: prints what each gave.
looks() {
	cat >"$W/looks.py" <<-'END'
		import ctypes, errno, os, struct, sys
		libc = ctypes.CDLL(None, use_errno=True)
		READLINK, READLINKAT, GETX, LGETX, LISTX, LLISTX, WATCH = 89, 267, 191, 192, 194, 195, 254
		def call(*args):
		    ctypes.set_errno(0)
		    r = libc.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
		    return r if r >= 0 else -ctypes.get_errno()
		def said(name, r, buf=None):
		    print(name, errno.errorcode[-r] if r < 0 else r, buf.raw[:r] if buf and r > 0 else "")
		def link(path, size=400, dirfd=-100):
		    buf = ctypes.create_string_buffer(500)
		    r = call(READLINK, path, buf, size) if dirfd == -100 else call(READLINKAT, dirfd, path, buf, size)
		    return r, buf
		def attr(path, name, size=400, nr=GETX):
		    buf = ctypes.create_string_buffer(70000)
		    return call(nr, path, name, buf, size), buf
		def names(path, size=400, nr=LISTX):
		    buf = ctypes.create_string_buffer(500)
		    return call(nr, path, buf, size), buf
	END
}

t_what_is_closed_shows_nothing_unopened() {
	[ "$T_LEVEL" != hooks ] || return 0
	looks
	ln -s /srv/vault/key ~/.ssh/link
	mkdir ~/.ssh/d
	python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.secret", b"hunter2")
os.setxattr(sys.argv[2], "user.secret", b"hunter2")' ~/.ssh/id_rsa ~/.ssh ||
		skip "no extended attributes here"
	cat >>looks.py <<-'END'
		ssh = os.path.expanduser("~/.ssh").encode()
		home = os.open(os.path.dirname(ssh), os.O_PATH)
		os.symlink(ssh, "dir"); os.symlink(ssh + b"/id_rsa", "key")
		place = os.open(ssh + b"/link", os.O_PATH | os.O_NOFOLLOW)
		inside = os.open(ssh, os.O_PATH)
		for p in (ssh + b"/link", b"../.ssh/link", b"dir/link", b"/proc/self/cwd/../.ssh/link",
		    b"/proc/self/root" + ssh + b"/link", b"/proc/self/fd/%d/link" % inside):
		    said("link", *link(p))
		said("link", *link(b".ssh/link", 400, home)); said("link", *link(b"link", 400, inside))
		said("link", *link(b"", 400, place))
		for p in (ssh + b"/id_rsa", b"../.ssh/id_rsa", b"dir/id_rsa", b"key", ssh, b"/proc/self/fd/%d" % inside,
		    b"/proc/self/fd/%d/id_rsa" % inside):
		    said("attr", *attr(p, b"user.secret")); said("attr", *attr(p, b"user.secret", 0)); said("names", *names(p))
		    said("names", *names(p, 0))
		    if p != b"key":
		        said("attr", *attr(p.replace(b"self/fd/%d" % inside, b"self/fd/%d/../.ssh" % inside), b"user.secret", 400,
		            LGETX)); said("names", *names(p.replace(b"self/fd/%d" % inside, b"self/fd/%d/../.ssh" % inside), 400,
		            LLISTX))
		fd = libc.inotify_init()
		for p in (ssh, ssh + b"/d", ssh + b"/id_rsa", b"../.ssh", b"dir", b"dir/d", b"key", b"/proc/self/fd/%d" % inside,
		    b"/proc/self/cwd/../.ssh"):
		    said("watch", call(WATCH, fd, p, 0xfff))
		said("watch", call(WATCH, fd, b"dir/id_rsa", 0xfff | 0x02000000))
	END
	fence python3 -B looks.py
	rc_is 0
	[ "$(grep -c . "$S/out")" -ge 55 ] || fail "not all was tried"
	! grep -vE '^(link EACCES|attr ENODATA|names 0|watch EACCES) *$' "$S/out" || fail "something is seen"
	denied read "$HOME/.ssh/link"
	# Of all that a listing asks for nothing is said; a closed place that is a link itself lies in the open.
	rm -r ~/.docker && ln -s elsewhere ~/.docker
	fsh 'ls -la ~ >/dev/null; readlink ~/.docker'
	rc_is 0
	out_is elsewhere
	err_is_empty
}

t_what_is_open_shows_what_it_did() {
	local level
	looks
	mkdir d && ln -s file l && ln -s nowhere dangling &&
		ln -s loop loop && ln -s d/ to-d && ln -s "$(printf 'x%.0s' {1..300})" long
	python3 -c 'import os; os.setxattr("file", "user.a", b"value")
os.setxattr("file", "user.b", b""); os.setxattr("d", "user.d", b"dir")' || skip "no extended attributes here"
	cat >>looks.py <<-'END'
		here, place = os.open(".", os.O_RDONLY), os.open("l", os.O_PATH | os.O_NOFOLLOW)
		for p in (b"l", b"dangling", b"loop", b"long", b"to-d", b"to-d/", b"file", b"d", b"none", b"file/x", b"loop/x",
		    b"", b"./l", b"d/../l", b"/", b".", b"..", b"l/", b"/bin", b"/etc/mtab", b"/dev/stdin", b"/dev/fd",
		    b"x" * 300, b"y/" * 2100, b"/proc/mounts", b"/proc/self/fd", b"/proc/self/cwd", b"/proc/self/root",
		    b"/proc/self/exe"):
		    for size in 400, 3, 0, -1:
		        said(p[:20], *link(p, size)); said(p[:20], *link(p, size, here))
		said("place", *link(b"", 400, place)); said("no link", *link(b"", 400, here))
		said("closed", *link(b"l", 400, 77)); said("null", call(READLINK, 0, 0, 9))
		said("nowhere", call(READLINK, b"l", 8, 9))
		said("self", int(link(b"/proc/self")[1].value) == os.getpid())
		said("thread", link(b"/proc/thread-self")[1].value.startswith(b"%d/" % os.getpid()))
		said("fd", *link(b"/proc/self/fd/%d" % here))
		for p in (b"file", b"l", b"d", b"to-d", b"dangling", b"none", b"/", b"/proc/self/fd/%d" % here, b"/etc/passwd",
		    b"/proc/meminfo"):
		    for size in 400, 5, 1, 0, 69000:
		        for name in (b"user.a", b"user.b", b"user.d", b"user.none", b"system.posix_acl_access", b"odd", b"",
		            b"user." + b"n" * 260):
		            said((p[:9], name[:30], size), *attr(p, name, size))
		            said((p[:9], name[:30], size), *attr(p, name, size, LGETX))
		    for size in 400, 5, 0:
		        said((p[:9], size), *names(p, size)); said((p[:9], size), *names(p, size, LLISTX))
		fd = libc.inotify_init1(os.O_NONBLOCK)
		for p in (b"file", b"l", b"d", b"to-d", b"dangling", b"none", b"/etc", b"", b"/proc/self/fd/%d" % here,
		    b"/proc/self/fd", b"/proc"):
		    for mask in 0x100, 0, 0x01000100, 0x02000100, 0x03000100, 0x20000100, 0x10000100, 0x30000100:
		        said((p[:9], mask), call(WATCH, fd, p, mask) )
		said("no watch", call(WATCH, here, b"d", 0x100)); said("closed", call(WATCH, 77, b"d", 0x100))
		open("d/made", "w").close()
		events = os.read(fd, 4096)
		print(len(events), b"made" in events)
	END
	run python3 -B looks.py
	rc_is 0
	mv "$S/out" "$S/bare"
	rm d/made
	fence python3 -B looks.py
	rc_is 0 "$(cat "$S/err")"
	diff "$S/bare" "$S/out" >"$S/diff" || fail "they differ: $(head -c 2000 "$S/diff")"
	[ "$(wc -l <"$S/bare")" -gt 1100 ] || fail "too few cases: $(wc -l <"$S/bare")"
}

# --- mode none --------------------------------------------------------------------------------------------

# Neither read nor written, but for what rules name.
t_mode_none() {
	mkdir -p docs/in out sub .vscode &&
		echo "$DECOY a" >secret && echo "$DECOY b" >sub/secret && echo open >docs/in/f && echo old >out/f
	echo "$DECOY c" >.vscode/tasks.json
	ln -s "$W/secret" "$HOME/by-link" && ln -s ../secret docs/out-again
	picture . >"$S/before"
	cat >"$S/tries.py" <<-'END'
		import os, sys
		w, home = sys.argv[1], sys.argv[2]
		def at(name):
		    d = os.open(w, os.O_PATH)
		    return os.read(os.open(name, os.O_RDONLY, dir_fd=d), 99)
		closed = [
		    lambda: open("secret").read(), lambda: open(w + "/secret").read(), lambda: open("sub/secret").read(),
		    lambda: open(home + "/by-link").read(),
		    lambda: open("/proc/self/cwd/secret").read(), lambda: open("docs/../secret").read(),
		    lambda: open("docs/out-again").read(), lambda: open(".vscode/tasks.json").read(),
		    lambda: at("secret"), lambda: os.listdir("."), lambda: os.listdir("sub"), lambda: os.listdir(w),
		    lambda: open("new", "w"), lambda: open("secret", "a"), lambda: open("secret", "w"),
		    lambda: open("sub/new", "x"), lambda: os.mkdir("d"), lambda: os.mkdir("sub/d"),
		    lambda: os.unlink("secret"), lambda: os.rename("secret", "moved"), lambda: os.rename("secret", "out/f"),
		    lambda: os.rename("out/f", "secret"), lambda: os.link("secret", "out/l"),
		    lambda: os.symlink("x", "l"), lambda: os.truncate("secret", 0),
		    lambda: os.mkfifo("p"), lambda: os.rmdir("sub"),
		    lambda: os.chmod("secret", 0o777), lambda: os.utime("secret"), # above level hooks
		    lambda: open("docs/in/f", "a"), lambda: open("docs/new", "w"), lambda: os.unlink("docs/in/f"),
		    lambda: open("/tmp/pale-t-none-" + str(os.getpid()), "w"), lambda: open(home + "/new", "w"),
		]
		for i, way in enumerate(closed):
		    try:
		        print("done", i, way())
		    except OSError as e:
		        pass
		if sys.argv[3:]:
		    print(open("docs/in/f").read().strip(), os.listdir("docs/in"), open("out/f").read().strip())
		    open("out/new", "w").write("x"); os.rename("out/new", "out/g"); print(sorted(os.listdir("out")))
		    os.unlink("out/g")
	END
	[ "$T_LEVEL" != hooks ] || sed -i '/# above level hooks/d' "$S/tries.py"
	OPTS=(--mode none)
	fence python3 "$S/tries.py" "$W" "$HOME"
	rc_is 0 "$(cat "$S/err")"
	out_is ''
	denied read "$W/secret" 'in mode none'
	picture . | diff - "$S/before" || fail "it was changed"
	fence cat file
	rc_not 0
	if [ "$T_LEVEL" != hooks ]; then
		fence "$T_VICTIMS/carried-static" one 0 secret
		rc_is 13
		fence "$T_VICTIMS/carried-static" one 0 "$W/sub"
		rc_is 13
	fi
	printf '[session]\nmode = none\n[files]\nread = docs\nwrite = out\n' | policy
	OPTS=()
	fence python3 "$S/tries.py" "$W" "$HOME" named
	rc_is 0 "$(cat "$S/err")"
	out_is "open ['f'] old
['f', 'g']"
	picture . | diff - "$S/before" || fail "it was changed"
}

# It is the strictest: a project may ask for it, and none can be asked to be left.
t_mode_none_is_the_strictest() {
	mkdir .pale && printf '[session]\nmode = none\n' >.pale/policy.ini
	fence cat file
	rc_not 0
	printf '[session]\nmode = none\n' | policy
	printf '[session]\nmode = read-only\n' >.pale/policy.ini
	fence cat file
	rc_not 0
	printf '[session]\nmode = read-only\n' | policy
	fence cat file
	rc_is 0
	rm .pale/policy.ini ~/.config/pale/policy.ini
	fsh 'pale run -q --mode none -- cat file; cat file'
	out_is "hello from the workspace"
}

# Nobody but the kernel is asked about what is read there, so what it shows of all is seen.
t_reads_floor_sees_what_the_kernel_shows() {
	[ "$T_LEVEL" = full ] || return 0
	printf '[session]\nreads = floor\n' | policy
	other
	fence "$T_VICTIMS/carried-static" one 0 /proc/self/maps
	rc_is 0
	fence "$T_VICTIMS/carried-static" one 0 /proc/$OTHER/environ
	rc_not 0
}

scenario "$@"
