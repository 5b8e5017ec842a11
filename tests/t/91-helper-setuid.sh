# The helper installed setuid, and started by whoever means it harm.
# needs: root
. "$T_LIB"

PREFIX=/opt/pale

# machine FUNCTION: on a machine of its own, where a setuid helper is installed at $PREFIX.
machine() {
	[ "$(id -u)" = 0 ] || skip "an installation with a user of its own needs root"
	PATH=$PATH:/usr/sbin:/sbin
	chmod 755 "$S" "$HOME"
	bash "${T_LIB%/*}/helper/machine.sh" bash "$0" "$1"
	RC=$?
	[ $RC != 77 ] || exit 77
	rc_is 0 "$1"
}

# t_NAME is run here, on_NAME there.
S=$T_SCRATCH

install_it() {
	run make --no-print-directory -s -C "$T_SOURCE" install B="$T_BUILD" "$@" PREFIX="$PREFIX" DESTDIR=
	rc_is 0 "make install $*"
}

on_hostile_starter() {
	install_it SETUID=1
	[ "$(stat -c '%U:%G %a' "$PREFIX/libexec/pale/pale-helper")" = "pale:pale 6755" ] || fail "not installed setuid"
	run env PYTHONDONTWRITEBYTECODE=1 T_USER="$T_USER" T_HELPER="$PREFIX/libexec/pale/pale-helper" \
		python3 "${T_LIB%/*}/helper/setuid.py"
	rc_is 0 "setuid.py"
	[ "$(grep -c '^ok ' "$S/out")" -ge 10 ] || fail "not all ran"
}

t_hostile_starter() {
	machine on_hostile_starter
}

case ${1:-} in
on_*) "$1" ;;
*) scenario "$@" ;;
esac
