# Measuring the escapes, sourced by tests/t/escapes/guarantees.sh.
#
#   measure NAME VARIANT [COMMAND...]   tries all escapes of that build, inside what COMMAND starts (none:
#                                       bare), and leaves `NAME result` lines in $S/results/NAME
#
# What happened is not the attempt's own word alone: what changed outside, on disk, and who called a
# listener counts as an escape as well.

E=$T_BASE/t/escapes
. "$E/netprobe.sh"

# The probes' own language of variants that are scripts.
command_of() {
	case $1 in
	python) echo "python3 $E/probes.py" ;;
	busybox) echo "busybox sh $E/probes.sh" ;;
	*) echo "$T_VICTIMS/escape-$1" ;;
	esac
}

# The table of the scripts' probes; that of the programs is `escape-static list`.
scripts() {
	python3 "$E/probes.py" list
	busybox sh "$E/probes.sh" list
}

# A world for one measurement: the same each time.
world() {
	local key=$HOME/.ssh/id_rsa
	rm -rf "$HOME/outside" "$HOME/other" "$W/tries"
	mkdir -p "$HOME/outside" "$HOME/other" "$W/tries" "$HOME/.config/pale" "$HOME/.local/state/pale"
	cp "$T_VICTIMS/escbanned" "$T_VICTIMS/esctool" "$HOME/other/"
	echo "$DECOY .ssh/id_rsa" >"$key"
	chmod 600 "$key"
	echo "# of the operator" >"$HOME/.bashrc"
	python3 "$E/target.py" "$HOME/other" "$key" >"$S/target.log" 2>&1 &
	TARGET=$!
	until_true 10 test -e "$HOME/other/env" || fail "no targets: $(cat "$S/target.log")"
	export ESCAPE_KEY=$key ESCAPE_OUT=$HOME/outside ESCAPE_OTHER=$HOME/other
	set -a
	. "$HOME/other/env"
	set +a
	# What is asked is held: nobody is there to answer, and a probe that waits would count as hung.
	policy <<-END
		[session]
		approvals = never
		[files]
		readonly = **/locked/*
		deny = **/hidden/*
		keep = **/kept/*
		[git]
		protect = git_branch_*
		[commands]
		deny = escbanned
		deny = esctool wipe
		[network]
		deny = localhost:$ESCAPE_PORT
		allow = 151.101.1.10:$ESCAPE_PORT
		udp = 151.101.1.10:$ESCAPE_PORT
		allow = good.example:443
		allow = *.wild.example
		allow = *.flood.example
	END
	# shellcheck disable=SC2046
	"$T_VICTIMS/escape-static" setup "$HOME/outside" "$W/tries" $(scripts | cut -d' ' -f1) || fail "no world"
}

# Whatever is still on its way to somebody's socket is written down first.
end_of_world() {
	kill "$TARGET"
	wait "$TARGET" 2>/dev/null
}

# The lines of $1, `worked` where the world says so.
with_the_worlds_word() {
	{
		"$T_VICTIMS/escape-static" check "$HOME/outside"
		cat "$HOME/other/calls" 2>/dev/null
	} | sort -u >"$S/changed"
	awk 'FILENAME != ARGV[2] { changed[$1] = 1; next } { print $1, ($1 in changed) ? "worked" : $2 }' "$S/changed" "$1"
}

export ESCAPE_SLOW=${SLOW:-1}
# What the attempts know their world by.
GIVEN=(-e 'T_*' -e 'ESCAPE_*' -e ESCAPE_KEY)

measure() {
	local name=$1 variant=$2 line
	shift 2
	mkdir -p "$S/results"
	world
	# A terminal of their own; what they find goes into a file.
	line="cd $W/tries && ${*@Q} $(command_of "$variant") run >$S/raw 2>$S/said"
	script -qec "$line" /dev/null >"$S/typed" 2>&1 </dev/null
	RC=$?
	end_of_world
	with_the_worlds_word "$S/raw" >"$S/results/$name"
}

# `MEASUREMENT NAME` for each that got through in these measurements, or hung.
escaped() {
	local m
	for m; do
		awk -v m="$m" '$2 == "worked" || $2 == "hung" { print m, $1 }' "$S/results/$m"
	done | LC_ALL=C sort
}

# What got through is what lost.txt says gets through there: no more, and no less.
as_known() {
	local m
	for m; do
		awk -v m="$m" '$1 == m { print $1, $2 }' "$E/lost.txt"
	done | LC_ALL=C sort | diff - <(escaped "$@") >"$S/diff" ||
		fail "not as lost.txt has it (< it says, > what got through): $(cat "$S/diff")"
}
