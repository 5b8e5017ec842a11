# needs: root
# The ledger's head in the system's journal: told to a real journald, held against it, and said where nobody
# takes it.
. "$T_LIB"

SOCKET=/run/systemd/journal/socket

own_run() {
	mount -t tmpfs -o mode=755 run /run
	mount -t tmpfs -o mode=755 log /var/log
	mkdir -p "${SOCKET%/*}"
	cd "$W" || exit 1
}

# as GROUPS COMMAND...
as() {
	local groups=$1
	shift
	run setpriv --reuid="$T_USER" --regid="$(id -g "$T_USER")" "$groups" "$@"
}

mine() {
	as --clear-groups "$@"
}

on_taken() {
	local id
	own_run
	[ -x /lib/systemd/systemd-journald ] && [ -s /etc/machine-id ] || skip "no journald"
	getent group systemd-journal >/dev/null || skip "nobody may read the journal"
	mkdir -p /run/systemd/journald.conf.d
	install -d -m 2755 -g systemd-journal /run/log/journal
	printf '[Journal]\nStorage=volatile\nAudit=no\nReadKMsg=no\nForwardToWall=no\n' >/run/systemd/journald.conf.d/test.conf
	unshare -n /lib/systemd/systemd-journald 2>/dev/null &
	until_true 10 test -S "$SOCKET" || fail "journald does not begin"
	mine pale run -- true
	rc_is 0
	err_lacks journal
	id=$(sed -n 's/^pale: session \([a-z0-9]*\), level.*/\1/p' "$S/err")
	until_true 10 eval "journalctl -q PALE_SESSION=$id |
		grep -q 'head $(tail -1 "$STATE"/heads.jsonl | grep -o '[0-9a-f]\{64\}')'" ||
		fail "the journal was not told the head"
	rm "$STATE/heads.jsonl"
	as --groups=systemd-journal pale log verify --journal --json
	rc_is 0
	out_has '"heads_known": 1'
	run pale log verify --journal "$STATE/sessions/$id/ledger.jsonl"
	rc_is 0 "the administrator"
	# Who may not read the journal does not learn that all is well.
	mine pale log verify --journal
	rc_is 1
	out_has "bad: $id:"
	out_has "and the journal shows no head of it"
	mine pale log verify --journal --json
	out_has '"why": "the journal shows no head of it"'
	mine pale log verify
	rc_is 0
}

t_taken() {
	machine
}

# WHAT-IT-DOES: a socket that was left behind, one that is never read.
socket() {
	rm -f "$SOCKET"
	python3 -c '
import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
if sys.argv[2] == "left":
    sys.exit()
# One sender alone may run out of memory of its own before the queue is full (net.unix.max_dgram_qlen).
senders, sent = [], 1
while sent:
    senders.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    senders[-1].setblocking(False)
    sent = 0
    try:
        while True:
            sent += senders[-1].sendto(b"MESSAGE=x\n", sys.argv[1])
    except BlockingIOError:
        pass
print("full", flush=True)
time.sleep(60)' "$SOCKET" "$1" >"$S/socket" 2>&1 &
	[ "$1" = left ] && wait $! || until_true 10 grep -q full "$S/socket" || fail "its queue is not full"
	chmod 666 "$SOCKET"
}

on_not_taken() {
	own_run
	mine pale run -- true
	rc_is 0
	err_lacks journal
	socket left
	mine pale run -q -- true
	rc_is 0
	err_has "pale: the system's \
journal does not take the ledger's head (Connection refused): only pale's own files have it"
	socket "is never read"
	mine pale run -q -- true
	rc_is 0
	err_has "pale: the system's journal does not take the ledger's head (Resource temporarily unavailable): "
	verifies_mine
}

verifies_mine() {
	mine pale log verify
	rc_is 0
}

t_not_taken() {
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
