# retry: timeouts
# levels: full hooks
# limit: 60
# Things that change between the look and the act: what is judged is what is done.
. "$T_LIB"

# A link flips between an allowed and a denied target while the victim opens, writes and removes by it.
t_flipping_link() {
	echo plain >plain
	cat >"$S/flip.py" <<-'EOF2'
		import os, sys, time
		w, key = sys.argv[1], sys.argv[2]
		end = time.time() + 6
		while time.time() < end:
		    for target in (w + "/plain", key):
		        os.symlink(target, w + "/.t"); os.rename(w + "/.t", w + "/link")
	EOF2
	python3 "$S/flip.py" "$W" "$HOME/.ssh/id_rsa" &
	until_true 5 test -L link || fail "no link"
	fence python3 -c '
import os, time
end, n, got = time.time() + 5, 0, 0
while time.time() < end:
    n += 1
    try:
        with open("link") as f: t = f.read()
        if t != "plain\n": print("READ", t)
        got += 1
    except PermissionError: pass
    try:
        with open("link", "r+") as f:
            if f.read(5) != "plain": print("OPENED")
    except PermissionError: pass
    try: os.truncate("link", 6)
    except PermissionError: pass
print(n > 100, 0 < got < n)' 2>/dev/null
	wait
	out_is "True True"
	file_is ~/.ssh/id_rsa "$DECOY .ssh/id_rsa"
	file_is plain plain
}

# A directory on the way flips between a real one and a link to elsewhere.
t_flipping_directory() {
	mkdir real
	echo "$DECOY" >~/elsewhere/f
	cat >"$S/flip.py" <<-'EOF2'
		import ctypes, os, sys, time
		os.chdir(sys.argv[1])
		os.symlink(sys.argv[2], "other")
		os.mkdir("d")
		libc = ctypes.CDLL(None)
		end = time.time() + 6
		while time.time() < end: libc.renameat2(-100, b"d", -100, b"other", 2)
	EOF2
	python3 "$S/flip.py" "$W" "$HOME/elsewhere" &
	until_true 5 test -d d || fail "no directory"
	fence python3 -c '
import os, time
end, n = time.time() + 5, 0
while time.time() < end:
    for f in (lambda: open("d/made", "w").close(),
        lambda: os.unlink("d/file"), lambda: os.mkdir("d/dir"), lambda: os.rename("d/made", "d/moved"),
              lambda: os.symlink("x",
                  "d/sym"), lambda: os.unlink("d/moved"),
                      lambda: os.unlink("d/sym"), lambda: os.rmdir("d/dir"), lambda: os.chmod("d/f",
                  0o777),
              lambda: os.truncate("d/f", 0)):
        n += 1
        try: f()
        except OSError: pass
print(n > 100)' 2>/dev/null
	wait
	out_is True
	[ "$(ls ~/elsewhere | tr '\n' ' ')" = "f file " ] || fail "changed: $(ls ~/elsewhere)"
	file_is ~/elsewhere/f "$DECOY"
	[ "$T_LEVEL" = hooks ] || [ "$(stat -c %a ~/elsewhere/f)" != 777 ] || fail "mode changed"
}

# One thread changes the directory while another names files by it.
t_chdir_in_another_thread() {
	mkdir in
	fence python3 -c '
import os, threading, time
home = os.environ["HOME"]
stop = False
def wander():
    while not stop:
        os.chdir(home + "/elsewhere"); os.chdir(home + "/work/in")
t = threading.Thread(target=wander); t.start()
end, n = time.time() + 4, 0
while time.time() < end:
    n += 1
    for f in (lambda: open("made", "w").close(), lambda: os.unlink("made"),
        lambda: os.mkdir("sub"), lambda: os.rmdir("sub"), lambda: os.unlink("file")):
        try: f()
        except OSError: pass
stop = True; t.join()
print(n > 100)' 2>/dev/null
	out_is True
	[ "$(ls ~/elsewhere)" = file ] || fail "changed: $(ls ~/elsewhere)"
}

scenario "$@"
