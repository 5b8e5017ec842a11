# limit: 90
# levels: full strict
# needs: root
# Ways out by unix sockets of the user's other programs, each of which gets through bare.
. "$T_LIB"
. "$(dirname "$T_LIB")/netlab.sh"

# --- over unix sockets ------------------------------------------------------------------------------------------

# Doors of other programs of the user: a word written there, and the fence is gone.
t_unix_sockets() {
	lab
	need nc
	local path paths
	paths="bus docker.sock podman/podman.sock systemd/private gnupg/S.gpg-agent wayland-0 tmux/default screen/S-x"
	paths+=" ssh-agent pipewire-0"
	python3 - "$S/unix-met" "$XDG_RUNTIME_DIR" $paths <<'END' &
import os, selectors, socket, sys
waiting = selectors.DefaultSelector()
met = open(sys.argv[1], "a", buffering=1)
for name in sys.argv[3:] + ["@/tmp/.X11-unix/X7", "@dbus"]:
    path = "\0" + name[1:] if name[0] == "@" else sys.argv[2] + "/" + name
    if name[0] != "@":
        os.makedirs(os.path.dirname(path), exist_ok=True)
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(socket.AF_UNIX, kind)
        s.bind(path if kind == socket.SOCK_STREAM else path + (".dgram" if name[0] != "@" else "d"))
        if kind == socket.SOCK_STREAM:
            s.listen(64)
        waiting.register(s, selectors.EVENT_READ, (name, kind))
print("ready", file=met)
while True:
    for key, _ in waiting.select():
        if key.data[1] == socket.SOCK_STREAM:
            key.fileobj.accept()[0].close()
        else:
            key.fileobj.recv(99)
        print(key.data[0], file=met)
END
	until_true 10 grep -q ready "$S/unix-met" || fail "no unix servers"
	own_host
	for path in $paths; do
		probe_unix "$XDG_RUNTIME_DIR/$path" "$path"
		denied unix "$XDG_RUNTIME_DIR/$path"
		probe_unix_datagram "$XDG_RUNTIME_DIR/$path.dgram" "$path"
	done
	probe_unix '\\0/tmp/.X11-unix/X7' "@/tmp/.X11-unix/X7"
	probe_unix '\\0dbus' "@dbus"
	probe_unix_datagram '\\0dbusd' "@dbus"
	met_by docker.sock "curl -sS -m 3 --unix-socket '$XDG_RUNTIME_DIR/docker.sock' http://docker/version; test \$? != 7"
	met_by docker.sock "nc -N -U '$XDG_RUNTIME_DIR/docker.sock' </dev/null"
	# Under another name it is the same socket.
	ln "$XDG_RUNTIME_DIR/bus" "$W/innocent.sock"
	probe_unix "$W/innocent.sock" bus
	ln -s "$XDG_RUNTIME_DIR/docker.sock" "$W/link.sock"
	probe_unix "$W/link.sock" docker.sock
	# A rule opens one and only that one.
	printf 'unix = %s/ssh-agent\n' "$XDG_RUNTIME_DIR" >>"$HOME/.config/pale/policy.ini"
	fsh "$(py "s = socket.socket(socket.AF_UNIX); s.connect('$XDG_RUNTIME_DIR/ssh-agent'); print('in')")"
	out_is in
	probe_unix "$XDG_RUNTIME_DIR/bus" bus
}

unix_met() {
	[ "$(grep -cxF -e "$1" "$S/unix-met")" -gt "$2" ]
}

# met_by NAME PROGRAM: bare the server is met, inside not.
met_by() {
	local before
	before=$(grep -cxF -e "$1" "$S/unix-met")
	run bash -c "$2"
	until_true 2 unix_met "$1" "$before" || fail "bare, $1 is not met by: $2"
	before=$(grep -cxF -e "$1" "$S/unix-met")
	fsh "$2"
	rc_not 0 "$2"
	! unix_met "$1" "$before" || fail "$1 is met by: $2"
}

probe_unix() {
	met_by "$2" "$(py "s = socket.socket(socket.AF_UNIX)
s.connect('$1')")"
}

probe_unix_datagram() {
	met_by "$2" "$(py "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.sendto(b'x', '$1')")"
	recorded unix deny ''
}

# Those of the machine.  nscd and systemd-resolved are not there: who asks them for a name asks the forwarder.
t_daemons() {
	lab
	own_host
	local path
	for path in $LAB_DAEMONS; do
		run bash -c "$(unix_probe STREAM connect "$path")"
		met_daemon "$path"
		inside_unmet "$path" "$(unix_probe STREAM connect "$path")"
		rc_not 0 "$path"
		case $path in
		*nscd* | *io.systemd.Resolve) err_has FileNotFoundError ;;
		*) denied unix "$path" ;;
		esac
	done
	for path in $LAB_DATAGRAM_DAEMONS; do
		run bash -c "$(unix_probe DGRAM sendto "b'x', " "$path")"
		met_daemon "$path"
		inside_unmet "$path" "$(unix_probe DGRAM sendto "b'x', " "$path")"
		recorded unix deny "$path"
	done
	lab_forget
	run getent hosts own.example
	met_daemon /run/nscd/socket
	inside_unmet /run/nscd/socket "getent hosts own.example"
	out_has own.example
	asked own.example
}

# Nobody inside meets the daemon: who starts the session may, for the names of users, and the helper says the
# ledger's last head to the journal.
inside_unmet() {
	local before
	lab_forget
	fsh true
	helpers_gone
	before=$(meetings "$1")
	lab_forget
	fsh "$2"
	helpers_gone
	[ "$(meetings "$1")" = "$before" ] || fail "$1 was met by: $2"
}

# They outlive `pale run`, until the disk has the ledger, which they hold locked.
helpers_gone() {
	local ledger
	for ledger in "$STATE"/sessions/*/ledger.jsonl; do
		flock -s -w 10 "$ledger" true || fail "a helper stays"
	done
}

# unix_probe KIND CALL [ARGUMENT] PATH
unix_probe() {
	py "s = socket.socket(socket.AF_UNIX, socket.SOCK_$1)
s.$2(${4:+$3}'${4:-$3}')"
}

meetings() {
	lab_settle
	tail -n +$((LAB_MET + 1)) "$LAB/met.log" | grep -cxF "unix $1"
}

met_daemon() {
	until_true 3 eval '[ "$(meetings '"$1"')" != 0 ]' || fail "bare, $1 is not met"
}

# The real ones.
t_agents_of_the_user() {
	lab
	need ssh-agent ssh-add tmux
	own_host
	ssh-agent -D -a "$XDG_RUNTIME_DIR/agent.1" >/dev/null &
	tmux -S "$XDG_RUNTIME_DIR/tmux" new-session -d "sleep 60" || fail "tmux"
	until_true 5 test -S "$XDG_RUNTIME_DIR/agent.1" || fail "ssh-agent"
	export SSH_AUTH_SOCK=$XDG_RUNTIME_DIR/agent.1
	run ssh-add -l
	out_has "no identities"
	fence env SSH_AUTH_SOCK="$SSH_AUTH_SOCK" ssh-add -l
	out_lacks "no identities"
	denied unix "$SSH_AUTH_SOCK"
	run tmux -S "$XDG_RUNTIME_DIR/tmux" list-sessions
	rc_is 0
	fence tmux -S "$XDG_RUNTIME_DIR/tmux" run-shell "touch $HOME/gone-out"
	rc_not 0
	missing "$HOME/gone-out"
	recorded unix deny "$XDG_RUNTIME_DIR/tmux"
}

scenario "$@"
