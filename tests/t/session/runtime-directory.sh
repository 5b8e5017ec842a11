# needs: root
# Places in directories for all that another user took or filled before us: named, not used, and no reason not to start.
. "$T_LIB"

mine() {
	run setpriv --reuid="$T_USER" --regid="$(id -g "$T_USER")" --clear-groups env -u XDG_RUNTIME_DIR "$@"
}

on_squatted() {
	local uid how
	uid=$(id -u "$T_USER")
	mount -t tmpfs -o mode=1777 tmp /tmp
	mount -t tmpfs -o mode=1777 shm /dev/shm
	mount -t tmpfs -o mode=755 run /run
	cd "$W" || exit 1
	for how in 'mkdir -m 700 "$p"' 'mkdir -m 777 "$p"' 'touch "$p"' 'ln -s /etc "$p"' 'ln -s "$HOME" "$p"' 'mkfifo "$p"' \
		'mkdir "$p"; setfacl -m u:'$uid':rwx "$p" 2>/dev/null; true'; do
		for p in /tmp/pale-$uid /dev/shm/pale-$uid; do
			rm -rf "$p"
			p=$p HOME=$HOME setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups sh -c "$how" || fail "$how"
		done
		mine pale run -q -- bash -c 'cat file; echo "$PALE_SESSION_DIR"; echo x >made'
		rc_is 0 "$how"
		out_has "hello from the workspace"
		out_has "$STATE/run/"
		for p in /tmp/pale-$uid /dev/shm/pale-$uid; do
			err_has "pale: $p belongs to user $(id -u nobody) and is not used"
		done
		[ -z "$(ls -A "$STATE/run")" ] || fail "$how: something is left"
	done
	# Who looks for sessions finds it there.
	setpriv --reuid="$T_USER" --regid="$(id -g "$T_USER")" \
		--clear-groups env -u XDG_RUNTIME_DIR pale run -q -- sleep 20 2>/dev/null &
	until_true 10 eval 'ls "$STATE"/run/*/control.sock' || fail "no session"
	mine pale session list
	out_has "sleep"
	kill $!
}

t_squatted() {
	machine
}

# full SIZE DIRECTORY: a file system that another user fills, by bytes or by files.
full() {
	mount -t tmpfs -o "$1",mode=1777 tmp "$2"
	setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups sh -c \
		'i=0; while [ $i -lt 64 ] && : >"$0/$i"; do i=$((i + 1)); done; head -c 9m /dev/zero >"$0/0"; :' "$2" 2>/dev/null
}

on_full() {
	local uid how
	uid=$(id -u "$T_USER")
	mount -t tmpfs -o mode=755 run /run
	cd "$W" || exit 1
	for how in size=1m size=2m,nr_inodes=20; do
		full $how /dev/shm
		mount -t tmpfs -o mode=1777 tmp /tmp
		mine pale run -q -- bash -c 'cat file; echo "$PALE_SESSION_DIR"; echo x >made'
		rc_is 0 "$how"
		out_has "hello from the workspace"
		out_has "/tmp/pale-$uid/"
		err_has "pale: the file system of /dev/shm/pale-$uid is full, and the next place is tried"
		full $how /tmp
		mine pale run -q -- bash -c 'echo "$PALE_SESSION_DIR"'
		rc_is 0 "$how, both"
		out_has "$STATE/run/"
		err_has "pale: the file system of /tmp/pale-$uid is full, and the next place is tried"
	done
}

t_full() {
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
