# limit: 120
# nightly: strict
# Datagram sockets at the levels above hooks: what stands in for them is one to every program,
# and nothing leads past the supervisor.
# needs: root
. "$T_LIB"
. "$T_BASE/t/lines.sh"

# The same as without a fence: same COMMAND...
same() {
	run "$@"
	mv "$S/out" "$S/bare"
	fence "$@"
	out_is "$(cat "$S/bare")"
}

# A server of datagrams outside, for a while: outside ECHO; its port is in $PORT, what it heard in $S/heard.
outside() {
	python3 - "$S" "$1" <<'END' &
import os, socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
with open(sys.argv[1] + "/port.new", "w") as f:
    f.write(str(s.getsockname()[1]))
os.rename(sys.argv[1] + "/port.new", sys.argv[1] + "/port")
while True:
    data, who = s.recvfrom(70000)
    with open(sys.argv[1] + "/heard", "a") as f:
        f.write(data[:40].decode() + "\n")
    if sys.argv[2] == "echo":
        s.sendto(data, who)
END
	until_true 10 test -e "$S/port" || fail "the server does not start"
	PORT=$(cat "$S/port")
	touch "$S/heard"
}

# --- what a datagram socket is --------------------------------------------------------------------------

t_is_one() {
	inside '
		same python3 -c "
import errno, os, socket, struct
def tell(what):
    try:
        print(what())
    except OSError as e:
        print(errno.errorcode[e.errno])
for family, any, here in ((socket.AF_INET, \"0.0.0.0\", \"127.0.0.1\"), (socket.AF_INET6, \"::\", \"::1\")):
    s = socket.socket(family, socket.SOCK_DGRAM)
    print(s.getsockname(), [s.getsockopt(socket.SOL_SOCKET, o) for o in (socket.SO_TYPE, socket.SO_DOMAIN,
        socket.SO_PROTOCOL)])
    same = socket.socket(fileno=os.dup(s.fileno()))
    print(same.family, same.type, same.proto)
    tell(s.getpeername)
    tell(lambda: s.listen(1))
    tell(lambda: s.bind((\"192.0.2.99\", 0)))
    tell(lambda: s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 9))
    tell(lambda: s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1))
    s.bind((any, 0))
    print(s.getsockname()[0], s.getsockname()[1] > 0)
    tell(lambda: s.bind((any, 0)))
    tell(lambda: s.connect((here, 9)))
    print(s.getsockname()[0], s.getpeername())
    tell(lambda: s.sendto(b\"x\", (here, 0)))
    tell(lambda: s.connect((\"x\", 9)) if False else None)
    s.setblocking(False)
    tell(lambda: s.recvfrom(10))
    tell(lambda: s.recvmsg(10))
    s.settimeout(0.05)
    tell(lambda: s.recvfrom(10))
    s.setblocking(True)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack(\"ll\", 0, 50000))
    tell(lambda: s.recvfrom(10))
    c = socket.socket(family, socket.SOCK_DGRAM)
    c.connect((here, 9))
    print(c.getsockname()[0], c.getsockname()[1] > 0)
u = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
print(repr(u.getsockname()), u.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE))
tell(u.getpeername)
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
a.send(b\"one\")
a.send(b\"two\")
print(b.recv(9), b.recv(9), a.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE))
"'
}

# What the kernel refuses at once is refused, what finds nobody is told, an option is set or is an error; what
# stands behind `differs` is in pale(7), "DIFFERENCES BY DESIGN".
t_nothing_in_vain() {
	cat >p.py <<-'END'
		import errno, fcntl, os, select, socket, struct, termios, time
		def tell(name, what):
		    try: print(name, what())
		    except OSError as e: print(name, errno.errorcode[e.errno])
		def udp(): return socket.socket(2, 2)
		gone = udp(); gone.bind(("127.0.0.1", 0)); closed = gone.getsockname(); gone.close(); time.sleep(.3)
		def refused(then):
		    s = udp(); s.connect(closed); s.settimeout(5); s.send(b"x")
		    select.select([s], [], [], 5)
		    return then(s)
		def to(then):
		    r, s = udp(), udp()
		    r.bind(("127.0.0.1", 0)); r.settimeout(5); s.connect(r.getsockname())
		    return then(s, r)
		tell("recv", lambda: refused(lambda s: s.recv(9)))
		tell("recvfrom", lambda: refused(lambda s: s.recvfrom(9)))
		tell("recvmsg", lambda: refused(lambda s: s.recvmsg(9)))
		tell("send", lambda: refused(lambda s: s.send(b"y")))
		tell("once", lambda: refused(lambda s: (s.getsockopt(1, socket.SO_ERROR) == errno.ECONNREFUSED,
		    s.getsockopt(1, socket.SO_ERROR), s.setblocking(False), s.recv(9))))
		for n in 65507, 65508, 131072, 250000:
		    tell(n, lambda: to(lambda s, r: (s.send(bytes(n)), len(r.recv(n)))))
		    tell(n, lambda: to(lambda s, r: (s.sendmsg([bytes(n)]), len(r.recv(n)))))
		tell("nowhere", lambda: udp().send(b"x"))
		tell("nowhere", lambda: udp().sendmsg([b"x"]))
		tell("unix nowhere", lambda: socket.socket(1, 2).send(b"x"))
		tell("urgent", lambda: to(lambda s, r: s.send(b"x", socket.MSG_OOB)))
		tell("urgent", lambda: to(lambda s, r: s.sendto(b"x", socket.MSG_OOB, r.getsockname())))
		tell("shut", lambda: to(lambda s, r: (s.shutdown(1), s.send(b"x"))))
		def waiting(s, r):
		    s.send(b"one"); s.send(b"three"); s.send(b""); time.sleep(.3)
		    b = bytearray(4); fcntl.ioctl(r, termios.FIONREAD, b)
		    return struct.unpack("i", b)[0], r.recv(9), r.recv(9), r.recv(9)
		tell("unread", lambda: to(waiting))
		tell("unread pair", lambda: waiting(*socket.socketpair(1, 2)))
		for family, level, option, value in ((2, 1, 15, 1), (2, 0, 2, 7), (2, 0, 1, 16), (2, 0, 10, 2),
		        (2, 0, 2, 999), (2, 0, 33, 3), (10, 41, 16, 7), (10, 41, 67, 16), (10, 41, 26, 1),
		        (2, 0, 199, 1), (2, 41, 26, 1), (2, 0, 8, 0)):
		    def both():
		        s = socket.socket(family, 2)
		        before = s.getsockopt(level, option) if option < 100 else 0
		        s.setsockopt(level, option, value)
		        return before, s.getsockopt(level, option)
		    tell((family, level, option), both)
		def shared():
		    a, b = udp(), udp()
		    for s in a, b: s.setsockopt(1, socket.SO_REUSEPORT, 1)
		    a.bind(("127.0.0.1", 0)); b.bind(a.getsockname())
		tell("shared", shared)
		tell("many", lambda: len([udp() for _ in range(600)]))
		u = socket.socket(1, 2); u.bind(""); v = socket.socket(1, 2); v.connect(u.getsockname()); v.send(b"auto")
		tell("unix", lambda: u.recv(9)); u.close(); time.sleep(.3)
		tell("unix gone", lambda: v.send(b"x"))
	END
	same python3 p.py
	cat >p.py <<-'END'
		import array, errno, socket
		def tell(what):
		    try: what()
		    except OSError as e: return print(errno.errorcode[e.errno])
		    print("no error")
		r, s, u, v = socket.socket(2, 2), socket.socket(2, 2), socket.socket(1, 2), socket.socket(1, 2)
		r.bind(("127.0.0.1", 0)); s.connect(r.getsockname()); u.bind("\0p"); v.connect("\0p")
		tell(lambda: s.send(b"x", 0x8000))
		for level, option in (0, 8), (0, 12), (17, 103), (17, 104), (1, 29): tell(lambda: s.setsockopt(level, option, 1))
		tell(lambda: s.sendmsg([b"x"], [(0, 2, bytes(4))]))
		tell(lambda: v.sendmsg([b"x"], [(1, 1, array.array("i", [0]))]))
		tell(lambda: v.sendmsg([b"x"], [(1, 1, array.array("i", [0]))], 0, "\0p"))
		tell(lambda: u.setsockopt(1, 16, 1))
	END
	fence python3 p.py
	out_is "ENOTSUP
ENOPROTOOPT
ENOPROTOOPT
ENOPROTOOPT
ENOPROTOOPT
ENOPROTOOPT
EINVAL
EPERM
EPERM
ENOTSUP"
}

# A signal ends a wait, as the program has it handled; who waits does not hold up others.
t_waiting() {
	inside '
		fence python3 -c "
import signal, socket, threading, time
class Stop(Exception): pass
def on(*_): raise Stop
signal.signal(signal.SIGALRM, on)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    s.recvfrom(10)
except Stop:
    print(\"interrupted\", flush=True)
threading.stack_size(65536)
for _ in range(200):
    t = threading.Thread(target=lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).recvfrom(10), daemon=True)
    t.start()
time.sleep(0.3)
start = time.time()
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).bind((\"127.0.0.1\", 0))
print(time.time() - start < 0.2, flush=True)
import os
os._exit(0)
"
		out_is "interrupted
True"'
}

# --- other hosts ------------------------------------------------------------------------------------------

# A server of the session at each address, by whatever address it is reached; a program outside is not heard there.
t_bound_to_every_address() {
	cat >p.py <<-'END'
		import socket, sys
		def heard(family, bound, to, back=False):
		    a, b = (socket.socket(family, socket.SOCK_DGRAM) for _ in range(2))
		    a.settimeout(5); b.settimeout(5)
		    a.bind((bound, 0))
		    to = (to, a.getsockname()[1])
		    if back: b.connect(to)
		    b.send(b"q") if back else b.sendto(b"q", to)
		    data, who = a.recvfrom(9)
		    a.sendto(data + b"a", who)
		    return b.recv(9) == b"qa"
		print(heard(socket.AF_INET, "", "127.0.0.1"), heard(socket.AF_INET, "", "127.0.0.1", True),
		      heard(socket.AF_INET, "127.0.0.1", "127.0.0.1"), heard(socket.AF_INET6, "::", "::1"),
		      heard(socket.AF_INET6, "::1", "::1", True))
	END
	fence python3 p.py
	out_is "True True True True True"
	bg server python3 -c 'import socket, time
s = socket.socket(2, 2); s.bind(("", 0)); s.settimeout(3)
open("port.new", "w").write(str(s.getsockname()[1]))
import os; os.rename("port.new", "port")
try: print("heard", s.recv(9))
except TimeoutError: print("nothing")'
	until_true 20 test -e port || fail "the server does not start"
	python3 -c 'import socket, sys; socket.socket(2, 2).sendto(b"x", ("127.0.0.1", int(sys.argv[1])))' "$(cat port)"
	bg_wait server
	out_is nothing
}

t_denied() {
	inside '
		unset PALE_PROMPT
		outside echo
		fence python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try:
    s.sendto(b\"by name\", (\"127.0.0.1\", $PORT))
except PermissionError:
    print(\"refused\")
s.connect((\"127.0.0.1\", $PORT))
print(s.send(b\"by connection\"))
s.settimeout(0.2)
try:
    s.recv(10)
except TimeoutError:
    print(\"nothing\")
"
		out_is "refused
13
nothing"
		denied connect "udp 127.0.0.1:$PORT"
		recorded connect deny "udp 127.0.0.1:$PORT" "\"via\":\"kernel\""
		file_is "$S/heard" ""'
}

# What native code does past the library: a name in the message, another socket under the number.
t_past_the_library() {
	cat >"$W/past.c" <<-'END'
		#include <arpa/inet.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/socket.h>
		#include <sys/syscall.h>
		#include <time.h>
		#include <unistd.h>
		static struct sockaddr_in to = { .sin_family = AF_INET }, dns = { .sin_family = AF_INET };
		static struct msghdr m;
		static int fd, line, tcp;
		static void *turn(void *p)
		{
			for (;;) {
				m.msg_name = m.msg_name ? 0 : &to;
				to.sin_port = to.sin_port == dns.sin_port ? htons((int)(long)p) : dns.sin_port;
				dup2(tcp, fd);
				dup2(line, fd);
			}
		}
		int main(int n, char **arg)
		{
			struct iovec iov = { "past", 4 };
			time_t end = time(NULL) + 3;
			pthread_t t;
			line = socket(AF_INET, SOCK_DGRAM, 0);
			tcp = socket(AF_INET, SOCK_STREAM, 0);
			fd = dup(line);
			dns.sin_port = htons(53);
			to.sin_addr.s_addr = dns.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
			m = (struct msghdr){ .msg_namelen = sizeof(to), .msg_iov = &iov, .msg_iovlen = 1 };
			pthread_create(&t, 0, turn, (void *)atol(arg[1]));
			while (time(NULL) < end) {
				syscall(SYS_sendmsg, fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
				syscall(SYS_sendto, fd, "past", 4, MSG_DONTWAIT | MSG_NOSIGNAL, &to, sizeof(to));
			}
			puts("done");
			return n != 2;
		}
	END
	gcc -O1 -static -o "$W/past" "$W/past.c" -pthread || fail "cannot compile"
	inside '
		unset PALE_PROMPT
		outside echo
		fence ./past "$PORT"
		out_is "done"
		file_is "$S/heard" ""'
}

t_allowed() {
	inside '
		outside echo
		printf "[network]\nudp = localhost:%s\n" "$PORT" | policy
		fence python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
s.sendto(b\"one\", (\"127.0.0.1\", $PORT))
print(s.recvfrom(9) == (b\"one\", (\"127.0.0.1\", $PORT)))
s.connect((\"127.0.0.1\", $PORT))
s.send(b\"two\")
print(s.recv(9), s.getpeername()[1] == $PORT)
s.send(b\"x\" * 60000)
print(len(s.recv(65535)))
six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
six.settimeout(5)
six.sendto(b\"six\", (\"::ffff:127.0.0.1\", $PORT))
print(six.recvfrom(9)[1][0])
"
		out_is "True
b'"'two'"' True
60000
::ffff:127.0.0.1"
		recorded connect allow "udp 127.0.0.1:$PORT"'
}

# A port that a rule opens is heard from outside, and who came may be answered.
t_served() {
	inside '
		printf "[network]\nudp = localhost:47111\n" | policy
		bg server python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((\"127.0.0.1\", 47111))
open(\"ready\", \"w\")
for _ in range(2):
    data, who = s.recvfrom(99)
    s.sendto(data.upper(), who)
"
		until_true 10 test -e ready || fail "no server"
		for word in one two; do
			python3 -c "
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
s.sendto(b\"$word\", (\"127.0.0.1\", 47111))
print(s.recv(9).decode())
" >>"$S/said" || fail "not served"
		done
		bg_wait server
		rc_is 0
		file_is "$S/said" "ONE
TWO"'
}

# Two programs of the session, by loopback; a human is asked once.
t_asked() {
	inside '
		outside echo
		printf "[network]\nask = localhost:%s\n" "$PORT" | policy
		bg client python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((\"127.0.0.1\", $PORT))
s.send(b\"one\")
s.send(b\"two\")
s.settimeout(20)
print(s.recv(9), s.recv(9))
"
		pale approve "$(pending_id)" >/dev/null || fail "cannot approve"
		bg_wait client
		out_is "b'"'one'"' b'"'two'"'"
		recorded connect allow "udp 127.0.0.1:$PORT" "the operator answered"'
}

# What was let through before is judged anew after a reload; what the new policy allows goes on, inwards too.
t_reloaded() {
	inside '
		outside echo
		printf "[network]\nudp = localhost:%s\n" "$PORT" | policy
		bg client python3 -c "
import os, socket, time
far = (\"127.0.0.1\", $PORT)
a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
b.connect(far)
a.settimeout(2), b.settimeout(2)
def go(what, until=None):
    try: a.sendto(what, far); b.send(what); got = a.recv(9), b.recv(9)
    except OSError as e: got = type(e).__name__
    print(got, flush=True)
def wait(name):
    open(name + \"-before\", \"w\").close()
    while not os.path.exists(name): time.sleep(0.02)
go(b\"one\")
a.sendto(b\"two\", far), time.sleep(0.1)
wait(\"wider\")
print(a.recv(9)), go(b\"three\")
wait(\"narrower\")
go(b\"four\")
try: b.send(b\"five\"), print(b.recv(9))
except OSError as e: print(type(e).__name__)
"
		until_true 10 test -e wider-before || fail "no way at first"
		printf "[network]\nudp = localhost:%s\nudp = localhost:9\n" "$PORT" | policy
		run pale policy reload
		rc_is 0
		touch wider
		until_true 10 test -e narrower-before || fail "no way after a wider policy"
		printf "[network]\ndeny = localhost:%s\n" "$PORT" | policy
		run pale policy reload
		rc_is 0
		touch narrower
		bg_wait client
		out_is "(b'"'one', b'one'"')
b'"'two'"'
(b'"'three', b'three'"')
PermissionError
PermissionError"
		file_is "$S/heard" "one
one
two
three
three"'
}

# The session ends while a human is asked about a peer: nobody is waited for, and the status is the command's.
t_ends_while_asked() {
	inside '
		outside echo
		printf "[network]\nask = localhost:%s\n" "$PORT" | policy
		bg client python3 -c "
import os, socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((\"127.0.0.1\", $PORT))
s.send(b\"one\")
while not os.path.exists(\"over\"):
    time.sleep(0.02)
os._exit(7)
"
		pending_id >/dev/null
		touch over
		bg_wait client
		rc_is 7
		file_is "$S/heard" ""'
}

# A line is a descriptor: it lives in a child, behind exec, and with who got it by a message.
t_handed_on() {
	inside '
		outside echo
		printf "[network]\nudp = localhost:%s\n" "$PORT" | policy
		fence python3 -c "
import array, os, socket, subprocess, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((\"127.0.0.1\", $PORT))
a, b = socket.socketpair()
if os.fork() == 0:
    _, ancillary, _, _ = b.recvmsg(1, 64)
    fd = array.array(\"i\", ancillary[0][2])[0]
    s.close()
    t = socket.socket(fileno=fd)
    t.send(b\"child\")
    print(t.type == socket.SOCK_DGRAM, t.recvfrom(9)[0], flush=True)
    os._exit(0)
a.sendmsg([b\"x\"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array(\"i\", [s.fileno()]))])
os.wait()
os.set_inheritable(s.fileno(), True)
code = \"import socket; s = socket.socket(fileno=%d); s.send(bytes([101])); print(s.recvfrom(9)[0])\" % s.fileno()
subprocess.run([sys.executable, \"-c\", code], close_fds=False)
"
		out_is "True b'"'child'"'
b'"'e'"'"'
}

t_flood() {
	inside '
		outside quiet
		printf "[network]\nudp = localhost:%s\n" "$PORT" | policy
		fence python3 -c "
import errno, resource, socket
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
held, said = [], set()
for i in range(10000):
    try:
        held.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    except OSError as e:
        said.add(errno.errorcode[e.errno])
print(100 < len(held) <= 4096, said)
del held
import time
for i in range(100):
    try:
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        break
    except OSError:
        time.sleep(0.05)
s.connect((\"127.0.0.1\", $PORT))
for i in range(20000):
    s.send(b\"flood\")
d = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
d.connect((\"127.0.0.1\", 9))
for i in range(20000):
    try:
        d.send(b\"closed\")
    except ConnectionRefusedError:
        pass
print(\"alive\")
"
		out_is "True {'"'ENOBUFS'"'}
alive"
		recorded connect deny "too many datagram sockets"
		grep -qx flood "$S/heard" || fail "nothing came through"
		! grep -q closed "$S/heard" || fail "it came through"'
}

scenario "$@"
