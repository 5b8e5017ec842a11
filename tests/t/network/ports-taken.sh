# limit: 120
# levels: full strict
# retry: timeouts
# Ports of this machine that were the session's, or are somebody else's as well.
. "$T_LIB"
. "$(dirname "$T_LIB")/loopback-lib.sh"

# --- who was, and is no more --------------------------------------------------------------------------------

# The session had the port, and somebody outside has it now: by an open connection's socket, by a datagram
# socket that was let send there, by a call that waits for room.
t_taken_over() {
	alone
	read -r port < <(pick 1)
	cat >over.py <<'END'
import errno, os, socket, sys, time
port = int(sys.argv[1])
def bound(kind):
    s = socket.socket(socket.AF_INET, kind)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", port))
    if kind == socket.SOCK_STREAM:
        s.listen(0)
    return s
t, u = bound(socket.SOCK_STREAM), bound(socket.SOCK_DGRAM)
named, connected = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
connected.connect(("127.0.0.1", port))
named.sendto(b"own", ("127.0.0.1", port))
connected.send(b"own")
u.settimeout(5)
print(u.recv(9), u.recv(9), flush=True)
# Full: who calls now has to say it again.
waiting = []
for i in range(6):
    c = socket.socket()
    c.setblocking(False)
    c.connect_ex(("127.0.0.1", port))
    waiting.append(c)
if os.fork() == 0:
    t.close(), u.close()
    c = socket.socket()
    try:
        c.connect(("127.0.0.1", port))
        c.send(b"blocked")
    except OSError:
        pass
    os._exit(0)
time.sleep(0.2)
t.close()
u.close()
open("free", "w")
while not os.path.exists("taken"):
    time.sleep(0.001)
c = socket.socket()
print(errno.errorcode.get(c.connect_ex(("127.0.0.1", port))), flush=True)
try:
    named.sendto(b"named", ("127.0.0.1", port))
except OSError as e:
    print(errno.errorcode[e.errno])
connected.send(b"connected")
time.sleep(4)
for c in waiting:
    try:
        c.send(b"waiting")
    except OSError:
        pass
time.sleep(0.5)
END
	bg over python3 over.py "$port"
	until_true 20 test -e free || fail "not ready: $(cat "$S/over.err")"
	outside 127.0.0.1 "$port"
	touch taken
	bg_wait over
	out_is "b'own' b'own'
EACCES
EACCES"
	not_heard
}

# A port that is shared (SO_REUSEPORT) with somebody outside is not the session's.
t_shared() {
	alone
	outside 127.0.0.1 0 reuse
	cat >share.py <<'END'
import errno, socket, sys
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen(64)
s.setblocking(False)
print({errno.errorcode.get(socket.socket().connect_ex(s.getsockname()), "ok") for i in range(64)})
END
	fence python3 share.py "$PORT"
	out_is "{'EACCES'}"
	not_heard
}

# A listener that was there before, and was handed in, is not of the session's making.
t_handed_in() {
	alone
	cat >in.py <<'END'
import os, socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(5)
os.dup2(s.fileno(), 0)
os.execvp("pale", ["pale", "run", "-q", "--", "python3", "-c", """
import errno, socket
s = socket.socket(fileno=0)
print(errno.errorcode.get(socket.socket().connect_ex(s.getsockname()), "ok"))
s.listen(9)
print(errno.errorcode.get(socket.socket().connect_ex(s.getsockname()), "ok"))
"""])
END
	run python3 in.py
	out_is "EACCES
EACCES"
}

scenario "$@"
