#!/bin/bash
# Where an exec's time goes: tests/bench/exec.sh BUILD_DIR [ROUNDS]
#
# posix_spawn of /bin/true from five parents that differ by one part each, interleaved; the medians, and in
# microseconds what each part adds.  Runs as an ordinary user (root becomes uid 65534) in a scratch home.
set -u

build=$(realpath "${1:?usage: exec.sh BUILD_DIR [ROUNDS]}") || exit 2
rounds=${2:-21}
top=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d /tmp/pale-exec-XXXXXX) || exit 2
trap 'kill "${session:-}" 2>/dev/null; wait; rm -rf "$scratch"' EXIT
bin=$scratch/bin home=$scratch/home run=$scratch/run
mkdir -p "$bin" "$home/ws" "$run" && chmod 755 "$scratch" && chmod 700 "$run"
cp "$build"/{pale,pale-helper,libpale.so} "$bin/" || exit 2
# Without -DSTATIC: this one hands LD_PRELOAD on.
for static in "" -static; do
	"${CC:-gcc}" -std=gnu17 -O2 -D_GNU_SOURCE -I"$top" $static -o "$bin/worker$static" \
		"$top/tests/bench/worker.c" || exit 2
done
sync -f "$bin" # pages of a file just copied count as dirty in whoever maps them
as=()
if [ "$(id -u)" = 0 ]; then
	chown -R 65534:65534 "$home" "$run"
	as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
fi
as+=(env -i PATH=/usr/bin:/bin "HOME=$home" "XDG_RUNTIME_DIR=$run" LANG=C.UTF-8)
cd "$home/ws" || exit 2

# A session whose image and ring the children of an unhooked parent map.
"${as[@]}" "$bin/pale" run -q --level hooks -- sleep 600 &
session=$!
for _ in {1..100}; do
	dir=$(echo "$run"/pale/*/image)
	[ ! -e "$dir" ] || break
	sleep 0.05
done
dir=${dir%/image}

# NAME COMMAND...: one line "NAME ns".
spawns() {
	local name=$1
	shift
	echo "call spawn 20" | "${as[@]}" "$@" 2>/dev/null | awk -v name="$name" '{ print name, $1 }'
}

for ((i = 0; i < rounds; i++)); do
	spawns bare "$bin/worker-static"
	spawns loader LD_PRELOAD="$bin/libpale.so" "$bin/worker-static"
	spawns start LD_PRELOAD="$bin/libpale.so" PALE_SESSION_DIR="$dir" "$bin/worker-static"
	spawns dynamic "$bin/worker"
	spawns hooks "$bin/pale" run -q --level hooks -- "$bin/worker"
	spawns full "$bin/pale" run -q --level full -- "$bin/worker"
done | sort -k1,1 -k2,2n | awk '
	{ v[$1, ++n[$1]] = $2 }
	function median(name) { return v[name, int((n[name] + 1) / 2)] / 1000 }
	function part(text, us) { printf "| %-64s | %6.0f |\n", text, us }
	END {
		bare = median("bare"); dynamic = median("dynamic")
		part("posix_spawn of /bin/true, bare", dynamic)
		part("the dynamic loader: libpale.so mapped and bound", median("loader") - bare)
		part("the constructor: image and ring mapped, the start recorded", median("start") - median("loader"))
		part("the hook in the parent: judged, recorded, executed", median("hooks") - dynamic - median("start") + bare)
		part("the kernel side (full): Landlock, filter, carried opens", median("full") - median("hooks"))
		printf "full against bare: %.2f, hooks against bare: %.2f\n", median("full") / dynamic, median("hooks") / dynamic
	}'
