# limit: 120
# levels: full strict hooks
# Each refusal is heard once, at the call that failed, whatever its program's standard error is: by whom it is
# decided, and whether the program is dynamic or static, makes no difference.
. "$T_LIB"

# hears.py PAUSE: runs each deed with each kind of standard error; prints KIND, DEED, how often it heard of it, and what
# it heard that is none of that.  Deeds are lines of NAME<tab>TOLD<tab>WORDS.
driver() {
	cat >hears.py <<-'END'
		import fcntl, os, socket, subprocess, sys, termios, time
		def closed(): os.close(2)
		def controlling():
		    os.setsid()
		    fcntl.ioctl(2, termios.TIOCSCTTY, 0)
		def hear(kind, words):
		    ours, before, read = None, None, lambda: b""
		    if kind == "pipe": ours, theirs = os.pipe()
		    elif kind == "terminal": ours, theirs = os.openpty()
		    elif kind == "pair":
		        a, b = socket.socketpair()
		        ours, theirs = a.detach(), b.detach()
		    elif kind == "file":
		        theirs = os.open("heard", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
		        read = lambda: open("heard", "rb").read()
		    else: theirs = os.open(os.devnull, os.O_WRONLY)
		    if kind == "closed": before = closed
		    if kind == "terminal": before = controlling
		    try: rc = subprocess.call(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
		        preexec_fn=before)
		    except PermissionError: rc = 126
		    if ours is not None:
		        os.set_blocking(ours, False)
		        def read(): # what is written to a terminal comes a moment later
		            heard, until = b"", time.monotonic() + 0.1
		            while time.monotonic() < until:
		                try: heard += os.read(ours, 65536)
		                except BlockingIOError: time.sleep(0.01)
		                except OSError: break
		            return heard
		    heard = read().decode()
		    os.close(theirs)
		    if ours is not None: os.close(ours)
		    return rc, heard
		for line in open("deeds"):
		    name, told, words = line.rstrip("\n").split("\t")
		    for kind in "pipe", "pair", "file", "terminal", "null", "closed":
		        time.sleep(float(sys.argv[1]))
		        rc, heard = hear(kind, [w.replace("KIND", kind) for w in words.split(" ")])
		        told_here = [l for l in heard.splitlines() if l.startswith("pale: denied")]
		        n = 0 if kind in ("null", "closed") else 1
		        right = rc in (1, 126) and len(told_here) == n and all(told.replace("KIND", kind) in l for l in told_here)
		        print("right" if right else "wrong", kind, name, "rc", rc, heard if not right else "")
	END
}

hears() {
	printf '[commands]\ndeny = nope\nask = maybe\n' | policy
	printf '#!/bin/sh\n' | tee nope maybe >/dev/null
	chmod +x nope maybe
	driver
}

all_right() {
	rc_is 0
	grep -q ^right "$S/out" || fail "nothing was tried"
	! grep -A3 ^wrong "$S/out" || fail "not heard once, or not what it should be"
}

t_a_denial() {
	local raw key=$HOME/.ssh/id_rsa
	hears
	{
		printf 'hook\tread %s\tcat %s\n' "$key" "$key"
		printf 'hook, exec\texec env ./nope\tenv ./nope\n'
		for raw in $([ "$T_LEVEL" = hooks ] || echo raw raw-static); do
			printf 'supervisor, %s\tread %s\t%s %s\n' $raw "$key" "$T_VICTIMS/$raw" "$key"
			printf 'supervisor, %s, exec\texec ./nope\t%s ./nope x\n' $raw "$T_VICTIMS/$raw"
		done
	} >deeds
	printf 'by a shell\texec ./nope\tbash -c ./nope;exit\n' >>deeds
	fence python3 hears.py 0
	all_right
}

# The words of the one who said no.
t_a_no_with_its_reason() {
	local raw id
	hears
	{
		printf 'hook\tanswered: not KIND\tenv ./maybe KIND hook\n'
		for raw in $([ "$T_LEVEL" = hooks ] || echo raw raw-static); do
			printf '%s\tanswered: not KIND\t%s ./maybe KIND %s\n' $raw "$T_VICTIMS/$raw" $raw
		done
	} >deeds
	bg hears python3 hears.py 0.2
	while kill -0 $BG 2>/dev/null; do
		pale pending --json | python3 -c '
import json, sys
for p in json.load(sys.stdin): print(p["id"],
    next((k for k in p["target"].split() if k in "pipe pair file terminal null closed".split()), "?"))' |
			while read -r id kind; do pale deny "$id" --reason "not $kind"; done >/dev/null 2>&1
		sleep 0.05
	done
	bg_wait hears
	all_right
}

# A shell's own redirection, to files that only its child has; the same command again is heard again.
t_redirected() {
	hears
	fsh './nope >o 2>&1; cat o; ./nope >o 2>&1; cat o; ./nope >p 2>/dev/null; cat p'
	[ "$(grep -c "^pale: denied exec ./nope" "$S/out")" = 2 ] || fail "not heard twice"
}

# exec >log 2>&1: opened by the shell itself, but for its output too.
t_a_log_of_both() {
	hears
	fsh 'exec >log 2>&1; : <"$1"; "$2" "$1"; true' - "$HOME/.ssh/id_rsa" "$T_VICTIMS/raw"
	[ "$(grep -c "pale: denied read $HOME/.ssh/id_rsa" log)" = "$([ "$T_LEVEL" = hooks ] && echo 1 || echo 2)" ] ||
		fail "not heard"
}

# Two opens of one file are no redirection: it may be data.
t_data_on_both() {
	hears
	fence python3 -c '
import os, sys
os.close(1), os.close(2)
for n in 1, 2: assert os.open("data", os.O_CREAT | os.O_RDWR) == n
for path in sys.argv[1:]:
    try: open(path)
    except OSError: pass' "$HOME/.ssh/id_rsa"
	rc_is 0
	file_is data ""
}

# What a program opens where it had closed its standard error is no place to talk, and what it executes later with
# another one does not make it that.
t_data_on_descriptor_2() {
	local raw
	hears
	cat >data.py <<-'END'
		import os, subprocess, sys
		os.close(2)
		assert os.open("data", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC) == 2
		subprocess.call(["true"], stderr=subprocess.DEVNULL)
		for words in sys.argv[1:]:
		    try: open(words)
		    except OSError: pass
		    try: os.execv("./nope", ["nope"])
		    except OSError: pass
	END
	fence python3 data.py ~/.ssh/id_rsa
	rc_is 0
	file_is data ""
	recorded read deny "\"$HOME/.ssh/id_rsa\""
	recorded exec deny "nope"
	[ "$T_LEVEL" != hooks ] || return 0
	fsh '"$1" 2>&-; exec 2>>log; "$1" "$2"' - "$T_VICTIMS/raw-static" ~/.ssh/id_rsa
	grep -q "pale: denied read $HOME/.ssh/id_rsa" log || fail "what is appended to did not hear"
}

# Nobody reads, and nobody waits.
t_full_pair() {
	cat >full.py <<-'END'
		import socket, subprocess, sys
		a, b = socket.socketpair()
		b.setblocking(False)
		try:
		    while True: b.send(b"x" * 4096)
		except BlockingIOError: pass
		b.setblocking(True)
		for words in sys.argv[1:]: print(subprocess.call(words.split(), stderr=b.fileno(), timeout=10))
	END
	[ "$T_LEVEL" != hooks ] || skip "a hook writes where its program does, and waits as that would"
	fence python3 full.py "$T_VICTIMS/raw-static ./file"
	out_has 0
	hears
	fence python3 full.py "$T_VICTIMS/raw-static ./nope x"
	out_is 1
}

# An agent's own sandbox says only that it may not.
t_namespaces() {
	local want="pale: namespaces are refused here; switch the agent's own sandbox off (pale-agents(7))"
	fence python3 -c 'import ctypes, os; c = ctypes.CDLL(None); print([c.unshare(0x10000000),
    c.syscall(56 if os.uname().machine == "x86_64" else 220, 0x10000011, 0, 0, 0, 0), c.unshare(0x20000)])'
	out_is "[-1, -1, -1]"
	[ "$(grep -cxF "$want" "$S/err")" = 1 ] || fail "not told once"
	need bwrap
	fence bwrap --unshare-user --ro-bind / / true
	err_has "$want"
}

scenario "$@"
