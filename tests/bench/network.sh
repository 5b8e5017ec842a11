#!/bin/bash
# What the fence costs on the network: tests/bench/network.sh BUILD_DIR [--level LEVEL,...] [--only ROW,...]
# [--json] [--quick]
#
# Ratios to bare, medians of one interleaved run (network.c, drive.c), as bench.sh does it.  In a network of
# its own, so it needs root and runs what it measures as uid 65533: a veth to a second one, in which a name
# server (dnsmasq, which knows all names by itself) and the peer of connections are.  The bare side asks that
# name server directly.
set -u

build=$(realpath "${1:?usage: network.sh BUILD_DIR [--level LEVEL,...] [--only ROW,...] [--json] [--quick]}") || exit 2
top=$(cd "$(dirname "$0")/../.." && pwd)
PATH=$PATH:/usr/sbin:/sbin
[ "$(id -u)" = 0 ] || { echo "network.sh: a network of its own needs root: left out" >&2; exit 0; }
command -v dnsmasq >/dev/null &&
	command -v ip >/dev/null || { echo "network.sh: needs dnsmasq and ip: left out" >&2; exit 0; }
[ -n "${NET_INSIDE:-}" ] || NET_INSIDE=1 exec unshare -mnp --fork --kill-child --mount-proc bash "$0" "$@"
shift
json= rounds=30 levels=full,strict only= uid=65533
while [ $# -gt 0 ]; do
	case $1 in
	--level) levels=${2:?} && shift ;;
	--only) only=,${2:?}, && shift ;;
	--json) json=1 ;;
	--quick) rounds=9 ;;
	*) echo "network.sh: what is $1?" >&2; exit 2 ;;
	esac
	shift
done
HERE=93.184.0.1 THERE=93.184.0.2 PORT=7000 DEAD=93.185.0.1
scratch=$(mktemp -d /srv/pale-net-XXXXXX 2>/dev/null || mktemp -d /tmp/pale-net-XXXXXX) || exit 2
runtime=$(mktemp -d /dev/shm/pale-net-XXXXXX) || runtime=$scratch/run
bin=$scratch/bin home=$scratch/home ws=$scratch/home/ws
mkdir -p "$bin" "$ws" "$runtime" "$home/.config/pale"
trap 'chmod -R u+w "$scratch" 2>/dev/null; rm -rf "$scratch" "$runtime"' EXIT

# --- the network ------------------------------------------------------------------------------------

there() { nsenter -t "$other" -n "$@"; }

make_wires() {
	unshare -n sleep 3600 & # ends with this PID name space, as all do
	other=$!
	ip link set lo up && ip link add near type veth peer name far || return 1
	until [ "$(readlink "/proc/$other/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
	ip link set far netns "$other" && ip addr add $HERE/24 dev near && ip link set near up &&
		there ip link set lo up && there ip addr add $THERE/24 dev far && there ip link set far up &&
		# What goes elsewhere is not heard of again.
		ip neigh add 93.184.0.3 lladdr 02:00:00:00:00:03 dev near nud permanent && ip route add default via 93.184.0.3
}

make_servers() {
	local fifo=$scratch/stdin
	mkfifo "$fifo" && exec 9<>"$fifo"
	there dnsmasq --no-daemon --no-hosts --no-resolv --user=root --pid-file= --listen-address=$THERE --bind-interfaces \
		--local-ttl=600 --address=/bench.example/93.184.0.9 2>"$scratch/dnsmasq.log" 9>&- &
	there "$bin/network" serve $THERE $PORT <"$fifo" &
	"$bin/network" serve 127.0.0.1 $PORT <"$fifo" &
	echo "nameserver $THERE" >"$scratch/resolv.conf"
	printf 'hosts: files dns\n' >"$scratch/nsswitch.conf"
	mount --bind "$scratch/resolv.conf" "$(realpath /etc/resolv.conf)" &&
		mount --bind "$scratch/nsswitch.conf" /etc/nsswitch.conf
}

build_tools() {
	local flags=(-std=gnu17 -O2 -D_GNU_SOURCE -I"$top") cc=${CC:-gcc}
	cp "$build"/{pale,pale-helper,libpale.so} "$build/victims/storm-static" "$bin/" || return 1
	sync -f "$bin"
	"$cc" "${flags[@]}" -o "$bin/drive" "$top/tests/bench/drive.c" &&
		"$cc" "${flags[@]}" -o "$bin/network" "$top/tests/bench/network.c" &&
		"$cc" "${flags[@]}" -DSTATIC -static -o "$bin/network-static" "$top/tests/bench/network.c" 2>/dev/null
}

make_policy() {
	{
		printf '[network]\nmode = replace\ndefault = deny\nallow = localhost:%s-%s\nallow = %s:%s-%s\nallow = %s:80\n' \
			$PORT $((PORT + 1)) $THERE $PORT $((PORT + 1)) $DEAD
		printf 'allow = h%s.bench.example\n' {0..199}
		printf 'ask = ask.bench.example\n'
	} >"$home/.config/pale/policy.ini"
	chmod 600 "$home/.config/pale/policy.ini"
}

as_user() {
	setpriv --reuid $uid --regid $uid --clear-groups env -i "PATH=$bin:/usr/local/bin:/usr/bin:/bin" "HOME=$home" \
		"XDG_RUNTIME_DIR=$runtime" LANG=C.UTF-8 "$@" 9>&-
}

# --- rows ---------------------------------------------------------------------------------------------

rows() {
	cat <<-END |
		net-connect $rounds plain - | connect 200 127.0.0.1 $PORT | -
		net-connect-veth $rounds plain - | connect 200 $THERE $PORT | -
		net-raw-connect-veth $rounds raw - | connect 200 $THERE $PORT | -
		net-stream $rounds plain - | stream 100 127.0.0.1 $PORT | -
		net-stream-veth $rounds plain - | stream 100 $THERE $PORT | -
		net-lookup $rounds plain - | udp 200 $THERE | -
		net-raw-lookup $rounds raw - | udp 200 $THERE | -
		net-lookup-fresh $rounds plain - | fresh 100 $THERE | -
		net-lookup-tcp $rounds plain - | tcp 100 $THERE | -
		net-lookup-libc $rounds plain - | getaddrinfo 100 | -
	END
		while read -r name rest; do
			! wanted "$name" || echo "$name $rest"
		done
}

wanted() {
	[ -z "$only" ] || [[ $only = *,$1,* ]]
}

workers() {
	local level
	words=(plain:bare "$bin/network")
	for level in ${levels//,/ }; do
		words+=(, "plain:$level" "$bin/pale" run --level "$level" -- "$bin/network")
		words+=(, "raw:$level" "$bin/pale" run --level "$level" -- "$bin/network-static")
	done
}

# Who asks and who forwards share one core; the name server has the other.
queries_per_second() {
	for _ in {1..5}; do echo "flood 5000 $THERE"; done |
		as_user taskset -c 0 "$bin/pale" run -q --level "$1" -- "$bin/network-static" | sort -n |
		awk -v level="$1" '
			{ v[NR] = $1; bad += $2 }
			END { printf "net-queries\t%s\t0\t%.0f\t%d\n", level, bad ? 0 : 1e9 / v[3], bad + (NR < 5) }'
}

session_of() { # the `pale run` that is a child of the process
	local p
	for p in $(cat "/proc/$1/task/$1/children") $1; do
		[ "$(readlink "/proc/$p/exe")" != "$bin/pale" ] || { echo "$p" && return; }
	done
}

# Five hundred connects that nobody answers: threads of `pale run`, and how long `pale pending` takes (median of 9).
crowd_waiting() {
	local level=$1 job pale n threads before
	as_user "$bin/pale" run -q --level "$level" -- bash -c "sleep 1
		storm-static blocked $DEAD 80 500 6" >"$scratch/blocked" &
	job=$!
	sleep 0.7
	pale=$(session_of $job)
	before=$(sed -n 's/^Threads:[^0-9]*//p' "/proc/$pale/status")
	sleep 2.5
	threads=$(sed -n 's/^Threads:[^0-9]*//p' "/proc/$pale/status")
	for n in {1..9}; do
		n=${EPOCHREALTIME/./}
		as_user "$bin/pale" pending >/dev/null 2>&1
		echo $(((${EPOCHREALTIME/./} - n) * 1000))
	done | sort -n | awk -v level="$level" 'NR == 5 { printf "net-pending\t%s\t0\t%d\t0\n", level, $1 }'
	wait $job
	n=$(cat "$scratch/blocked")
	printf 'net-threads\t%s\t0\t%d\t%d\n' "$level" $((threads - before)) $((${n:-0} < 500))
}

other_rows() {
	local level
	for level in ${levels//,/ }; do ! wanted net-queries || queries_per_second "$level"; done
	for level in ${levels//,/ }; do ! wanted net-waiting || crowd_waiting "$level"; done
}

build_tools && make_wires && make_servers || exit 2
make_policy
chmod 755 "$scratch"
chown -R $uid:$uid "$home" "$runtime"
chmod 700 "$runtime"
cd "$ws" || exit 2
sleep 0.3
workers
{
	rows | as_user "$bin/drive" "${words[@]}"
	other_rows
} 2>"$scratch/stderr" | awk -f "$top/tests/bench/report.awk" -v json="$json" -v levels="$levels"
grep -v '^pale: ' "$scratch/stderr" | sort | uniq -c | head -20 >&2
grep '^pale: denied' "$scratch/stderr" | sort -u >&2
exit 0
