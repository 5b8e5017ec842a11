#!/bin/bash
# The rooms keep apart and stay small.

cd "$(dirname "$0")/.." || exit 2
bad=0
known=

complain() {
	echo "$*"
	bad=1
}

# tests/rooms.txt says what rooms there are, what each is, and what it may include.
rooms() {
	sed -E ':next; N; $!b next; s/\n\t/ /g' tests/rooms.txt | sed -E '/^#|^circle /d; s/ *\| */|/g'
}

# The first sentence of a file's head comment, on one line.
sentence_of() {
	awk 'NR == 1 { sub(/^\/\*/, " *") }
		{ last = sub(/ *\*\/$/, ""); sub(/^ \* ?/, "") }
		$0 == "" && text != "" { exit }
		{ text = text " " $0 }
		last { exit }
		END { gsub(/ +/, " ", text); gsub(/^ | $/, "", text); sub(/\. .*$/, ".", text); print text }' "$1"
}

# Folders that the files of each room include, with the files: `FOLDER FILE:LINE`.  A bare name is of the same room.
declare -A edges files
while read -r room folder at; do
	edges[$room]+="$folder $at"$'\n'
done < <(find policy preload helper tools -name '*.[ch]' -o -name '*.def' | sort |
	xargs grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"[^"]+"' /dev/null |
	sed -nE 's|^([^:]*)(/[^:/]*:[0-9]*):.*"(.*)/[^/"]*"$|\1 \3 \1\2|p')
while read -r n folder; do
	files[$folder]=$n
done < <(find policy preload helper tools -name '*.[chS]' -o -name '*.def' | sed 's|/[^/]*$||' | sort | uniq -c)

while IFS='|' read -r room header may sentence; do
	[ "$(sentence_of "$header")" = "$sentence" ] ||
		complain "$header says: $(sentence_of "$header"); tests/rooms.txt says: $sentence"
	read -ra list <<<"$may"
	while read -r folder at; do
		# As patterns: `policy/*` are all rooms of policy.
		for name in "$room" "${list[@]#!}"; do
			# shellcheck disable=SC2053
			[[ $folder != $name ]] || continue 2
		done
		complain "$at: $room may not include $folder"
	done < <(printf '%s' "${edges[$room]}")
	for folder in "${list[@]}"; do
		name=${folder#!}
		start=${name%\*}
		[ "$start" != "$name" ] || start+=" "
		[[ $'\n'${edges[$room]} == *$'\n'$start* ]] || complain "tests/rooms.txt: $room does not include $name"
		case "$folder $known " in
		!*" $start"*) complain "tests/rooms.txt: $name stands before $room, so it needs no !" ;;
		!* | *" $start"*) ;;
		*) complain "tests/rooms.txt: $room stands before $name, which it includes" ;;
		esac
	done
	[ "${files[$room]:-0}" -le 25 ] || complain "$room has ${files[$room]} files, 25 are the limit"
	known+=" $room"
done < <(rooms)

for folder in "${!files[@]}"; do
	[[ "$known " == *" $folder "* ]] || complain "$folder is no room of tests/rooms.txt"
done

# A base name says which file is meant; git.c and git.h are the command line's and the supervisor's.
twice=$(find policy preload helper tools tests -name '*.[chS]' -o -name '*.def' -o -name '*.sh' -o -name '*.py' |
	sed 's|.*/||' | sort | uniq -d | grep -vx 'git\.[ch]')
[ -z "$twice" ] || complain "files of one name: ${twice//$'\n'/ }"

# The pure part takes nothing but mem* and str* of libc, so no header of stdio or of the allocator.
pure=$(sed -n 's/^PURE := //p' Makefile)
for room in $pure; do
	hits=$(grep -nE '#include <(stdio|stdlib|pthread|unistd|time|dlfcn|sys/socket|sys/mman)\.h>' "$room"/*.[ch])
	[ -z "$hits" ] || complain "$room is pure: $hits"
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
	}' $(find tools -name '*.c'))
[ -z "$printers" ] || complain "printed as it is: $printers"

# An attack or a case is a readable block.
while IFS= read -r at; do
	complain "$at: the line is longer than 120 characters"
done < <(find tests -name '*.sh' -o -name '*.py' -o -name '*.[ch]' -o -name rooms.txt | sort |
	LC_ALL=C.UTF-8 xargs grep -nE '^.{121,}' /dev/null | cut -d: -f1,2)

exit $bad
