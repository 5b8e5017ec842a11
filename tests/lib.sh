# Scenario helpers, sourced by tests/t/*/*.sh and tests/try.sh.
#
# A scenario file defines functions t_NAME and ends with `scenario "$@"`.  Each function runs in a
# shell of its own as an ordinary user, in a scratch home with decoy secrets:
#
#   $S scratch of this test   $HOME its home   $W the workspace (the current directory)
#   T_VICTIMS the victims     T_STAGE the installed copy, whose bin/ comes first on PATH
#
# A test fails by fail(), or skips by skip() with the reason.  What it starts must carry T_MARK in
# its environment (all children do); the runner ends what is left by that mark, by pid.

set -u

# --- the shape of a scenario ----------------------------------------------------------------------

scenario() {
	sandbox
	"t_$1"
}

# Says why and ends the test.
fail() {
	printf 'FAIL: %s\n' "$*"
	[ ! -e "$S/out" ] || { echo "--- stdout (rc ${RC:-?})" && head -c 3000 "$S/out"; }
	[ ! -e "$S/err" ] || { echo "--- stderr" && head -c 3000 "$S/err"; }
	exit 1
}

skip() {
	printf 'skip: %s\n' "$*"
	exit 77
}

need() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || skip "$tool is not installed"
	done
}

# machine: runs on_NAME for the t_NAME that calls it, as root, with mounts of its own.
machine() {
	[ "$(id -u)" = 0 ] || skip "a /run of one's own needs root"
	chmod 755 "$S" "$HOME" "$W"
	chown -R "$T_USER:" "$HOME" "$XDG_RUNTIME_DIR"
	export S HOME W STATE XDG_RUNTIME_DIR
	RC=0
	unshare -m bash "$0" "on_${FUNCNAME[1]#t_}" || RC=$?
	[ $RC != 77 ] || exit 77
	[ $RC = 0 ] || exit 1
}

# --- the sandbox ----------------------------------------------------------------------------------

DECOY=decoy-7c1f

# Without a fork for each file: this runs before every test.
decoys() {
	local f
	mkdir -p "$HOME"/{.ssh,.aws,.gnupg,.kube,.config/gcloud,.config/gh,.docker,elsewhere}
	for f in .ssh/id_rsa .ssh/config .aws/credentials .gnupg/secring.gpg .kube/config .config/gcloud/token \
		.config/gh/hosts.yml .docker/config.json .pypirc .npmrc .bash_history elsewhere/file outside-file; do
		echo "$DECOY $f" >"$HOME/$f"
	done
	: >"$HOME/.ssh/config"
	chmod 700 "$HOME/.ssh" "$HOME/.gnupg"
}

sandbox() {
	S=$T_SCRATCH
	HOME=$S/h
	W=$HOME/work
	XDG_RUNTIME_DIR=$S/r
	# No terminal here: it is the test that answers.
	PALE_PROMPT=1
	export HOME XDG_RUNTIME_DIR PALE_PROMPT
	mkdir -p "$W" "$XDG_RUNTIME_DIR"
	chmod 700 "$XDG_RUNTIME_DIR"
	decoys
	printf '[user]\n\tname = Tess Tester\n\temail = tess@example.org\n[init]\n\tdefaultBranch = main\n' >"$HOME/.gitconfig"
	echo "hello from the workspace" >"$W/file"
	STATE=$HOME/.local/state/pale
	cd "$W" || exit 99
}

# A policy at ~/.config/pale/policy.ini from stdin.
policy() {
	mkdir -p "$HOME/.config/pale"
	cat >"$HOME/.config/pale/policy.ini"
	chmod 600 "$HOME/.config/pale/policy.ini"
}

# --- running things ---------------------------------------------------------------------------------

# Runs a command, keeping its output in $S/out and $S/err and its status in RC.
run() {
	RC=0
	"$@" >"$S/out" 2>"$S/err" </dev/null || RC=$?
}

# The same inside the fence.  OPTS holds options of `pale run`.
OPTS=()
fence() {
	run pale run -q ${OPTS[@]+"${OPTS[@]}"} -- "$@"
}

# The Landlock ABI that `pale run` has here.
abi() {
	pale doctor --json ${T_ABI:+--abi-max "$T_ABI"} |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["landlock_abi"])'
}

# A shell inside the fence: `fsh 'command line'`.
fsh() {
	fence bash -c "$@"
}

# Waits until a command succeeds: until_true SECONDS COMMAND...  SLOW=20: that much longer.
until_true() {
	local left=$(($1 * 50 * ${SLOW:-1}))
	shift
	while ! "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 0.02
	done
}

# --- expectations -----------------------------------------------------------------------------------
# In the shell itself where that is possible: a fork and an exec cost more than what most tests test.

# Sets TEXT to a file's content without NUL bytes.
content_of() {
	local parts=()
	[ ! -e "$1" ] || mapfile -d '' -t parts <"$1"
	printf -v TEXT %s "${parts[@]}"
}

# file_has FILE TEXT
file_has() {
	content_of "$1"
	[[ $TEXT == *"$2"* ]]
}

# Is a file's content this text, but for line ends at its end?
file_equals() {
	content_of "$1"
	while [[ $TEXT == *$'\n' ]]; do TEXT=${TEXT%$'\n'}; done
	[ "$TEXT" = "$2" ]
}

rc_is() {
	[ "$RC" = "$1" ] || fail "exit status $RC, expected $1${2:+ ($2)}"
}

rc_not() {
	[ "$RC" != "$1" ] || fail "exit status is $1${2:+ ($2)}"
}

out_is() {
	file_equals "$S/out" "$1" || fail "stdout is not: $1"
}

out_has() {
	file_has "$S/out" "$1" || fail "stdout lacks: $1"
}

out_lacks() {
	! file_has "$S/out" "$1" || fail "stdout has: $1"
}

err_has() {
	file_has "$S/err" "$1" || fail "stderr lacks: $1"
}

err_lacks() {
	! file_has "$S/err" "$1" || fail "stderr has: $1"
}

err_is_empty() {
	[ ! -s "$S/err" ] || fail "stderr is not empty"
}

# The line of a denial: denied OP TARGET [REASON]
denied() {
	local lines line
	mapfile -t lines <"$S/err"
	for line in ${lines[@]+"${lines[@]}"}; do
		[[ $line != *"pale: denied $1 $2"*  || $line != *"${3:-}"* ]] || return 0
	done
	fail "no line: pale: denied $1 $2 ... ${3:-}"
}

not_denied() {
	content_of "$S/err"
	[[ $'\n'$TEXT != *$'\npale: denied'* ]] || fail "something was denied"
}

file_is() {
	file_equals "$1" "$2" || fail "$1 is not: $2"
}

exists() {
	[ -e "$1" ] || [ -L "$1" ] || fail "$1 does not exist"
}

missing() {
	{ [ ! -e "$1" ] && [ ! -L "$1" ]; } || fail "$1 exists"
}

no_decoy() {
	! file_has "$S/out" "$DECOY" || fail "a secret came out"
}

# What a tree holds: names, types, modes, links, contents; but not where pale lets agents keep their state.
picture() {
	(cd "$1" && find . -mindepth 1 -name .pale -prune -o -mindepth 1 -printf '%P %y %m %l\n' | LC_ALL=C sort &&
		find . -name .pale -prune -o -type f -exec cksum {} + 2>/dev/null | LC_ALL=C sort)
}

# --- the ledger -------------------------------------------------------------------------------------

ledgers() {
	cat "$STATE"/sessions/*/ledger.jsonl 2>/dev/null
}

# Sets RECORDS to the records of op (a regular expression) with this verdict (another) whose line holds all of
# the texts.
find_records() {
	local op="\"op\": ?\"($1)\"" verdict="\"verdict\": ?\"$2\"" file line text lines
	shift 2
	RECORDS=()
	for file in "$STATE"/sessions/*/ledger.jsonl; do
		[ -r "$file" ] || continue
		mapfile -t lines <"$file"
		for line in "${lines[@]}"; do
			for text; do
				[[ $line == *"$text"* ]] || continue 2
			done
			[[ ! $line =~ $op || ! $line =~ $verdict ]] || RECORDS+=("$line")
		done
	done
}

records() {
	find_records "$@"
	[ ${#RECORDS[@]} = 0 ] || printf '%s\n' "${RECORDS[@]}"
}

recorded() {
	find_records "$@"
	[ ${#RECORDS[@]} != 0 ] || fail "the ledger lacks: $*"
}

not_recorded() {
	find_records "$@"
	[ ${#RECORDS[@]} = 0 ] || fail "the ledger has: $*"
}

verifies() {
	run pale log verify
	rc_is 0 "pale log verify"
}

# --- approvals --------------------------------------------------------------------------------------

# The id of the one pending question, waiting for it.
pending_id() {
	until_true "${1:-10}" has_pending || fail "nothing is pending"
	[[ $PENDING =~ \"id\":\ \"([0-9a-f]+)\" ]] || fail "pale pending --json names no id"
	printf '%s\n' "${BASH_REMATCH[1]}"
}

# Sets PENDING to all questions, in JSON.
has_pending() {
	PENDING=$(pale pending --json)
	[[ $PENDING == *'"target"'* ]]
}

# Starts a fenced command in the background: bg NAME COMMAND...; its output is in $S/NAME.out and .err.
bg() {
	local name=$1
	shift
	pale run -q ${OPTS[@]+"${OPTS[@]}"} -- "$@" >"$S/$name.out" 2>"$S/$name.err" </dev/null &
	BG=$!
}

# Waits for it; then $S/out, $S/err and RC are its own.
bg_wait() {
	RC=0
	wait "$BG" || RC=$?
	mv "$S/$1.out" "$S/out"
	mv "$S/$1.err" "$S/err"
}
