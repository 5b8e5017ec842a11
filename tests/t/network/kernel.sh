# limit: 120
# nightly: strict
# The network at the levels above hooks: every probe is a static program that calls the kernel itself, the
# ground truth is who was reached.
. "$T_LIB"

NET=$T_VICTIMS/net-static

# Listeners outside the fence: servers NAME...; the port of each is in $NAME, reached() counts connections.
servers() {
	python3 - "$S" "$@" <<'END' &
import selectors, socket, sys
scratch, names = sys.argv[1], sys.argv[2:]
waiting = selectors.DefaultSelector()
ports = {}
for name in names:
    six = name.endswith("6")
    s = socket.socket(socket.AF_INET6 if six else socket.AF_INET)
    s.bind(("::1" if six else "127.0.0.1", 0))
    s.listen(512)
    s.setblocking(False)
    waiting.register(s, selectors.EVENT_READ, name)
    ports[name] = s.getsockname()[1]
    open(f"{scratch}/reached-{name}", "w").close()
with open(scratch + "/ports.new", "w") as f:
    f.writelines(f"{n}={p}\n" for n, p in ports.items())
import os
os.rename(scratch + "/ports.new", scratch + "/ports")
while True:
    for key, _ in waiting.select():
        try:
            c, _ = key.fileobj.accept()
        except OSError:
            continue
        with open(f"{scratch}/reached-{key.data}", "a") as f:
            f.write("x")
        c.close()
END
	until_true 10 test -e "$S/ports" || fail "the listeners do not start"
	. "$S/ports"
}

# A server writes down whom it met when it has met him.
met() {
	[ "$(stat -c %s "$S/reached-$1")" = "$2" ]
}

reached() {
	until_true 2 met "$1" "$2" || fail "$1 was reached $(stat -c %s "$S/reached-$1") times, not $2"
}

# says ANSWER PROBE ARG...: what the kernel says inside.
says() {
	local want=$1
	shift
	fence "$NET" "$@"
	out_is "$want"
}

# --- inet -------------------------------------------------------------------------------------------

gone() {
	! "$NET" connect "$@" >/dev/null
}

t_destinations() {
	servers good bad good6 bad6
	printf '[network]\nallow = localhost:%s\ndeny = localhost:%s\n' "$good" "$bad" | policy
	printf 'allow = localhost:%s\ndeny = localhost:%s\n' "$good6" "$bad6" >>"$HOME/.config/pale/policy.ini"
	says ok connect 127.0.0.1 "$good"
	says ok connect ::ffff:127.0.0.1 "$good"
	says ok connect 0.0.0.0 "$good"
	says ok connect ::1 "$good6"
	says EACCES connect 127.0.0.1 "$bad"
	denied connect "127.0.0.1:$bad"
	says EACCES connect ::ffff:127.0.0.1 "$bad"
	says EACCES connect 0.0.0.0 "$bad"
	says EACCES connect ::ffff:0.0.0.0 "$bad"
	says EACCES connect 127.0.0.9 "$bad"
	says EACCES connect ::1 "$bad6"
	says EACCES connect :: "$bad6"
	says EACCES connect 64:ff9b::7f00:1 "$bad"
	says EACCES connect 192.0.2.1 443
	says EACCES connect 169.254.169.254 80
	reached good 3
	reached good6 1
	reached bad 0
	reached bad6 0
	kill %1
	until_true 5 gone 127.0.0.1 "$good" || fail "the listeners do not end"
	says ECONNREFUSED connect 127.0.0.1 "$good"
	recorded connect deny "127.0.0.1:$bad" '"via":"kernel"'
	recorded connect allow "127.0.0.1:$good" '"via":"kernel"'
	verifies
}

t_off() {
	servers good
	printf '[network]\nmode = off\n' | policy
	says EACCES connect 127.0.0.1 "$good"
	denied connect "127.0.0.1:$good" "the network is off"
	reached good 0
}

# A hooked program is told by its hooks where they judge, and nothing is written down twice.
t_hooked() {
	local via=hook
	[ "$T_LEVEL" = full ] || via=kernel
	servers good bad
	printf '[network]\nallow = localhost:%s\ndeny = localhost:%s\n' "$good" "$bad" | policy
	fence python3 -c "
import socket
socket.create_connection(('127.0.0.1', $good))
try:
    socket.create_connection(('127.0.0.1', $bad))
except PermissionError:
    print('refused')
"
	out_is refused
	denied connect "127.0.0.1:$bad"
	reached good 1
	reached bad 0
	[ "$(records connect allow "127.0.0.1:$good" | wc -l)" = 1 ] || fail "one connection, several records"
	recorded connect allow "127.0.0.1:$good" '"via":"kernel"'
	[ "$(records connect deny "127.0.0.1:$bad" | wc -l)" = 1 ] || fail "one denial, several records"
	recorded connect deny "127.0.0.1:$bad" "\"via\":\"$via\""
}

# --- a human is asked --------------------------------------------------------------------------------

t_asked() {
	servers good
	printf '[network]\nask = localhost:%s\n' "$good" | policy
	bg one "$NET" connect 127.0.0.1 "$good"
	pale approve "$(pending_id)" >/dev/null || fail "cannot approve"
	bg_wait one
	out_is ok
	reached good 1
	recorded connect allow "127.0.0.1:$good" '"via":"kernel"' "the operator answered"
	bg two python3 -c "import socket; socket.create_connection(('127.0.0.1', $good))"
	pale deny "$(pending_id)" >/dev/null || fail "cannot deny"
	bg_wait two
	rc_not 0
	err_has PermissionError
	reached good 1
}

# The hook of a look-up asks by itself; its door is opened in its own name.
t_asked_for_a_name() {
	printf '[network]\nask = some.example\n' | policy
	bg one python3 -c 'import socket; socket.getaddrinfo("some.example", 443)'
	id=$(pending_id)
	pale pending --json | grep -q '"exe": *"[^"]*python3' || fail "asked in another's name: $(pale pending --json)"
	pale deny "$id" >/dev/null
	bg_wait one
	err_has gaierror
	denied resolve some.example
}

# --- the address changes while it is judged ---------------------------------------------------------

t_flipped_address() {
	servers good bad
	printf '[network]\nallow = localhost:%s\ndeny = localhost:%s\n' "$good" "$bad" | policy
	fence "$NET" flip "$good" "$bad" 200000
	out_is "raced yes
ok"
	reached bad 0
}

# --- datagrams and other kinds ------------------------------------------------------------------------

t_kinds() {
	local family
	for family in 2 10; do
		says ok socket $family 2 0
		says ok socket $family 2 17
		says EPROTONOSUPPORT socket $family 2 136
		says EPERM socket $family 3 1
	done
	says ok socket 1 2 0
	says EACCES socket 1 3 0
	says EPROTONOSUPPORT socket 1 2 17
	says ok pair 2
	says ok pair 1
	says ok pair 5
	says EPROTONOSUPPORT socket 2 1 262
	says EAFNOSUPPORT socket 40 1 0
	says EAFNOSUPPORT socket 38 5 0
}

t_sendto() {
	servers good bad
	printf '[network]\nallow = localhost:%s\ndeny = localhost:%s\n' "$good" "$bad" | policy
	says EOPNOTSUPP sendto 0x20000000 127.0.0.1 "$bad"
	says EPIPE sendto 0 127.0.0.1 "$bad"
	says ok sendto-connected "$good" "$bad"
	reached good 1
	reached bad 0
}

# --- listening -----------------------------------------------------------------------------------------

t_ports() {
	says ok bind 127.0.0.1 0
	says ok bind ::1 0
	says EACCES bind 127.0.0.1 80
	says EACCES bind 0.0.0.0 80
	denied bind 0.0.0.0:80
	err_has '`bind = 80` in [network] would allow it'
}

# Who listens on every address, as servers for development do, is had by this machine alone.
t_everybody_is_this_machine() {
	local how port=$((17200 + $$ % 700))
	cat >serve.py <<-'END'
		import socket, sys
		six, addr = sys.argv[1] == "6", sys.argv[2:]
		s = socket.socket(socket.AF_INET6 if six else socket.AF_INET)
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		if addr:
		    s.bind((addr[0], int(addr[1])))
		s.listen()
		port = s.getsockname()[1]
		for a in ["127.0.0.1"] + ["::1"] * six:
		    socket.create_connection((a, port)).close()
		    s.accept()
		print(s.getsockopt(socket.SOL_SOCKET, 25, 16).rstrip(b"\0").decode() or "-", end=" ")
		try:
		    s.setsockopt(socket.SOL_SOCKET, 25, b"\0")
		    print("is free")
		except PermissionError:
		    print("stays")
	END
	for how in "4 0.0.0.0 0" "4 0.0.0.0 $port" "4" "6 :: 0" "6 :: $port" "6"; do
		# shellcheck disable=SC2086
		fence python3 serve.py $how
		out_is "lo stays"
		case $how in
		*"$port") err_has "is reachable from this machine only" ;;
		*) err_is_empty ;;
		esac
	done
	recorded bind allow 127.0.0.1:$port
	printf '[network]\nbind = %s\n' $port | policy
	fence python3 serve.py 4 0.0.0.0 $port
	out_is "- stays"
	err_is_empty
}

# A free port of every address may be had; to listen there is another matter.
t_a_port_without_listening() {
	says ok bind-only 0.0.0.0 0
	err_is_empty
	says ok bind-only :: 0
	says ok bind-only ::ffff:0.0.0.0 0
	says ok bind-only 0.0.0.0 17123
	err_has "is reachable from this machine only"
	printf '[network]\nbind = 0\n' | policy
	says ok bind 0.0.0.0 0
	err_is_empty
	says ok listen
	err_is_empty
	says ok bind 0.0.0.0 17123
	err_has "is reachable from this machine only"
}

t_ports_by_rule() {
	printf '[network]\nbind = 17000-17999\n' | policy
	says ok bind 0.0.0.0 17123
	err_is_empty
}

# A socket loses the address that its connection gave it, while another thread has it listen.
t_who_disconnects_does_not_listen_for_the_world() {
	cat >m.c <<-'END'
		#include <arpa/inet.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <time.h>
		#include <unistd.h>
		static int fd;
		static struct sockaddr_in to = { .sin_family = AF_INET };
		static void *turn(void *p)
		{
			const struct sockaddr none = { .sa_family = AF_UNSPEC };
			for (;;) {
				connect(fd, (struct sockaddr *)&to, sizeof(to));
				connect(fd, &none, sizeof(none));
			}
			return p;
		}
		int main(int n, char **arg)
		{
			time_t end = time(NULL) + 4;
			unsigned long tried = 0, got = 0;
			pthread_t t;
			to.sin_port = htons(atoi(arg[1]));
			to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
			fd = socket(AF_INET, SOCK_STREAM, 0);
			pthread_create(&t, 0, turn, 0);
			for (; time(NULL) < end; tried++)
				if (listen(fd, 1) == 0) {
					int lo = 0;
					socklen_t len = sizeof(lo);
					getsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &lo, &len);
					got += lo == 0;
					int next = socket(AF_INET, SOCK_STREAM, 0);
					dup2(next, fd), close(next);
				}
			printf("%s %lu\n", tried > 100 ? "tried" : "idle", got);
			return n != 2;
		}
	END
	gcc -O2 -o m m.c -pthread
	servers good
	printf '[network]\nallow = 127.0.0.1:%s\n' "$good" | policy
	fence ./m "$good"
	out_is "tried 0"
}

# --- unix sockets ------------------------------------------------------------------------------------------

# unix_servers PATH...: each writes x to $S/met when it is reached.
unix_servers() {
	python3 - "$S/met" "$@" <<'END' &
import os, selectors, socket, sys
waiting = selectors.DefaultSelector()
for path in sys.argv[2:]:
    s = socket.socket(socket.AF_UNIX)
    s.bind("\0" + path[1:] if path[0] == "@" else path)
    s.listen(64)
    waiting.register(s, selectors.EVENT_READ, path)
open(sys.argv[1], "w").close()
while True:
    for key, _ in waiting.select():
        c, _ = key.fileobj.accept()
        with open(sys.argv[1], "a") as f:
            f.write(key.data + "\n")
        c.close()
END
	until_true 10 test -e "$S/met" || fail "the unix listeners do not start"
}

unix_met() {
	local n
	n=$(grep -cxF -e "$1" "$S/met")
	[ "$n" = "$2" ] || fail "$1 was reached $n times, not $2"
}

t_unix() {
	mkdir sub
	unix_servers "$W/here.sock" "$HOME/docker.sock" "@decoy.$$"
	ln -s here.sock link.sock
	ln -s ../docker.sock away.sock
	ln -s .. dir
	says ok unix here.sock
	says ok unix ./sub/../here.sock
	says ok unix link.sock
	says ok unix /proc/self/cwd/here.sock
	says EACCES unix "$HOME/docker.sock"
	denied unix "$HOME/docker.sock"
	says EACCES unix ../docker.sock
	says EACCES unix away.sock
	says EACCES unix dir/docker.sock
	says EACCES unix "@decoy.$$"
	says ENOENT unix /run/nscd/socket
	says ENOENT unix nothing.sock
	says ENOENT unix "$HOME/nothing.sock"
	says ECONNREFUSED unix file
	unix_met "$W/here.sock" 4
	unix_met "$HOME/docker.sock" 0
	unix_met "@decoy.$$" 0
	not_recorded unix '.*' nscd
}

t_bind_unix() {
	mkdir sub
	ln -s .. dir
	says ok bind-unix here.sock
	says ok bind-unix "$W/there.sock"
	says ok bind-unix sub/one.sock
	says EADDRINUSE bind-unix here.sock
	says ENOENT bind-unix no/such.sock
	says EACCES bind-unix "$HOME/out.sock"
	says EACCES bind-unix ../out.sock
	says EACCES bind-unix dir/out.sock
	missing "$HOME/out.sock"
}

# What asks getsockname for the words that it gave.
t_bind_unix_words() {
	fence python3 -c '
from multiprocessing.connection import Client, Listener
import threading
server = Listener(family="AF_UNIX")
threading.Thread(target=lambda: server.accept().send("hello")).start()
print(Client(server.address).recv())
'
	out_is hello
}

# Pale's own door for questions opens, the operator's does not, by whatever name.
t_own_sockets() {
	fence sh -c "$NET"' unix "$PALE_SESSION_DIR/control.sock"
		cd "$PALE_SESSION_DIR" 2>/dev/null && '"$NET"' unix control.sock'
	out_lacks ok
	out_has EACCES
	denied unix /
	fence sh -c "$NET"' unix "$PALE_SESSION_DIR/agent.sock"'
	out_is ok
}

scenario "$@"
