#!/bin/bash
# The package as an administrator meets it: deb.sh FILE.deb.  Installs it, runs it as an ordinary user, removes
# and purges it, in an overlay of this machine's root directory that nobody else sees and that is thrown away.
# Needs root.

set -eu
deb=$(realpath "$1")
[ "$(id -u)" = 0 ] || { echo "deb.sh: needs root" >&2; exit 2; }

if [ "${2:-}" != inside ]; then
	exec unshare --mount --propagation private "$0" "$deb" inside
fi

place=$(mktemp -d)
mount -t tmpfs deb "$place"
mkdir "$place/upper" "$place/work" "$place/root"
mount -t overlay deb -o "lowerdir=/,upperdir=$place/upper,workdir=$place/work" "$place/root"
for dir in dev proc sys; do
	mount --rbind "/$dir" "$place/root/$dir"
done
mount -t tmpfs -o mode=1777 tmp "$place/root/tmp"
cp "$deb" "$place/root/tmp/pale.deb"

cat >"$place/root/tmp/try" <<'TRY'
set -eu
export DEBIAN_FRONTEND=noninteractive
say() { echo "deb-check: $*"; }
fail() { say "$*"; exit 1; }
picture() {
	find /usr /etc /var/lib/pale -xdev ! -path '*/__pycache__*' 2>/dev/null |
		grep -vE '^/etc/(ld.so.cache|passwd-?|group-?|shadow-?|gshadow-?|subuid-?|subgid-?|\.pwd\.lock)$' | sort
}
dpkg --purge pale >/dev/null 2>&1 || true
userdel -r pale-deb >/dev/null 2>&1 || true
picture >/tmp/before
dpkg -i /tmp/pale.deb >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; fail "it does not install"; }
find /usr -newer /tmp/before -perm /6000 -type f | grep . && fail "something is setuid"
[ -s /usr/share/bash-completion/completions/pale ] || fail "no completion for bash"
man -w pale.ini >/dev/null 2>&1 || [ -e /usr/share/man/man5/pale.ini.5.gz ] || fail "no pale.ini(5)"
helper=$(sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' /usr/share/doc/pale/examples/pale-helper@.service)
[ -x "$helper" ] || fail "the unit among the examples starts $helper"
useradd -m pale-deb
as() {
	setpriv --reuid pale-deb --regid pale-deb --init-groups \
		env -i HOME=/home/pale-deb USER=pale-deb PATH=/usr/bin:/bin "$@"
}
mkdir -m 0700 /home/pale-deb/work
chown pale-deb:pale-deb /home/pale-deb/work
cd /home/pale-deb/work
[ "$(as pale --version | cut -d' ' -f1)" = pale ] || fail "no version"
as pale run -q -- sh -c 'echo in >file' || fail "pale run: $?"
[ "$(cat file)" = in ] || fail "nothing was written"
if as pale run -q -- sh -c 'echo out >/home/pale-deb/outside' 2>/tmp/denied; then fail "nothing was denied"; fi
grep -q 'pale: denied write /home/pale-deb/outside' /tmp/denied || { cat /tmp/denied; fail "no line of the denial"; }
as pale log verify >/dev/null || fail "pale log verify"
as pale doctor >/dev/null || [ $? = 1 ] || fail "pale doctor"
cd /
dpkg -r pale >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; fail "it cannot be removed"; }
[ ! -e /usr/bin/pale ] || fail "it is still there"
dpkg --purge pale >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; fail "it cannot be purged"; }
picture >/tmp/after
diff /tmp/before /tmp/after || fail "it left something, or took something with it"
say "installed, ran as an ordinary user, was removed and purged; nothing was left"
TRY
chroot "$place/root" /bin/bash /tmp/try
