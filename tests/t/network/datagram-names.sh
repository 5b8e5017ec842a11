# limit: 120
# nightly: strict
# Names are looked up by datagrams, as each resolver does it; nothing is asked that is denied.
# needs: root
. "$T_LIB"
. "$T_BASE/t/lines.sh"

# Every way that a program may send and receive, with the source of each answer.
t_ways() {
	name_server
	inside '
		fence python3 -c "
import socket, struct
def question(name):
    labels = b\"\".join(bytes([len(l)]) + l.encode() for l in name.split(\".\"))
    return b\"ab\1\0\0\1\0\0\0\0\0\0\" + labels + b\"\0\0\1\0\1\"
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
	(cd "$S/go" && HOME=$S GOFLAGS=-mod=mod CGO_ENABLED=0 go build -o "$W/lookup" main.go) >"$S/go/log" 2>&1 ||
		skip "go cannot build here: $(tail -1 "$S/go/log")"
	inside '
		fence env GODEBUG=netdns=go ./lookup
		out_is "[192.0.2.7] false
[] true"'
	asked registry.npmjs.org
	not_asked secret.evil.example
}

scenario "$@"
