# One task, in a shell of its own: task.sh FILE FUNCTION.  What tasks share stands here.

# Waits until a command succeeds: until_true SECONDS COMMAND...
until_true() {
	local left=$(($1 * 50))
	shift
	while ! "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 0.02
	done
}

# A program of C from stdin: cc_to NAME FLAGS...
cc_to() {
	local name=$1
	shift
	gcc -D_GNU_SOURCE -O1 -x c -o "$name" - "$@"
}

. "$1"
"$2"
