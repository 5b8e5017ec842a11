#!/bin/bash
# What is written is true in form: man pages lint and have each key, sources are formatted, and the lists and tables in
# documents are those of their sources.  --hooks, --differs and --agents print these.

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
	' preload/hooks/hooks.def
}

# The table of what may differ under the fence, in pale(7).
differs() {
	echo "| task | level | why |"
	awk '/^#/ || !NF { next } { task = $1; at = $2; $1 = $2 = ""; sub(/^ +/, ""); gsub(/_/, " ", task); gsub(/,/, ", ", at)
		print "| " task " | " at " | " $0 " |" }' tests/compat/differs.txt
}

# The agents of agents.def with what their profiles open and close, as items of pale-agents(7).
agents() {
	local ini name commands
	for ini in policy/presets/agents/*.ini; do
		name=$(basename "$ini" .ini)
		commands=$(sed -n "s/^AGENT($name, \"[^\"]*\", \"\([^\"]*\)\",.*/\1/p" policy/presets/agents.def)
		echo ".It Cm $name"
		echo "Started as"
		sed -e 's/ /\n/g' <<<"$commands" | sed -e 's/.*/.Nm &/' -e '$!s/$/ ,/' -e '$s/$/ ./'
		keys "$ini" write | sed -e '1i State:' -e 's/.*/.Pa &/' -e '$!s/$/ ,/' -e '$s/$/ ./'
		keys "$ini" share | sed -e '1i Seen where its state is moved:' -e 's/.*/.Pa &/' -e '$!s/$/ ,/' -e '$s/$/ ./'
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

if ! diff -u <(sed -n '/^<!-- hooks -->$/,/^<!-- end of hooks -->$/p' preload/README.md | sed '1d;$d') <(hooks); then
	complain "preload/README.md: the list of hooks is not that of preload/hooks/hooks.def (tests/docs.sh --hooks)"
fi

# Three screens.
[ "$(wc -c <README.md)" -le 9216 ] || complain "README.md is longer than 9 KB"

listed() { tr -s '\\ ,\t\n' '\n' | grep . | sort; }
if ! diff <(sed -n '/^DEPS_BUILD :=/,/[^\\]$/p' Makefile | sed 's/.*:=//' | listed) \
	<(sed -n '/^\* Building needs/,/`make try`/p' README.md | sed '1s/.*: //; s/\. `make.*//' | listed); then
	complain "README.md: what building needs is not DEPS_BUILD of the Makefile"
fi

# Each file that a README names is there: in the folder, or in the rooms that the row of the table names.
for room in policy preload helper tools tests; do
	awk -v folder=$room 'function names(line, pattern, prefix,    out) {
			while (match(line, pattern)) {
				out = out " " prefix substr(line, RSTART + 1, RLENGTH - 2)
				line = substr(line, RSTART + RLENGTH)
			}
			return out
		}
		{ files = names($0, "`[a-z_/]+[a-z_*]*[.](c|h|def|txt|sh|py)`"); n = split(files, file, " ")
		  places = /^\| `/ ? names($0, "`[a-z_/]+/`", folder "/") : ""
		  for (i = 1; i <= n; i++) print file[i], folder "/" places }' $room/README.md | sort -u |
		while read -r file places; do
			for place in "" $places; do
				compgen -G "$place$file" >/dev/null && continue 2
			done
			echo "$room/README.md: $file"
		done
done | grep . && complain "not found"

if ! diff -u <(bash tests/tables.sh of tools/man/pale.7 differs) <(differs); then
	complain "pale(7): not tests/compat/differs.txt (tests/docs.sh --differs |
			tests/tables.sh into tools/man/pale.7 differs)"
fi

# The rules that README shows are where it says.
grep -oE 'preset [a-z0-9-]+:[0-9]+ \[[a-z]+\] [a-z]+ = [^ )]+' README.md | while read -r _ at _ rule; do
	[ "$(sed -n "${at#*:}p" "policy/presets/${at%:*}.ini")" = "$rule" ] || echo "$at $rule"
done | grep . && complain "README.md: no such lines of the presets"

# What the table of guarantees stands on: each promise has probes, each probe a promise (its cells are
# compared with what was measured by tests/t/escapes/guarantees.sh).
promises() {
	sed -n 's/^P(.*, \([A-Z]*\))$/\1/p' tests/escapes/probes*.def | LC_ALL=C sort -u
}

if ! diff -u <(bash tests/tables.sh of tools/man/pale-guarantees.7 guarantees |
	sed -n 's/^| .* | \([A-Z]*\) |$/\1/p' | LC_ALL=C sort -u) <(promises); then
	complain "pale-guarantees(7): the table is not that of tests/escapes (table.sh --write BUILD_DIR)"
fi

diff -u <(sed -n '/^\.\\" agents$/,/^\.\\" end of agents$/p' tools/man/pale-agents.7 | sed '1d;$d') <(agents) ||
	complain "pale-agents(7): the list is not that of policy/presets/agents (tests/docs.sh --agents)"
for ini in policy/presets/agents/*.ini; do
	grep -q "^AGENT($(basename "$ini" .ini), " policy/presets/agents.def ||
		complain "$ini is in no line of policy/presets/agents.def"
done

# Each key of the language is explained.
words() {
	sed -n 's/^\t{ "[a-z]*", "\([a-z_]*\)", KEY_.*/\1/p' policy/parse/parse_keys.c | LC_ALL=C sort -u
}

explained() {
	sed -n -e 's/^\.It Ic //p' -e 's/^\.Ic //p' tools/man/pale.ini.5 | tr -s ' ,' '\n' | LC_ALL=C sort -u
}

missing=$(LC_ALL=C comm -23 <(words) <(explained))
[ -n "$(words)" ] && [ -z "$missing" ] || complain "pale.ini(5) lacks:" $missing

# Each method of the operator's protocol, with its scope, and each error is on its page.
methods() {
	sed -nE 's/^\t\{ "([a-z/]+)", SESSION_.*CONTROL_(READ|ANSWER|MANAGE), .*/\1 \L\2/p' helper/*/*.c | LC_ALL=C sort -u
}

told_methods() {
	sed -nE 's/^\.It Ic ([a-z/]+) No \(([a-z]+)\).*/\1 \2/p' helper/pale-control.5 | LC_ALL=C sort -u
}

errors() {
	sed -nE 's/^\tRPC_[A-Z_]+ = (-[0-9]+),$/\1/p' helper/control/call.h | LC_ALL=C sort -u
}

told_errors() {
	sed -nE 's/^\.It Er \\(-[0-9]+)$/\1/p' helper/pale-control.5 | LC_ALL=C sort -u
}

missing=$(LC_ALL=C comm -13 <(told_methods) <(methods))
[ -n "$(methods)" ] && [ -z "$missing" ] || complain "pale-control(5) lacks these methods, or their scopes:" $missing
if [ -z "$(errors)" ] || ! diff -u <(told_errors) <(errors); then
	complain "pale-control(5): the errors are not those of helper/control/call.h"
fi

# Each option of each command is on the command's page, and each option there is one of a command of that page.
# What chooses the policy is told once, by pale-run(1), and elsewhere by that sentence.
policy_options="agent allow-denylisted-commands allow-sensitive-roots danger mode policy preset workspace"

page_of() {
	local page
	for page in tools/man/pale-*.1; do
		! grep -qxE "\.Nm pale-$1( ,)?" "$page" || echo "$page"
	done
}

# options_of COMMAND: without --help, which every command has.
options_of() {
	"$pale" "$1" --help | sed -nE 's/^  (-., |    )--([a-z-]+).*/\2/p' | grep -vx help | LC_ALL=C sort -u
}

# What gets through is told there: of an older kernel there is no row that could tell it.
strange=$(sed 's/#.*//' tests/escapes/lost.txt | awk 'NF { print $1 }' | sort -u |
	grep -vxF -f <(sed -nE 's/^(HOOKS|FULL|DIGGER|STRICT)="(.*)"$/\2/p' tests/escapes/table.sh | tr ' ' '\n'))
[ -z "$strange" ] ||
	complain "tests/escapes/lost.txt has measurements that the table of pale-guarantees(7) lacks:" $strange

# Words that are long options, in the lines of these requests.
told_options() {
	grep -E "^\.($2) " "$1" | tr ' ' '\n' | sed -nE 's/^-([a-z][a-z-]+)$/\1/p' | LC_ALL=C sort -u
}

pale=${1:-.build/release}/pale
if [ -x "$pale" ]; then
	for command in $("$pale" help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -vx -e help -e version); do
		page=$(page_of "$command")
		[ -n "$page" ] || {
			complain "no page has the name pale-$command"
			continue
		}
		if grep -q 'options that choose the policy' "$page"; then
			missing=$(options_of "$command" |
				grep -vxF "$(tr ' ' '\n' <<<"$policy_options")" | LC_ALL=C comm -23 - <(told_options "$page" \
				"[A-Z][a-z]"))
		else
			missing=$(options_of "$command" | LC_ALL=C comm -23 - <(told_options "$page" "[A-Z][a-z]"))
		fi
		[ -z "$missing" ] || complain "$page lacks options of pale $command:" $missing
	done
	for page in tools/man/pale-*.1; do
		commands=$(sed -nE 's/^\.Nm pale-([a-z]+)( ,)?$/\1/p' "$page")
		strange=$(told_options "$page" \
			"It Fl|Op" | LC_ALL=C comm -23 - <(for command in $commands run; do options_of "$command"; done | LC_ALL=C sort -u))
		[ -z "$strange" ] || complain "$page tells of options that nothing has:" $strange
	done
fi

for page in tools/man/*.[1-8] helper/*.[1-8]; do
	# Pages of this project refer to each other before they are installed.
	found=$(mandoc -T lint -W warning "$page" 2>&1 | grep -v 'referenced manual not found')
	[ -z "$found" ] || complain "$found"
done

found=$(find policy preload helper tools tests -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run 2>&1 |
	sed -n 's/^\([^:]*\):.*clang-format-violations.*/\1/p' | sort -u)
[ -z "$found" ] || complain "not formatted (make format): $found"

exit $bad
