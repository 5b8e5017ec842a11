#!/bin/bash
# Are two builds the same code?  tests/same-objects.sh OLD_BUILD_DIR NEW_BUILD_DIR
#
# For commits that only move files.  The objects of pale and pale-helper are compared function by function (code with
# its relocations) and section by section (data), wherever they lie, by the name of the file; libpale.so, which the
# linker optimises as one, function by function.  Debug information does not count.

set -o pipefail
old=${1:?usage: tests/same-objects.sh OLD_BUILD_DIR NEW_BUILD_DIR}
new=${2:?usage: tests/same-objects.sh OLD_BUILD_DIR NEW_BUILD_DIR}
T=$(mktemp -d) || exit 2
trap 'rm -rf "$T"' EXIT
SECTIONS=(.text .text.unlikely .text.startup .rodata .rodata.str1.1 .rodata.str1.8 .rodata.str1.16
	.rodata.str1.32 .rodata.cst4
	.rodata.cst8 .rodata.cst16 .data .data.rel.local .data.rel.ro .data.rel.ro.local)

# A line for each function and each section of data: OBJECT NAME TEXT.
objects() {
	# shellcheck disable=SC2046
	objdump -drs --no-show-raw-insn "${SECTIONS[@]/#/-j}" \
		$(find "$1/policy" "$1/helper" "$1/tools" -name '*.o') 2>/dev/null |
		awk 'function flush() { if (text) print object, name, text; text = name = "" }
			/: +file format / { flush(); object = $1; sub(/.*\//, "", object); next }
			/^Contents of section / { flush(); name = $4; next }
			/^[0-9a-f]+ <.*>:$/ { flush(); name = $2; next }
			/^Disassembly of / { flush(); next }
			NF && name { text = text ";" $0 }
			END { flush() }' | tr '\t' ' ' | LC_ALL=C sort
}

# A line for each function, without addresses; the linker numbers functions of one name.
functions() {
	objdump -d --no-show-raw-insn -j .text "$1" | sed -E -e 's/\.(lto_priv|constprop|isra|part)\.[0-9]+/.\1/g' \
		-e 's/^ *[0-9a-f]+:\t//' -e 's/[0-9a-f]+ (<[^>]*>)$/\1/' -e 's/-?0x[0-9a-f]+\(%rip\).*/(%rip)/' |
		awk '/^[0-9a-f]+ <.*>:$/ { if (name) print name, text; name = $2; text = ""; next }
			NF && name { text = text ";" $0 }
			END { print name, text }' | tr '\t' ' ' | LC_ALL=C sort
}

for side in old new; do
	objects "${!side}" >"$T/$side.objects" || exit 2
	functions "${!side}/libpale.so" >"$T/$side.so" || exit 2
done
for what in objects so; do
	printf '%s: %d functions and sections before, %d after, %d equal\n' $what "$(wc -l <"$T/old.$what")" \
		"$(wc -l <"$T/new.$what")" "$(LC_ALL=C comm -12 "$T/old.$what" "$T/new.$what" | wc -l)"
	LC_ALL=C comm -3 "$T/old.$what" "$T/new.$what" | cut -c1-80 | grep . && bad=1
done
exit "${bad:-0}"
