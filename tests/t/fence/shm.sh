# levels: full strict hooks
# limit: 90
# /dev/shm: what the session made there is its own, what others have there is not.
. "$T_LIB"

# What a program outside has there: a segment, a semaphore, a directory; by names of this test's own in $N.
shared() {
	N=pale-t-${S##*/}
	trap 'rm -rf /dev/shm/$N* /dev/shm/sem.$N*' EXIT
	echo "$DECOY shared" >/dev/shm/$N
	mkdir /dev/shm/$N.d && echo "$DECOY deep" >/dev/shm/$N.d/f
	gcc -o "$S/sem" -x c - -lpthread <<-'END' || fail "no compiler"
		#include <fcntl.h>
		#include <semaphore.h>
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			int value = -1;
			sem_t *s = sem_open(argv[1], argc > 2 ? O_CREAT : 0, 0600, 0);
			if (s == SEM_FAILED) { perror("sem_open"); return 1; }
			sem_post(s);
			sem_getvalue(s, &value);
			printf("%d\n", value);
		}
	END
	"$S/sem" /$N make >/dev/null || fail "no semaphore"
}

# What is there now, as the owner sees it.
shared_now() {
	find /dev/shm/$N /dev/shm/$N.d /dev/shm/sem.$N -printf '%p %i %m %s %T@\n' &&
		cat /dev/shm/$N /dev/shm/$N.d/f && cksum </dev/shm/sem.$N
}

t_shared_memory_of_others() {
	[ "$T_LEVEL" != hooks ] || return 0
	shared
	shared_now >"$S/before"
	cat >shared.py <<-'END'
		import ctypes, mmap, os, socket, sys, time
		n = sys.argv[1]
		at, deep, sem = "/dev/shm/" + n, "/dev/shm/" + n + ".d", "/dev/shm/sem." + n
		libc, rt = ctypes.CDLL(None, use_errno=True), ctypes.CDLL("librt.so.1", use_errno=True)
		libc.sem_open.restype = ctypes.c_void_p
		def sys_(r):
		    if r is None or r < 0:
		        raise OSError(ctypes.get_errno(), "")
		    return r
		os.symlink(at, "link")
		os.chdir("/dev/shm")
		here = os.open(".", os.O_RDONLY)
		b = at.encode()
		ways = [
		    lambda: open(at).read(), lambda: open(at, "a"), lambda: open(at, "r+"), lambda: open(at, "w"),
		    lambda: os.open(at, os.O_RDONLY | os.O_CREAT), lambda: os.open(at, os.O_RDONLY | os.O_TRUNC),
		    lambda: open(n).read(),
		    lambda: os.open(n, os.O_RDWR, dir_fd=here), lambda: open(sys.argv[2] + "/link").read(),
		    lambda: open("/proc/self/cwd/" + n).read(),
		    lambda: open("/run/shm/" + n).read(), lambda: open(deep + "/f").read(), lambda: open(deep + "/new", "w"),
		    lambda: os.listdir(deep),
		    lambda: os.unlink(at), lambda: os.unlink(sem), lambda: os.unlink(deep + "/f"),
		    lambda: os.rename(at, at + ".mine"),
		    lambda: os.rename(deep, at + ".mine"), lambda: os.rename(deep + "/f", at + ".mine"),
		    lambda: (open(at + ".own", "w"), os.rename(at + ".own", at)),
		    lambda: os.link(at, at + ".mine"), lambda: os.truncate(at, 0), lambda: os.chmod(at, 0o666),
		    lambda: os.chown(at, -1, os.getgid()),
		    lambda: os.utime(at), lambda: os.setxattr(at, "user.x", b"y"), lambda: os.mkdir(deep + "/d"),
		    lambda: os.symlink("x", deep + "/l"),
		    lambda: sys_(libc.shm_open(("/" + n).encode(), os.O_RDWR, 0)), lambda: sys_(libc.shm_unlink(("/" + n).encode())),
		    lambda: sys_(libc.sem_open(("/" + n).encode(), 0)), lambda: sys_(libc.sem_unlink(("/" + n).encode())),
		    lambda: sys_(libc.syscall(2, b, 0)), lambda: sys_(libc.syscall(257, -100, b, 2)),
		    lambda: sys_(libc.syscall(87, b)),
		    lambda: sys_(libc.syscall(82, b, b + b".mine")), lambda: sys_(libc.syscall(76, b, 0)),
		    lambda: sys_(libc.syscall(90, b, 0o666)),
		]
		for i, way in enumerate(ways):
		    try:
		        way()
		        print("done", i)
		    except OSError:
		        pass
	END
	fence python3 -B shared.py "$N" "$W"
	rc_is 0
	out_is ''
	shared_now | diff - "$S/before" || fail "it was changed"
	denied read "/dev/shm/$N" '`write = '"/dev/shm/$N"'` in [files] would allow it'
	fence "$S/sem" "/$N"
	rc_not 0
	fence "$T_VICTIMS/carried-static" one 0 "/dev/shm/$N"
	rc_is 13
	# A line about it opens it, whatever its rank.
	printf '[files]\nwrite = /dev/shm/%s\nwrite = /dev/shm/sem.%s\n' "$N" "$N" | policy
	fence cat "/dev/shm/$N"
	out_has "$DECOY shared"
	fence "$S/sem" "/$N"
	out_is 2
	fence cat "/dev/shm/$N.d/f"
	rc_not 0
}

t_shared_memory_of_its_own() {
	shared
	fence python3 -c '
import multiprocessing, os, sys
from multiprocessing import shared_memory
n, d = sys.argv[1], "/dev/shm/"
def child(name, sem, q):
    m = shared_memory.SharedMemory(name=name)
    m.buf[0] += 1
    m.close(); sem.release(); q.put("said")
m = shared_memory.SharedMemory(create=True, size=64)
m.buf[0] = 1
sem, q = multiprocessing.Semaphore(0), multiprocessing.Queue()
p = multiprocessing.Process(target=child, args=(m.name, sem, q))
p.start(); sem.acquire(); print(m.buf[0], q.get()); p.join(); m.close(); m.unlink()
os.mkdir(d + n + ".t"); open(d + n + ".t/f", "w").write("x"); os.rename(d + n + ".t/f", d + n + ".f")
os.link(d + n + ".f", d + n + ".g"); os.symlink(n + ".g", d + n + ".l")
print(open(d + n + ".f").read(), open(d + n + ".l").read(), len(open(d + n + ".g", "a+").read()))
t = os.open("/dev/shm", os.O_TMPFILE | os.O_RDWR, 0o600)
os.write(t, b"tmp"); os.link(f"/proc/self/fd/{t}", d + n + ".u", src_dir_fd=0, follow_symlinks=True)
print(open(d + n + ".u").read())
os.mkfifo(d + n + ".p"); open(d + n + ".w", "w").write("long")
open(d + n + ".w", "w").write("w"); print(open(d + n + ".w").read())
os.chmod(d + n + ".w", 0o640); os.utime(d + n + ".w"); os.truncate(d + n + ".w", 0)
for x in "fglupw": os.unlink(d + n + "." + x)
os.rmdir(d + n + ".t")
' "$N"
	rc_is 0 "$(cat "$S/err")"
	out_is $'2 said\nx x 0\ntmp\nw'
	not_denied
	fsh '"$0" "/$1.own" make && "$0" "/$1.own"; rm /dev/shm/sem.$1.own' "$S/sem" "$N"
	rc_is 0
	out_is $'1\n2'
	fsh 'echo x >/dev/shm/'"$N"'.a; cat /dev/shm/'"$N"'.a; [ -z "$0" ] || "$0" one 1025 /dev/shm/'"$N"'.a
		cat /dev/shm/*.a; rm /dev/shm/'"$N"'.a' "$([ "$T_LEVEL" = hooks ] || echo "$T_VICTIMS/carried-static")"
	rc_is 0
	not_denied
}

# What is removed by its owner and made anew by another is no more the session's: by none of many tries.
t_shared_memory_changes_hands() {
	[ "$T_LEVEL" != hooks ] || return 0
	shared
	bg hands python3 -c '
import os, sys
at = "/dev/shm/" + sys.argv[1] + ".x"
while not os.path.exists("stop"):
    try:
        with open(at, "r+" if os.path.exists(at) else "w+") as f:
            if "secret" in f.read():
                print("read"); break
    except OSError:
        pass' "$N"
	python3 -c '
import os, sys
at, made = "/dev/shm/" + sys.argv[1] + ".x", 0
for i in range(4000):
    try:
        os.unlink(at)
    except OSError:
        pass
    try:
        fd = os.open(at, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError:
        continue
    made += 1
    os.write(fd, b"secret"); os.close(fd)
open("stop", "w").close()
print(made)' "$N" >"$S/made"
	bg_wait hands
	rc_is 0
	out_is ''
	[ "$(cat "$S/made")" -gt 10 ] || fail "it was hardly ever made: $(cat "$S/made")"
}

scenario "$@"
