# A small internet for scenarios, sourced by those that say `# needs: root`.
#
# The agent's network name space has one way out: a veth to the name space of the servers, which has every
# address of this internet: a name server (dnsmasq), two web servers (nginx: ours and the evil one), and
# little servers that greet (sshd, PostgreSQL, echo over TCP and UDP).  What leaves the agent's name space is
# written down where it arrives, packet by packet (what goes to port 53 whole): that and the name server's log
# are the ground truth.
#
# Nothing can be left over: the name spaces are mounted in a mount name space of the test's own, the servers
# are one process name space, which ends with the test.  So names need not be unique and tests run side by side.
#
# The addresses are such as the policy takes for public; no packet has a way out of here.

LAB_NET=93.184.215 LAB_NET6=2606:2800:21f:
LAB_GATE=$LAB_NET.1
LAB_DNS=$LAB_NET.53 LAB_DNS6=$LAB_NET6:53
GOOD=151.101.1.10 GOOD6=2a04:4e42::10
GOOD2=151.101.1.14 GOOD3=151.101.1.15
HOSTED=151.101.1.11 # bücher.example, and hosted.example by /etc/hosts alone
CORE=151.101.1.12   # registry.npmjs.org, for a name of the preset's
EVIL=45.33.32.66 EVIL6=2600:3c01::66
EVIL_HOSTED=45.33.32.68 # hosts-evil.example, by /etc/hosts alone
LAN=10.7.7.7
METADATA=169.254.169.254 METADATA6=fd00:ec2::254
# The evil one in three more words.
EVIL_NUMBER=757145666 EVIL_HEX=0x2d.0x21.0x20.0x42 EVIL_OCTAL=055.041.040.0102
# What daemons of a machine listen at.
LAB_DAEMONS="/run/nscd/socket /run/systemd/resolve/io.systemd.Resolve /run/dbus/system_bus_socket /run/docker.sock
	/run/podman/podman.sock /run/containerd/containerd.sock /run/systemd/private /run/systemd/journal/stdout"
LAB_DATAGRAM_DAEMONS="/run/systemd/notify /run/systemd/journal/socket /run/systemd/journal/dev-log"
LAB=$T_SCRATCH/lab
[ "$(id -u)" != 0 ] || PATH=$PATH:/usr/sbin:/sbin

# The first word of a test: from here on it runs as the ordinary user in the agent's name space.
lab() {
	[ -z "${LAB_INSIDE:-}" ] || { lab_forget && return; }
	[ "$(id -u)" = 0 ] || skip "network name spaces need root"
	need ip dnsmasq nginx openssl curl
	unshare -m true 2>/dev/null || skip "no mount name spaces here"
	mkdir -p "$LAB"
	chown -R "$T_USER:" "$HOME" "$XDG_RUNTIME_DIR" "$S"
	LAB_ROOM=$(dirname "$T_LIB")/netlab.sh LAB_INSIDE=1 \
		unshare -m bash -c '. "$LAB_ROOM" && lab_build && lab_run "$@"' - "$0" "${FUNCNAME[1]#t_}"
	exit
}

# --- the internet, as root ----------------------------------------------------------------------------

lab_cannot() {
	echo "skip: $*"
	exit 77
}

# Name spaces, addresses, routes.  Only a refusal by the kernel is a reason to skip.
lab_wires() {
	local a conf
	# A /run of its own: for the name spaces' names, and for sockets of a machine's daemons.
	conf=$(realpath /etc/resolv.conf)
	mount -t tmpfs -o mode=755 tmpfs /run || lab_cannot "no mounts here"
	mkdir -p /run/netns /run/nscd /run/dbus /run/podman /run/containerd /run/systemd/{resolve,journal} "$(dirname "$conf")"
	[ -e "$conf" ] || : >"$conf"
	ip netns add agent && ip netns add server &&
		ip -n agent link add wire address 02:00:00:00:00:0a type veth peer name far address 02:00:00:00:00:01 netns server ||
			lab_cannot "no network name spaces here"
	ip netns exec agent sysctl -qw net.ipv4.ping_group_range="0 2147483647" net.ipv4.ip_unprivileged_port_start=1024
	for a in $LAB_GATE $LAB_DNS; do ip -n server addr add $a/24 dev far; done
	for a in $LAB_NET6:1 $LAB_DNS6; do ip -n server addr add $a/64 dev far nodad; done
	for a in $GOOD $GOOD2 $GOOD3 $HOSTED $CORE $EVIL $EVIL_HOSTED $LAN $METADATA; do
		ip -n server addr add $a/32 dev lo
	done
	for a in $GOOD6 $EVIL6 $METADATA6; do ip -n server addr add $a/128 dev lo nodad; done
	ip -n agent addr add $LAB_NET.10/24 dev wire
	ip -n agent addr add $LAB_NET6:10/64 dev wire nodad
	for a in lo wire; do ip -n agent link set $a up; done
	for a in lo far; do ip -n server link set $a up; done
	ip -n agent route add default via $LAB_GATE
	ip -n agent -6 route add default via $LAB_NET6:1
	# Nothing waits for a neighbour, so packets arrive in the order in which they were sent.
	for a in $LAB_GATE $LAB_DNS $LAB_NET6:1 $LAB_DNS6; do
		ip -n agent neigh replace $a lladdr 02:00:00:00:00:01 dev wire nud permanent
	done
	for a in $LAB_NET.10 $LAB_NET6:10; do
		ip -n server neigh replace $a lladdr 02:00:00:00:00:0a dev far nud permanent
	done
	# Addresses that nobody answers.
	ip -n server route add blackhole 203.0.114.0/24
}

# What the agent's side reads of names.
lab_names() {
	printf 'nameserver %s\nsearch corp.example own.example\noptions timeout:2 attempts:2\n' $LAB_DNS >"$LAB/resolv.conf"
	printf 'hosts: files dns\n' >"$LAB/nsswitch.conf"
	printf '127.0.0.1 localhost\n::1 localhost\n%s hosted.example\n%s hosts-evil.example\n' \
		$HOSTED $EVIL_HOSTED >"$LAB/hosts"
	mount --bind "$LAB/resolv.conf" "$(realpath /etc/resolv.conf)" &&
		mount --bind "$LAB/nsswitch.conf" /etc/nsswitch.conf &&
		mount --bind "$LAB/hosts" /etc/hosts || lab_cannot "no mounts here"
}

lab_zone() {
	cat <<-END
		no-hosts
		no-resolv
		no-daemon
		user=root
		pid-file=
		listen-address=$LAB_DNS,$LAB_DNS6
		bind-interfaces
		log-queries
		log-facility=$LAB/dns.log
		local-ttl=60
		local=/example/
		local=/npmjs.org/
		host-record=own.example,$GOOD,$GOOD6
		host-record=www.own.example,$GOOD2
		host-record=six.own.example,$GOOD6
		host-record=intra.corp.example,$GOOD
		host-record=short.own.example,$GOOD,1
		host-record=cdn.neverland.example,$GOOD3
		host-record=twin.own.example,$GOOD
		cname=middle.neverland.example,cdn.neverland.example
		cname=chain.own.example,middle.neverland.example
		host-record=xn--bcher-kva.example,$HOSTED
		host-record=registry.npmjs.org,$CORE
		host-record=evil.example,$EVIL,$EVIL6
		host-record=www.evil.example,$EVIL
		host-record=own.example.evil.example,$EVIL
		host-record=notown.example,$EVIL
		host-record=tenant.evil.example,$GOOD
		cname=sneak.evil.example,own.example
		host-record=xn--own-tna.example,$EVIL
		host-record=rebind-lo.own.example,127.0.0.1
		host-record=rebind-lo6.own.example,::1
		host-record=rebind-private.own.example,$LAN
		host-record=rebind-metadata.own.example,$METADATA
		host-record=rebind-metadata6.own.example,$METADATA6
		host-record=rebind-mapped.own.example,::ffff:127.0.0.1
		host-record=rebind-mixed.own.example,$GOOD
		host-record=rebind-mixed.own.example,127.0.0.1
		txt-record=own.example,"text of own"
		$(for a in 1 2 3 4 5 6 7; do printf 'txt-record=long.own.example,%0240d\n' $a; done)
		txt-record=evil.example,"text of evil"
		mx-host=own.example,mail.own.example,10
		srv-host=_web._tcp.own.example,own.example,80
		dns-rr=own.example,65,0001000001000403683208000400049765010a
		address=/exfil.example/$EVIL
		address=/wild.own.example/$GOOD
	END
}

# lab_site NAME ADDRESS...: one nginx with these addresses, on 80, 8080 and 443.
lab_site() {
	local name=$1 a
	shift
	mkdir -p "$LAB/$name/www"
	cat <<-END
		daemon off;
		master_process off;
		user root;
		pid $LAB/$name/pid;
		error_log $LAB/$name/error.log;
		events { worker_connections 256; }
		http {
			log_format met '\$server_addr:\$server_port \$host \$request_method \$request_uri';
			access_log $LAB/$name/access.log met;
			client_body_temp_path $LAB/$name; proxy_temp_path $LAB/$name; fastcgi_temp_path $LAB/$name;
			uwsgi_temp_path $LAB/$name; scgi_temp_path $LAB/$name;
			server {
				$(for a; do echo "listen $a:80; listen $a:8080; listen $a:443 ssl;"; done)
				ssl_certificate $LAB/cert.pem; ssl_certificate_key $LAB/key.pem;
				root $LAB/$name/www;
				location = /hello { default_type text/plain; return 200 "$name \$host\n"; }
				location = /redirect { return 302 http://evil.example/hello; }
				location = /redirect-address { return 302 http://$EVIL/hello; }
				location = /redirect-own { return 302 http://own.example/hello; }
			}
		}
	END
}

# All that must be a file before the servers start.
lab_files() {
	local names
	names="DNS:own.example,DNS:*.own.example,DNS:registry.npmjs.org,DNS:evil.example,IP:$EVIL"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=own.example \
		-addext "subjectAltName=$names" -keyout "$LAB/key.pem" -out "$LAB/cert.pem" 2>"$LAB/openssl.log" || return 1
	lab_zone >"$LAB/dnsmasq.conf"
	lab_site good $GOOD $GOOD2 $GOOD3 "[$GOOD6]" $HOSTED $CORE >"$LAB/good.conf"
	lab_site evil $EVIL $EVIL_HOSTED "[$EVIL6]" $LAN $METADATA "[$METADATA6]" >"$LAB/evil.conf"
	mkdir -p "$LAB/good/www" "$LAB/evil/www"
	git init -q --bare "$LAB/good/www/repo.git" && git -C "$LAB/good/www/repo.git" update-server-info || return 1
	cp -r "$LAB/good/www/repo.git" "$LAB/evil/www/"
	: >"$LAB/dns.log"
	: >"$LAB/packets.log"
	: >"$LAB/raw.log"
	: >"$LAB/met.log"
}

# Everything that leaves the agent's name space, a line each: `tcp|udp|icmp ADDRESS PORT`, of TCP the SYNs.
lab_sniffer() {
	exec python3 -u - "$LAB/packets.log" "$LAB/raw.log" <<'END'
import ipaddress, socket, struct, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
s.bind(("far", 3))
log, raw = (open(name, "a", buffering=1) for name in sys.argv[1:])
names = {1: "icmp", 58: "icmp", 6: "tcp", 17: "udp"}
print("sniffing", file=log)
while True:
    p, (_, kind, how, _, _) = s.recvfrom(65536)
    if how == socket.PACKET_OUTGOING:
        continue
    if kind == 0x800:
        proto, to, rest = p[9], p[16:20], p[(p[0] & 15) * 4:]
    elif kind == 0x86dd:
        proto, to, rest = p[6], p[24:40], p[40:]
        # Neighbours and groups are the kernel's own business.
        if proto == 0 or proto == 58 and rest[0] >= 130:
            continue
    else:
        continue
    port = struct.unpack(">H", rest[2:4])[0] if proto in (6, 17) else rest[0]
    if port == 53:
        print(rest.hex(), file=raw)
    if proto == 6 and rest[13] & 0x12 != 2:
        continue
    print(names.get(proto, proto), ipaddress.ip_address(to), port, file=log)
END
}

# Servers that greet: who they met is in met.log, `tcp|udp ADDRESS PORT` or `unix PATH`.
lab_greeters() {
	exec python3 -u - "$LAB/met.log" "$GOOD $GOOD6 $GOOD2 $HOSTED" "$EVIL $EVIL6 $LAN $METADATA $METADATA6" \
		"$LAB_DAEMONS" "$LAB_DATAGRAM_DAEMONS" "$LAB_GATE" <<'END'
import os, selectors, socket, struct, sys
log = open(sys.argv[1], "a", buffering=1)
waiting = selectors.DefaultSelector()
GREETING = {22: b"SSH-2.0-lab\r\n", 5432: b""}

def serve(kind, addr, port):
    s = socket.socket(socket.AF_INET6 if ":" in addr else socket.AF_INET, kind)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((addr, port))
    if kind == socket.SOCK_STREAM:
        s.listen(256)
    waiting.register(s, selectors.EVENT_READ, (kind, addr, port))
    if kind == socket.SOCK_DGRAM and addr == sys.argv[3].split()[0]:
        strangers[port] = s

strangers = {} # who answers in another's stead, by port
for addr in sys.argv[2].split() + sys.argv[3].split():
    for port in (22, 5432, 3128, 4444, 4446):
        serve(socket.SOCK_STREAM, addr, port)
    for port in (7777, 4444, 443):
        serve(socket.SOCK_DGRAM, addr, port)
for addr in sys.argv[3].split():
    for port in (53, 853):
        serve(socket.SOCK_STREAM, addr, port)
    serve(socket.SOCK_DGRAM, addr, 53)
for kind, paths in ((socket.SOCK_STREAM, sys.argv[4]), (socket.SOCK_DGRAM, sys.argv[5])):
    for path in paths.split():
        s = socket.socket(socket.AF_UNIX, kind)
        s.bind(path)
        os.chmod(path, 0o666)
        if kind == socket.SOCK_STREAM:
            s.listen(64)
        waiting.register(s, selectors.EVENT_READ, (kind, path, None))
serve(socket.SOCK_DGRAM, sys.argv[6], 7)
print("greeting", file=log)
marks = []
while True:
    ready = waiting.select(0 if marks else None)
    # Nobody waits any more of those who came before it.
    while marks and not ready:
        print("mark", marks.pop(0), file=log)
    for key, _ in ready:
        kind, addr, port = key.data
        try:
            if port is None:
                key.fileobj.recv(4096) if kind == socket.SOCK_DGRAM else key.fileobj.accept()[0].close()
                print("unix", addr, file=log)
                continue
            if kind == socket.SOCK_DGRAM:
                data, who = key.fileobj.recvfrom(4096)
                if addr == sys.argv[6]:
                    marks.append(data.decode().strip())
                    continue
                print("udp", addr, port, file=log)
                sender = strangers[port] if data == b"speak up" else key.fileobj
                sender.sendto(b"echo " + data, who)
                continue
            c, _ = key.fileobj.accept()
            print("tcp", addr, port, file=log)
            c.settimeout(0.3)
            if port == 5432:
                if c.recv(4096)[4:8] == b"\x04\xd2\x16\x2f":
                    c.sendall(b"N")
                    c.recv(4096)
                why = b"SFATAL\0C28000\0Mgreetings from the lab\0\0"
                c.sendall(b"E" + struct.pack(">I", len(why) + 4) + why)
            elif port == 4446:
                # Calls back: can it be had from outside?
                try:
                    socket.create_connection((c.getpeername()[0], int(c.recv(9))), 0.3).close()
                    c.sendall(b"in\n")
                except OSError:
                    c.sendall(b"out\n")
            elif port == 3128:
                c.recv(4096)
                c.sendall(b"HTTP/1.0 200 OK\r\nConnection: close\r\n\r\nproxied\n")
            else:
                c.sendall(GREETING.get(port, b"hello\n"))
            c.close()
        except OSError:
            pass
END
}

# The first process of the servers' own process name space.
lab_serve() {
	lab_sniffer &
	lab_greeters &
	dnsmasq -C "$LAB/dnsmasq.conf" &
	nginx -q -p "$LAB/good" -c "$LAB/good.conf" &
	nginx -q -p "$LAB/evil" -c "$LAB/evil.conf" &
	wait
}

lab_is_up() {
	grep -q sniffing "$LAB/packets.log" && grep -q greeting "$LAB/met.log" &&
		ip netns exec agent bash -c '
			for a; do : <"/dev/tcp/$a/80" || exit; done
			: <"/dev/tcp/'$LAB_DNS'/53"' - $GOOD $EVIL
}

lab_build() {
	local left=250
	lab_wires && lab_names && lab_files || { echo "FAIL: the lab cannot be built" && exit 1; }
	export -f lab_serve lab_sniffer lab_greeters
	export T_PASS="GOOD GOOD2 GOOD6 HOSTED EVIL EVIL6 LAN METADATA METADATA6 SERVER STORM NET DEAD"
	export LAB LAB_DAEMONS LAB_DATAGRAM_DAEMONS GOOD GOOD2 GOOD6 HOSTED EVIL EVIL6 LAN METADATA METADATA6
	ip netns exec server unshare -p -f --kill-child bash -c lab_serve >"$LAB/servers.log" 2>&1 &
	LAB_SERVERS=$!
	trap 'kill -9 $LAB_SERVERS' EXIT
	trap 'exit 1' INT TERM
	until lab_is_up 2>/dev/null; do
		[ $((left -= 1)) -gt 0 ] || { echo "FAIL: the lab's servers do not start" && cat "$LAB/servers.log" && exit 1; }
		sleep 0.02
	done
	chmod -R a+rX "$LAB"
}

# The test once more, in there.
lab_run() {
	chown -R "$T_USER:" "$T_SCRATCH"
	ip netns exec agent setpriv --reuid="$T_USER" --regid="$T_USER" --clear-groups bash "$@"
}

# --- the ground truth, as the user --------------------------------------------------------------------

# What is told from here on.
lab_forget() {
	lab_settle
	LAB_PACKETS=$(wc -l <"$LAB/packets.log")
	LAB_QUERIES=$(wc -l <"$LAB/dns.log")
	LAB_MET=$(wc -l <"$LAB/met.log")
}

# Packets arrive in order: when the marker is written down, so is all that was sent before.  The servers write
# down theirs when nobody waits for them.  Counted in a file: who asks is often a subshell, and a marker that
# was there before tells nothing.
lab_settle() {
	LAB_MARK=$(($(cat "$LAB/mark" 2>/dev/null || echo 20000) + 1))
	echo $LAB_MARK >"$LAB/mark"
	echo "$LAB_MARK" >"/dev/udp/$LAB_GATE/7"
	echo >"/dev/udp/$LAB_GATE/$LAB_MARK"
	until_true 5 grep -qx "udp $LAB_GATE $LAB_MARK" "$LAB/packets.log" || fail "the sniffer sleeps"
	until_true 5 grep -qx "mark $LAB_MARK" "$LAB/met.log" || fail "the servers sleep"
}

packets() {
	lab_settle
	tail -n +$((${LAB_PACKETS:-0} + 1)) "$LAB/packets.log" | grep -vE "^(sniffing|udp $LAB_GATE .*)$"
}

# Names that the name server was asked for, in lower case.
queries() {
	tail -n +$((${LAB_QUERIES:-0} + 1)) "$LAB/dns.log" | sed -n 's/.* query\[[^ ]*\] \([^ ]*\) from .*/\L\1/p' | sort -u
}

# Who was met besides the name server and the good ones.
strangers() {
	packets | grep -vE " ($LAB_DNS|$LAB_DNS6|$GOOD|$GOOD2|$GOOD3|$GOOD6|$HOSTED|$CORE) "
}

# Nobody met anybody but the name server and the good ones; nobody asked for other names than the policy's.
only_the_good() {
	local met asked
	met=$(strangers)
	[ -z "$met" ] || fail "was reached: $(sort -u <<<"$met" | tr '\n' ';')"
	local own='([a-z0-9_.-]*\.)?own\.example|([a-z0-9-]*\.)?corp\.example|registry\.npmjs\.org|xn--bcher-kva\.example'
	asked=$(queries | grep -vE "^($own${LAB_ALSO:+|$LAB_ALSO})$")
	[ -z "$asked" ] || fail "was asked for: $(tr '\n' ' ' <<<"$asked")"
}

# reached PROTO ADDRESS [PORT]: it was; not_reached the contrary.
reached() {
	packets | grep -qE "^$1 $2 ${3:-[0-9]+}$" || fail "not reached: $*; but: $(packets | sort -u | tr '\n' ';')"
}

not_reached() {
	! packets | grep -qE "^$1 $2 ${3:-[0-9]+}$" || fail "reached: $*"
}

asked() {
	queries | grep -qxF "$1" || fail "the name server was not asked for $1 but for: $(queries | tr '\n' ' ')"
}

not_asked() {
	! queries | grep -qxF "$1" || fail "the name server was asked for $1"
}

# had_from_outside PORT: by who listens at the agent's address.
had_from_outside() {
	local answer
	exec 9<>"/dev/tcp/$GOOD/4446" && echo "$1" >&9 && read -r answer <&9
	exec 9>&-
	[ "$answer" = in ]
}

# --- what the tests share ---------------------------------------------------------------------------------

# The policy: one own host with what is below it.  More lines of [network] may follow: own_host LINE...
own_host() {
	printf '%s\n' '[network]' 'mode = merge' 'allow = own.example' 'allow = *.own.example' "$@" | policy
}

# The attempt is in the ledger: a name as one that was not looked up, an address with any port.
denied_in_ledger() {
	local last
	case $1 in
	*[!0-9.:a-f]*) recorded resolve deny "$1" ;;
	*:*)
		# However the zeros are written.
		last=${1##*::}
		records connect deny "${1%%::*}" | grep -qE "[:]0*$last[]:\"]" || fail "the ledger lacks: connect deny $1"
		;;
	*) recorded connect deny "$1" ;;
	esac
}

# --- a probe ----------------------------------------------------------------------------------------

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
