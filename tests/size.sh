#!/bin/bash
# Files, and lines of C without comments and blank lines, by room: tests/size.sh.  .def files are data, and not counted.

cd "$(dirname "$0")/.." || exit 2

# code FILE...: the preprocessor takes the comments out, and knows what is a string.
code() {
	local file
	for file; do
		gcc -fpreprocessed -dD -E -P "$file" 2>/dev/null
	done | grep -c '[^[:space:]]'
}

printf '%-28s %6s %8s\n' room files lines
sed -E '/^#|^circle |^\t/d; s/ *\|.*//' tests/rooms.txt | while read -r room; do
	mapfile -t files < <(find "$room" -maxdepth 1 -name '*.[ch]' | sort)
	printf '%-28s %6d %8d\n' "$room" ${#files[@]} "$(code "${files[@]}")"
done | awk '{ print; files += $2; lines += $3 } END { printf "%-28s %6d %8d\n", "together", files, lines }'
