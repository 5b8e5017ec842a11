# limit: 90
# nightly: strict
# needs: root
# Clients as they are, which never heard of pale or of a proxy, in an internet of their own (netlab.sh): each
# reaches the names of the policy and no others.  The ground truth is what arrived outside.
. "$T_LIB"
. "$(dirname "$T_LIB")/netlab.sh"

GOODS="own.example www.own.example chain.own.example"
EVILS="evil.example notown.example own.example.evil.example sneak.evil.example tenant.evil.example"
EVILS+=" $EVIL $EVIL6 $METADATA $LAN"


# --- clients: what each says of HOST... is `HOST: body`, by port 80 -----------------------------------

# Of an address of IPv6 a URL has it in brackets.
url() {
	case $1 in
	*:*) echo "http://[$1]/hello" ;;
	*) echo "http://$1/hello" ;;
	esac
}

# A program that takes one URL, for each host.
each() {
	local host program=$1
	shift
	for host; do
		echo "$host: $($program "$(url "$host")" 2>&1 | grep -aE '^(good|evil)')"
	done
}

c_curl() { each "curl -sS -m 5" "$@"; }
c_curl6() { each "curl -sS -6 -m 5" "$@"; }
c_wget() { each "wget -q -T 5 -t 1 -O -" "$@"; }
c_busybox() { each "busybox wget -q -O -" "$@"; }
c_perl() { perl reach.pl "$@"; }
c_urllib() { python3 reach.py "$@"; }
c_asyncio() { python3 reach_async.py "$@"; }
c_fetch() { node reach.js fetch "$@"; }
c_cares() { node reach.js cares "$@"; }
c_java() { java -Xshare:auto -XX:TieredStopAtLevel=1 -cp . Reach "$@"; }
c_gogo() { GODEBUG=netdns=go ./reach-go "$@"; }
c_gocgo() { GODEBUG=netdns=cgo ./reach-go "$@"; }
c_goesc() { ./reach-go-static "$@"; }
c_musl() { ./reach-musl "$@"; }
c_glibc() { ./reach-glibc "$@"; }
c_libc() { ./reach-libc "$@"; }

write_clients() {
	cat >reach.pl <<'END'
use HTTP::Tiny;
for my $host (@ARGV) {
    my $r = HTTP::Tiny->new(timeout => 5)->get("http://" . ($host =~ /:/ ? "[$host]" : $host) . "/hello");
    print "$host: ", $r->{success} ? $r->{content} : "\n";
}
END
	cat >reach.py <<'END'
import sys, urllib.request
for host in sys.argv[1:]:
    try:
        url = "http://" + ("[" + host + "]" if ":" in host else host) + "/hello"
        print(host + ":", urllib.request.urlopen(url, timeout=5).read().decode().strip(), flush=True)
    except OSError as e:
        print(host + ":", type(e).__name__, flush=True)
END
	cat >reach_async.py <<'END'
import asyncio, sys
async def one(host):
    try:
        r, w = await asyncio.wait_for(asyncio.open_connection(host, 80), 5)
        w.write(f"GET /hello HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
        body = (await asyncio.wait_for(r.read(), 5)).split(b"\r\n\r\n")[1]
        print(host + ":", body.decode().strip(), flush=True)
        w.close()
    except (OSError, asyncio.TimeoutError) as e:
        print(host + ":", type(e).__name__, flush=True)
async def all():
    await asyncio.gather(*[one(host) for host in sys.argv[1:]])
asyncio.run(all())
END
	cat >reach.js <<'END'
const http = require("http"), dns = require("dns").promises, net = require("net");
const [how, ...hosts] = process.argv.slice(2);
const url = host => "http://" + (net.isIPv6(host) ? `[${host}]` : host) + "/hello";
const get = (host, to) => new Promise((done, fail) => {
    const r = http.get({ host: to, port: 80, path: "/hello", headers: { Host: host },
      timeout: 5000, agent: false }, m => {
        let body = "";
        m.on("data", d => body += d).on("end", () => done(body));
    });
    r.on("timeout", () => r.destroy(new Error("timeout"))).on("error", fail);
});
(async () => {
    for (const host of hosts)
        try {
            const body = how === "fetch" ? await (await fetch(url(host))).text()
                : await get(host, net.isIP(host) ? host : (await dns.resolve4(host))[0]);
            console.log(host + ": " + body.trim());
        } catch (e) {
            console.log(host + ": failed " + (e.cause || e).code);
        }
})();
END
	cat >reach.c <<'END'
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int n, char **host)
{
	while (*++host) {
		struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *all = NULL, *a;
		char buf[2048], *body = NULL;
		ssize_t got = 0, more;
		int fd = -1;
		if (getaddrinfo(*host, "80", &hints, &all) == 0)
			for (a = all; a && fd < 0; a = a->ai_next) {
				fd = socket(a->ai_family, a->ai_socktype, 0);
				if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
					break;
				close(fd);
				fd = -1;
			}
		if (fd >= 0) {
			dprintf(fd, "GET /hello HTTP/1.0\r\nHost: %s\r\n\r\n", *host);
			while (got < (ssize_t)sizeof(buf) - 1 && (more = read(fd, buf + got, sizeof(buf) - 1 - got)) > 0)
				got += more;
			buf[got] = 0;
			body = strstr(buf, "\r\n\r\n");
			close(fd);
		}
		printf("%s: %s\n", *host, body ? body + 4 : "nothing");
		fflush(stdout);
	}
	return n == 0;
}
END
	cat >Reach.java <<'END'
import java.net.*;
public class Reach {
    public static void main(String[] hosts) {
        for (String host : hosts)
            try {
                var c = new URL("http://" + (host.contains(":") ? "[" + host + "]" : host) + "/hello").openConnection();
                c.setConnectTimeout(5000);
                System.out.println(host + ": " + new String(c.getInputStream().readAllBytes()).trim());
            } catch (Exception e) {
                System.out.println(host + ": " + e.getClass().getName());
            }
    }
}
END
	cat >reach.go <<'END'
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

func main() {
	for _, host := range os.Args[1:] {
		c, err := net.DialTimeout("tcp", net.JoinHostPort(host, "80"), 5*time.Second)
		if err != nil {
			fmt.Println(host+":", "failed")
			continue
		}
		fmt.Fprintf(c, "GET /hello HTTP/1.0\r\nHost: %s\r\n\r\n", host)
		all, _ := io.ReadAll(c)
		_, body, _ := strings.Cut(string(all), "\r\n\r\n")
		fmt.Println(host+":", strings.TrimSpace(body))
		c.Close()
	}
}
END
}

# --- how each is judged -----------------------------------------------------------------------------------

# Bare it gets everywhere, inside to the names of the policy alone.
judge() {
	local host client=$1 goods=${2:-$GOODS} evils=${3:-$EVILS}
	own_host
	lab_forget
	run "$client" $evils
	for host in $evils; do
		grep -qE "^$host: (good|evil) " "$S/out" || [ "$host" = "${NOT_BARE:-}" ] || fail "bare, $client does not reach $host"
	done
	lab_forget
	fence bash -c "$(declare -f url each "$client"); $client $goods $evils"
	for host in $goods; do
		out_has "$host: good $host"
	done
	for host in $evils; do
		! grep -qE "^$host: (good|evil)" "$S/out" || fail "$client reaches $host"
	done
	only_the_good
	for host in $goods; do
		recorded connect allow "$host"
	done
	for host in $evils; do
		denied_in_ledger "$host"
	done
}

t_curl() { lab && judge c_curl; }
t_curl6() { lab && judge c_curl6 "own.example six.own.example" "evil.example $EVIL6 $METADATA6"; }
t_wget() { lab && need wget && judge c_wget; }
t_busybox() { lab && need busybox && judge c_busybox; }
t_perl() { lab && need perl && write_clients && judge c_perl; }
t_urllib() { lab && write_clients && judge c_urllib; }
t_asyncio() { lab && write_clients && judge c_asyncio; }
t_fetch() { lab && need node && write_clients && judge c_fetch; }
t_cares() { lab && need node && write_clients && judge c_cares; }

t_java() {
	lab
	need javac java
	write_clients
	javac Reach.java || fail "javac"
	judge c_java
}

t_go() {
	lab
	need go gcc
	write_clients
	GOCACHE=$S/gocache GO111MODULE=off go build -o reach-go reach.go || fail "go build"
	GOCACHE=$S/gocache GO111MODULE=off CGO_ENABLED=0 go build -o reach-go-static reach.go || fail "go build"
	judge c_gogo
	judge c_gocgo
	judge c_goesc
}

t_static() {
	lab
	need gcc musl-gcc
	write_clients
	gcc -O1 -static -o reach-glibc reach.c 2>/dev/null || fail "gcc -static"
	gcc -O1 -o reach-libc reach.c || fail "gcc"
	musl-gcc -O1 -static -o reach-musl reach.c || fail "musl-gcc"
	judge c_libc
	judge c_glibc
	judge c_musl
}

# --- clients of other kinds: each is met by a greeting ----------------------------------------------------

# greets COMMAND GREETING: with @ for the host, bare it is greeted everywhere, inside by the good one alone.
greets() {
	local command=$1 greeting=$2 host
	for host in own.example evil.example $EVIL; do
		run bash -c "${command//@/$host}"
		grep -qF "$greeting" "$S/out" "$S/err" || fail "bare, no greeting of $host: $command"
	done
	lab_forget
	fence bash -c "${command//@/own.example}"
	grep -qF "$greeting" "$S/out" "$S/err" || fail "no greeting: $command"
	for host in evil.example $EVIL sneak.evil.example tenant.evil.example; do
		fence bash -c "${command//@/$host}"
		! grep -qF "$greeting" "$S/out" "$S/err" || fail "$host greets: $command"
		denied_in_ledger "$host"
	done
	only_the_good
	recorded connect allow own.example
}

t_git() {
	lab
	own_host
	greets 'git ls-remote http://@/repo.git && echo found' found
	fsh 'git clone -q http://own.example/repo.git copy && test -d copy/.git && echo cloned'
	out_is cloned
}

t_https() {
	lab
	own_host
	run curl -sS -m 5 -k https://evil.example/hello
	out_is "evil evil.example"
	lab_forget
	fence curl -sS -m 5 --cacert "$LAB/cert.pem" https://own.example/hello
	out_is "good own.example"
	fence curl -sS -m 5 --cacert "$LAB/cert.pem" https://registry.npmjs.org/hello
	out_is "good registry.npmjs.org"
	fence curl -sS -m 5 http://registry.npmjs.org/hello
	rc_not 0 "the preset names port 443 alone"
	fence curl -sS -m 5 -k https://evil.example/hello
	rc_not 0
	recorded connect deny registry.npmjs.org:80
	recorded connect allow registry.npmjs.org:443
	only_the_good
	not_reached tcp $CORE 80
}

t_ssh() {
	lab
	need ssh
	own_host
	local alone='-F /dev/null -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null'
	greets "ssh -v $alone -o ConnectTimeout=4 @ true" 'remote software version lab'
}

t_psql() {
	lab
	need psql
	own_host
	greets 'psql -w -h @ -U x -c "select 1"' 'greetings from the lab'
}

t_nc() {
	lab
	need nc
	own_host
	greets 'nc -w 2 @ 4444' hello
	greets 'busybox nc -w 2 @ 4444' hello
	greets 'exec 3<>/dev/tcp/@/4444 && cat <&3' hello
}

# --- those that only ask for names ---------------------------------------------------------------------------

# looks COMMAND ANSWER: with @ for the name.
looks() {
	local command=$1 answer=$2 name
	run bash -c "${command//@/own.example}"
	out_has "$answer"
	run bash -c "${command//@/evil.example}"
	asked evil.example
	lab_forget
	fence bash -c "${command//@/own.example}"
	out_has "$answer"
	asked own.example
	for name in evil.example x.exfil.example sneak.evil.example; do
		fence bash -c "${command//@/$name}"
		out_lacks "$answer"
		out_lacks "$EVIL"
		not_asked $name
		recorded resolve deny $name
	done
	only_the_good
}

t_lookups() {
	lab
	need dig host nslookup busybox
	own_host
	looks 'getent ahosts @' $GOOD
	looks 'dig +short +tries=1 +time=3 @' $GOOD
	looks 'dig +short +tries=1 +time=3 @ AAAA' $GOOD6
	looks 'dig +short +tcp +tries=1 +time=3 @' $GOOD
	looks 'dig +short +tries=1 +time=3 @ TXT' "text of"
	looks 'dig +short +tries=1 +time=3 @ MX' mail.own.example
	looks 'dig +short +tries=1 +time=3 @ HTTPS' ipv4hint=
	looks "dig @$LAB_DNS6 +short +tries=1 +time=3 @" $GOOD
	looks 'host -W 3 @' $GOOD
	looks 'nslookup -timeout=3 @' $GOOD
	looks 'busybox nslookup @' $GOOD
	fence dig +short +tries=1 +time=3 chain.own.example
	out_has middle.neverland.example.
	out_has $GOOD3
	fence dig +short +tries=1 +time=3 _web._tcp.own.example SRV
	out_has "80 own.example."
	fence dig +short +tries=1 +time=3 long.own.example TXT
	[ "$(wc -c <"$S/out")" -gt 1600 ] || fail "a long answer is not whole"
}

# Of several addresses the one that bare comes first (RFC 6724 asks where each would be sent from).
t_the_same_order() {
	lab
	need node
	own_host
	run getent ahosts own.example
	cp "$S/out" order
	fence getent ahosts own.example
	cmp "$S/out" order || fail "another order: $(cat order)"
	gcc -O1 -static -o order-static -x c - 2>/dev/null <<-'END' || fail "gcc -static"
		#include <netdb.h>
		#include <stdio.h>
		int main(void)
		{
			struct addrinfo *a;
			if (getaddrinfo("own.example", "80", NULL, &a) == 0)
				for (; a; a = a->ai_next)
					printf("%d\n", a->ai_family);
		}
	END
	run ./order-static
	cp "$S/out" order
	fence ./order-static
	cmp "$S/out" order || fail "another order: $(cat order)"
}

t_node_lookups() {
	lab
	need node
	own_host
	looks 'node -e "require(\"dns\").lookup(\"@\", { all: true }, (e, a) => console.log(e ? e.code : a))"' "$GOOD"
	looks 'node -e "require(\"dns\").resolve4(\"@\", (e, a) => console.log(e ? e.code : a))"' "$GOOD"
	looks 'node -e "require(\"dns\").resolve6(\"@\", (e, a) => console.log(e ? e.code : a))"' "$GOOD6"
	looks 'node -e "require(\"dns\").resolveTxt(\"@\", (e, a) => console.log(e ? e.code : a))"' "text of"
}

scenario "$@"
