# limit: 120
# nightly: strict
# Datagram sockets of the unix family at the levels above hooks: what stands in for them is one to every
# program, and leads to no socket outside.
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
		# Who sends and is gone with the session has been heard all the same.
		for i in 1 2 3 4 5 6; do
			fence logger -u "$HOME/log.sock" -t t "last$i"
			until_true 5 grep -qx "last$i" "$S/heard" || fail "the last word was lost"
		done
		: >"$S/heard"
		echo hello >"$S/heard"
		fence python3 -c "
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(\"$HOME/log.sock\")
for i in range(300):
    s.send(b\"%05d\" % i)
"
		until_true 5 grep -qx 00299 "$S/heard" || fail "the last was lost"
		[ "$(sort -u "$S/heard" | wc -l)" = 301 ] ||
			fail "some were lost: $(sort -u "$S/heard" | wc -l) $(tail -3 "$S/heard" | tr "\n" " ")"
		fence env NOTIFY_SOCKET="$HOME/log.sock" python3 -c "
import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.sendmsg([b\"READY\"], [], 0, os.environ[\"NOTIFY_SOCKET\"])
"
		until_true 5 grep -qx READY "$S/heard" || fail "no notice came"'
}

# Who will not wait is told so by a reader who does not read.
t_unix_full() {
	inside '
		same timeout 30 python3 -c "
import errno, socket
a, b = (socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2))
a.bind(\"full.sock\")
try:
    for i in range(5000):
        b.sendto(bytes(1000), socket.MSG_DONTWAIT, \"full.sock\")
except OSError as e:
    print(errno.errorcode[e.errno])
try:
    for i in range(5000):
        b.sendmsg([bytes(1000)], [], socket.MSG_DONTWAIT, \"full.sock\")
except OSError as e:
    print(errno.errorcode[e.errno])
import os
os.unlink(\"full.sock\")
"'
}

scenario "$@"
