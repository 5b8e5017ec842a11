# retry: timeouts
# limit: 900
# needs: root
# The guarantee table: what each level stops, measured by trying to escape in every way we know.
. "$T_LIB"
. "$T_BASE/t/escapes/measure.sh"
own_net "$@"

fenced() {
	measure "$1.$2" "$2" "$T_STAGE/bin/pale" run -q "${GIVEN[@]}" --level "$1" --
}

# An attempt proves something only where it works without a fence.  What this machine refuses to everybody (name
# spaces in a container; addresses without root; int $0x80 under some hypervisors; before Linux 6.10 a link to an
# open file by AT_EMPTY_PATH) proves nothing here, and the numbers of pale-guarantees(7) are those of a machine
# that allows it.
PARTLY=
REFUSED_TO_ALL='^kernel_\|_int80_\|^write_empty_path_out '
bare() {
	local out
	measure "bare.$1" "$1"
	out=$(grep -vE ' (worked|absent)$' "$S/results/bare.$1")
	[ -z "$out" ] || PARTLY=1
	[ -z "$(grep -v "$REFUSED_TO_ALL" <<<"$out")" ] || fail "does not even work bare: $1: $out"
	[ -n "${ESCAPE_NET:-}" ] || PARTLY=1
	[ -z "${ESCAPE_NET:-}" ] || [ "$(grep -c ' absent$' "$S/results/bare.$1")" -le 6 ] ||
		fail "too much is not to be had here: $1"
}

t_guarantees() {
	local variant measured=()
	bare static
	bare python
	bare busybox
	for variant in libc raw python; do
		fenced hooks $variant
	done
	for variant in libc raw static musl python busybox dig; do
		fenced full $variant
		fenced strict $variant
		measured+=(full.$variant strict.$variant)
	done
	{
		"$T_VICTIMS/escape-static" list
		scripts
	} >"$S/probes"
	[ "$(wc -l <"$S/probes")" -ge 480 ] || fail "too few"
	[ "$(grep -cE ' (NET|NAMES)$' "$S/probes")" -ge 160 ] || fail "too few of the network"
	bash "$E/table.sh" "$S/probes" "$S/results" >"$S/table"
	cp "$S/table" "$T_BASE/s/guarantees" 2>/dev/null
	as_known "${measured[@]}"
	[ -z "$PARTLY" ] || return 0
	diff <(bash "$E/tables.sh" of "$E/pale-guarantees.7" guarantees) "$S/table" >"$S/out" ||
		fail "pale-guarantees(7) says otherwise (tests/escapes/table.sh --write BUILD_DIR)"
}

scenario "$@"
