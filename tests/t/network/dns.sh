# limit: 120
# nightly: strict
# Names: whoever asks whichever server by whatever transport is answered by the forwarder, which asks upstream
# for nothing but what may be looked up.  In a network of our own, whose name server stands outside the fence.
# needs: root
. "$T_LIB"

SERVER=127.77.0.53
GOOD=93.184.216.34

# Inside: answers by what the first label says, over UDP and TCP, and writes down what it was asked; serves
# "hello" on port 80.
servers() {
	python3 - "$S" $SERVER $GOOD <<'END' &
import socket, struct, sys, threading
scratch, addr, good = sys.argv[1:]
def record(kind, data, ttl=60):
    return b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, ttl, len(data)) + data
def name(text):
    return b"".join(bytes([len(l)]) + l.encode() for l in text.split(".")) + b"\0"
def answer(q, room):
    labels, at = [], 12
    while q[at]:
        labels.append(q[at + 1:at + 1 + q[at]].decode().lower())
        at += 1 + q[at]
    end = at + 5
    kind = struct.unpack(">H", q[at + 1:at + 3])[0]
    with open(scratch + "/asked", "a") as log:
        log.write(".".join(labels) + "\n")
    a = socket.inet_aton(good)
    rrs, flags = [], 0x8180
    if labels[0] == "chain":
        edge = name("edge.cdn.example")
        rrs = [record(5, edge), edge + struct.pack(">HHIH", 1, 1, 60, 4) + a]
    elif kind == 1:
        rrs = [record(1, a)]
    elif kind == 16:
        rrs = [record(16, bytes([200]) + bytes([97 + i]) * 200) for i in range(20)]
    elif kind == 65:
        rrs = [record(65, b"\0\1\0" + b"\0\4\0\4" + a)]
    body = q[12:end] + b"".join(rrs)
    if 12 + len(body) > room:
        flags, rrs, body = 0x8380, [], q[12:end]
    return q[:2] + struct.pack(">HHHHH", flags, 1, len(rrs), 0, 0) + body
def stream(c):
    f = c.makefile("rb")
    while (head := f.read(2)) and len(head) == 2:
        r = answer(f.read(struct.unpack(">H", head)[0]), 65535)
        c.sendall(struct.pack(">H", len(r)) + r)
def web(c):
    c.recv(4096)
    c.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nhello\n")
    c.close()
def listen(at, serve):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(at)
    s.listen(64)
    def accept():
        while True:
            threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
listen((addr, 53), stream)
listen(("", 80), web)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind((addr, 53))
open(scratch + "/asked", "w").close()
while True:
    q, peer = u.recvfrom(4096)
    u.sendto(answer(q, 1232), peer)
END
	until_true 10 test -e "$S/asked" || fail "the servers do not start"
}

# As root, where this network is.
network() {
	ip link set lo up
	ip addr add $GOOD/32 dev lo
	ip route add 192.0.2.0/24 dev lo
	mount --bind "$S/resolv.conf" "$(realpath /etc/resolv.conf)" || exit 77
	mount --bind "$S/nsswitch.conf" /etc/nsswitch.conf || exit 77
	mount --bind "$S/hosts" /etc/hosts || exit 77
	servers
}

# The first word of a test: from here on it runs as the ordinary user in that network.
with_names() {
	[ -z "${NAMES_INSIDE:-}" ] || return 0
	[ "$(id -u)" = 0 ] || skip "a network of its own needs root"
	need ip dig
	echo "nameserver $SERVER" >"$S/resolv.conf"
	printf 'hosts: files dns\n' >"$S/nsswitch.conf"
	printf '127.0.0.1 localhost\n' >"$S/hosts"
	chown -R "$T_USER:" "$HOME" "$XDG_RUNTIME_DIR" "$S"
	NAMES_INSIDE=1 S=$S unshare -mn bash -c '
		. <(sed "\$d" "$0") && network &&
			exec setpriv --reuid="$T_USER" --regid="$T_USER" --clear-groups bash "$0" "$1"' \
		"$0" "${FUNCNAME[1]#t_}"
	exit
}

own_rules() {
	policy <<-END
		[network]
		default = deny
		allow = good.example
		allow = chain.good.example
		allow = *.wild.example
	END
}

asked() {
	grep -qxF "$1" "$S/asked" || fail "the name server was not asked for $1"
}

not_asked() {
	! grep -qF "$1" "$S/asked" || fail "the name server was asked for $1"
}

# --- who asks ------------------------------------------------------------------------------------------

# libc, static musl, c-ares, and what writes its packets itself: by UDP and TCP, of this server and of others.
t_clients() {
	with_names
	own_rules
	need node musl-gcc
	fence getent ahostsv4 good.example
	out_has $GOOD
	fence getent ahostsv4 evil.example
	rc_not 0
	cat >"$S/look.c" <<-END
		#include <netdb.h>
		#include <stdio.h>
		#include <arpa/inet.h>
		int main(int c, char **v)
		{
			struct addrinfo h = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *a;
			int r = getaddrinfo(v[c - 1], "80", &h, &a);
			puts(r ? gai_strerror(r) : inet_ntoa(((struct sockaddr_in *)a->ai_addr)->sin_addr));
			return 0;
		}
	END
	musl-gcc -static -o "$W/look" "$S/look.c" || fail "musl-gcc"
	fence ./look good.example
	out_is $GOOD
	fence ./look evil.example
	out_lacks $GOOD
	fence node -e 'const d = require("dns"); for (const n of ["good.example", "evil.example"])
		d.resolve4(n, (e, a) => console.log(n, e ? e.code : a[0]))'
	out_has "good.example $GOOD"
	out_has "evil.example ENOTFOUND"
	for how in +notcp +tcp "@192.0.2.53 +notcp" "@192.0.2.53 +tcp"; do
		fence dig +short +time=2 +tries=1 $how good.example
		out_is $GOOD
		fence dig +time=2 +tries=1 $how evil.example
		out_has "status: NXDOMAIN"
		out_has "EDE: 15 (Blocked)"
	done
	asked good.example
	not_asked evil.example
	denied resolve evil.example
	recorded resolve allow good.example "policy.ini:3"
}

# --- what is asked --------------------------------------------------------------------------------------

t_records() {
	with_names
	own_rules
	need curl
	fence dig +noall +answer chain.good.example
	out_has "CNAME	edge.cdn.example."
	out_has "A	$GOOD"
	fence curl -s --max-time 5 http://chain.good.example/
	out_is hello
	recorded connect allow chain.good.example:80 "policy.ini:4"
	# Twenty strings of 200 come by TCP from upstream, and by TCP to the client.
	fence dig +short good.example TXT
	[ "$(wc -l <"$S/out")" = 20 ] || fail "TXT: $(wc -l <"$S/out") strings"
	fence dig +ignore +notcp good.example TXT
	out_has " tc "
	# The hint of an HTTPS record leads to the name as well.
	fence sh -c "dig +short good.example TYPE65; curl -s --max-time 5 --resolve x.example:80:$GOOD http://x.example/"
	out_has hello
	fence dig good.example ANY
	out_has "status: REFUSED"
}

# Names of addresses, and the machine's own: never asked of anybody.
t_answered_here() {
	with_names
	own_rules
	fence sh -c "dig +short good.example; dig +short -x $GOOD"
	out_has good.example.
	fence dig -x 192.0.2.99
	out_has "status: NXDOMAIN"
	fence dig secret.in-addr.arpa PTR
	out_has "status: NXDOMAIN"
	fence dig +short localhost
	out_is 127.0.0.1
	fence dig +short a.localhost AAAA
	out_is ::1
	not_asked arpa
	not_asked localhost
}

# --- names that carry more ---------------------------------------------------------------------------------

t_exfiltration() {
	with_names
	own_rules
	long=d3b07384d113edec49eaa6238ad5ff00d3b07384d113edec4900
	fence dig $long.wild.example
	out_has "status: NXDOMAIN"
	not_asked $long
	why="names this long or this many could carry data to a name server"
	denied resolve $long.wild.example "$why"
	err_has "pale: denied resolve $long.wild.example ([network] $why)"
	seq 1 60 | sed 's/.*/x&.wild.example A/' >"$W/names"
	fence dig +short +time=2 +tries=1 -f names
	[ "$(grep -c '^x.*wild' "$S/asked")" = 40 ] || fail "$(grep -c '^x.*wild' "$S/asked") names were asked for"
	# Nothing of the query but the name goes on: not what stands behind it.
	fence python3 -c '
import socket, struct
q = b"\x12\x34\x01\0\0\1\0\0\0\0\0\1\4good\7example\0\0\1\0\1" + b"\0\0\x29\4\xd0\0\0\0\0\0\x0c\xfd\xe9\0\x08SECRET!!"
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(3)
s.sendto(q, ("192.0.2.1", 53))
r, peer = s.recvfrom(512)
print(peer, r[3] & 15, socket.inet_ntoa(r[-15:-11]))'
	out_is "('192.0.2.1', 53) 0 $GOOD"
}

# What asks for no name goes nowhere, and is written down: another opcode, no DNS at all, every type.
t_no_question() {
	with_names
	own_rules
	fence python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
s.sendto(b"my dear fellow", ("192.0.2.1", 53))
s.sendto(b"\x12\x34\x20\0\0\1\0\0\0\0\0\0\4good\7example\0\0\6\0\1", ("192.0.2.1", 53))
print(s.recv(512)[3] & 15)'
	out_is 4
	recorded resolve deny "what is no question about a name" '"via":"kernel"' "cannot be understood"
	fence dig +time=2 +tries=1 good.example ANY +notcp
	out_has "status: REFUSED"
	recorded resolve deny good.example "cannot be understood"
	not_asked good.example
}

# A name that the policy denies is denied to who asks for it in another way as well, and says so.
t_told() {
	with_names
	own_rules
	fence getent hosts Evil.EXAMPLE
	err_has "pale: denied resolve evil.example ([network] default: no rule names this host or port)"
	printf '[network]\nmode = off\n' | policy
	fence dig +time=1 +tries=1 good.example
	out_lacks $GOOD
	not_asked good.example
}

scenario "$@"
