#!/bin/bash
# What is written is true in form: man pages lint and have each key, sources are formatted, and README lists
# the hooks that hooks.def has and what may differ under the fence.  --hooks, --differs and --agents print these lists.

cd "$(dirname "$0")/.." || exit 2
bad=0

complain() {
	echo "$*"
	bad=1
}

# One paragraph per group of hooks.def, in its order.
hooks() {
	awk '
		/^\/\* --- / { sub(/^\/\* --- /, ""); sub(/:.*/, ""); sub(/ ---.*/, ""); head = $0; next }
		/^HOOK\(/ { sub(/^HOOK\(/, ""); sub(/,.*/, ""); list[head] = list[head] " `" $0 "`"
			    if (!(head in seen)) { seen[head] = 1; order[++n] = head } }
		END { for (i = 1; i <= n; i++) print "* " order[i] ":" list[order[i]] }
	' preload/hooks.def
}

# The table of what may differ under the fence.
differs() {
	awk '/^#/ || !NF { next } { task = $1; at = $2; $1 = $2 = ""; sub(/^ +/, ""); gsub(/_/, " ", task); gsub(/,/, ", ", at)
		print "| " task " | " at " | " $0 " |" }' tests/compat/differs.txt
}

# The agents of agents.def with what their profiles open and close, as items of pale-agents(7).
agents() {
	local ini name commands
	for ini in policy/presets/agents/*.ini; do
		name=$(basename "$ini" .ini)
		commands=$(sed -n "s/^AGENT($name, \"[^\"]*\", \"\([^\"]*\)\",.*/\1/p" policy/agents.def)
		echo ".It Cm $name"
		echo "Started as"
		sed -e 's/ /\n/g' <<<"$commands" | sed -e 's/.*/.Nm &/' -e '$!s/$/ ,/' -e '$s/$/ ./'
		keys "$ini" write | sed -e '1i State:' -e 's/.*/.Pa &/' -e '$!s/$/ ,/' -e '$s/$/ ./'
		keys "$ini" sensitive | sed -e '1i Login, closed to others:' -e 's/.*/.Pa &/' -e '$!s/$/ ,/' -e '$s/$/ ./'
		keys "$ini" readonly | sed -e '1i Programs, not written by others:' -e 's/.*/.Pa &/' -e '$!s/$/ ,/' -e '$s/$/ ./'
		keys "$ini" set | sed -e '1i Told:' -e 's/.*/.Ev &/' -e '$!s/$/ ,/' -e '$s/$/ ./'
	done
}

keys() {
	sed -n "s/^$2 = //p" "$1"
}

case ${1:-} in
--agents) agents && exit ;;
--hooks) hooks && exit ;;
--differs) differs && exit ;;
esac

if ! diff -u <(sed -n '/^<!-- hooks -->$/,/^<!-- end of hooks -->$/p' README.md | sed '1d;$d') <(hooks); then
	complain "README.md: the list of hooks is not that of preload/hooks.def (tests/docs.sh --hooks)"
fi

if ! diff -u <(sed -n '/^<!-- differs -->$/,/^<!-- end of differs -->$/p' README.md | sed '1,3d;$d') <(differs); then
	complain "README.md: the table of what differs is not tests/compat/differs.txt (tests/docs.sh --differs)"
fi

# What the table of guarantees stands on: each promise has probes, each probe a promise (its cells are
# compared with what was measured by tests/t/99-escapes.sh).
promises() {
	sed -n 's/^P(.*, \([A-Z]*\))$/\1/p' tests/escapes/probes.def | LC_ALL=C sort -u
}

if ! diff -u <(bash tests/escapes/table.sh --of README.md | sed -n 's/^| .* | \([A-Z]*\) |$/\1/p' | LC_ALL=C sort -u) <(promises); then
	complain "README.md: the table of guarantees is not that of tests/escapes (table.sh --write BUILD_DIR)"
fi

diff -u <(sed -n '/^\.\\" agents$/,/^\.\\" end of agents$/p' tools/pale-agents.7 | sed '1d;$d') <(agents) ||
	complain "pale-agents(7): the list is not that of policy/presets/agents (tests/docs.sh --agents)"
for ini in policy/presets/agents/*.ini; do
	grep -q "^AGENT($(basename "$ini" .ini), " policy/agents.def || complain "$ini is in no line of policy/agents.def"
done

# Each key of the language is explained.
words() {
	sed -n 's/^\t{ "[a-z]*", "\([a-z_]*\)", KEY_.*/\1/p' policy/parse_keys.c | LC_ALL=C sort -u
}

explained() {
	sed -n -e 's/^\.It Ic //p' -e 's/^\.Ic //p' tools/pale.ini.5 | tr -s ' ,' '\n' | LC_ALL=C sort -u
}

missing=$(LC_ALL=C comm -23 <(words) <(explained))
[ -n "$(words)" ] && [ -z "$missing" ] || complain "pale.ini(5) lacks:" $missing

# Each method of the operator's protocol, with its scope, and each error is on its page.
methods() {
	sed -nE 's/^\t\{ "([a-z/]+)", SESSION_.*CONTROL_(READ|ANSWER|MANAGE), .*/\1 \L\2/p' helper/*.c | LC_ALL=C sort -u
}

told_methods() {
	sed -nE 's/^\.It Ic ([a-z/]+) No \(([a-z]+)\).*/\1 \2/p' helper/pale-control.5 | LC_ALL=C sort -u
}

errors() {
	sed -nE 's/^\tRPC_[A-Z_]+ = (-[0-9]+),$/\1/p' helper/control.h | LC_ALL=C sort -u
}

told_errors() {
	sed -nE 's/^\.It Er \\(-[0-9]+)$/\1/p' helper/pale-control.5 | LC_ALL=C sort -u
}

missing=$(LC_ALL=C comm -13 <(told_methods) <(methods))
[ -n "$(methods)" ] && [ -z "$missing" ] || complain "pale-control(5) lacks these methods, or their scopes:" $missing
if [ -z "$(errors)" ] || ! diff -u <(told_errors) <(errors); then
	complain "pale-control(5): the errors are not those of helper/control.h"
fi

for page in */*.[1-8]; do
	# Pages of this project refer to each other before they are installed.
	found=$(mandoc -T lint -W warning "$page" 2>&1 | grep -v 'referenced manual not found')
	[ -z "$found" ] || complain "$found"
done

found=$(find policy preload helper tools tests -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run 2>&1 |
	sed -n 's/^\([^:]*\):.*clang-format-violations.*/\1/p' | sort -u)
[ -z "$found" ] || complain "not formatted (make format): $found"

exit $bad
