# Operators who become the user: su and sudo -u.  A stranger and root are none.
# needs: root
. "$T_LIB"

as_session_user() {
	setpriv --reuid="$T_USER" --regid="$T_USER" --clear-groups "$@"
}

# A question of the user's session; its id in $id.
one_waits() {
	[ "$(id -u)" = 0 ] || skip "needs root, to become others"
	policy <<-EOF2
		[commands]
		ask = touch
	EOF2
	chown -R "$T_USER:" "$S"
	as_session_user pale run -q -- bash -c 'touch a; :' >"$S/one.out" 2>"$S/one.err" </dev/null &
	BG=$!
	until_true 10 as_session_user bash -c 'pale pending --json |
		grep -q "\"target\""' || fail "nothing is pending: $(cat "$S/one.err")"
	id=$(as_session_user pale pending --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["id"])')
}

answered() {
	rc_is 0 "$*"
	wait "$BG"
	exists a
}

t_su() {
	local id
	need su
	one_waits
	run su -s /bin/sh "$T_USER" -c "PATH='$PATH' HOME='$HOME' XDG_RUNTIME_DIR='$XDG_RUNTIME_DIR' pale approve $id"
	answered su
}

t_sudo_u() {
	local id
	need sudo
	one_waits
	run sudo -u "$T_USER" env PATH="$PATH" HOME="$HOME" XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" pale approve "$id"
	answered sudo -u
}

t_others_are_none() {
	local id socket
	one_waits
	socket=$(find "$XDG_RUNTIME_DIR" -name control.sock)
	run python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
print(s.recv(65536))' "$socket"
	out_has "the process belongs to another user"
	# Nobody else gets as far as that.
	run setpriv --reuid=nobody --regid=nogroup --clear-groups python3 -c '
import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect(sys.argv[1])' "$socket"
	rc_not 0
	err_has "PermissionError"
	missing a
	run as_session_user pale deny "$id"
	rc_is 0
	wait "$BG"
	missing a
}

scenario "$@"
