#!/bin/bash
# The guarantee table of pale-guarantees(7).
#
#   table.sh PROBES RESULTS      prints it from what was measured (tests/t/escapes/guarantees.sh)
#   table.sh --write BUILD_DIR   measures, and writes it into the page

# Which measurements a column stands for.
HOOKS="hooks.libc hooks.raw hooks.python"
FULL="full.libc full.raw full.static full.musl full.python full.busybox"
DIGGER="full.dig"
STRICT="strict.libc strict.raw strict.static strict.musl strict.dig strict.python strict.busybox"

PROMISES='
KEY      read a key or a token
WRITE    write, create or cut outside the workspace
REMOVE   remove, move or replace outside
ATTRS    change modes, owners, times, attributes outside
FINE     break `readonly`, `keep` or a denied pattern inside a writable directory
GIT      make git run something of its own, by configuration or hooks of any repository; \
move a protected branch by its files
EXEC     run a denied command
NET      connect or send to a host or port that no rule names, by name, address or datagram; listen for the world
NAMES    carry data out in names that are looked up, or beside them
UNIX     reach other programs by their sockets
PALE     signal, trace, read, starve or limit pale itself
OTHERS   the same to other processes of the user
SEEN     see what other processes run: command lines, states
CLOSED   read a closed link (readlink), attributes of closed files, names that come and go beside them
TERMINAL type into the terminal, open another one, change its mode
IPC      reach shared memory, semaphores and message queues of others
KERNEL   name spaces, mounts, io_uring, keyrings, foreign system calls
FENCE    take the fence off, edit its policy
'

# cell PROMISE MEASUREMENT...: attempts that work bare are counted, once for each way of making them.
cell() {
	local promise=$1 m
	shift
	for m; do
		case $m in
		*.python | *.busybox) cat "$results/bare.${m#*.}" ;;
		*) cat "$results/bare.static" ;;
		esac | awk -v promise="$promise" '
			FILENAME == ARGV[1] { of[$1] = $4; next }
			FILENAME == "-" { real[$1] = $2 == "worked"; next }
			of[$1] == promise && real[$1] { print $2 }' "$probes" - "$results/$m"
	done | awk '{ n++; out += $1 == "worked" || $1 == "hung" }
		END { if (!n) print "-"
		      else if (!out) printf "held (%d)\n", n
		      else if (out == n) printf "not held (%d)\n", n
		      else printf "partly: %d of %d get through\n", out, n }'
}

table() {
	local id text
	echo "| an agent tries to | \
\`hooks\` | \`full\` | \`full\`, native code that digs out the pass | \`strict\` | probes |"
	# a backslash at the end of a line continues it
	while read id text; do
		[ -z "$id" ] ||
			echo "| $text | $(cell "$id" $HOOKS) | $(cell "$id" $FULL) | $(cell "$id" $DIGGER) | $(cell "$id" $STRICT) | $id |"
	done <<<"$PROMISES"
}

write() {
	local build=$1
	cd "$(dirname "$0")/../.." || exit 2
	GUARANTEES=$(mktemp) && export GUARANTEES
	LEVELS=full tests/run.sh "$build" escapes/guarantees/guarantees
	[ -s "$GUARANTEES" ] || { echo "nothing was measured" && exit 1; }
	bash tests/tables.sh into tools/man/pale-guarantees.7 guarantees <"$GUARANTEES"
	rm -f "$GUARANTEES"
}

case $1 in
--write) write "$2" ;;
*) probes=$1 results=$2 && table ;;
esac
