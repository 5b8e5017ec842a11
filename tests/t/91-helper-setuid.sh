# The helper installed setuid, and started by whoever means it harm.
# needs: root
. "$T_LIB"

t_hostile_starter() {
	local prefix=$S/prefix
	[ "$(id -u)" = 0 ] || skip "a setuid installation needs root"
	PATH=$PATH:/usr/sbin:/sbin
	run make --no-print-directory -s -C "$T_SOURCE" install B="$T_BUILD" SETUID=1 PREFIX="$prefix" DESTDIR=
	rc_is 0 "make install SETUID=1"
	[ "$(stat -c '%U:%G %a' "$prefix/libexec/pale/pale-helper")" = "pale:pale 6755" ] || fail "not installed setuid"
	! findmnt -nT "$prefix" -o OPTIONS | grep -qw nosuid || skip "$prefix is mounted nosuid"
	chmod 755 "$S" "$HOME"
	run env PYTHONDONTWRITEBYTECODE=1 T_USER="$T_USER" T_HELPER="$prefix/libexec/pale/pale-helper" \
		python3 "${T_LIB%/*}/helper/setuid.py"
	rc_is 0 "setuid.py"
	[ "$(grep -c '^ok ' "$S/out")" -ge 10 ] || fail "not all ran"
}

scenario "$@"
