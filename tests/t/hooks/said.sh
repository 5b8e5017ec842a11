# levels: full hooks
# Where a denial is said: wherever the program's own errors go, and nowhere else.
. "$T_LIB"

# stderr of the child is what `kind` makes; what came out of it is printed.
said_to() {
	cat >say.py <<-'END'
		import os, pty, socket, subprocess, sys, tty
		kind, key = sys.argv[1:]
		if kind == "pair":
		    ours, theirs = socket.socketpair()
		elif kind in ("raw", "cooked"):
		    master, slave = pty.openpty()
		    if kind == "raw": tty.setraw(slave)
		    theirs = slave
		    read = lambda: (os.set_blocking(master, False), os.read(master, 65536))[1]
		elif kind == "datagram":
		    ours, theirs = socket.socketpair(type=socket.SOCK_DGRAM)
		else:
		    server = socket.socket(socket.AF_UNIX)
		    server.bind(kind)
		    server.listen()
		    client = socket.socket(socket.AF_UNIX)
		    client.connect(kind)
		    accepted = server.accept()[0]
		    ours, theirs = (client, accepted) if kind == "accepted" else (accepted, client)
		code = f"try: open({key!r})\nexcept OSError: pass"
		subprocess.run([sys.executable, "-c", code], stderr=theirs)
		if "master" not in globals():
		    ours.setblocking(False)
		    read = lambda: ours.recv(65536)
		try: print(read().decode(), end="")
		except BlockingIOError: pass
	END
	fence python3 say.py "$1" ~/.ssh/id_rsa
	rc_is 0
}

# node and Bun give their children socketpairs.
t_socketpair() {
	said_to pair
	out_has "pale: denied read $HOME/.ssh/id_rsa"
}

t_node_child() {
	need node
	fence node -e '
		const r = require("child_process").spawnSync("cat", [process.env.HOME + "/.ssh/id_rsa"]);
		process.stdout.write(r.stderr)'
	out_has "pale: denied read $HOME/.ssh/id_rsa"
	no_decoy
}

# A protocol on descriptor 2 is not talked into.
t_connection() {
	local kind kinds="accepted client"
	[ "$T_LEVEL" != hooks ] || kinds+=" datagram"
	for kind in $kinds; do
		said_to $kind
		out_is ""
		recorded read deny "\"$HOME/.ssh/id_rsa\""
	done
}

# A screen that the program draws itself is left alone.
t_screen() {
	said_to cooked
	out_has "pale: denied read $HOME/.ssh/id_rsa"
	said_to raw
	out_is ""
	recorded read deny "\"$HOME/.ssh/id_rsa\""
}

# A new name where plain permissions refuse it anyway: Python tries one below /usr/lib for each module.
t_plain_permissions() {
	local make="mkdir /usr/lib/pale-new; echo x >/usr/lib/pale-new; ln -s x /usr/lib/pale-new"
	[ ! -w /usr/lib ] || skip "/usr/lib can be written to"
	fsh "$make; echo x >$HOME/elsewhere/new"
	[ "$(grep -c '^pale: denied' "$S/err")" = 1 ] || fail "not one denial is told"
	denied write "$HOME/elsewhere/new"
	recorded write deny "/usr/lib/pale-new"
	recorded mkdir deny "/usr/lib/pale-new"
	[ "$T_LEVEL" = full ] && command -v busybox >/dev/null || return 0
	fence busybox sh -c "$make; echo x >$HOME/elsewhere/new"
	[ "$(grep -c '^pale: denied' "$S/err")" = 1 ] || fail "not one denial is told without hooks"
}

# The reader is gone: the program learns of it by its own writes, not by ours.
t_gone() {
	fence python3 -c '
import os, socket, subprocess, sys
ours, theirs = socket.socketpair()
ours.close()
code = "try: open(%r)\nexcept OSError: pass\nimport os; os._exit(7)" % sys.argv[1]
print(subprocess.run([sys.executable, "-c", code], stderr=theirs).returncode)' ~/.ssh/id_rsa
	out_is 7
}

scenario "$@"
