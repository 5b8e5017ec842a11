#!/bin/bash
# What the fence costs: ratios to bare, medians of one interleaved run (worker.c, drive.c, rules.c).
#
#   tests/bench/bench.sh BUILD_DIR [--level LEVEL,...] [--only ROW,...] [--json] [--quick] [--peers]
#
# The first level has bounds (full; hooks), the others stand beside it: full,strict by default.  Runs as
# an ordinary user (root becomes uid 65533) in a scratch home.  A figure that is missed is reported, not
# a failure.  --peers: other fences (peers.sh) in the same run, and a table of ratios alone.
set -u

build=$(realpath "${1:?usage: bench.sh BUILD_DIR [--level LEVEL,...] [--only ROW,...] [--json] [--quick] [--peers]}") ||
	exit 2
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/bench/peers.sh"
[[ " $* " != *" --peers "* ]] || peers_enter "$@"
shift
json= rounds=60 long=9 levels=full,strict only= beside= uid=65533
while [ $# -gt 0 ]; do
	case $1 in
	--level) levels=${2:?} && shift ;;
	--only) only=,${2:?}, && shift ;;
	--json) json=1 ;;
	--quick) rounds=11 long=3 ;;
	--peers) beside=1 ;;
	*) echo "bench.sh: what is $1?" >&2; exit 2 ;;
	esac
	shift
done
[ "$(id -u)" = 0 ] || uid=$(id -u)
cc=${CC:-gcc}
# Not in /tmp where it can be helped: every session may write there, so that whatever else lies in it is granted
# one by one, beside the home.  Not in /home: firejail hides it.
scratch=$(mktemp -d /srv/pale-bench-XXXXXX 2>/dev/null || mktemp -d /tmp/pale-bench-XXXXXX) || exit 2
# XDG_RUNTIME_DIR is a tmpfs wherever there is one.
runtime=$(mktemp -d /dev/shm/pale-bench-XXXXXX) || runtime=$scratch/run
trap 'chmod -R u+w "$scratch" 2>/dev/null; rm -rf "$scratch" "$runtime"' EXIT
bin=$scratch/bin home=$scratch/home ws=$scratch/home/ws
mkdir -p "$bin" "$ws" "$runtime"

# --- programs and trees ----------------------------------------------------------------------------

say() { [ -z "$*" ] || echo "$@" >&2; }

build_tools() {
	local flags=(-std=gnu17 -O2 -D_GNU_SOURCE -I"$top") name
	cp "$build/pale" "$build/pale-helper" "$build/libpale.so" "$bin/" || return 1
	sync -f "$bin" # pages of a file just copied count as dirty in whoever maps them
	for name in worker drive; do
		"$cc" "${flags[@]}" -o "$bin/$name" "$top/tests/bench/$name.c" || return 1
	done
	"$cc" "${flags[@]}" -DSTATIC -static -o "$bin/worker-static" "$top/tests/bench/worker.c" || return 1
	"$cc" "${flags[@]}" -o "$bin/rules" "$top/tests/bench/rules.c" "$build/libpolicy.a" \
		-linih -ljansson -lsodium -lidn2 -lpsl || return 1
	"$cc" "${flags[@]}" -o "$bin/drain" "$top/tests/bench/drain.c" "$build/libpolicy.a" \
		-linih -ljansson -lsodium -lidn2 -lpsl || return 1
}

make_trees() {
	local i j
	cd "$ws" || return 1
	mkdir -p calls/1/2/3/4 calls/dir c files
	echo x >calls/file; echo x >calls/1/2/3/4/file; echo x >calls/one; : >calls/again
	touch calls/dir/f{1..30}
	for i in {1..40}; do
		mkdir -p files/$i
		for j in {1..125}; do echo "content $i $j" >files/$i/f$j; done
	done
	tar cf files.tar files && rm -r files
	mkdir repo && (
		cd repo && git init -q . && for i in {1..40}; do
			mkdir -p $i
			for j in {1..100}; do echo "int f_${i}_$j(void);" >$i/f$j.c; done
		done
		git add . && git -c user.name=b -c user.email=b@example.org commit -q -m bench
	) || return 1
	for i in {1..200}; do
		printf \
			'#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint f%d(int x)\n{\n\treturn printf("%%d", x);\n}\n' \
			$i >c/f$i.c
	done
	printf 'all: $(patsubst %%.c,%%.o,$(wildcard *.c))\nclean:\n\trm -f *.o\n' >c/Makefile
}

as_user() {
	local env=(env -i "PATH=$bin:/usr/local/bin:/usr/bin:/bin" "HOME=$home" "XDG_RUNTIME_DIR=$runtime" LANG=C.UTF-8
		GIT_CONFIG_NOSYSTEM=1 BENCH_PORT="${BENCH_PORT:-}")
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid $uid --regid $uid --clear-groups "${env[@]}" "$@"
	else
		"${env[@]}" "$@"
	fi
}

# The peer of `connect`, and policies that allow it.  Ends when descriptor 9 is closed.
make_peer() {
	mkfifo "$scratch/peer.in" "$scratch/peer.out" && mkdir -p "$home/.config/pale" || return 1
	"$bin/worker" serve <"$scratch/peer.in" >"$scratch/peer.out" &
	exec 9>"$scratch/peer.in"
	read -r BENCH_PORT <"$scratch/peer.out" || return 1
	printf '[environment]\npass = BENCH_PORT\n[network]\nallow = localhost:%s\n' \
		"$BENCH_PORT" >"$home/.config/pale/policy.ini"
	{ printf '[session]\nreads = floor\n' && cat "$home/.config/pale/policy.ini"; } >"$home/floor.ini"
	chmod 600 "$home/.config/pale/policy.ini" "$home/floor.ini"
}

# --- rows: NAME ROUNDS WORKERS PREPARE | MEASURE | CLEAN (see drive.c) --------------------------------

call_rows() {
	cat <<-END
		open-read-abs $rounds plain - | call open_abs 3000 | -
		open-read-rel $rounds plain - | call open_rel 3000 | -
		open-write $rounds plain - | call open_write 3000 | -
		unlink-create $rounds plain - | call unlink_create 1000 | -
		rename-pair $rounds plain - | call rename_pair 1000 | -
		list $rounds plain - | call list 600 | -
		connect $rounds plain - | call connect 300 | -
		posix_spawn $rounds plain - | call spawn 20 | -
		posix_spawn-floor $rounds floor - | call spawn 20 | -
		fork-exec $rounds plain - | call fork_exec 20 | -
		getpid $rounds plain - | call getpid 100000 | -
		raw-open-read $rounds raw - | call open_abs 1000 | -
		raw-open-write $rounds raw - | call open_write 1000 | -
		raw-unlink-create $rounds raw - | call unlink_create 500 | -
		raw-connect $rounds raw - | call connect 300 | -
		threads $((long * 3)) plain - | threads 2000 | -
		processes $((long * 3)) plain - | processes 200 | -
		crowd $long raw - | crowd 500 | -
	END
}

work_rows() {
	cat <<-END
		git-status $((long * 3)) plain - | run git -C repo status | -
		git-clone $long plain - | run git clone -q repo clone | run rm -rf clone
		make $((long / 3)) plain run make -s -C c clean | run make -s -j2 -C c | -
		grep $((long * 3)) plain - | run grep -r f_40_100 repo | -
		find $((long * 3)) plain - | run find repo -name nothing | -
		tar-x $long plain - | run tar xf files.tar | run rm -rf files
		rm-rf $long plain run tar xf files.tar | run rm -rf files | -
		python3 $((long * 4)) plain - | run /usr/bin/python3 -c pass | -
		include $((long * 2)) plain - | run grep -r _STDIO_H /usr/include | -
		raw-include $((long * 2)) raw - | run grep -r _STDIO_H /usr/include | -
		pale-run $((long * 10)) plain - | run true || run pale run --level % -- true | -
		pale-run-true $((long * 4)) plain - | run bwrap --dev-bind / / true || run pale run --level % -- true | -
	END
	command -v node >/dev/null && echo "node $((long * 4)) plain - | run node -e 0 | -"
}

# Beside others: what each of them can be asked, and the start of each.
shared_rows() {
	{ call_rows && work_rows; } | awk '$3 == "plain" && $1 !~ /^pale-run/'
	echo "start $((long * 4)) plain - | run with-bare true || run with-% true | -"
}

rows() {
	if [ -n "$beside" ]; then
		shared_rows
	else
		echo "memory 5 plain - | mem | -" && call_rows && work_rows
	fi |
		while read -r name rest; do
			! wanted "$name" || echo "$name $rest"
		done
}

wanted() {
	[ -z "$only" ] || [[ $only = *,$1,* ]]
}

# NAME COMMAND... of all workers, for drive.c.
workers() {
	local level
	words=(plain:bare "$bin/worker")
	for level in ${levels//,/ }; do
		words+=(, "plain:$level" "$bin/pale" run --level "$level" -- "$bin/worker")
		# What the hooks cannot be in, level hooks does not run.
		[ "$level" != hooks ] || continue
		words+=(, "raw:$level" "$bin/pale" run --level "$level" -- "$bin/worker-static")
		words+=(, "floor:$level" "$bin/pale" run -p "$home/floor.ini" --level "$level" -- "$bin/worker")
	done
	[ "$levels" = hooks ] || words+=(, raw:bare "$bin/worker-static")
}

# --- rows without a bare side: NAME LEVEL 0 VALUE STATUS ----------------------------------------------

static_rows() {
	size -A "$bin/libpale.so" | awk '$1 == ".text" { printf "text\t-\t0\t%d\t0\n", $2 }'
	readelf -d "$bin/libpale.so" |
		awk '/NEEDED/ { n++; if (!/libc\.so\.6/) other++ } END { printf "needed\t-\t0\t%d\t%d\n", n, other }'
}

# What the thread that serves does from one call that it receives to the next: the median of 500 opens.
calls_per_open() {
	echo "call open_abs 500" |
		as_user strace -f -qq -o "$home/trace" "$bin/pale" run -q --level "$1" -- "$bin/worker-static" >/dev/null
	awk '!/resumed>/ { n[$1]++ } /NOTIF_RECV/ && !/resumed>/ { print n[$1]; n[$1] = 0 }' "$home/trace" | sort -n |
		awk -v level="$1" '
			{ v[NR] = $1 }
			END { printf "calls-per-open\t%s\t0\t%d\t%d\n", level, v[int((NR + 1) / 2)], NR < 500 }'
}

# Caller and supervisor share one core.
opens_per_second() {
	for _ in {1..5}; do echo "call open_abs 5000"; done |
		as_user taskset -c 0 "$bin/pale" run -q --level "$1" -- "$bin/worker-static" | sort -n |
		awk -v level="$1" '
			{ v[NR] = $1; bad += $2 }
			END { printf "opens-per-second\t%s\t0\t%.0f\t%d\n", level, 1e9 / v[3], bad + (NR < 5) }'
}

supervisor_rows() {
	local level
	for level in ${levels//,/ }; do
		[ "$level" = hooks ] || ! wanted calls-per-open || calls_per_open "$level"
	done
	for level in ${levels//,/ }; do
		[ "$level" = hooks ] || ! wanted opens-per-second || opens_per_second "$level"
	done
}

# Records of which no two are alike, from the ring until all are on the disk: the helper's speed and its price.
drain_rows() {
	local i
	wanted drain || return 0
	for i in {1..5}; do
		rm -rf "$home/drain" && mkdir -m 700 "$home/drain" && chown $uid "$home/drain"
		as_user "$bin/drain" "$bin/pale-helper" "$home/drain" 400000
	done | sort -n | awk '{ rate[NR] = $1; cpu[NR] = $2; lost += $3 }
		END { bad = lost + (NR < 5); printf "drain\t-\t0\t%d\t%d\ndrain-cpu\t-\t0\t%d\t%d\n", rate[3], bad, cpu[3], bad }'
}

# A thousand sessions of a launcher that ended three days ago: the sweep's own count of seconds.
gc_rows() {
	local i top=$home/bridge sessions
	wanted gc || return 0
	for i in 1 2 3; do
		rm -rf "$top" && sessions=$top/workspace/.opencode/data/opencode/session
		mkdir -p "$top/logs" "$sessions"/ses_{1..1000} && touch "$top"/logs/ses_{1..1000}.{stdout,stderr} \
			"$sessions"/ses_{1..1000}/info.json
		seq -f '"ses_%.0f":{"updated":1}' 1000 | paste -sd, | sed 's/^/{/; s/$/}/' >"$top/sessions.json"
		printf '[session]\ngc = all\n' >"$home/gc.ini" && chmod 600 "$home/gc.ini"
		find "$top" -exec touch -h -d '-3 days' {} +
		[ "$(id -u)" != 0 ] || chown -R $uid:$uid "$top" "$home/gc.ini"
		as_user "$bin/pale" session gc -p "$home/gc.ini" -w "$top/workspace" --json
	done | grep -oE '"(pruned|seconds)": ?[0-9.e-]+' | tr -d '" ' | awk -F: '
		$1 == "pruned" { bad += $2 != 1000 }
		$1 == "seconds" { v[++n] = $2 }
		END { printf "gc\t-\t0\t%.0f\t%d\n", (v[1] + v[2] + v[3] - max(v) - min(v)) * 1e9, bad + (n != 3) }
		function max(v) { return v[1] > v[2] ? (v[1] > v[3] ? v[1] : v[3]) : (v[2] > v[3] ? v[2] : v[3]) }
		function min(v) { return v[1] < v[2] ? (v[1] < v[3] ? v[1] : v[3]) : (v[2] < v[3] ? v[2] : v[3]) }'
}

# --- the table --------------------------------------------------------------------------------------

build_tools && make_peer || exit 2
say "trees ..."
(make_trees) || exit 2
chmod 755 "$scratch"
[ "$(id -u)" != 0 ] || chown -R $uid:$uid "$home" "$runtime"
chmod 700 "$runtime"
cd "$ws" || exit 2
workers
columns=$levels
[ -z "$beside" ] || { peers_prepare && peers_workers; } || exit 2
{
	[ -n "$only$beside" ] || static_rows
	[ -n "$only$beside" ] || as_user "$bin/rules" | awk -F'\t' '{ printf "%s\t-\t%s\t%s\t%s\n", $1, $2, $3, $4 }'
	[ -n "$beside" ] || { supervisor_rows && drain_rows && gc_rows; }
	rows | as_user "$bin/drive" "${words[@]}"
} 2>"$scratch/stderr" | awk -f "$top/tests/bench/report.awk" -v json="$json" -v levels="$columns" -v beside="$beside"
exec 9>&-
say "$(grep -v '^pale: ' "$scratch/stderr"; grep '^pale: denied' "$scratch/stderr" | sort -u)"
exit 0
