#!/bin/bash
# Nothing that libc offers is overlooked: tests/surface.sh BUILD_DIR [LIBC]
#
# Each function that libc.so.6 exports has a row in preload/hooks/hooks.def, or stands in tests/surface.txt with the
# reason why it needs none, or among what takes no path, starts nothing and reaches nobody.

cd "$(dirname "$0")/.." || exit 2
bad=0

complain() {
	echo "$*"
	bad=1
}

libc=${2:-$(ldd "$(command -v bash)" | sed -n 's/.*=> \(.*libc\.so\.6\) .*/\1/p')}

# Functions, but for glibc's own.
exported() {
	nm -D --defined-only "$libc" |
		awk '$2 ~ /^[TWi]$/ && $3 !~ /@GLIBC_PRIVATE$/ { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u
}

hooked() {
	grep -oE '^HOOK\([A-Za-z0-9_]+' preload/hooks/hooks.def | cut -d'(' -f2
}

# What is said of each: "NAME hook|why|none|NOTHING"; a pattern that takes a name with a reason of its own is
# said too, for it could take the next one.
judge() {
	awk '
		function pattern(p) { gsub(/\*/, "[A-Za-z0-9_]*", p); gsub(/\?/, "[A-Za-z0-9_]", p); return "^" p "$" }
		FILENAME == ARGV[1] { said[$1] = "hook"; next }
		FILENAME == ARGV[2] {
			kind = $1 == "-" ? "why" : $1 == "=" ? "none" : ""
			if (!kind) next
			if (kind == "why" && $0 !~ /: ./) print "no reason:", $0
			if (kind == "why") sub(/: .*/, "")
			for (i = 2; i <= NF; i++) {
				if ($i ~ /[*?]/) { n++; re[n] = pattern($i); kinds[n] = kind; glob[n] = $i; continue }
				if ($i in said) print "twice:", $i
				else said[$i] = kind
			}
			next
		}
		{
			for (i = 1; i <= n; i++)
				if ($1 ~ re[i]) {
					if (kinds[i] == "none" && (said[$1] == "hook" || said[$1] == "why")) print "too wide:", glob[i], "takes", $1
					else if (!($1 in said)) said[$1] = kinds[i]
				}
			if (!($1 in said)) print "not classified:", $1
		}
	' <(hooked) tests/surface.txt <(exported)
}

found=$(judge)
[ -z "$found" ] || complain "$found"
[ "$(exported | wc -l)" -gt 2000 ] || complain "the symbols of $libc cannot be read"

exit $bad
