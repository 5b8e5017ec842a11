# limit: 120
# nightly: strict
# retry: timeouts
# Ports of this machine: the session's own are open, whoever else listens acts outside the fence.  Who was
# reached is what the listeners say.
. "$T_LIB"
. "$(dirname "$T_LIB")/loopback-lib.sh"

# --- what goes on working ----------------------------------------------------------------------------------

t_own() {
	alone
	read -r one two three < <(pick 3)
	echo inside >page
	fsh "$SERVE"'
		serve '"$one"'; serve '"$two"' ::1; serve '"$three"' 0.0.0.0
		for at in 127.0.0.1:'"$one"' \
			localhost:'"$one"' 0.0.0.0:'"$one"' [::1]:'"$two"' localhost:'"$two"' 127.0.0.9:'"$three"'; do
			get http://$at/page
		done
		busybox wget -q -O - http://127.0.0.1:'"$one"'/page
		kill $(jobs -p)'
	out_is "$(printf 'inside\n%.0s' 1 2 3 4 5 6 7)"
	recorded connect allow ":$one" "the session's own"
	not_recorded connect deny "127.0.0.1"
}

# A server of both families has two sockets, which are bound before they listen.
t_own_of_both_families() {
	alone
	fence python3 -c '
import socket
for i in range(20):
    four, six = socket.socket(), socket.socket(socket.AF_INET6)
    six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    four.bind(("0.0.0.0", 0))
    port = four.getsockname()[1]
    six.bind(("::", port))
    four.listen(), six.listen()
    for at in "127.0.0.1", "::1": socket.create_connection((at, port)).close()
    four.close(), six.close()
print("all")'
	rc_is 0
	out_is all
	err_is_empty
}

# Restarted, in a child, with a port that the kernel chose, handed on by exec and by a message; and who is not
# there yet refuses as ever.
t_own_in_every_way() {
	alone
	read -r port < <(pick 1)
	cat >ways.py <<'END'
import array, errno, os, socket, subprocess, sys
port = int(sys.argv[1])
def call(to):
    c = socket.socket()
    r = c.connect_ex(("127.0.0.1", to))
    return errno.errorcode.get(r, "ok")
def listen(to):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", to))
    s.listen(5)
    return s
print("nobody", call(port))
for i in range(3):
    s = listen(port)
    print("again", call(port))
    s.close()
print("gone", call(port))
s = listen(0)
chosen = s.getsockname()[1]
print("chosen", call(chosen))
if os.fork() == 0:
    print("from a child", call(chosen), flush=True)
    os._exit(0)
os.wait()
got, child = os.pipe()
if os.fork() == 0:
    mine = listen(0)
    os.write(child, b"%d\n" % mine.getsockname()[1])
    mine.accept()
    os._exit(0)
print("of a child", call(int(os.read(got, 9))))
os.set_inheritable(s.fileno(), True)
env = dict(os.environ, FD=str(s.fileno()))
p = subprocess.Popen([sys.executable, "-c",
    "import os, socket; socket.socket(fileno=int(os.environ['FD'])).accept()"], env=env, close_fds=False)
s.close()
print("handed on", call(chosen))
p.kill()
a, b = socket.socketpair()
s = listen(0)
chosen = s.getsockname()[1]
a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [s.fileno()]))])
s.close()
print("on its way", call(chosen))
s = socket.socket()
s.listen(1)
print("never bound", call(s.getsockname()[1]))
group = []
for i in range(3):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.bind(("127.0.0.1", port))
    s.listen(64)
    group.append(s)
print("shared", {call(port) for i in range(20)})
END
	fence python3 -u ways.py "$port"
	out_is "nobody ECONNREFUSED
again ok
again ok
again ok
gone ECONNREFUSED
chosen ok
from a child ok
of a child ok
handed on ok
on its way ok
never bound ok
shared {'ok'}"
	not_recorded connect deny "127.0.0.1"
}

# Thousands of ports have come and gone, and the first server is still known.
t_many() {
	alone
	fence python3 -c '
import socket
first = socket.socket()
first.bind(("127.0.0.1", 0))
first.listen(5)
for i in range(6000):
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(1)
    s.close()
socket.create_connection(first.getsockname())
print("known")'
	out_is known
}

# More callers than the server has room for: they wait as they would.  Linux itself forgets some of them.
t_backlog() {
	alone
	fence python3 -c '
import errno, select, socket, threading, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(0)
calls = []
for i in range(4):
    c = socket.socket()
    c.setblocking(False)
    r = c.connect_ex(s.getsockname())
    assert r == errno.EINPROGRESS, errno.errorcode[r]
    calls.append(c)
def serve():
    while True:
        c = s.accept()[0]
        c.send(c.recv(9).upper())
        c.close()
said = []
def say(c):
    try:
        c = c or socket.create_connection(s.getsockname(), 6)
        select.select([], [c], [], 6)
        c.settimeout(3)
        c.send(b"hello")
        said.append(c.recv(9))
    except TimeoutError:
        said.append("late")
    except OSError as e:
        said.append(errno.errorcode[e.errno])
t = [threading.Thread(target=say, args=(c,)) for c in [None] + calls]
t[0].start()
time.sleep(0.2)
threading.Thread(target=serve, daemon=True).start()
for one in t[1:]:
    one.start()
for one in t:
    one.join()
print(said.count(b"HELLO") >= 2, set(said) <= {b"HELLO", "late", b""})'
	out_is "True True"
}

t_datagrams() {
	alone
	fence python3 -c '
import os, socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
at = s.getsockname()
s.settimeout(5)
if os.fork() == 0:
    c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    c.settimeout(5)
    c.sendto(b"one", at)
    print(c.recv(9).decode())
    c.connect(at)
    for i in range(3):
        c.send(b"two")
        print(c.recv(9).decode(), flush=True)
    os._exit(0)
for i in range(4):
    data, who = s.recvfrom(9)
    s.sendto(data.upper(), who)
os.wait()'
	out_is "ONE
TWO
TWO
TWO"
}

# --- what does not ------------------------------------------------------------------------------------------

# By every name of this machine, from hooked and static code; an address of the machine itself needs root to be
# had, but hosts of it have names.
t_outside() {
	alone
	outside 0.0.0.0
	local own name
	own=$(ip -4 -o addr show scope global 2>/dev/null | sed -n 's|.* inet \([0-9.]*\)/.*|\1|p' | head -1)
	for name in 127.0.0.1 127.8.8.8 localhost 0.0.0.0 "[::ffff:127.0.0.1]" "[::ffff:0.0.0.0]" $own \
		$(sed -n 's/^127[0-9.]*[ \t]*\([^ \t]*\).*/\1/p' /etc/hosts); do
		fence curl -sS -m 5 "http://$name:$PORT/"
		rc_not 0 "$name"
		fence busybox wget -q -T 5 -O - "http://$name:$PORT/"
		rc_not 0 "wget $name"
	done
	for name in 127.0.0.1 ::ffff:127.0.0.1 0.0.0.0 $own; do
		fence "$T_VICTIMS/net-static" connect "$name" "$PORT"
		out_is EACCES
	done
	[ -z "$own" ] || denied connect "$own:$PORT"
	outside ::1 "$PORT"
	fence curl -sS -m 5 "http://[::1]:$PORT/"
	rc_not 0
	fence "$T_VICTIMS/net-static" connect :: "$PORT"
	out_is EACCES
	not_heard
	recorded connect deny "127.0.0.1:$PORT"
}

# Rules that name every host do not speak of this machine.
t_wide_rules() {
	alone
	outside 0.0.0.0
	local own
	own=$(ip -4 -o addr show scope global 2>/dev/null | sed -n 's|.* inet \([0-9.]*\)/.*|\1|p' | head -1)
	printf '[network]\nmode = open\n' | policy
	fence "$T_VICTIMS/net-static" connect 127.0.0.1 "$PORT"
	out_is EACCES
	[ -z "$own" ] || fence "$T_VICTIMS/net-static" connect "$own" "$PORT"
	out_is EACCES
	not_heard
	printf '[network]\nallow = localhost:%s\n' "$PORT" | policy
	for name in 127.0.0.1 localhost $own; do
		fence curl -sS -m 5 "http://$name:$PORT/"
		out_is outside
	done
}

# The operator's own rule closes what the session bound, too.
t_denied_own() {
	read -r port < <(pick 1)
	printf '[network]\ndeny = localhost:%s\n' "$port" | policy
	fsh "$SERVE"'serve '"$port"'; sleep 1; curl -sS -m 2 http://127.0.0.1:'"$port"'/; r=$?; kill $(jobs -p); exit $r'
	rc_not 0
	denied connect "127.0.0.1:$port"
}

# A socket of the session bound to another address of loopback: "any" is not where that is.
t_any_is_loopback() {
	alone
	outside 127.0.0.2
	fence python3 -c "
import socket
s = socket.socket()
s.bind(('127.0.0.1', $PORT))
s.listen(5)
c = socket.socket()
c.bind(('127.0.0.2', 0))
c.connect(('0.0.0.0', $PORT))
c.send(b'stolen')
s.settimeout(5)
print(s.accept()[0].recv(9))"
	out_is "b'stolen'"
	not_heard
}

t_datagrams_outside() {
	alone
	outside
	fence python3 -c "
import errno, os, socket
for name in ('127.0.0.1', '0.0.0.0', 'localhost'):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for how in (lambda: s.sendto(b'sendto', (name, $PORT)), lambda: s.sendmsg([b'sendmsg'], [], 0, (name, $PORT))):
        try:
            print(how())
        except OSError as e:
            print(errno.errorcode[e.errno])
    s.connect((name, $PORT))
    s.send(b'connected')
six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
try:
    six.sendto(b'mapped', ('::ffff:127.0.0.1', $PORT))
except OSError as e:
    print(errno.errorcode[e.errno])"
	out_is "$(printf 'EACCES\n%.0s' 1 2 3 4 5 6 7)"
	sleep 0.3
	not_heard
}

# --- asked --------------------------------------------------------------------------------------------------

t_asked() {
	outside
	bg one curl -sS -m 30 "http://127.0.0.1:$PORT/"
	pending_id >/dev/null
	run pale pending
	out_has "127.0.0.1:$PORT"
	out_has "python3"
	out_has "(pid $OUTSIDE) of user $(id -un), outside the session"
	pale approve "$(pending_id)" >/dev/null || fail "cannot approve"
	bg_wait one
	out_is outside
	recorded connect allow "127.0.0.1:$PORT" "the operator answered"
	bg two "$T_VICTIMS/net-static" connect 127.0.0.1 "$PORT"
	pale deny "$(pending_id)" >/dev/null || fail "cannot deny"
	bg_wait two
	out_is EACCES
}

# The yes was for who listened then.
t_asked_about_another() {
	outside
	bg one "$T_VICTIMS/net-static" connect 127.0.0.1 "$PORT"
	pending_id >/dev/null
	kill "$OUTSIDE"
	wait "$OUTSIDE" 2>/dev/null
	outside 127.0.0.1 "$PORT"
	pale approve "$(pending_id)" >/dev/null || fail "cannot approve"
	bg_wait one
	out_is EACCES
	not_heard
}

t_explained() {
	run pale explain connect localhost:4096
	rc_is 3
	out_has "ask = localhost"
	out_has "only ports that the session itself listens on are open"
}

# Abstract names that the session bound itself; those of others are judged.
t_abstract_names_of_the_session() {
	cat >abstract.py <<-'END'
		import os, socket, sys
		for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
		    name = "\0pale-test-%d-%d" % (os.getpid(), kind)
		    a, b = socket.socket(socket.AF_UNIX, kind), socket.socket(socket.AF_UNIX, kind)
		    a.bind(name)
		    if kind != socket.SOCK_DGRAM: a.listen()
		    b.connect(name)
		    b.send(b"hello")
		    c = a.accept()[0] if kind != socket.SOCK_DGRAM else a
		    c.settimeout(10)
		    print(c.recv(9))
		try: socket.socket(socket.AF_UNIX).connect("\0" + sys.argv[1])
		except OSError as e: print(e.errno)
	END
	python3 -c 'if 1:
		import socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.bind("\0" + sys.argv[1])
		s.listen()
		s.accept()' "pale-others-$$" &
	until_true 10 grep -q "@pale-others-$$" /proc/net/unix || fail "no server"
	fence python3 abstract.py "pale-others-$$"
	kill $!
	out_is "$(printf "b'hello'\n%.0s" 1 2 3; echo 13)"
	recorded unix deny "@pale-others-$$"
}

scenario "$@"
