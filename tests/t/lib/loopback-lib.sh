# For the scenarios of this machine's ports.

# Ports are the tests' own: two levels run at once.
pick() {
	python3 -c '
import socket
held = [socket.socket() for _ in range(int(__import__("sys").argv[1]))]
for s in held:
    s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in held])' "$1"
}

# outside [ADDRESS [PORT [reuse]]]: a listener outside the fence, of TCP and UDP; its port is in $PORT, and what
# it is told in $S/heard.
outside() {
	local n=${N_OUTSIDE:-0}
	N_OUTSIDE=$((n + 1))
	python3 - "$S" "$n" "${1:-127.0.0.1}" "${2:-0}" "${3:-}" <<'END' &
import os, select, socket, sys
scratch, n, addr, port, reuse = sys.argv[1:]
family = socket.AF_INET6 if ":" in addr else socket.AF_INET
while True:
    t, u = socket.socket(family), socket.socket(family, socket.SOCK_DGRAM)
    t.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if reuse:
        t.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        t.bind((addr, int(port)))
        t.listen(64)
        u.bind((addr, t.getsockname()[1]))
        break
    except OSError:
        t.close(), u.close()
with open(scratch + "/port.new", "w") as f:
    f.write(str(t.getsockname()[1]))
os.rename(scratch + "/port.new", scratch + "/port-" + n)
def heard(data):
    with open(scratch + "/heard", "ab") as f:
        f.write(data + b"\n")
while True:
    for s in select.select([t, u], [], [])[0]:
        if s is u:
            heard(s.recv(999))
            continue
        c = s.accept()[0]
        heard(b"called")
        c.settimeout(0.5)
        try:
            heard(c.recv(999))
            c.send(b"HTTP/1.0 200 ok\r\n\r\noutside")
        except OSError:
            pass
        c.close()
END
	OUTSIDE=$!
	until_true 10 test -e "$S/port-$n" || fail "the listener outside does not start"
	PORT=$(cat "$S/port-$n")
	touch "$S/heard"
}

not_heard() {
	file_is "$S/heard" ""
}

# Nobody answers, so that what must be asked is denied at once.
alone() {
	unset PALE_PROMPT
}

# A server of the session in python: `serve PORT [ADDRESS]`, for lines of fsh.
SERVE='serve() { python3 -m http.server -b "${2:-127.0.0.1}" "$1" >/dev/null 2>&1 & }
get() { curl -sS -m 5 --retry 50 --retry-delay 0 --retry-connrefused --retry-max-time 5 "$@"; }
'
