#!/bin/bash
# A machine of one's own for tests of an installation, as root: machine.sh COMMAND...
#
# /etc is a copy, /run, /var/lib and /opt are empty; all of it is memory and goes with the command.

set -eu
[ -n "${T_MACHINE:-}" ] || exec env T_MACHINE=1 unshare -m bash "$0" "$@"
memory() {
	mount -t tmpfs -o mode=755 machine "$1"
	# What is under test may lie below.
	case ${T_SOURCE:-}/ in "$1"/*) mkdir -p "$T_SOURCE" && mount -c --bind /proc/self/fd/7 "$T_SOURCE" ;; esac
}
exec 7<"${T_SOURCE:-/}"
etc=$(mktemp -d)
memory "$etc"
cp -a /etc/. "$etc"
mount --move "$etc" /etc
rmdir "$etc"
rm -rf /etc/pale /etc/pam.d/pale
for dir in /run /var/lib /opt; do
	memory $dir
done
exec "$@"
