#!/bin/bash
# Ordinary work under the fence is the same as without it:
#
#   tests/compat/compat.sh BUILD_DIR [--levels LEVEL,...] [--keep] [--times] [TASK_GLOB...]
#
# tasks/NN-area.sh hold functions c_NAME, each a task of real work with real programs, and p_NAME where
# one needs something prepared.  A task runs as an ordinary user in a fresh workspace, always at the same
# path: bare, then under `pale run -q --keep-home --level LEVEL` (hooks,full,strict).  Status, stdout, stderr
# and the tree of HOME, workspace and TMPDIR (picture.py) must be equal.  Headers of a file: `# needs:
# PACKAGE...` of Debian, `# limit: SECONDS` for each run of a task (30).
#
# One line a task and level: same, explained (differs.txt says why), differs (with the difference shown),
# unsteady (bare differs from bare: the task is wrong), skipped (its preparation ended with 77 and the reason).
# A row of differs.txt that does not differ is as wrong.
# The last line is `N same, N explained, N differ`.  Two tasks run at a time.  A TASK_GLOB matches NAME or NN-area.

cd "$(dirname "$0")/../.." || exit 2
B=$(realpath "${1:?usage: compat.sh BUILD_DIR [--levels LEVEL,...] [--keep] [--times] [TASK_GLOB...]}") || exit 2
shift
levels="hooks full strict" keep= times=
while [[ ${1:-} == --* ]]; do
	case $1 in
	--levels) levels=${2//,/ } && shift ;;
	--keep) keep=1 ;;
	--times) times=1 ;;
	*) echo "compat.sh: what is $1?" >&2 && exit 2 ;;
	esac
	shift
done
levels=${levels/bare/}
[ $# != 0 ] || set -- '*'
. tests/stage.sh
umask 022
ulimit -c 0
LC_ALL=C.UTF-8

missing=$(sed -n 's/^# needs: //p' tests/compat/tasks/*.sh |
	xargs dpkg-query -W -f='${Status} ${Package}\n' 2>&1 | grep -v '^install ok installed')
[ -z "$missing" ] || { echo "not installed (make deps-compat):" && echo "$missing" && exit 2; }

stage_make || exit 2
T_TMP=$(mktemp -d /tmp/pale-compat.XXXXXX) && chmod 755 "$T_TMP" || exit 2
trap '[ -n "$keep" ] && echo "kept: $T_BASE $T_TMP" || { stage_remove; chmod -R u+rwX "$T_TMP"; rm -rf "$T_TMP"; }' EXIT
trap 'exit 130' INT TERM
stage_install "$B" || exit 2
cp -r tests/compat "$T_BASE/compat"
mkdir "$T_BASE/results"
chmod -R a+rX "$T_BASE/compat" "$T_STAGE"

owned() {
	mkdir -p "$@" && { [ "$(id -u)" != 0 ] || chown $T_USER: "$@"; }
}

# A home, a workspace in it, a TMPDIR, each at the path that it always has: fresh DIR TMP [TEMPLATE]
fresh() {
	chmod -R u+rwX "$1/h" "$1/r" "$2" 2>/dev/null
	rm -rf "$1/h" "$1/r" "$2"
	owned "$1" "$1/r" "$2" && chmod 700 "$1/r" "$2" || return 1
	if [ -d "${3:-}" ]; then
		cp -a "$3" "$1/h" && return
	fi
	owned "$1/h" "$1/h/work" "$1/h/.cache" "$1/h/.config" "$1/h/.local" "$1/h/.local/state"
	printf '[user]\n\tname = Tess Tester\n\temail = tess@example.org\n[init]\n\tdefaultBranch = main\n' >"$1/h/.gitconfig"
	[ "$(id -u)" != 0 ] || chown $T_USER: "$1/h/.gitconfig"
}

# In the environment of a task: in_place DIR TMP COMMAND...
in_place() {
	local dir=$1 tmp=$2
	shift 2
	(cd "$dir/h/work" &&
		exec ${T_AS[@]+"${T_AS[@]}"} env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 TERM=xterm \
		HOME="$dir/h" TMPDIR="$tmp" XDG_RUNTIME_DIR="$dir/r" USER=$T_USER LOGNAME=$T_USER SHELL=/bin/bash T_MARK="$dir/" \
		GIT_AUTHOR_DATE=2026-01-02T03:04:05Z GIT_COMMITTER_DATE=2026-01-02T03:04:05Z "$@") </dev/null
}

# once DIR TMP LEVEL FILE NAME LIMIT: leaves DIR.LEVEL.{out,err,tree,time}
once() {
	local dir=$1 tmp=$2 level=$3 to=$1.$3 fence=() rc=0 began=$EPOCHREALTIME
	[[ $level == bare* ]] || fence=("$T_STAGE/bin/pale" run -q --keep-home -e T_MARK --level "$level" --)
	fresh "$dir" "$tmp" "$dir.prepared" || return 1
	in_place "$dir" "$tmp" timeout -k 3 "$6" ${fence[@]+"${fence[@]}"} bash "$T_BASE/compat/task.sh" \
		"$4" "c_$5" >"$to.out" 2>"$to.err" || rc=$?
	echo "status $rc" >>"$to.out"
	echo "$(((${EPOCHREALTIME/./} - ${began/./}) / 1000)) ms" >"$to.time"
	stage_reap "$dir/" # with its end, or one name is the beginning of another
	python3 "$T_BASE/compat/picture.py" "$dir/h" "$tmp" >"$to.tree"
	[ -z "$keep" ] || { rm -rf "$to.home" && mv "$dir/h" "$to.home"; }
}

# Shows what differs between two runs, nothing where they are equal.
difference() {
	local what
	for what in out err tree; do
		diff --label "bare $what" --label "${2##*.} $what" -U1 "$1.$what" "$2.$what"
	done
}

# report WORD NAME LEVEL [MORE]
report() {
	local t=
	[ -z "$times" ] || t=" ($(cat "$T_BASE/s/$2.$3.time"), bare $(cat "$T_BASE/s/$2.bare.time"))"
	echo "$1 $2 $3$t${4:+: $4}"
}

# A task that tried nothing compares nothing.
broken() {
	grep -qE '^status (124|126|127|137)$' "$1.bare.out" || grep -q 'command not found' "$1.bare.err"
}

# The reason that differs.txt gives for NAME at LEVEL, if it has one.
reason() {
	awk -v name="$1" -v level="$2" \
		'$1 == name && ("," $2 ",") ~ ("," level ",") { $1 = $2 = ""; sub(/^ +/, ""); print }' tests/compat/differs.txt
}

judge() {
	local dir=$1 name=$2 level=$3 why steady=
	why=$(reason "$name" "$level")
	if broken "$dir"; then
		report unsteady "$name" "$level" "fails bare: $(tail -1 "$dir.bare.out") $(tail -1 "$dir.bare.err")"
		return
	fi
	difference "$dir.bare" "$dir.$level" >"$dir.$level.diff"
	if [ ! -s "$dir.$level.diff" ]; then
		[ -z "$why" ] && report same "$name" \
			"$level" || report differs "$name" "$level" "differs.txt explains what is the same: $why"
		return
	fi
	if [ -n "$why" ]; then
		report explained "$name" "$level" "$why"
		return
	fi
	[ -e "$dir.again.out" ] || steady=1
	[ -z "$steady" ] || once "$dir" "$4" bare.again "$5" "$name" "$6"
	[ -z "$(difference "$dir.bare" "$dir.bare.again")" ] && report differs "$name" \
		"$level" || report unsteady "$name" "$level"
	head -40 "$dir.$level.diff" | sed 's/^/    /'
}

run_task() {
	local file=$1 name=$2 dir=$T_BASE/s/$2 tmp=$T_TMP/$2 limit level
	limit=$(sed -n 's/^# limit: //p' "$file")
	if grep -q "^p_$name() " "$file"; then
		fresh "$dir" "$tmp" && in_place "$dir" \
			"$tmp" timeout 120 bash "$T_BASE/compat/task.sh" "$file" "p_$name" >"$dir.log" 2>&1
		case $? in
		0) ;;
		77) echo "skipped $name: $(tail -1 "$dir.log")" && return ;;
		*) echo "differs $name prepare" && sed 's/^/    /' "$dir.log" && return ;;
		esac
		mv "$dir/h" "$dir.prepared"
	fi
	for level in bare $levels; do
		once "$dir" "$tmp" "$level" "$file" "$name" "${limit:-30}" || echo "differs $name $level: no workspace"
	done
	for level in $levels; do
		judge "$dir" "$name" "$level" "$tmp" "$file" "${limit:-30}"
	done
	[ -n "$keep" ] || { chmod -R u+rwX "$dir" "$dir".* "$tmp" && rm -rf "$dir" "$dir".* "$tmp"; } 2>/dev/null
}

# FILE NAME of each task; two of one name would share a workspace.
all_tasks() {
	local file
	for file in "$T_BASE"/compat/tasks/*.sh; do
		sed -n "s|^c_\([A-Za-z0-9_]*\)() *{.*|$file \1|p" "$file"
	done
}

chosen() {
	local file name glob
	while read -r file name; do
		for glob; do
			[[ $name != $glob && $(basename "$file" .sh) != $glob ]] || { echo "$file $name" && break; }
		done
	done < <(all_tasks)
}

# What is wrong with the lists themselves.
lists() {
	all_tasks | awk '{ print $2 }' | sort | uniq -d | sed 's/$/ two tasks have this name/'
	awk '!/^#/ && NF { print $1 }' tests/compat/differs.txt |
		sort -u | comm -23 - <(all_tasks | awk '{ print $2 }' | sort -u) |
		sed 's/$/ differs.txt: no such task/'
}

lists | sed 's/^/differs /' | tee "$T_BASE/results/lists"
while read -r file name; do
	while [ "$(jobs -rp | wc -l)" -ge 2 ]; do
		wait -n
	done
	{ run_task "$file" "$name" >"$T_BASE/results/$name" 2>&1; cat "$T_BASE/results/$name"; } &
done < <(chosen "$@")
wait

count() {
	cat "$T_BASE"/results/* | grep -cE "^($1) "
}
differ=$(count 'differs|unsteady')
echo "$(count same) same, $(count explained) explained, $differ differ"
[ "$differ" = 0 ]
