# needs: root
# limit: 60
# A service manager that is there to make a scope for the limits and makes none: one that has ended is not asked,
# one that hangs or hangs up ends the start, or with `enforce = best` the limits are told as not held.
. "$T_LIB"

BUS=/run/user/$(id -u "$T_USER")/bus

# Systemd seems to run, on cgroups of version 2.
seems() {
	[ -x /usr/bin/busctl ] || skip "busctl is not installed"
	mount -t tmpfs -o mode=755 run /run
	[ "$(stat -fc %T /sys/fs/cgroup)" = cgroup2fs ] ||
		mount -t cgroup2 cgroup2 /sys/fs/cgroup || skip "no cgroups of version 2"
	mkdir -p /run/systemd/system "${BUS%/*}"
	chown "$T_USER" "${BUS%/*}"
	cd "$W" || exit 1
}

# bus WHAT-IT-DOES
bus() {
	rm -f "$BUS"
	setpriv --reuid="$T_USER" --clear-groups python3 -c '
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
if sys.argv[2] == "ended":
    sys.exit()
s.listen(64)
while sys.argv[2] == "hangs up":
    s.accept()[0].close()
time.sleep(60)' "$BUS" "$1" &
	until_true 5 test -S "$BUS" || fail "there is no bus"
	[ "$1" = ended ] || until_true 5 grep -q "00010000 .* $BUS\$" /proc/net/unix || fail "nobody listens"
}

# Runs pale as the user, who has no bus in his environment.
limited() {
	run setpriv --reuid="$T_USER" --regid="$(id -g "$T_USER")" --clear-groups env -u XDG_RUNTIME_DIR \
		-u DBUS_SESSION_BUS_ADDRESS pale run -v --limit memory=64M --limit processes=50 "$@"
}

# Whatever it is by here, no scope, and it does hold.
holds() {
	limited -- python3 -c 'print(len(bytes(200 << 20)))'
	rc_not 0
	out_lacks 209715200
}

on_ended() {
	seems
	bus ended
	limited -- true
	rc_is 0
	grep -q '^pale: limits: memory 64M by .*, processes 50 by ' "$S/err" || fail "not said"
	err_lacks scope
	holds
}

t_ended() {
	machine
}

on_hangs_up() {
	seems
	bus "hangs up"
	limited -- touch ran
	rc_is 125
	err_has "pale: limits: memory 64M by systemd scope"
	err_has "pale: cannot enforce the limits: systemd made no scope for them ("
	missing ran
	mkdir -p "$HOME/.config/pale"
	printf '[limits]\nenforce = best\n' >"$HOME/.config/pale/policy.ini"
	chown -R "$T_USER:" "$HOME/.config"
	limited -- true
	rc_is 0
	grep -q '^pale: systemd made no scope for the limits (.*): memory 64M NOT ENFORCED' "$S/err" || fail "not said"
	recorded session/limit "" "systemd made no scope for the limits"
	run setpriv --reuid="$T_USER" --clear-groups pale session show
	grep -q '^ *limits *memory 64M NOT ENFORCED' "$S/out" || fail "not what is shown"
}

t_hangs_up() {
	machine
}

on_hangs() {
	local began=$SECONDS
	seems
	bus hangs
	limited -- touch ran
	rc_is 125
	[ $((SECONDS - began)) -lt 25 ] || fail "it took $((SECONDS - began)) seconds"
	err_has "pale: cannot enforce the limits: systemd made no scope for them (Connection timed out)"
	missing ran
	! pgrep -u "$T_USER" -x busctl >/dev/null || fail "who asked is left behind"
}

t_hangs() {
	machine
}

case ${1:-} in
on_*)
	"$1"
	;;
*)
	scenario "$@"
	;;
esac
