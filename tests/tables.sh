#!/bin/bash
# Tables that stand in a man page and are compared with their source:
#
#   tables.sh of PAGE NAME      prints the rows of table NAME, each as `| cell | cell |`
#   tables.sh into PAGE NAME    puts the rows from standard input in their place
#
# In the page a table stands between the comments NAME and "end of NAME", in the form of tbl(1) with `|` between cells.
# A word in backquotes is set in bold there.

of() {
	sed -n "/^\.\\\\\" $2\$/,/^\.\\\\\" end of $2\$/p" "$1" |
		sed -e '1d;$d' -e 's/\\fB/`/g' -e 's/\\fR/`/g' -e 's/\\&//g' -e 's/\\e/\\/g' |
		awk '
			/^T\{$/ { printf "| "; next }
			/^T\}\|T\{$/ { printf " | "; next }
			/^T\}$/ { print " |"; next }
			{ printf "%s", $0 }'
}

# A line of a cell must not begin with what troff takes for a request.
tbl() {
	sed -e 's/\\/\\e/g' -e 's/`\([^`]*\)`/\\fB\1\\fR/g' -e 's/^| //' -e 's/ |$//' |
		awk -F ' [|] ' '{
			for (i = 1; i <= NF; i++) {
				print i == 1 ? "T{" : "T}|T{"
				print ($i ~ /^[.'\'']/ ? "\\&" : "") $i
			}
			print "T}" }'
}

into() {
	local rows
	rows=$(mktemp) && tbl >"$rows" || return
	sed -i -e "/^\.\\\\\" $2\$/,/^\.\\\\\" end of $2\$/{/^\.\\\\\"/!d}" -e "/^\.\\\\\" $2\$/r $rows" "$1"
	rm -f "$rows"
}

"$@"
