#!/bin/bash
# The rooms keep apart.

cd "$(dirname "$0")/.." || exit 2
bad=0
known=

complain() {
	echo "$*"
	bad=1
}

# tests/rooms.txt says what rooms there are, what each is, and what it may include.
rooms() {
	sed -E '/^#|^circle /d; s/ *\| */|/g' tests/rooms.txt
}

# The first sentence of a header's head comment, on one line.
sentence_of() {
	sed -n '2,/\*\//s/^ \* \{0,1\}//p' "$1" | sed '/^$/q' | tr '\n' ' ' | sed -E 's/ +/ /g; s/\. .*$/./; s/ $//'
}

# Folders that the files of a room include, with the files: `FOLDER FILE:LINE`.  A bare name is of the same room.
edges_of() {
	find "$1" -maxdepth 1 -name '*.[ch]' -o -maxdepth 1 -name '*.def' | sort |
		xargs grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"[^"]+"' /dev/null |
		sed -nE 's|^([^:]*:[0-9]*):.*"(.*)/[^/"]*"$|\2 \1|p'
}

while IFS='|' read -r room header may sentence; do
	known+=" $room"
	[ "$(sentence_of "$header")" = "$sentence" ] ||
		complain "$header says: $(sentence_of "$header"); tests/rooms.txt says: $sentence"
	while read -r folder at; do
		[ "$folder" = "$room" ] || [[ " ${may//!/} " == *" $folder "* ]] ||
			complain "$at: $room may not include $folder"
	done < <(edges_of "$room")
	for folder in $may; do
		edges_of "$room" | grep -q "^${folder#!} " || complain "tests/rooms.txt: $room does not include $folder"
		[[ $folder == !* || " $known " == *" $folder "* ]] ||
			complain "tests/rooms.txt: $room stands before $folder, which it includes"
	done
done < <(rooms)

while read -r folder; do
	[[ " $known " == *" $folder "* ]] || complain "$folder is no room of tests/rooms.txt"
done < <(find policy preload helper tools -name '*.[chS]' -o -name '*.def' | sed 's|/[^/]*$||' | sort -u)

# The pure part takes nothing but mem* and str* of libc, so no header of stdio or of the allocator.
pure=$(sed -n 's/^PURE := //p' Makefile)
for name in $pure; do
	hits=$(grep -nE '#include <(stdio|stdlib|pthread|unistd|time|dlfcn|sys/socket|sys/mman)\.h>' "policy/$name.c")
	[ -z "$hits" ] || complain "policy/$name.c is pure: $hits"
done

# A scenario runs from a folder of tests/t, and calls what runs it.
for file in tests/t/*.sh tests/t/*/*/*.sh; do
	[ ! -e "$file" ] || complain "$file is in no folder of scenarios, so it never runs"
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
		    (text ~ /json_string_value *\(|card_str *\(|json_str *\(|text_of *\(|argv\[/ ||
		     text ~ /[^a-z](r|rec|record)->(target|exe|rule|detail|agent|op|time|approval|session)[,)]/))
			print FILENAME ":" FNR ":" text
		text = ""
	}' tools/*.c tools/*/*.c)
[ -z "$printers" ] || complain "printed as it is: $printers"

# An attack or a case is a readable block.  Not yet so: what tests/compat/tasks runs.
while IFS= read -r at; do
	complain "$at: the line is longer than 120 characters"
done < <(find tests -path tests/compat/tasks -prune -o \( -name '*.sh' -o -name '*.py' -o -name '*.[ch]' \) -print |
	sort | LC_ALL=C.UTF-8 xargs grep -nE '^.{121,}' /dev/null | cut -d: -f1,2)

exit $bad
