#!/bin/bash
# The rooms keep apart, and files stay small: policy/ knows nobody; preload/, helper/ and tools/
# know policy/ and never each other.

cd "$(dirname "$0")/.." || exit 2
bad=0

complain() {
	echo "$*"
	bad=1
}

# no_edge ROOM FORBIDDEN...: no file of ROOM includes a header of the others.
no_edge() {
	local room=$1 other hits
	shift
	for other; do
		hits=$(grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]+[\"<](\.\./)*$other/" "$room"/*.[ch] "$room"/*.def 2>/dev/null)
		[ -z "$hits" ] || complain "$room/ includes $other/: $hits"
	done
	# A header of another room by its bare name would find it by an -I that must not exist.
	hits=$(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"\.\./' "$room"/*.[ch] 2>/dev/null)
	[ -z "$hits" ] || complain "$room/ includes upwards: $hits"
}

no_edge policy preload helper tools tests
no_edge preload helper tools tests
no_edge helper preload tools tests
no_edge tools preload helper tests

# The pure part takes nothing but mem* and str* of libc, so no header of stdio or of the allocator.
pure=$(sed -n 's/^PURE := //p' Makefile)
for name in $pure; do
	hits=$(grep -nE '#include <(stdio|stdlib|pthread|unistd|time|dlfcn|sys/socket|sys/mman)\.h>' "policy/$name.c")
	[ -z "$hits" ] || complain "policy/$name.c is pure: $hits"
done

# A suite that nobody lists compiles, links and never runs.
for suite in $(sed -n 's/^Suite \*suite_\([a-z_]*\)(void)$/\1/p' tests/unit/*.c); do
	grep -qx "SUITE($suite)" tests/unit/suites.h || complain "tests/unit/suites.h lacks $suite: it never runs"
done

# What an agent, a record or a helper said is printed by print_escaped(), print_recorded(), print_json() and
# talk(), which leave nothing but printable ASCII; stdio gets none of it directly.
printers=$(awk '
	FNR == 1 { text = "" }
	{ text = text " " $0 }
	/[;{}]$/ {
		gsub(/strstr *\([^)]*\)/, "", text)
		if (text ~ /[^a-z_](f?printf|vf?printf|dprintf|fputs|puts|putchar|fputc|fwrite) *\(/ &&
		    text ~ /json_string_value *\(|card_str *\(|json_str *\(|text_of *\(|[^a-z](r|rec|record)->(target|exe|rule|detail|agent|op|time|approval|session)[,)]|argv\[/)
			print FILENAME ":" FNR ":" text
		text = ""
	}' tools/*.c tools/*/*.c)
[ -z "$printers" ] || complain "printed as it is: $printers"

while read -r n file; do
	[ "$file" = total ] || [ "$n" -lt 500 ] || complain "$file has $n lines, 499 are the limit"
done < <(find policy preload helper tools tests -name '*.[ch]' -o -name '*.sh' -o -name '*.def' | xargs wc -l)

exit $bad
