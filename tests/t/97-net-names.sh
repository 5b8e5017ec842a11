# limit: 60
# Names at the levels above hooks: libc asks the name server over TCP, which needs no rule; a denied name is
# not asked for.  The server is our own, by a resolv.conf in a mount of our own.
# needs: root
. "$T_LIB"

SERVER=127.77.0.53

# Answers every A query by 192.0.2.7 and writes its name down.
name_server() {
	python3 - "$S" $SERVER <<'END' &
import os, socket, struct, sys, threading
scratch, addr = sys.argv[1:]
def serve(c):
    f = c.makefile("rb")
    while (head := f.read(2)) and len(head) == 2:
        q = f.read(struct.unpack(">H", head)[0])
        labels, at = [], 12
        while q[at]:
            labels.append(q[at + 1:at + 1 + q[at]].decode())
            at += 1 + q[at]
        end = at + 5
        is_a = q[at + 1:at + 3] == b"\0\1"
        with open(scratch + "/asked", "a") as log:
            log.write(".".join(labels) + "\n")
        r = q[:2] + b"\x81\x80\0\1" + struct.pack(">H", is_a) + b"\0\0\0\0" + q[12:end]
        if is_a:
            r += b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + bytes([192, 0, 2, 7])
        c.sendall(struct.pack(">H", len(r)) + r)
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind((addr, 53))
s.listen(64)
open(scratch + "/asked", "w").close()
while True:
    threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
END
	until_true 10 test -e "$S/asked" || fail "the name server does not start"
}

# Runs this file's test again as the ordinary user, where resolv.conf names our server.
with_names() {
	[ "$(id -u)" = 0 ] || skip "a mount of its own needs root"
	name_server
	echo "nameserver $SERVER" >"$S/resolv.conf"
	printf 'hosts: files dns\n' >"$S/nsswitch.conf"
	chown -R "$T_USER:" "$HOME" "$XDG_RUNTIME_DIR" "$S"
	unshare -m bash -c '
		mount --bind "$1/resolv.conf" "$(realpath /etc/resolv.conf)" || exit 77
		mount --bind "$1/nsswitch.conf" /etc/nsswitch.conf || exit 77
		shift
		exec setpriv --reuid="$0" --regid="$0" --clear-groups "$@"' "$T_USER" "$S" \
		bash -c '. "$T_LIB"; S=$T_SCRATCH; W=$HOME/work; STATE=$HOME/.local/state/pale; cd "$W"; '"$1" || fail "inside: $?"
}

asked() {
	grep -qxF "$1" "$S/asked" || fail "the name server was not asked for $1"
}

not_asked() {
	! grep -qxF "$1" "$S/asked" || fail "the name server was asked for $1"
}

t_python() {
	with_names '
		fence python3 -c "
import socket
print(socket.getaddrinfo(\"registry.npmjs.org\", 443)[0][4][0])
try:
    socket.getaddrinfo(\"secret.evil.example\", 443)
except socket.gaierror:
    print(\"no such name\")
"
		out_is "192.0.2.7
no such name"
		recorded connect allow '$SERVER:53' "a name server of /etc/resolv.conf"
		denied resolve secret.evil.example'
	asked registry.npmjs.org
	not_asked secret.evil.example
}

t_programs() {
	need node curl
	with_names '
		fence node -e "require(\"dns\").lookup(\"registry.npmjs.org\", (e, a) => console.log(e ? e.code : a))"
		out_is 192.0.2.7
		fence getent ahostsv4 pypi.org
		out_has 192.0.2.7
		fence curl -sv --connect-timeout 1 https://crates.io
		err_has 192.0.2.7'
	asked registry.npmjs.org
	asked pypi.org
	asked crates.io
}

# Only there, and only where there is a network at all.
t_only_the_server() {
	with_names '
		fence "$T_VICTIMS/net-static" connect '$SERVER' 53
		out_is ok
		fence "$T_VICTIMS/net-static" connect 127.77.0.54 53
		out_is EACCES
		fence "$T_VICTIMS/net-static" connect '$SERVER' 54
		out_is EACCES
		printf "[network]\nmode = off\n" | policy
		fence "$T_VICTIMS/net-static" connect '$SERVER' 53
		out_is EACCES'
}

scenario "$@"
