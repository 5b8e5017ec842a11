#!/bin/bash
# Real agents from npm under the fence, offline: tests/agents/agents.sh BUILD_DIR [AGENT...]
#
# Each agent plays the good deeds bare and fenced, and the two runs must leave the same files and
# hear the same; and the bad deeds, which bare must come true (or nothing was tried) and fenced must not.
# Trials run at the default level, `strict:TRIAL` at strict.  One line each, `ok NAME` or `not ok NAME`; the
# last is `N passed, N failed`.  Packages are kept in ~/.cache/pale-agents of the ordinary user.

cd "$(dirname "$0")/../.." || exit 2
B=$(realpath "${1:?usage: tests/agents/agents.sh BUILD_DIR [AGENT...]}") || exit 2
shift
. tests/stage.sh

stage_make || exit 2
trap '[ -n "${KEEP:-}" ] && echo "kept: $T_BASE" || stage_remove' EXIT
trap 'exit 130' INT TERM
stage_install "$B" || exit 2
stage_levels full strict
mkdir -p "$T_BASE/t"
cp -r tests/lib.sh tests/agents "$T_BASE/t/"
chmod -R a+rX "$T_BASE/t" "$T_STAGE"

passed=0 failed=0

# trial AGENT [LEVEL:]TEST
trial() {
	local scratch rc T_LEVEL=full
	[[ $2 != *:* ]] || T_LEVEL=${2%%:*}
	scratch=$(mktemp -d "$T_BASE/s/XXXX")
	chmod 755 "$scratch"
	[ "$(id -u)" != 0 ] || chown $T_USER: "$scratch"
	as_user "$scratch" timeout -k 3 300 bash "$T_BASE/t/agents/trial.sh" "$1" "${2#*:}" </dev/null >"$scratch.log" 2>&1
	rc=$?
	stage_reap "$scratch"
	case $rc in
	0) passed=$((passed + 1)) && echo "ok $1/$2" ;;
	77) passed=$((passed + 1)) && echo "ok $1/$2 # $(grep '^skip:' "$scratch.log" | tail -1)" ;;
	*) failed=$((failed + 1)) && echo "not ok $1/$2" && sed 's/^/    /' "$scratch.log" && echo ;;
	esac
}

declare -A TRIALS=(
	[qwen]="works bare_does_harm is_judged screen leaves hangup strict:works strict:is_judged"
	# Told to end, gemini stays, bare as well.
	[gemini]="works bare_does_harm is_judged screen hangup"
	[opencode]="works bare_does_harm is_judged tools screen leaves hangup"
	[claude]="works bare_does_harm is_judged tools screen leaves hangup"
	[codex]="works bare_does_harm is_judged tools screen leaves hangup strict:works strict:is_judged"
	[cline]="works bare_does_harm is_judged screen leaves hangup"
	[pi]="works bare_does_harm is_judged screen leaves hangup"
	[copilot]="works bare_does_harm is_judged screen leaves hangup"
	[droid]="works bare_does_harm is_judged screen leaves hangup"
	[continue]="works bare_does_harm is_judged screen leaves hangup"
	[kilo]="works bare_does_harm is_judged screen leaves hangup"
)

# AGENT/TEST is one trial.
[ $# != 0 ] || set -- qwen gemini opencode claude codex cline pi copilot droid continue kilo
for agent; do
	[[ $agent != */* ]] || { trial "${agent%%/*}" "${agent#*/}" ; continue; }
	for test in ${TRIALS[$agent]:?no such agent}; do
		trial "$agent" "$test"
	done
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
