#!/bin/bash
# Test suites that others wrote, run bare and inside, and compared: `make parity`.
#
#   tests/parity/parity.sh BUILD [CASE]...      CASE: a pattern, as cpython/test_[a-m]* or bash/*
#
#   RESULTS=DIR   keeps what was found: a case that has an outcome there is not run again (/var/tmp/pale-parity)
#   SHARD=i/n     the i-th of n parts of the cases
#   LEVELS=...    full; strict too, where it is named
#   LIMIT=600     seconds for a case
#
# An outcome is a sorted list of `subtest: result`.  What differs must stand in accepted.tsv, with the page that says
# so.  As root: installs what is needed, and runs the cases as the user pale-parity.
set -u

usage() {
	sed -n '2,/^set/{s/^# \{0,1\}//p}' "$0" | head -12
	exit 2
}

here=$(dirname "$(realpath "$0")")
results=${RESULTS:-/var/tmp/pale-parity}
part=${SHARD:-1/1}
limit=${LIMIT:-600}
who="pale-parity"
source=$results/source # of the suites

die() {
	echo "parity: $*" >&2
	exit 2
}

# --- what is needed ----------------------------------------------------------------------------------------

packages=(libpython3.11-testsuite stress-ng gcc clang llvm musl-tools libc6-dev)

# The source of a Debian package, in $source/NAME/NAME-*.  fetch NAME
fetch() {
	local opts="-o Dir::Etc::sourcelist=$source/list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$source/lists"

	[ -e "$source/$1/done" ] && return
	mkdir -p "$source/$1" "$source/lists/partial"
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
		"http://deb.debian.org/debian $(. /etc/os-release && echo "$VERSION_CODENAME") main" >"$source/list"
	# shellcheck disable=SC2086
	(cd "$source/$1" && { [ -e "$source/updated" ] || apt-get -qq $opts update; } && touch "$source/updated" &&
		apt-get -qq $opts -o APT::Sandbox::User=root source "$1") >"$source/$1.log" 2>&1 ||
		die "no source of $1: $(tail -1 "$source/$1.log")"
	touch "$source/$1/done"
}

build_bash() {
	fetch bash
	(cd "$source"/bash/bash-*/ && for tool in recho zecho xcase printenv; do
		gcc -w -Iinclude -I. -o "tests/$tool" "support/$tool.c" || exit 1
	done) || die "bash's helpers do not compile"
}

build_git() {
	local jobs
	fetch git
	jobs=$(nproc)
	[ -e "$source/git/built" ] && return
	apt-get -qq install -y --no-install-recommends zlib1g-dev libcurl4-openssl-dev libexpat1-dev gettext make \
		>"$source/git.log" 2>&1
	(cd "$source"/git/git-*/ && make -j"$jobs" NO_TCLTK=1) >>"$source/git.log" 2>&1 || die "git does not build"
	touch "$source/git/built"
}

# NAME COMPILER FLAGS of the sanitized programs.
sanitizers='gcc-address gcc -fsanitize=address
gcc-thread gcc -fsanitize=thread
gcc-undefined gcc -fsanitize=undefined
clang-address clang -fsanitize=address
clang-thread clang -fsanitize=thread
clang-undefined clang -fsanitize=undefined
clang-memory clang -fsanitize=memory
static-undefined gcc -static -fsanitize=undefined
musl-undefined musl-gcc -static -fsanitize=undefined -fsanitize-undefined-trap-on-error'

build_sanitizer() {
	local name compiler flags
	mkdir -p "$source/sanitizer"
	while read -r name compiler flags; do
		# shellcheck disable=SC2086
		$compiler $flags -g -pthread -o "$source/sanitizer/$name" "$here/sanitized.c" ||
			die "$name does not compile"
	done <<<"$sanitizers"
}

# --- the suites: cases_SUITE lists, run_SUITE runs one in the working directory, found_SUITE reads its outcome ----

cases_cpython() {
	python3 -m test --list-tests | grep '^test'
}

run_cpython() {
	python3 -m test -v --timeout 300 "$1"
}

found_cpython() {
	awk '/^test[A-Za-z0-9_]* \(/ { name = $1 " " $2 }
		match($0, / \.\.\. (ok|FAIL|ERROR|skipped|expected failure)/) && name {
			print name ": " substr($0, RSTART + 5, RLENGTH - 5); name = "" }'
}

cases_stress() {
	local class
	for class in filesystem network scheduler memory pipe interrupt; do
		stress-ng --class "$class?" 2>&1 | sed 's/.*: *//'
	done | tr ' ' '\n' | grep . | sort -u
}

run_stress() {
	stress-ng --verify --"$1" 1 --timeout 1s --temp-path .
}

found_stress() {
	sed -n 's/.*\(fail\): *\[[0-9]*\] *\(.*\)/\2: \1/p' | sed 's/[0-9]\{3,\}/N/g'
}

cases_sanitizer() {
	cut -d' ' -f1 <<<"$sanitizers"
}

run_sanitizer() {
	"$source/sanitizer/$1" "$0"
}

found_sanitizer() {
	sed 's/==[0-9]*==/==N==/; s/0x[0-9a-f]*/0xN/g; s/$/: said/'
}

cases_bash() {
	(cd "$source"/bash/bash-*/tests && ls run-* | grep -v -e '~$' -e run-all -e run-minimal -e run-gprof)
}

run_bash() {
	cp -r "$source"/bash/bash-*/tests/. .
	PATH=$PWD:$PATH THIS_SH=/bin/bash BUILD_DIR=$PWD TMPDIR=$PWD BASH_TSTOUT=$PWD/out sh "./$1"
}

# What it prints is what differs from bash's own.
found_bash() {
	grep -a '^[<>]' | sed -e 's/[0-9]\{3,\}/N/g' -e 's/$/: said/'
}

cases_git() {
	(cd "$source"/git/git-*/t && ls t[0-9][0-9][0-9][0-9]-*.sh)
}

run_git() {
	local root=$PWD
	# The results too: the sources cannot be written inside.
	cd "$source"/git/git-*/t &&
		PERL_HASH_SEED=0 GIT_TEST_OPTS='' TEST_OUTPUT_DIRECTORY=$root sh "./$1" \
			--root="$root" --no-bin-wrappers -v
}

found_git() {
	sed -n 's/^\(ok\|not ok\) \([0-9]*\) - \(.*\)/\2 \3: \1/p'
}

# --- one case ---------------------------------------------------------------------------------------------

# Runs `inner SUITE NAME` as the ordinary user, in a directory of its own: once SIDE SUITE NAME
once() {
	local side=$1 suite=$2 name=$3 out=$results/$2/${3//\//_}.$1 fence=() rc=0 work

	[ -e "$out" ] && return
	work=$results/work/$$
	rm -rf "$work"
	mkdir -p "$work" "$results/$suite"
	chown "$who" "$work"
	[ "$side" = bare ] || fence=("$pale" run -q --level "$side" --)
	(cd "$work" && exec nice -n 10 timeout -k 5 "$limit" setpriv --reuid "$who" --regid "$who" --clear-groups \
		--inh-caps=-all env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/games HOME="$results/home" USER=$who \
		LANG=C.UTF-8 XDG_RUNTIME_DIR="$results/runtime" TMPDIR="$work" \
		"${fence[@]}" bash "$here/parity.sh" --inner "$results" "$suite" "$name") </dev/null >"$out.log" 2>&1 || rc=$?
	{ "found_$suite" <"$out.log" && echo "status: $rc"; } | sort >"$out.new"
	mv "$out.new" "$out"
	rm -rf "$work"
}

# The lines of accepted.tsv are: case, level, subtest, page and its sentence; the first three are patterns.
is_accepted() {
	local case level subtest page

	while IFS=$'\t' read -r case level subtest page; do
		[[ $case != '#'* && -n $page ]] || continue
		# shellcheck disable=SC2053
		[[ $1 = $case && $2 = $level && $3 = $subtest ]] && return
	done <"$here/accepted.tsv"
	return 1
}

# What is there on one side alone, as the subtests that differ: compare SUITE NAME LEVEL
compare() {
	local bare=$results/$1/${2//\//_}.bare inside=$results/$1/${2//\//_}.$3 subtest

	comm -3 "$bare" "$inside" | sed 's/^\t//; s/: [^:]*$//' | sort -u | while IFS= read -r subtest; do
		if is_accepted "$1/$2" "$3" "$subtest"; then
			echo "accepted"
		else
			echo "differs $1/$2 at $3: $subtest"
		fi
	done
}

# --- all --------------------------------------------------------------------------------------------------

suites=(sanitizer bash stress cpython git)

wanted() {
	local case
	[ ${#patterns[@]} = 0 ] && return
	for case in "${patterns[@]}"; do
		# shellcheck disable=SC2053
		[[ $1 = $case ]] && return
	done
	return 1
}

prepare() {
	local suite
	[ "$(id -u)" = 0 ] || die "needs root, to install and to change to the user $who"
	id $who >/dev/null 2>&1 || useradd -r -m $who
	mkdir -p "$results/home/.config/pale" "$results/runtime" "$results/work" "$source"
	chmod 700 "$results/runtime"
	cp "$here/policy.ini" "$results/home/.config/pale/"
	chown -R $who: "$results/home" "$results/runtime"
	dpkg -s "${packages[@]}" >/dev/null 2>&1 ||
		apt-get -qq install -y --no-install-recommends "${packages[@]}" >"$results/apt.log" 2>&1 ||
		die "not installed: $(tail -1 "$results/apt.log")"
	for suite in "${suites[@]}"; do
		! wanted_suite "$suite" || [ "$(type -t "build_$suite")" != function ] || "build_$suite"
	done
}

# Some pattern may name a case of it.
wanted_suite() {
	local case
	[ ${#patterns[@]} = 0 ] && return
	for case in "${patterns[@]}"; do
		[[ ${case%%/*} = "$1" || ${case%%/*} = '*' ]] && return
	done
	return 1
}

# `pale run` closes what it inherits above standard error, so the bare side must not have it either.
close_inherited() {
	local fd
	for fd in "/proc/$$/fd"/*; do
		fd=${fd##*/}
		[ "$fd" -le 2 ] || [ "$fd" = 255 ] || eval "exec $fd>&-"
	done
}

main() {
	local suite name level i=0 at=${part%/*} of=${part#*/} found
	patterns=("$@")
	close_inherited
	prepare
	: >"$results/found"
	: >"$results/counts"
	for suite in "${suites[@]}"; do
		wanted_suite "$suite" || continue
		while IFS= read -r name; do
			wanted "$suite/$name" && ((i++ % of == at - 1)) || continue
			once bare "$suite" "$name"
			for level in ${LEVELS:-full}; do
				once "$level" "$suite" "$name"
				found=$(compare "$suite" "$name" "$level")
				[ -z "$found" ] || echo "$found" >>"$results/found"
				echo "$suite $level $(wc -l <"$results/$suite/${name//\//_}.bare")" \
					"$(grep -c '^differs' <<<"$found") $(grep -c '^accepted' <<<"$found")" >>"$results/counts"
			done
		done < <("cases_$suite")
	done
	awk 'BEGIN { printf "%-12s %-7s %7s %9s %8s %9s\n", "suite", "level", "cases", "results", "differ", "accepted" }
		{ k = sprintf("%-12s %-7s", $1, $2); c[k]++; r[k] += $3; d[k] += $4; a[k] += $5 }
		END { for (k in c) printf "%s %7d %9d %8d %9d\n", k, c[k], r[k], d[k], a[k] }' "$results/counts"
	! grep '^differs' "$results/found"
}

if [ "${1:-}" = --inner ]; then
	source=$2/source
	"run_$3" "$4"
	exit
fi
[ $# -ge 1 ] && [ -x "$1/pale" ] || usage
pale=$results/stage/bin/pale
make --no-print-directory -s install DESTDIR= PREFIX="$results/stage" B="$1" >/dev/null || die "it does not install"
shift
main "$@"
