# limit: 60
# levels: full strict
# needs: root
# pale learn of the network: what an observed session reached by name, by datagram, by socket and where it
# listened becomes lines that lint clean, and by which the same session is allowed, name by name.
. "$T_LIB"
. "$(dirname "$T_LIB")/netlab.sh"

a_day() {
	mkdir -p ~/build/tmp
	cat >day.py <<-'END'
		import os, socket
		def tell(what, fn):
		    try:
		        print(what, fn(), flush=True)
		    except OSError as e:
		        print(what, "errno", e.errno, flush=True)
		def stream():
		    s = socket.create_connection(("own.example", 80), 5)
		    s.sendall(b"GET /hello HTTP/1.0\r\nHost: own.example\r\n\r\n")
		    return s.makefile().read().split()[-2:]
		def datagram():
		    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		    s.settimeout(5)
		    s.sendto(b"x", (socket.gethostbyname("own.example"), 7777))
		    return s.recv(99)
		def sock():
		    s = socket.socket(socket.AF_UNIX)
		    s.connect(os.path.expanduser("~/build/tmp/sock"))
		    return s.recv(9)
		def daemon():
		    s = socket.socket(socket.AF_UNIX)
		    s.connect("/run/docker.sock")
		    return s.recv(9)
		def listen():
		    s = socket.socket()
		    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		    s.bind(("93.184.215.10", 8082))
		    s.listen()
		    return "listens"
		def address():
		    return socket.create_connection(("45.33.32.66", 80), 5)
		for f in (stream, datagram, sock, daemon, listen, address):
		    tell(f.__name__, f)
	END
	python3 - "$HOME/build/tmp/sock" <<-'PY' &
		import socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.bind(sys.argv[1])
		s.listen()
		s.settimeout(60)
		while True:
		    s.accept()[0].send(b"reached")
	PY
	until_true 20 test -S ~/build/tmp/sock || fail "no listener"
}

t_names_sockets_ports() {
	lab
	policy <<<'preset = agent'
	a_day
	# Datagrams, other programs' sockets and what listens for the world are held all the same, where none is named.
	OPTS=(--observe)
	fence python3 day.py
	out_has "stream ['good', 'own.example']"
	out_has "sock errno"
	out_has "daemon errno"
	out_has "listen errno"
	cp ~/.config/pale/policy.ini "$S/new.ini"
	run pale learn -p "$S/new.ini" --write
	rc_is 0
	out_has "allow = own.example:80"
	out_has "udp = own.example:7777"
	out_has "unix = ~/build/tmp/sock"
	out_has "bind = 8082"
	out_has "unix /run/docker.sock: access to a container daemon is root access"
	out_has "connect 45.33.32.66:80: no name led to this address"
	out_lacks "not taken"
	run pale lint "$S/new.ini"
	rc_is 0
	# By these lines, and nothing but them, it goes as it went.
	OPTS=(-p "$S/new.ini")
	fence python3 day.py
	out_is "$(printf '%s\n' "stream ['good', \
'own.example']" "datagram b'echo x'" "sock b'reached'" "daemon errno 13" "listen listens" "address errno 13")"
	run pale learn -p "$S/new.ini" --json
	python3 - "$S/out" <<-'PY' || fail "something is still proposed"
		import json, sys
		j = json.load(open(sys.argv[1]))
		assert j["proposals"] == [] and j["events"] == 2, j
	PY
	kill %1
}

scenario "$@"
