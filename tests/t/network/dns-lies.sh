# retry: timeouts
# limit: 110
# nightly: strict
# needs: root
# A name server that lies, stalls or is dead, and native code that floods the forwarder: whoever asks gets a
# clear answer in bounded time, nothing that was a lie can be connected to, and `pale run` stays small.
. "$T_LIB"

SERVER=127.77.0.53 SILENT=127.77.0.54 NOBODY=127.77.0.55
TRUTH=93.184.216.34 EVIL=93.184.66.6
DEAD=93.185.7.7 # what goes there is never heard of again
STORM=$T_VICTIMS/storm-static NET=$T_VICTIMS/net-static
[ "$(id -u)" != 0 ] || PATH=$PATH:/usr/sbin:/sbin

# The lies after which the truth comes, and those after which nothing does.
BOTH="wrong-id wrong-question wrong-type wrong-class wrong-case no-question no-response other-port other-address
	garbage flood slow oversize unasked lower-case"
ALONE="loop forward counts short-address cname-loop cname-self cname-apart tc-for-ever tcp-close
	tcp-zero tcp-long tcp-stall tcp-wrong-id tcp-garbage silent late failing refusing"

# --- the world ----------------------------------------------------------------------------------------

# The first words of a test: world NAMESERVER...; from there on it runs as the ordinary user in a network of its
# own, with the liar, and two web servers that write down who reached them.
world() {
	[ -z "${LIES_INSIDE:-}" ] || return 0
	[ "$(id -u)" = 0 ] || skip "a network of its own needs root"
	need ip python3
	printf 'nameserver %s\n' "$@" >"$S/resolv.conf"
	printf 'hosts: files dns\n' >"$S/nsswitch.conf"
	mkdir "$S/liar"
	chown -R "$T_USER:" "$HOME" "$XDG_RUNTIME_DIR" "$S"
	export -f world_build world_wires world_cannot
	export T_PASS="SERVER SILENT NOBODY TRUTH EVIL S STORM NET"
	export SERVER SILENT NOBODY TRUTH EVIL S
	LIES_INSIDE=1 unshare -mn bash -c '
		world_build || exit
		exec setpriv --reuid="$T_USER" --regid="$T_USER" --clear-groups bash "$@"' - "$0" "${FUNCNAME[1]#t_}"
	exit
}

world_cannot() {
	echo "skip: $*"
	exit 77
}

# A way out that leads nowhere: the neighbour that it goes by does not exist.
world_wires() {
	ip link set lo up && ip link add way type veth peer name void || world_cannot "no network of its own here"
	ip addr add 10.99.0.1/24 dev way
	ip link set way up
	ip link set void up
	ip neigh add 10.99.0.2 lladdr 02:00:00:00:00:99 dev way nud permanent
	ip route add default via 10.99.0.2
	ip addr add $TRUTH/32 dev lo
	ip addr add $EVIL/32 dev lo
}

world_build() {
	world_wires
	mount --bind "$S/resolv.conf" "$(realpath /etc/resolv.conf)" && mount --bind "$S/nsswitch.conf" /etc/nsswitch.conf ||
		world_cannot "no mounts here"
	python3 "$(dirname "$T_LIB")/dns/liar.py" "$S/liar" $SERVER $SILENT/silent &
	python3 "$(dirname "$T_LIB")/dns/witness.py" "$S/reached" $TRUTH $EVIL &
	for _ in {1..200}; do
		[ ! -e "$S/liar/ready" ] || [ ! -e "$S/reached" ] || return 0
		sleep 0.05
	done
	echo "FAIL: the servers do not start"
	return 1
}

# --- helpers ------------------------------------------------------------------------------------------

# All names that may be asked for by name, each by a rule of its own, and the port of the web servers.
names_allowed() {
	local name
	printf '[session]\napprovals = never\n[network]\nmode = replace\ndefault = deny\n'
	for name; do
		echo "allow = $name.lies.example:80"
	done
}

# Inside: asks for each name at once, out/NAME has the answer, out/NAME.ms how long it took.
ASK_ALL='
	mkdir -p out
	for name; do
		(
			from=${EPOCHREALTIME/.}
			$STORM ask '$SERVER' $name.lies.example 9000 >out/$name 2>&1
			echo $(((${EPOCHREALTIME/.} - from) / 1000)) >out/$name.ms
		) &
	done
	wait'

export STORM NET

took() {
	cat "out/$1.ms" 2>/dev/null || echo 99999
}

# Of a running `pale run`: its highest memory so far in KiB, its threads.
peak() {
	sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$BG/status"
}

threads() {
	sed -n 's/^Threads:[^0-9]*//p' "/proc/$BG/status"
}

# The most that it had at once, rounded up by the kernel.
descriptors() {
	sed -n 's/^FDSize:[^0-9]*//p' "/proc/$BG/status"
}

at_most() {
	[ "$2" -le "$3" ] || fail "$1: $2, at most $3"
}

# The same of milliseconds.  Too late is a test that timed out, which is repeated when the machine is free.
soon() {
	[ "$2" -le "$3" ] || { (fail "$1: $2 ms, at most $3"); exit 124; }
}

# Milliseconds of a command, the best of five: the machine is others' too.
best_of_five() {
	local best=99999 from took
	for _ in 1 2 3 4 5; do
		from=${EPOCHREALTIME/./}
		"$@" >/dev/null 2>&1
		took=$(((${EPOCHREALTIME/./} - from) / 1000))
		[ $took -ge $best ] || best=$took
	done
	echo $best
}

nobody_reached() {
	! grep -qxF "$1" "$S/reached" || fail "$1 was reached"
}

asked() {
	grep -qF " $1 " "$S/liar/asked" || fail "the name server was not asked for $1"
}

not_asked() {
	! grep -qF " $1 " "$S/liar/asked" || fail "the name server was asked for $1"
}

# --- lies ---------------------------------------------------------------------------------------------

# The truth comes a moment after the lie: who believes what comes first has lost.
t_truth_wins() {
	local name
	world $SERVER
	names_allowed truth $BOTH | policy
	fsh "$ASK_ALL; \$NET connect $EVIL 80; \$NET connect $TRUTH 80" - truth $BOTH
	out_is "EACCES
ok"
	for name in truth $BOTH; do
		file_is out/$name "NOERROR $TRUTH"
		soon "$name took" "$(took $name)" 4500
	done
	nobody_reached $EVIL
}

# Nothing true comes: an error, or an answer without addresses, before libc's own patience of 5 s ends.
t_nothing_true() {
	local name
	world $SERVER
	names_allowed $ALONE truth | policy
	fsh "$ASK_ALL; \$NET connect $EVIL 80" - $ALONE truth
	out_is EACCES
	for name in $ALONE; do
		grep -qxE 'SERVFAIL|NOERROR|FORMERR|REFUSED|NXDOMAIN' out/$name || fail "$name: $(cat out/$name)"
		soon "$name took" "$(took $name)" 4900
	done
	file_is out/truth "NOERROR $TRUTH"
	soon "the truth beside them took" "$(took truth)" 2500
	nobody_reached $EVIL
}

# An answer of 4,000 addresses: what does not fit is said not to, by TCP it arrives, and little is remembered.
t_thousands() {
	world $SERVER
	names_allowed thousands | policy
	fsh "\$STORM ask $SERVER thousands.lies.example; \$STORM ask-tcp $SERVER thousands.lies.example | wc -w"
	grep -qE '^(NOERROR TC|SERVFAIL)' "$S/out" || fail "not said to be cut"
}

# A public name that leads inside is denied to whoever asked for it, and recorded by its name.
t_inside() {
	local name
	need curl
	world $SERVER
	names_allowed to-loopback to-private to-metadata | policy
	echo 'allow = localhost:80' >>"$HOME/.config/pale/policy.ini"
	for name in to-loopback to-private to-metadata; do
		fence curl -s -m 5 http://$name.lies.example/
		rc_not 0 "curl to $name"
		denied connect $name.lies.example:80
		recorded connect deny $name.lies.example
	done
	recorded connect deny to-loopback.lies.example "a public name that answers with a private address"
}

# --- servers that are dead or slow --------------------------------------------------------------------

# Nobody at the first, silence at the second: the third is asked in time.
t_dead_among_three() {
	world $NOBODY $SILENT $SERVER
	names_allowed truth | policy
	fsh "$ASK_ALL" - truth
	file_is out/truth "NOERROR $TRUTH"
	soon "it took" "$(took truth)" 4500
}

t_all_dead() {
	world $NOBODY $SILENT
	names_allowed truth | policy
	fsh "$ASK_ALL; \$STORM ask-tcp $SERVER truth.lies.example 9000" - truth
	file_is out/truth SERVFAIL
	out_has SERVFAIL
	soon "it took" "$(took truth)" 4900
}

# Two hundred questions that nobody answers, and other work goes on beside them: look-ups, opens, execs.
t_slow_beside_others() {
	world $SERVER
	names_allowed truth silent{1..8} silent | policy
	echo 'allow = *.silent.lies.example' >>"$HOME/.config/pale/policy.ini"
	fsh '
		$STORM flood '$SERVER' silent.lies.example 100 3 >/dev/null &
		sleep 0.5
		'"$ASK_ALL"'
		for n in 1 2 3 4 5; do
			from=${EPOCHREALTIME/.}
			$STORM ask '$SERVER' truth.lies.example >/dev/null; cat /etc/hostname >/dev/null
			echo $(((${EPOCHREALTIME/.} - from) / 1000))
		done | sort -n >best' - truth
	file_is out/truth "NOERROR $TRUTH"
	soon "a look-up and an open beside it took" "$(head -1 best)" 100
}

# --- floods -------------------------------------------------------------------------------------------

# 10,000 questions a second thrown at a line: bounded, and the session is as usable as before.
t_flood() {
	world $SERVER
	names_allowed truth | policy
	bg flood bash -c '
		$STORM flood '$SERVER' truth.lies.example 10000 3 &
		$STORM flood '$SERVER' secret.evil.example 10000 3 &
		sleep 1
		from=${EPOCHREALTIME/.}
		cat /etc/hostname >/dev/null
		echo opened in $(((${EPOCHREALTIME/.} - from) / 1000))
		wait
		$STORM ask '$SERVER' truth.lies.example; : >done; sleep 20'
	until_true 20 test -e done || fail "the flood does not end"
	at_most "memory, KiB" "$(peak)" 32768
	at_most "threads" "$(threads)" 64
	at_most "descriptors" "$(descriptors)" 2048
	kill "$BG"
	bg_wait flood
	out_has "NOERROR $TRUTH"
	soon "an open in the middle" "$(sed -n 's/^opened in //p' "$S/out")" 1000
	not_asked secret.evil.example
}

# Many names below one: no more than a trickle of them is asked of anybody (exfiltration by look-up).
t_names() {
	world $SERVER
	names_allowed truth | policy
	echo 'allow = *.wild.example' >>"$HOME/.config/pale/policy.ini"
	bg names bash -c '
		$STORM names '$SERVER' wild.example 100000
		$STORM ask '$SERVER' truth.lies.example; : >done; sleep 20'
	until_true 60 test -e done || fail "they do not end"
	at_most "memory, KiB" "$(peak)" 32768
	kill "$BG"
	bg_wait names
	out_has "NOERROR $TRUTH"
	at_most "asked upstream" "$(grep -c wild.example "$S/liar/asked")" 200
}

# Ten thousand datagram sockets: an error at some point, and a place for others afterwards.
t_sockets() {
	world $SERVER
	names_allowed truth | policy
	bg sockets bash -c '
		ulimit -n $(ulimit -Hn)
		$STORM sockets 10000
		$STORM ask '$SERVER' truth.lies.example; : >done; sleep 20'
	until_true 30 test -e done || fail "they do not end"
	at_most "memory, KiB" "$(peak)" 32768
	at_most "descriptors" "$(descriptors)" 4096
	kill "$BG"
	bg_wait sockets
	grep -qE '^[0-9]+ (ENOBUFS|ENFILE|EMFILE|ENOMEM|EACCES)$' "$S/out" || fail "ten thousand sockets were made"
	out_has "NOERROR $TRUTH"
}

# Four hundred streams that say a byte a second: they are hung up on, and datagrams are answered meanwhile.
t_loris() {
	world $SERVER
	names_allowed truth | policy
	fsh '
		$STORM loris '$SERVER' 400 12 >loris &
		sleep 2
		$STORM ask '$SERVER' truth.lies.example 2000
		wait
		$STORM ask-tcp '$SERVER' truth.lies.example 3000
		cat loris'
	[ "$(grep -cx "NOERROR $TRUTH" "$S/out")" = 2 ] || fail "somebody was not answered"
	[[ $(cat loris) = *" 0" ]] || fail "a byte a second keeps a stream: $(cat loris)"
}

# A hundred names that a human is asked about: as many wait as may, the others are told so; nobody else does.
t_pending() {
	world $SERVER
	{
		printf '[network]\nmode = replace\ndefault = deny\nallow = truth.lies.example:80\n'
		printf 'ask = n%s.wild.example\n' {0..99}
	} | policy
	bg pending bash -c '
		$STORM names '$SERVER' wild.example 100 &
		until [ -e enough ]; do sleep 0.05; done
		$STORM ask '$SERVER' truth.lies.example; : >done; sleep 20'
	until_true 10 has_pending || fail "nobody is asked"
	sleep 1
	soon "pale pending" "$(best_of_five pale pending)" 100
	at_most "threads" "$(threads)" 160
	: >enough
	until_true 10 test -e done || fail "the others wait too"
	kill "$BG"
	bg_wait pending
	out_has "NOERROR $TRUTH"
	! grep -q wild.example "$S/liar/asked" || fail "somebody was asked before the human had answered"
}

# --- connections --------------------------------------------------------------------------------------

# Five hundred that wait for an address where nobody is: no thread each, and nobody else waits.
t_blocked() {
	local bare
	world $SERVER
	printf '[network]\nmode = replace\ndefault = deny\nallow = %s:80\nask = n0.wild.example\n' $DEAD | policy
	bg blocked bash -c '
		$STORM blocked '$DEAD' 80 500 8 &
		$STORM ask '$SERVER' n0.wild.example 30000 &
		sleep 2
		for n in 1 2 3 4 5; do
			from=${EPOCHREALTIME/.}
			/bin/cat /etc/hostname >/dev/null
			echo $(((${EPOCHREALTIME/.} - from) / 1000))
		done | sort -n >best
		: >done; wait %1; : >ended; sleep 10'
	until_true 20 test -e done || fail "they do not start"
	has_pending || fail "nothing is pending"
	soon "pale pending" "$(best_of_five pale pending)" 100
	at_most "threads" "$(threads)" 40
	soon "an exec and an open beside it" "$(head -1 best)" 100
	until_true 20 test -e ended || fail "they do not end"
	kill "$BG"
	bg_wait blocked
	out_has 500
}

# Killed with all of it under way, it ends at once.
t_end() {
	world $SERVER
	printf '[network]\nmode = replace\ndefault = deny\nallow = %s:80\nallow = silent.lies.example\n' $DEAD | policy
	bg end bash -c '
		$STORM blocked '$DEAD' 80 200 60 &
		$STORM flood '$SERVER' silent.lies.example 1000 60 &
		$STORM loris '$SERVER' 50 60 &
		sleep 1; : >done; sleep 60'
	until_true 10 test -e done
	kill "$BG"
	until_true 5 test ! -e "/proc/$BG/cwd" || fail "pale run hangs"
	bg_wait end
}

scenario "$@"
