# limit: 120
# levels: full strict
# Datagram sockets at the levels above hooks: what stands in for them is one to every program, names are
# looked up by it, and nothing leads past the supervisor.
# needs: root
. "$T_LIB"

SERVER=127.77.0.53

# A name server by UDP and TCP for inside(): every A query is 192.0.2.7, of big.* by TCP alone; what was asked
# is written down.
name_server() {
	cat >"$S/server.py" <<'END'
import os, socket, struct, sys, threading
scratch, addr = sys.argv[1:]
def answer(q, tcp):
    labels, at = [], 12
    while q[at]:
        labels.append(q[at + 1:at + 1 + q[at]].decode())
        at += 1 + q[at]
    end = at + 5
    is_a = q[at + 1:at + 3] == b"\0\1"
    with open(scratch + "/asked", "a") as log:
        log.write(".".join(labels).lower() + "\n")
    if labels[0].lower() == "big" and not tcp:
        return q[:2] + b"\x83\x80\0\1\0\0\0\0\0\0" + q[12:end]
    r = q[:2] + b"\x81\x80\0\1" + struct.pack(">H", is_a) + b"\0\0\0\0" + q[12:end]
    return r + b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + bytes([192, 0, 2, 7]) if is_a else r
def by_tcp(c):
    f = c.makefile("rb")
    while (head := f.read(2)) and len(head) == 2:
        r = answer(f.read(struct.unpack(">H", head)[0]), True)
        c.sendall(struct.pack(">H", len(r)) + r)
def listen():
    while True:
        threading.Thread(target=by_tcp, args=(t.accept()[0],), daemon=True).start()
t = socket.socket()
t.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
t.bind((addr, 53))
t.listen(64)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind((addr, 53))
threading.Thread(target=listen, daemon=True).start()
open(scratch + "/asked", "w").close()
while True:
    q, who = u.recvfrom(4096)
    u.sendto(answer(q, False), who)
END
}

# Runs words of this test as the ordinary user, in name spaces of its own: nothing but loopback is there, and
# resolv.conf names our server.
inside() {
	[ "$(id -u)" = 0 ] || skip "name spaces of its own need root"
	echo "nameserver $SERVER" >"$S/resolv.conf"
	printf 'hosts: files dns\n' >"$S/nsswitch.conf"
	declare -f >"$S/functions"
	chown -R "$T_USER:" "$HOME" "$XDG_RUNTIME_DIR" "$S"
	unshare -mn bash -c '
		ip link set lo up && ip addr add 198.51.100.7/32 dev lo || exit 77
		mount --bind "$1/resolv.conf" "$(realpath /etc/resolv.conf)" || exit 77
		mount --bind "$1/nsswitch.conf" /etc/nsswitch.conf || exit 77
		if [ -e "$1/server.py" ]; then
			python3 "$1/server.py" "$1" '$SERVER' &
			until [ -e "$1/asked" ]; do sleep 0.02; done
		fi
		shift
		exec setpriv --reuid="$0" --regid="$0" --clear-groups "$@"' "$T_USER" "$S" \
		bash -c '. "$T_LIB"; S=$T_SCRATCH; W=$HOME/work; STATE=$HOME/.local/state/pale; . "$S/functions"; cd "$W"; '"$1"
	case $? in
	0) ;;
	77) skip "inside" ;;
	*) fail "inside" ;;
	esac
}

asked() {
	grep -qxF "$1" "$S/asked" || fail "the name server was not asked for $1"
}

not_asked() {
	! grep -qxF "$1" "$S/asked" || fail "the name server was asked for $1"
}

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

# --- names --------------------------------------------------------------------------------------------

# Every way that a program may send and receive, with the source of each answer.
t_ways() {
	name_server
	inside '
		fence python3 -c "
import socket, struct
def question(name):
    return b\"ab\1\0\0\1\0\0\0\0\0\0\" + b\"\".join(bytes([len(l)]) + l.encode() for l in name.split(\".\")) + b\"\0\0\1\0\1\"
q = question(\"registry.npmjs.org\")
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
for server in (\"192.0.2.53\", \"127.77.0.53\", \"8.8.8.8\"):
    s.sendto(q, (server, 53))
    answer, source = s.recvfrom(600)
    print(answer[:2] == q[:2], answer[-4:] == bytes([192, 0, 2, 7]), source)
s.sendmsg([q[:5], q[5:]], [], 0, (\"192.0.2.54\", 53))
answer, _, flags, source = s.recvmsg(12)
print(len(answer), flags == socket.MSG_TRUNC, source)
s.connect((\"127.77.0.53\", 53))
print(s.send(q) == len(q), s.recv(600)[-4:] == bytes([192, 0, 2, 7]), s.getpeername())
s.send(q)
print(s.recvfrom(600, socket.MSG_PEEK)[1], s.recvfrom(600)[1])
six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
six.settimeout(5)
six.sendto(q, (\"::ffff:9.9.9.9\", 53))
print(six.recvfrom(600)[1][0])
s.send(question(\"secret.evil.example\"))
print(s.recv(600)[3] & 15)
"
		out_is "True True ('"'192.0.2.53'"', 53)
True True ('"'127.77.0.53'"', 53)
True True ('"'8.8.8.8'"', 53)
12 True ('"'192.0.2.54'"', 53)
True True ('"'127.77.0.53'"', 53)
('"'127.77.0.53'"', 53) ('"'127.77.0.53'"', 53)
::ffff:9.9.9.9
3"
		recorded resolve deny secret.evil.example "\"via\":\"kernel\""'
	asked registry.npmjs.org
	not_asked secret.evil.example
}

# A resolver that sends from a socket without a peer, and looks who answers.
t_musl() {
	need musl-gcc
	name_server
	cat >"$W/name.c" <<-'END'
		#include <netdb.h>
		#include <stdio.h>
		#include <arpa/inet.h>
		int main(int n, char **name)
		{
			for (int i = 1; i < n; i++) {
				struct addrinfo hint = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *a;
				char text[64];
				int r = getaddrinfo(name[i], "443", &hint, &a);
				if (r == 0)
					inet_ntop(AF_INET, &((struct sockaddr_in *)a->ai_addr)->sin_addr, text, sizeof text);
				printf("%s\n", r ? gai_strerror(r) : text);
			}
			return 0;
		}
	END
	musl-gcc -static -o "$W/name" "$W/name.c" || fail "cannot compile"
	inside '
		fence ./name registry.npmjs.org secret.evil.example big.npmjs.org
		out_is "192.0.2.7
Name does not resolve
192.0.2.7"
		denied resolve secret.evil.example'
	asked registry.npmjs.org
	not_asked secret.evil.example
}

# glibc, by datagrams and with everything it sets on its socket.
t_glibc() {
	name_server
	inside '
		fence env -u RES_OPTIONS getent ahostsv4 registry.npmjs.org
		out_has "192.0.2.7"
		fence env RES_OPTIONS=single-request getent ahosts pypi.org
		out_has "192.0.2.7"
		fence env -u RES_OPTIONS getent ahostsv4 secret.evil.example
		rc_not 0'
	asked registry.npmjs.org
	asked pypi.org
	not_asked secret.evil.example
}

t_dig_and_node() {
	need dig node
	name_server
	inside '
		fence dig +short +tries=1 @127.77.0.53 registry.npmjs.org
		out_is 192.0.2.7
		fence dig +tries=1 @127.77.0.53 secret.evil.example
		out_has NXDOMAIN
		fence env -u RES_OPTIONS node -e "
const dns = require(\"dns\");
dns.resolve4(\"registry.npmjs.org\", (e, a) => {
	console.log(e ? e.code : a[0]);
	dns.resolve4(\"secret.evil.example\", (e, a) => console.log(e ? e.code : a[0]));
});"
		out_is "192.0.2.7
ENOTFOUND"'
	asked registry.npmjs.org
	not_asked secret.evil.example
}

t_go() {
	need go
	name_server
	mkdir "$S/go"
	cat >"$S/go/main.go" <<-'END'
		package main

		import (
			"fmt"
			"net"
		)

		func main() {
			for _, n := range []string{"registry.npmjs.org", "secret.evil.example"} {
				a, err := net.LookupHost(n)
				fmt.Println(a, err != nil)
			}
		}
	END
	(cd "$S/go" && HOME=$S GOFLAGS=-mod=mod CGO_ENABLED=0 go build -o "$W/lookup" main.go) >"$S/go/log" 2>&1 || skip "go cannot build here: $(tail -1 "$S/go/log")"
	inside '
		fence env GODEBUG=netdns=go ./lookup
		out_is "[192.0.2.7] false
[] true"'
	asked registry.npmjs.org
	not_asked secret.evil.example
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
    print(s.getsockname(), [s.getsockopt(socket.SOL_SOCKET, o) for o in (socket.SO_TYPE, socket.SO_DOMAIN, socket.SO_PROTOCOL)])
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
for _ in range(20):
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

t_denied() {
	inside '
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
		recorded connect allow "udp 127.0.0.1:$PORT" "a human answered"'
}

# --- unix ------------------------------------------------------------------------------------------------------

t_unix_inside() {
	inside '
		same python3 -c "
import os, socket, threading
a, b = (socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2))
for s, name in ((a, \"a.sock\"), (b, \"b.sock\")):
    if os.path.exists(name):
        os.unlink(name)
    s.bind(name)
    print(s.getsockname())
b.sendto(b\"hello\", \"a.sock\")
print(a.recvfrom(9))
a.sendto(b\"again\", \"b.sock\")
print(b.recvfrom(9))
b.connect(\"a.sock\")
print(b.getpeername())
got = []
def read():
    for _ in range(500):
        got.append(int(a.recv(99)))
t = threading.Thread(target=read)
t.start()
for i in range(500):
    b.send(b\"%d\" % i)
t.join()
print(got == list(range(500)))
c = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
c.sendto(b\"nobody\", \"a.sock\")
print(a.recvfrom(9))
c.bind(\"\\0lines-test\")
c.sendto(b\"name\", \"a.sock\")
print(a.recvfrom(9))
try:
    c.connect(\"nothing.sock\")
except FileNotFoundError:
    print(\"no such file\")
"'
}

# Others' sockets: denied, and by rule; who sends and ends at once has sent.
t_unix_outside() {
	need logger
	inside '
		python3 -c "
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(\"$HOME/log.sock\")
while True:
    data = s.recv(9999)
    with open(\"$S/heard\", \"ab\") as f:
        f.write(data[-5:] + b\"\\n\")
" &
		until_true 10 test -S "$HOME/log.sock" || fail "no server"
		touch "$S/heard"
		fence logger -u "$HOME/log.sock" --socket-errors=on -t t hello
		rc_not 0
		denied unix "$HOME/log.sock"
		file_is "$S/heard" ""
		printf "[network]\nunix = ~/log.sock\n" | policy
		fence logger -u "$HOME/log.sock" -t t hello
		rc_is 0
		until_true 5 test -s "$S/heard" || fail "nothing was heard"
		file_is "$S/heard" hello
		fence python3 -c "
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(\"$HOME/log.sock\")
for i in range(300):
    s.send(b\"%05d\" % i)
"
		until_true 5 grep -qx 00299 "$S/heard" || fail "the last was lost"
		[ "$(sort -u "$S/heard" | wc -l)" = 301 ] || fail "some were lost: $(sort -u "$S/heard" | wc -l) $(tail -3 "$S/heard" | tr "\n" " ")"
		fence env NOTIFY_SOCKET="$HOME/log.sock" python3 -c "
import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.sendmsg([b\"READY\"], [], 0, os.environ[\"NOTIFY_SOCKET\"])
"
		until_true 5 grep -qx READY "$S/heard" || fail "no notice came"'
}

# --- many --------------------------------------------------------------------------------------------------

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
    t.settimeout(5)
    t.send(b\"child\")
    print(t.type == socket.SOCK_DGRAM, t.recvfrom(9)[0], flush=True)
    os._exit(0)
a.sendmsg([b\"x\"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array(\"i\", [s.fileno()]))])
os.wait()
os.set_inheritable(s.fileno(), True)
subprocess.run([sys.executable, \"-c\", \"import socket; s = socket.socket(fileno=%d); s.send(bytes([101])); print(s.recvfrom(9)[0])\" % s.fileno()], close_fds=False)
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
