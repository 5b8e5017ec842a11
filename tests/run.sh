#!/bin/bash
# Runs all tests, or those that are named: tests/run.sh BUILD_DIR [checks] [NAME...]
#
# A NAME is a folder of tests/t, a scenario in one, or a test: git, git/trunk, git/trunk/by_call.
# `checks` are the unit tests and the checks of the tree.
#
# One line per test, `ok NAME` or `not ok NAME` with the output of the failed; the last line is
# `N passed, N failed`, after the ten scenarios that took longest.  JOBS scenarios run at a time, one more than there
# are processors: they wait more than they work.  KEEP=1 keeps the scratch directory.
#
# Scenarios run at the default level; one that says `# levels: full hooks` (any of full, strict, hooks)
# runs at each of those.  LEVELS="hooks" on the command line takes only these.  The levels of `# nightly: hooks`,
# at which a scenario passes through the same code once more, are added by NIGHTLY=1 or by naming them in LEVELS.
#
# ABI_MAX=2 runs them as on a kernel whose Landlock has no newer ABI; a test that says --abi-max itself keeps its
# own.
#
# SLOW=20 multiplies the limits of tests, for a machine that is that much slower.
#
# What fails beside other work is tried once more at the end, alone, and both are said: a machine that was
# too busy is told from code that is wrong.  Not where a failure means that somebody got out: of a scenario
# that says `# retry: timeouts` only those are repeated.  RETRIES=0 repeats nothing.

cd "$(dirname "$0")/.." || exit 2
B=${1:?usage: tests/run.sh BUILD_DIR [checks] [NAME...]}
shift
B=$(realpath "$B") || exit 2
. tests/stage.sh

stage_make || exit 2
trap '[ -n "${KEEP:-}" ] && echo "kept: $T_BASE" || stage_remove' EXIT
trap 'exit 130' INT TERM
stage_install "$B" || exit 2
mkdir -p "$T_BASE/t" "$T_BASE/victims" "$T_BASE/results"
stage_levels full strict hooks
cp -r tests/t "$T_BASE/scenarios"
cp -r tests/t/lib/. tests/lib.sh \
	tests/netlab.sh tests/agents tests/helper tests/escapes tests/dns policy/presets/home.ini "$T_BASE/t/"
cp README.md tests/tables.sh tools/man/pale-guarantees.7 "$T_BASE/t/escapes/"
cp policy/command/options.def "$T_BASE/t/options/"
cp -r "$B"/victims/. "$T_BASE/victims/" 2>/dev/null
chmod -R a+rX "$T_BASE/t" "$T_BASE/scenarios" "$T_BASE/victims" "$T_STAGE"

# report STATUS NAME LOG RESULTS
report() {
	case $1 in
	0) echo "ok $2" >>"$4" ;;
	77) echo "ok $2 # $(grep '^skip:' "$3" | tail -1)" >>"$4" ;;
	124 | 137) { echo "not ok $2 # timed out" && sed 's/^/    /' "$3"; } >>"$4" ;;
	*) { echo "not ok $2" && sed 's/^/    /' "$3"; } >>"$4" ;;
	esac
}

# A scenario that says `# needs: tmpfs` gets a small full-able file system at $T_SCRATCH/full.
wrapped() {
	local scratch=$1 needs=$2
	shift 2
	if [ "$needs" = tmpfs ] && [ $EUID = 0 ]; then
		mkdir "$scratch/full"
		(
			export -f as_user
			export T_STAGE T_BASE T_LEVEL TERM
			unshare -m bash -c '
				T_AS=(setpriv --reuid='$T_USER' --regid='$T_USER' --clear-groups)
				mount -t tmpfs -o size=640k,mode=777 tmpfs "$1/full" && as_user "$@"' - "$scratch" T_FULL=1 "$@"
		)
		return
	fi
	# One that says `# needs: root` keeps it, and the source tree to install from.
	if [ "$needs" = root ] && [ $EUID = 0 ]; then
		(T_AS=() && as_user "$scratch" T_SOURCE="$PWD" T_BUILD="$B" T_USER=$T_USER "$@")
		return
	fi
	as_user "$scratch" "$@"
}

# Sets NAME to the name of a scenario's file, FOLDER/NAME.
name_scenario() {
	NAME=${1#"$T_BASE/scenarios/"}
	NAME=${NAME%.sh}
}

# Sets RESULTS to the place of the results of a scenario at a level: place_results FILE LEVEL.
place_results() {
	name_scenario "$1"
	RESULTS=$T_BASE/results/${NAME/\//.}.$2
}

# Sets LIMIT and NEEDS to what the head of a scenario's file says.
read_head() {
	LIMIT=$(sed -n 's/^# limit: //p' "$1")
	LIMIT=$((${LIMIT:-40} * ${SLOW:-1}))
	NEEDS=$(sed -n 's/^# needs: //p' "$1")
}

# A scratch directory, whose name is short because paths of sockets are.
make_scratch() {
	if [ $EUID = 0 ]; then
		install -d -o $T_USER -g $T_USER -m 755 "$1"
	else
		mkdir -m 755 "$1"
	fi
}

# run_test FILE LEVEL TEST RESULTS SCRATCH: one test in a scratch directory of its own; read_head() was called.
run_test() {
	local file=$1 test=$3 scratch=$5 name log rc
	name_scenario "$file"
	name=$NAME
	[ "$2" = full ] || name=$2:$name
	export T_LEVEL=$2
	make_scratch "$scratch"
	log=$scratch.log
	# Out of the reach of a terminal that somebody runs this from: the fence would make one of its own.
	wrapped "$scratch" "$NEEDS" setsid -w timeout -k 3 "$LIMIT" bash "$file" "$test" </dev/null >"$log" 2>&1
	rc=$?
	stage_reap "$scratch"
	report $rc "$name/$test" "$log" "$4"
	may_repeat $rc "$file" && echo "$file $2 $test $name/$test" >>"$T_BASE/again"
	[ -n "${KEEP:-}" ] || rm -rf "$scratch" "$log" 2>/dev/null ||
		{ chmod -R u+rwX "$scratch" && rm -rf "$scratch" "$log"; }
}

# may_repeat STATUS FILE
may_repeat() {
	case $1 in
	0 | 77) return 1 ;;
	124 | 137) return 0 ;;
	*) ! grep -q '^# retry: timeouts' "$2" ;;
	esac
}

# run_scenario FILE LEVEL TEST NUMBER: all its tests where TEST is empty; NUMBER is of this run alone.
run_scenario() {
	local file=$1 level=$2 only=$3 test began=$SECONDS n=0
	place_results "$file" "$level"
	read_head "$file"
	# Without its last line a file would define its tests, run none of them and pass.
	grep -q 'scenario "\$@"' "$file" || echo "not ok $NAME # it does not call scenario" >>"$RESULTS"
	for test in $(sed -n 's/^t_\([A-Za-z0-9_-]*\)() *{.*/\1/p' "$file"); do
		[ -z "$only" ] || [ "$only" = "$test" ] || continue
		run_test "$file" "$level" "$test" "$RESULTS" "$T_BASE/s/$4.$((n += 1))"
	done
	touch "$RESULTS"
	cat "$RESULTS"
	echo "$((SECONDS - began)) s $level:$NAME" >>"$T_BASE/times"
}

# More failures than these are no matter of a busy machine.
: "${RETRIES:=20}"
try_again() {
	local file level test name n=0
	[ -e "$T_BASE/again" ] && [ "$(wc -l <"$T_BASE/again")" -le "$RETRIES" ] || return 0
	mv "$T_BASE/again" "$T_BASE/repeated"
	while read -r file level test name; do
		place_results "$file" "$level"
		read_head "$file"
		run_test "$file" "$level" "$test" "$T_BASE/second" "$T_BASE/s/again.$((n += 1))" </dev/null
		sed 's/^/second try: /' "$T_BASE/second"
		if grep -q '^ok ' "$T_BASE/second"; then
			sed -i "s|^not ok $name\( .*\)\{0,1\}$|ok $name # at its second try|" "$RESULTS"
			echo "flaky: $name" >>"$T_BASE/flaky"
		fi
		rm "$T_BASE/second"
	done <"$T_BASE/repeated"
}

checks() {
	local check
	for check in deps words symbols surface docs; do
		bash tests/$check.sh "$B" >"$T_BASE/log" 2>&1
		report $? $check "$T_BASE/log" "$T_BASE/results/$check"
		cat "$T_BASE/results/$check"
	done
	python3 tests/circles.py "$B" >"$T_BASE/log" 2>&1
	report $? circles "$T_BASE/log" "$T_BASE/results/circles"
	cat "$T_BASE/results/circles"
	if [ -x .build/asan/replay ]; then
		.build/asan/replay tests/corpus >"$T_BASE/log" 2>&1
		report $? corpus "$T_BASE/log" "$T_BASE/results/corpus"
		cat "$T_BASE/results/corpus"
	fi
	if [ -x "$B/unit" ]; then
		cp -r tests/cases "$T_BASE/" 2>/dev/null
		unit_tests
		cat "$T_BASE/results/unit"
	fi
}

# Some of them wait for threads and other processes: on a busy machine longer, and twice.
unit_tests() {
	export CK_TIMEOUT_MULTIPLIER=5
	"$B/unit" >"$T_BASE/log" 2>&1 && { report 0 unit "$T_BASE/log" "$T_BASE/results/unit"; return; }
	grep -E ':[FE]:' "$T_BASE/log" | sed 's/^/first try: /'
	"$B/unit" >"$T_BASE/log" 2>&1
	report $? unit "$T_BASE/log" "$T_BASE/results/unit"
}

# What was promised, and what came of the tests that show it; where not all ran, only that there are such tests.
seeds() {
	local results=("$T_BASE"/results/*)
	[ $# = 0 ] && [ -z "${LEVELS:-}" ] || results=()
	bash tests/seeds.sh "${results[@]}" >"$T_BASE/log" 2>&1
	report $? seeds "$T_BASE/log" "$T_BASE/results/seeds"
	grep '^seeds: ' "$T_BASE/log"
	cat "$T_BASE/results/seeds"
}

# The scenarios, those first that may take longest, so that the last one ends beside others.
longest_first() {
	(cd "$T_BASE/scenarios" && grep -rH '^# limit: ' --include='*.sh' . | sort -t: -k3 -rn -s | cut -d: -f1
		find . -name '*.sh' | sort) | sed -n '/^\.\/lib\//!s|^\./\(.*\)\.sh$|\1|p' | awk '!seen[$0]++'
}

# SCENARIO [TEST] for a NAME.
scenarios_of() {
	local all=$T_BASE/scenarios
	if [ -d "$all/$1" ]; then
		(cd "$all" && ls "$1"/*.sh) | sed 's/\.sh$//'
	elif [ -f "$all/$1.sh" ]; then
		echo "$1"
	elif [ -f "$all/${1%/*}.sh" ]; then
		echo "${1%/*} ${1##*/}"
	else
		echo "tests/run.sh: there is no folder, scenario or test $1 in tests/t" >&2
		return 1
	fi
}

# SCENARIO LEVEL [TEST] for each run.
chosen() {
	local want
	[ $# != 0 ] || set -- $(longest_first)
	for want; do
		[ "$want" = checks ] || scenarios_of "$want"
	done | while read -r scenario only; do
		for level in $(levels_of "$scenario"); do
			echo "$scenario $level $only"
		done
	done
}

levels_of() {
	local level said more= file=$T_BASE/scenarios/$1.sh
	said=$(sed -n 's/^# levels: //p' "$file")
	[ -z "${NIGHTLY:-}${LEVELS:-}" ] || more=$(sed -n 's/^# nightly: //p' "$file")
	for level in ${said:-full} $more; do
		[[ " ${LEVELS:-full strict hooks} " != *" $level "* ]] || echo "$level"
	done
}

for want; do
	[ "$want" = checks ] || scenarios_of "$want" >/dev/null || exit 2
done
[ $# != 0 ] && [ "$1" != checks ] || checks &
n=0
while read -r scenario level only; do
	while [ "$(jobs -rp | wc -l)" -ge "${JOBS:=$(($(nproc) + 1))}" ]; do
		wait -n
	done
	n=$((n + 1))
	run_scenario "$T_BASE/scenarios/$scenario.sh" "$level" "$only" $n &
done < <(chosen "$@")
wait
try_again
[ $# != 0 ] && [ "$1" != checks ] || seeds "$@"

[ $# != 0 ] || sort -rn "$T_BASE/times" | head | sed 's/^/slowest: /'
passed=$(cat "$T_BASE"/results/* | grep -c '^ok ')
failed=$(cat "$T_BASE"/results/* | grep -c '^not ok ')
cat "$T_BASE"/results/* | grep '^not ok ' | sed 's/^/failed: /'
cat "$T_BASE/flaky" 2>/dev/null
[ -z "${GUARANTEES:-}" ] || cp "$T_BASE/s/guarantees" "$GUARANTEES"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
