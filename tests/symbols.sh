#!/bin/bash
# What the objects may hold: tests/symbols.sh BUILD_DIR
#
# The pure part of policy/ calls nothing but mem* and str*; libpale.so needs libc alone, exports
# the rows of hooks.def and a sanitizer's option and nothing else, and is small; everything is hardened.

cd "$(dirname "$0")/.." || exit 2
B=${1:?usage: tests/symbols.sh BUILD_DIR}
bad=0
TEXT_MAX=$((104 * 1024))

complain() {
	echo "$*"
	bad=1
}

# --- pure objects: undefined symbols are those of each other, or mem*/str*, or the compiler's ---

pure=$(sed -n 's/^PURE := //p' Makefile)
# As the programs have them: those of the object are not code before they are linked.
objects=$(for room in $pure; do for file in "$room"/*.c; do echo "$B/${file%.c}.o"; done; done)
# shellcheck disable=SC2086
own=$(nm --defined-only $objects | awk 'NF == 3 { print $3 }' | sort -u)
# shellcheck disable=SC2086
foreign=$(nm -u $objects | awk '$1 == "U" { print $2 }' | sort -u | comm -23 - <(echo "$own") |
	grep -vE '^(mem[a-z]+|str[a-z]+|__(mem|str)[a-z]+_chk|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__(u|)(div|mod|mul)ti3)$')
[ -z "$foreign" ] || complain "the pure part needs:" $foreign

# --- the preload --------------------------------------------------------------------------------

so=$B/libpale.so
needed=$(readelf -dW "$so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux')
[ "$needed" = libc.so.6 ] || complain "libpale.so needs:" $needed

# What it takes of libc neither allocates nor locks, and is no name that is hooked.  Nor does a sanitizer have it,
# whose functions crash before its own constructor has run: str* and mem* are of its own (preload/process/string.c).
wants=$(nm -D -u "$so" | awk '$1 == "U" { print $2 }' | sed 's/@.*//' |
	grep -vxE '(__)?environ|__(errno|h_errno)_location|__fsetlocking|fclose|fdopen|fdopendir|readdir|closedir' |
	grep -vxE 'stat|lstat|getauxval|dladdr|dlsym|__stack_chk_fail')
[ -z "$wants" ] || complain "libpale.so wants of libc:" $wants

rows=$(grep -oE '^HOOK\([A-Za-z0-9_]+' preload/hooks/hooks.def | cut -d'(' -f2 | LC_ALL=C sort)
exports=$(nm -D --defined-only "$so" | awk '{ print $3 }' |
	sed 's/@.*//' | grep -vxE '__(asan_default_options|tsan_default_suppressions)' | LC_ALL=C sort)
[ "$rows" = "$exports" ] || complain "exports and hooks.def differ:" "$(diff <(echo "$rows") <(echo "$exports"))"
[ -n "$rows" ] || complain "hooks.def has no rows"
twice=$(echo "$rows" | uniq -d)
[ -z "$twice" ] || complain "hooks.def has twice:" $twice

# .text is what counts as text here: `size` adds read-only data and the symbol tables.
text=$(readelf -SW "$so" | awk '{ for (i = 1; i < NF; i++) if ($i == ".text") print $(i + 4) }')
[ $((16#$text)) -le $TEXT_MAX ] || complain "text of libpale.so: $((16#$text)) bytes, $TEXT_MAX are the limit"

# Only what the filter lets through may carry it.
for name in $(grep -ohE 'gate[0-9]\(SYS_[a-z0-9]+' preload/*/*.[ch] |
	sed 's/.*SYS_//' | sort -u) unlinkat mkdirat mknodat symlinkat; do
	grep -qE "^CALL\($name, [a-z_]+, GATED" tools/wall/calls.def ||
		complain "the gate is used for $name, which never passes"
done

# The gate's word is loaded right before a system call and cleared right behind it, at every place.
if [ "$(uname -m)" = x86_64 ]; then
	gates=$(objdump -d --no-show-raw-insn "$so" | awk -F'\t' '
		load && /\tsyscall/ { total++; getline; if ($2 !~ /^xor +%r9d,%r9d/) print "left in r9 before:", $0 }
		{ load = $2 ~ /^mov +(0x0)?\(%r[a-z0-9]+\),%r9( |$)/ }
		END { if (total < 5) print "the places of the gate are not found:", total + 0 }')
	[ -z "$gates" ] || complain "$gates"
fi

! readelf -dW "$so" | grep -q 'TEXTREL' || complain "libpale.so has text relocations"
! readelf -lW "$so" | grep -q ' TLS ' || complain "libpale.so has thread-local storage"

# Each hooked name must be one that libc has, or it catches nothing.
libc=$(ldd "$(command -v bash)" | sed -n 's/.*=> \(.*libc\.so\.6\) .*/\1/p')
names=$(nm -D --defined-only "$libc" | awk '{ print $3 }' | sed 's/@.*//' | LC_ALL=C sort -u)
# These have no wrapper in this libc; later ones have it.
unknown=$(comm -23 <(echo "$rows") <(echo "$names") | grep -vxE 'openat2|pidfd_spawnp?')
[ -z "$unknown" ] || complain "libc has no:" $unknown

# --- hardening ----------------------------------------------------------------------------------

for f in "$so" "$B/pale" "$B/pale-helper"; do
	header=$(readelf -hW "$f")
	program=$(readelf -lW "$f")
	dynamic=$(readelf -dW "$f")
	grep -q 'Type:.*DYN' <<<"$header" || complain "$f is not position independent"
	grep -q 'GNU_RELRO' <<<"$program" || complain "$f has no relro"
	grep -qE 'BIND_NOW|FLAGS.*NOW' <<<"$dynamic" || complain "$f binds lazily"
	grep -q 'GNU_STACK.* RW ' <<<"$program" || complain "$f has an executable stack"
	! grep -qE '(RPATH|RUNPATH)' <<<"$dynamic" || complain "$f has a run path"
	! grep -qE ' RWE ' <<<"$program" || complain "$f has a segment that is writable and executable"
done
for f in "$B/pale" "$B/pale-helper"; do
	nm "$f" | grep -q ' __stack_chk_fail' || complain "$f has no stack protector"
	nm "$f" | grep -qE ' __(mem|str|f|v|s)[a-z]*_chk' || complain "$f is not fortified"
done

exit $bad
