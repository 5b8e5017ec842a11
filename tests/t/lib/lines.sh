# For the scenarios of datagram sockets: name spaces of their own, and a name server in them.

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
