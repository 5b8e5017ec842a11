# limit: 120
# nightly: strict
# Names at the levels above hooks: whatever asks whichever name server is answered by pale's own forwarder, and
# who connects is judged by what it answered.  In a network of our own: its name server and web server stand
# outside the fence, and an address that swallows what is sent to it.
# needs: root
. "$T_LIB"

SERVER=127.77.0.53
GOOD=93.184.216.34 OTHER=93.184.216.35 NAMELESS=93.184.216.36 DEAD=93.184.217.7

# Inside: answers every A query by what the name says, over UDP and TCP, and writes the name down; serves
# "hello" on every address of this network.
servers() {
	python3 - "$S" $SERVER $GOOD $OTHER $DEAD <<'END' &
import os, socket, struct, sys, threading
scratch, addr, good, other, dead = sys.argv[1:]
places = {"dead": dead, "rebind": "127.0.0.1", "other": other}
def answer(q):
    labels, at = [], 12
    while q[at]:
        labels.append(q[at + 1:at + 1 + q[at]].decode().lower())
        at += 1 + q[at]
    end = at + 5
    is_a = q[at + 1:at + 3] == b"\0\1"
    with open(scratch + "/asked", "a") as log:
        log.write(".".join(labels) + "\n")
    r = q[:2] + b"\x81\x80\0\1" + struct.pack(">H", is_a) + b"\0\0\0\0" + q[12:end]
    if is_a:
        r += b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton(places.get(labels[0], good))
    return r
def stream(c):
    f = c.makefile("rb")
    while (head := f.read(2)) and len(head) == 2:
        r = answer(f.read(struct.unpack(">H", head)[0]))
        c.sendall(struct.pack(">H", len(r)) + r)
def streams(s, serve):
    while True:
        threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
def web(c):
    c.recv(4096)
    with open(scratch + "/reached", "a") as log:
        log.write(c.getsockname()[0] + "\n")
    c.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nhello\n")
    c.close()
def listener(at):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(at)
    s.listen(64)
    return s
threading.Thread(target=streams, args=(listener((addr, 53)), stream), daemon=True).start()
threading.Thread(target=streams, args=(listener(("", 80)), web), daemon=True).start()
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind((addr, 53))
open(scratch + "/reached", "w").close()
open(scratch + "/asked", "w").close()
while True:
    q, peer = u.recvfrom(4096)
    u.sendto(answer(q), peer)
END
	until_true 10 test -e "$S/asked" || fail "the servers do not start"
}

# On the other end of the wire: tries what `probe` names, "PORT", and says whether it got there.
stranger() {
	nsenter -t $THEIRS -n python3 - "$S" <<'END' &
import os, socket, sys, time
os.chdir(sys.argv[1])
while True:
    time.sleep(0.02)
    if not os.path.exists("probe"):
        continue
    port = int(open("probe").read())
    try:
        socket.create_connection(("93.184.217.1", port), timeout=1).close()
        r = "reached"
    except OSError:
        r = "refused"
    open("probed.new", "w").write(r)
    os.remove("probe")
    os.rename("probed.new", "probed")
END
}

# The process has a network of its own by now.
is_apart() {
	[ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

# As root, where this network is: two ends of one wire, of which one leads to nobody.
network() {
	ip link set lo up
	ip link add one type veth peer name two || exit 77
	ip link set one up
	ip addr add $GOOD/32 dev lo
	ip addr add $OTHER/32 dev lo
	ip addr add $NAMELESS/32 dev lo
	ip addr add 93.184.217.1/24 dev one
	unshare -n sleep 600 &
	THEIRS=$!
	until_true 5 is_apart $THEIRS && ip link set two netns $THEIRS || exit 77
	nsenter -t $THEIRS -n ip link set two up
	nsenter -t $THEIRS -n ip addr add 93.184.217.2/24 dev two
	stranger
	ip neigh add $DEAD lladdr 02:00:00:00:00:07 dev one nud permanent
	mount --bind "$S/resolv.conf" "$(realpath /etc/resolv.conf)" || exit 77
	mount --bind "$S/nsswitch.conf" /etc/nsswitch.conf || exit 77
	mount --bind "$S/hosts" /etc/hosts || exit 77
	servers
}

# The first word of a test: from here on it runs as the ordinary user in that network.
with_names() {
	[ -z "${NAMES_INSIDE:-}" ] || return 0
	[ "$(id -u)" = 0 ] || skip "a network of its own needs root"
	need ip curl
	echo "nameserver $SERVER" >"$S/resolv.conf"
	printf 'hosts: files dns\n' >"$S/nsswitch.conf"
	printf '127.0.0.1 localhost\n%s listed.example\n' $OTHER >"$S/hosts"
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
		allow = good.example
		allow = rebind.example
		allow = dead.example:80
		allow = listed.example:80
		ask = ask.example
	END
}

asked() {
	grep -qxF "$1" "$S/asked" || fail "the name server was not asked for $1"
}

not_asked() {
	! grep -qxF "$1" "$S/asked" || fail "the name server was asked for $1"
}

# reached ADDRESS TIMES
reached() {
	local n
	n=$(grep -cxF -e "$1" "$S/reached")
	[ "$n" = "$2" ] || fail "$1 was reached $n times, not $2"
}

# --- who asks ------------------------------------------------------------------------------------------

t_python() {
	with_names
	own_rules
	fence python3 -c '
import socket
print(socket.getaddrinfo("good.example", 443)[0][4][0])
try:
    socket.getaddrinfo("secret.evil.example", 443)
except socket.gaierror:
    print("no such name")
'
	out_is "$GOOD
no such name"
	recorded connect allow "$SERVER:53" "names are looked up by pale itself"
	recorded resolve allow good.example '"via":"kernel"'
	denied resolve secret.evil.example
	asked good.example
	not_asked secret.evil.example
}

t_programs() {
	with_names
	own_rules
	need node
	fence node -e 'require("dns").lookup("good.example", (e, a) => console.log(e ? e.code : a))'
	out_is "$GOOD"
	fence getent ahostsv4 good.example
	out_has "$GOOD"
	fence curl -s http://good.example/
	out_is hello
	fence getent ahostsv4 static.crates.io
	out_has "$GOOD"
	fence curl -s http://evil.example/
	rc_not 0
	denied resolve evil.example
	asked good.example
	asked static.crates.io
	not_asked evil.example
}

# Whichever server one asks: this one answers.  Nobody stands at most of these addresses.
t_any_server_is_this_one() {
	with_names
	own_rules
	cat >ask.py <<-'END'
		import socket, struct, sys
		def name(n):
		    return b"".join(bytes([len(p)]) + p.encode() for p in n.split(".")) + b"\0"
		s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
		s.settimeout(10)
		s.connect((sys.argv[1], 53))
		for n in sys.argv[2:]:
		    q = b"\x12\x34\1\0\0\1\0\0\0\0\0\0" + name(n) + b"\0\1\0\1"
		    s.sendall(struct.pack(">H", len(q)) + q)
		    r = s.recv(4096)[2:]
		    print(n, r[3] & 15, socket.inet_ntoa(r[-4:]) if r[7] else "-")
	END
	for server in $SERVER 127.77.0.54 8.8.8.8 ::1 2001:4860:4860::8888 ::ffff:8.8.8.8; do
		fence python3 ask.py $server good.example evil.example
		out_is "good.example 0 $GOOD
evil.example 3 -"
	done
	not_asked evil.example
	fence "$T_VICTIMS/net-static" connect $SERVER 54
	out_is ECONNREFUSED # nobody is there
	printf '[network]\nmode = off\n' | policy
	fence "$T_VICTIMS/net-static" connect $SERVER 53
	out_is EACCES
	denied connect "$SERVER:53" "the network is off"
}

# --- who connects --------------------------------------------------------------------------------------

t_connections_by_name() {
	with_names
	own_rules
	# All addresses are this machine's here, of which is asked.
	unset PALE_PROMPT
	fence curl -s http://$GOOD/
	rc_not 0
	denied connect "$GOOD:80"
	reached $GOOD 0
	fence curl -s http://good.example/
	out_is hello
	reached $GOOD 1
	recorded connect allow good.example:80 '"via":"kernel"' "addr=$GOOD"
	run pale log --op connect
	out_has "connect good.example:80  ("
	out_has "addr=$GOOD"
	fence sh -c 'curl -s http://good.example/; curl -s --resolve good.example:80:'$NAMELESS' http://good.example/'
	out_is hello
	denied connect "$NAMELESS:80"
	reached $NAMELESS 0
	# By root's own file, without any question.
	fence curl -s http://listed.example/
	out_is hello
	reached $OTHER 1
	recorded connect allow listed.example:80
	not_asked listed.example
	fence curl -s http://listed.example:81/
	rc_not 0
	not_recorded connect allow listed.example:81
}

# The name leads here, where others may be reached.
t_rebinding() {
	with_names
	own_rules
	printf 'allow = localhost:80\n' >>"$HOME/.config/pale/policy.ini"
	fence curl -s http://rebind.example/
	rc_not 0
	denied connect rebind.example:80 "a public name that answers with a private address"
	reached 127.0.0.1 0
	fence curl -s http://127.0.0.1/
	out_is hello
	fence curl -s http://localhost/
	out_is hello
	reached 127.0.0.1 2
}

# --- a human -------------------------------------------------------------------------------------------

# While one thread waits for the answer another goes on; the connection that follows is not asked about again.
t_an_approval() {
	with_names
	own_rules
	cat >two.py <<-'END'
		import os, sys, threading, time, urllib.request
		def fetch():
		    with urllib.request.urlopen("http://ask.example/", timeout=60) as r:
		        print(r.read().decode().strip(), flush=True)
		t = threading.Thread(target=fetch)
		t.start()
		time.sleep(1)
		for i in range(20):
		    with urllib.request.urlopen("http://good.example/", timeout=5) as r:
		        r.read()
		open("others", "w").close()
		t.join()
	END
	bg one python3 two.py
	id=$(pending_id)
	until_true 20 test -e others || fail "the other thread waits too"
	not_asked ask.example
	pale approve "$id" >/dev/null || fail "cannot approve"
	bg_wait one
	out_is hello
	asked ask.example
	recorded resolve allow ask.example "the operator answered"
	recorded connect allow ask.example:80 "the operator answered"
	not_recorded connect deny ask.example
}

# Nobody answers in time; the answer comes late, and the retry goes through.
t_a_late_approval() {
	with_names
	own_rules
	printf '[session]\ntimeout = 2s\n' >>"$HOME/.config/pale/policy.ini"
	cat >retry.sh <<-'END'
		curl -s http://ask.example/ || echo refused
		touch refused
		until [ -e approved ]; do sleep 0.05; done
		curl -s http://ask.example/
	END
	bg one sh retry.sh
	id=$(pending_id)
	until_true 20 test -e refused || fail "nobody gave up"
	pale approve "$id" >/dev/null || fail "cannot approve late"
	touch approved
	bg_wait one
	out_is "refused
hello"
}

t_a_refusal() {
	with_names
	own_rules
	bg one curl -s http://ask.example/
	pale deny "$(pending_id)" --reason "not that one" >/dev/null || fail "cannot deny"
	bg_wait one
	rc_not 0
	denied resolve ask.example "the operator answered"
	err_has "not that one"
	not_asked ask.example
}

# --- who listens ---------------------------------------------------------------------------------------

# listens POLICY: what a stranger meets at a server of every address.
listens() {
	echo "$1" >>"$HOME/.config/pale/policy.ini"
	rm -f port done "$S/probed"
	bg one python3 -c '
import os, socket, time
s = socket.create_server(("0.0.0.0", 0))
open("port.new", "w").write(str(s.getsockname()[1]))
os.rename("port.new", "port")
while not os.path.exists("done"):
    time.sleep(0.02)'
	until_true 10 test -e port || fail "nobody listens: $(cat "$S/one.err")"
	cp port "$S/probe.new"
	mv "$S/probe.new" "$S/probe"
	until_true 10 test -e "$S/probed" || fail "nobody probes"
	touch done
	bg_wait one
	cat "$S/probed"
}

t_a_server_is_this_machines() {
	with_names
	own_rules
	[ "$(listens "# nothing")" = refused ] || fail "a stranger was let in"
	[ "$(listens "bind = 0")" = reached ] || fail "the rule opens nothing"
}

# --- connections that take their time ----------------------------------------------------------------------

threads_of() {
	find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l
}

# 500 at once to an address that never answers: they hold no thread, and nobody waits for them.
t_a_dead_address() {
	with_names
	own_rules
	cat >many.py <<-'END'
		import os, socket, sys, threading, time
		threading.stack_size(65536)
		addr = socket.gethostbyname("dead.example")
		def one():
		    s = socket.socket()
		    try:
		        s.connect((addr, 80))
		    except OSError:
		        pass
		for i in range(500):
		    threading.Thread(target=one, daemon=True).start()
		time.sleep(1)
		t0 = time.time()
		for i in range(200):
		    open("file").close()
		    os.stat("/etc/passwd")
		for i in range(20):
		    s = socket.create_connection((socket.gethostbyname("good.example"), 80))
		    s.close()
		took = time.time() - t0
		open("took.new", "w").write("%.3f" % took)
		os.rename("took.new", "took")
		while not os.path.exists("end"):
		    time.sleep(0.05)
		os._exit(0)
	END
	bg one python3 many.py
	until_true 30 test -e took || fail "others wait for them: $(cat "$S/one.err")"
	python3 -c 'import sys; sys.exit(not float(open("took").read()) < 2)' || fail "others took $(cat took) s"
	[ "$(threads_of $BG)" -lt 16 ] || fail "threads: $(threads_of $BG)"
	python3 - <<-'END' || fail "pale pending is late"
		import subprocess, sys, time
		best = 9
		for i in range(5):
		    t0 = time.time()
		    subprocess.run(["pale", "pending"], stdout=subprocess.DEVNULL, check=True)
		    best = min(best, time.time() - t0)
		print("pale pending: %.1f ms" % (best * 1000))
		sys.exit(best > 0.1)
	END
	touch end
	bg_wait one
	rc_is 0
}

# As the caller itself would live it: time limits, signals, death, sockets that do not block.
t_patience() {
	with_names
	own_rules
	echo "bind = 0" >>"$HOME/.config/pale/policy.ini"
	cat >wait.py <<-'END'
		import errno, os, signal, socket, struct, time
		addr = (socket.gethostbyname("dead.example"), 80)
		s = socket.socket()
		limit = struct.pack("ll", 0, 300000)
		s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
		t0 = time.monotonic()
		r = s.connect_ex(addr)
		took = time.monotonic() - t0
		print("limit", errno.errorcode[r], 0.29 < took < 0.6,
		    s.getsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, 16) == limit)
		print("again", errno.errorcode[s.connect_ex(addr)])
		s = socket.socket()
		s.setblocking(False)
		print("does not block", errno.errorcode[s.connect_ex(addr)], errno.errorcode[s.connect_ex(addr)],
		    s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
		class Alarm(Exception): pass
		def on_alarm(*a): raise Alarm
		signal.signal(signal.SIGALRM, on_alarm)
		signal.setitimer(signal.ITIMER_REAL, 0.3)
		t0 = time.monotonic()
		try:
		    socket.socket().connect(addr)
		except Alarm:
		    print("signal", 0.25 < time.monotonic() - t0 < 1)
		s = socket.socket()
		s.bind(("93.184.217.1", 0))
		port = s.getsockname()[1]
		socket.gethostbyname("good.example")
		print("bound", s.connect_ex(("93.184.216.34", 80)), s.getsockname()[1] == port)
		print("connected", errno.errorcode[s.connect_ex(("93.184.216.34", 80))])
		pid = os.fork()
		if pid == 0:
		    socket.socket().connect(addr)
		time.sleep(0.3)
		t0 = time.monotonic()
		os.kill(pid, 9)
		os.waitpid(pid, 0)
		print("death", time.monotonic() - t0 < 0.5)
	END
	python3 wait.py >bare.txt
	fence python3 wait.py
	out_is "$(cat bare.txt)"
	out_has "limit EINPROGRESS True True"
	out_has "does not block EINPROGRESS EALREADY 0"
}

scenario "$@"
