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
print(100 < len(held) <= 512, said)
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
    d.send(b\"closed\")
print(\"alive\")
"
		out_is "True {'"'ENOBUFS'"'}
alive"
		recorded connect deny "too many datagram sockets"
		grep -qx flood "$S/heard" || fail "nothing came through"
		! grep -q closed "$S/heard" || fail "it came through"'
}

scenario "$@"
