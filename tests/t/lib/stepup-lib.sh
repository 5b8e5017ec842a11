# What the files approvals/stepup*.sh share: a passphrase that is set on a terminal, an npm, the operator's client.

SECRET="correct horse battery"
PHRASE="seven blue herons"

# The operator's terminal: `tty SAID... -- COMMAND...` types one SAID at each prompt; what is shown is in
# $S/out, the status in RC.  A pseudo-terminal of its own, which echoes as a terminal does.
tty() {
	RC=0
	python3 - "$@" >"$S/out" 2>"$S/err" <<-'PY' || RC=$?
		import os, pty, select, sys, time
		at = sys.argv.index("--")
		said, cmd = sys.argv[1:at], sys.argv[at + 1:]
		pid, fd = pty.fork()
		if pid == 0:
		    os.execvp(cmd[0], cmd)
		shown, asked, end = b"", 0, time.time() + 20
		while time.time() < end:
		    if not select.select([fd], [], [], 0.1)[0]:
		        new = shown[asked:]
		        if said and new.rstrip(b" ").endswith((b":", b"?", b"]")):
		            asked = len(shown)
		            time.sleep(0.1)
		            os.write(fd, said.pop(0).encode() + b"\n")
		        continue
		    try:
		        more = os.read(fd, 65536)
		    except OSError:
		        break
		    if not more:
		        break
		    shown += more
		sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	PY
}

set_passphrase() {
	tty "$SECRET" "$SECRET" "$PHRASE" -- pale passphrase set
	rc_is 0 "pale passphrase set"
	rm -f "$S/out"
}

# An npm whose publishing leaves a mark.
publisher() {
	mkdir -p "$W/bin"
	printf '#!/bin/sh\necho "$@" >>%s/published\n' "$W" >"$W/bin/npm"
	chmod +x "$W/bin/npm"
	export PATH=$W/bin:$PATH
	printf '%s\n' "[session]" "timeout = 60s" ${1:+"$1"} "[commands]" "ask = npm" | policy
}

# The operator's protocol without pale: each line of stdin is a call of python on c.
talk() {
	python3 - "$XDG_RUNTIME_DIR" "$STATE" <<-PY || fail "the client"
		import glob, json, socket, sys
		sys.path.insert(0, "${T_LIB%/*}/helper")
		from carddigest import card_digest
		class Client:
		    def __init__(self, path=None):
		        self.s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		        self.s.connect(path or sockets[0])
		    def call(self, method, **params):
		        self.s.send((json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n").encode())
		        got = json.loads(self.s.recv(1 << 17))
		        return got.get("result", got.get("error"))
		    def card(self):
		        return self.call("approval/list")["approvals"][0]
		    def respond(self, **more):
		        card = self.card()
		        return self.call("approval/respond", **{**dict(id=card["id"], digest=card_digest(card),
		            decision="approved", scope="once"), **more})
		sockets = glob.glob(sys.argv[1] + "/pale/*/control.sock")
		c = Client()
		secret = "$SECRET"
		$(cat)
	PY
}
