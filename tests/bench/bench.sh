#!/bin/bash
# What the fence costs: ratios to bare, medians of one interleaved run (worker.c, drive.c, policy.c).
#
#   tests/bench/bench.sh BUILD_DIR [--json] [--quick]
#
# Runs as an ordinary user (root becomes uid 65534) in a scratch home.  A figure that is missed is
# reported, not a failure.
set -u

build=$(realpath "${1:?usage: bench.sh BUILD_DIR [--json] [--quick]}") || exit 2
shift
json= rounds=60 long=9
for arg; do
	case $arg in
	--json) json=1 ;;
	--quick) rounds=11 long=3 ;;
	*) echo "bench.sh: what is $arg?" >&2; exit 2 ;;
	esac
done
top=$(cd "$(dirname "$0")/../.." && pwd)
cc=${CC:-gcc}
scratch=$(mktemp -d /tmp/pale-bench-XXXXXX) || exit 2
# XDG_RUNTIME_DIR is a tmpfs wherever there is one.
runtime=$(mktemp -d /dev/shm/pale-bench-XXXXXX) || runtime=$scratch/run
trap 'chmod -R u+w "$scratch" 2>/dev/null; rm -rf "$scratch" "$runtime"' EXIT
bin=$scratch/bin home=$scratch/home ws=$scratch/home/ws
mkdir -p "$bin" "$ws" "$runtime"

# --- programs and trees ----------------------------------------------------------------------------

say() { [ -n "$json" ] || echo "$@" >&2; }

build_tools() {
	local flags=(-std=gnu17 -O2 -D_GNU_SOURCE -I"$top") name
	cp "$build/pale" "$build/pale-helper" "$build/libpale.so" "$bin/" || return 1
	sync -f "$bin" # pages of a file just copied count as dirty in whoever maps them
	for name in worker drive; do
		"$cc" "${flags[@]}" -o "$bin/$name" "$top/tests/bench/$name.c" || return 1
	done
	"$cc" "${flags[@]}" -o "$bin/policy" "$top/tests/bench/policy.c" "$build/libpolicy.a" \
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
		printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint f%d(int x)\n{\n\treturn printf("%%d", x);\n}\n' $i >c/f$i.c
	done
	printf 'all: $(patsubst %%.c,%%.o,$(wildcard *.c))\nclean:\n\trm -f *.o\n' >c/Makefile
}

as_user() {
	local env=(env -i "PATH=$bin:/usr/local/bin:/usr/bin:/bin" "HOME=$home" "XDG_RUNTIME_DIR=$runtime" LANG=C.UTF-8
		GIT_CONFIG_NOSYSTEM=1)
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid 65534 --regid 65534 --clear-groups "${env[@]}" "$@"
	else
		"${env[@]}" "$@"
	fi
}

# --- rows: NAME ROUNDS PREPARE | MEASURE | CLEAN ----------------------------------------------------

rows() {
	cat <<-END
		memory 5 - | mem | -
		open-read-abs $rounds - | call open_abs 3000 | -
		open-read-rel $rounds - | call open_rel 3000 | -
		open-write $rounds - | call open_write 3000 | -
		unlink-create $rounds - | call unlink_create 1000 | -
		rename-pair $rounds - | call rename_pair 1000 | -
		list $rounds - | call list 600 | -
		posix_spawn $rounds - | call spawn 20 | -
		fork-exec $rounds - | call fork_exec 20 | -
		git-status $((long * 3)) - | run git -C repo status | -
		git-clone $long - | run git clone -q repo clone | run rm -rf clone
		make $((long / 3)) run make -s -C c clean | run make -s -j2 -C c | -
		grep $((long * 3)) - | run grep -r f_40_100 repo | -
		find $((long * 3)) - | run find repo -name nothing | -
		tar-x $long - | run tar xf files.tar | run rm -rf files
		rm-rf $long run tar xf files.tar | run rm -rf files | -
		python3 $((long * 4)) - | run /usr/bin/python3 -c pass | -
		pale-run-true $((long * 4)) - | run bwrap --dev-bind / / true || run pale run -- true | -
	END
	command -v node >/dev/null && echo "node $((long * 4)) - | run node -e 0 | -"
}

static_rows() {
	size -A "$bin/libpale.so" | awk '$1 == ".text" { printf "text\t0\t%d\t0\n", $2 }'
	readelf -d "$bin/libpale.so" |
		awk '/NEEDED/ { n++; if (!/libc\.so\.6/) other++ } END { printf "needed\t0\t%d\t%d\n", n, other }'
}

# --- the table --------------------------------------------------------------------------------------

report() {
	awk -F'\t' -v json="$json" '
	function bound(name, kind, limit, unit, text) { k[name] = kind; l[name] = limit; u[name] = unit; t[name] = text }
	function show(v, unit) {
		if (unit == "time")
			return v >= 1e6 ? sprintf("%.2f ms", v / 1e6) : v >= 1e3 ? sprintf("%.2f us", v / 1e3) : sprintf("%.0f ns", v)
		return unit == "KiB" ? sprintf("%.1f KiB", v / 1024) : sprintf("%g %s", v, unit)
	}
	BEGIN {
		bound("open-read-abs", "ratio", 1.25, "time", "open for reading, absolute, 6 deep")
		bound("open-read-rel", "ratio", 1.25, "time", "open for reading, relative")
		bound("open-write", "ratio", 1.20, "time", "open for writing")
		bound("unlink-create", "ratio", 1.20, "time", "unlink and create")
		bound("rename-pair", "ratio", 1.20, "time", "rename there and back")
		bound("list", "ratio", 1.20, "time", "opendir, readdir of 30, closedir")
		bound("posix_spawn", "ratio", 1.25, "time", "posix_spawn of true")
		bound("fork-exec", "ratio", 1.25, "time", "fork and exec of true")
		bound("git-status", "ratio", 1.05, "time", "git status, 4,000 files")
		bound("git-clone", "ratio", 1.05, "time", "git clone, 4,000 files")
		bound("make", "ratio", 1.05, "time", "make -j2, 200 C files")
		bound("grep", "ratio", 1.05, "time", "grep -r, 4,000 files")
		bound("find", "ratio", 1.05, "time", "find, 4,000 files")
		bound("tar-x", "ratio", 1.05, "time", "tar x, 5,000 files")
		bound("rm-rf", "ratio", 1.05, "time", "rm -rf, 5,000 files")
		bound("python3", "ratio", 1.05, "time", "python3 start")
		bound("node", "ratio", 1.05, "time", "node start")
		bound("pale-run-true", "ratio", 1.5, "time", "pale run true, against bwrap")
		bound("memory", "gain", 131072, "KiB", "private (dirty) memory of a process")
		bound("text", "most", 98304, "KiB", "libpale.so, .text")
		bound("needed", "most", 1, "", "libpale.so, NEEDED (libc alone)")
		bound("compile", "most", 100, "ms", "10,000 rules: compile")
		bound("decide-path", "ratio", 2, "time", "10,000 rules: decide a path")
		bound("decide-command", "ratio", 2, "time", "10,000 rules: decide a command")
		bound("decide-host", "ratio", 2, "time", "10,000 rules: decide a host")
		if (!json)
			printf "%-34s %12s %12s %8s %10s\n", "", "bare", "wrapped", "ratio", "at most"
	}
	{
		name = $1; ratio = NF > 4 ? $5 : $2 > 0 ? $3 / $2 : 0
		got = k[name] == "ratio" ? ratio : k[name] == "gain" ? $3 - $2 : $3
		ok = $4 == 0 && got <= l[name]
		word = $4 == 0 ? (ok ? "ok" : "MISSED") : "FAILED (" $4 ")"
		missed += !ok; n++
		if (json) {
			printf "%s{\"row\":\"%s\",\"bare\":%s,\"wrapped\":%s,\"value\":%.4g,\"bound\":%g,\"result\":\"%s\"}",
				(n > 1 ? ",\n" : "["), name, $2, $3, got, l[name], word
			next
		}
		printf "%-34s %12s %12s %8s %10s  %s\n", t[name], ($2 > 0 ? show($2, u[name]) : ""), show($3, u[name]),
			(k[name] == "ratio" ? sprintf("%.2f", ratio) : ""),
			(k[name] == "ratio" ? sprintf("%.2f", l[name]) : show(l[name], u[name])), word
		fflush()
	}
	END {
		if (json)
			print "]"
		else
			printf "%d figures, %d missed\n", n, missed
	}'
}

build_tools || exit 2
say "trees ..."
(make_trees) || exit 2
chmod 755 "$scratch"
[ "$(id -u)" != 0 ] || chown -R 65534:65534 "$home" "$runtime"
chmod 700 "$runtime"
cd "$ws" || exit 2
{
	static_rows
	as_user "$bin/policy"
	rows | as_user "$bin/drive" "$bin/worker" -- "$bin/pale" run -- "$bin/worker" 2>"$scratch/stderr"
} | report
say "$(grep -v '^pale: ' "$scratch/stderr"; grep '^pale: denied' "$scratch/stderr" | sort -u)"
exit 0
