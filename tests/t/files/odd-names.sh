# levels: full strict
# nightly: hooks
# limit: 90
# Names: links instead of dotfiles, trees that are bound twice, thousands of rules, what /tmp, /dev and /proc
# name, a directory that vanishes, and programs that live below the home directory.
. "$T_LIB"

# A static program does not start at level hooks.
export BB=busybox T_PASS="BB F"
[ "$T_LEVEL" != hooks ] || BB=

# same LINE: output, errors and status are as bare.
same() {
	run bash -c "$1"
	mv "$S/out" "$S/bare" && mv "$S/err" "$S/bare.err" && echo "status $RC" >>"$S/bare"
	fsh "$1"
	echo "status $RC" >>"$S/out"
	diff "$S/bare" "$S/out" >"$S/diff" || fail "$1: output differs: $(cat "$S/diff")"
	diff "$S/bare.err" "$S/err" >"$S/diff" || fail "$1: stderr differs: $(cat "$S/diff")"
}

# --- links (row 6) ------------------------------------------------------------------------------------

t_dotfiles_are_links() {
	mkdir -p ~/dotfiles/ssh ~/dotfiles/hooks
	echo "# mine" >~/dotfiles/bashrc
	mv ~/.ssh/* ~/dotfiles/ssh/ && rmdir ~/.ssh && ln -s dotfiles/ssh ~/.ssh
	ln -s dotfiles/bashrc ~/.bashrc
	ln -s nowhere ~/.zshrc
	git init -q . && rm -r .git/hooks && ln -s ~/dotfiles/hooks .git/hooks
	fsh 'cat ~/.bashrc; echo x >>~/.bashrc; echo x >>~/dotfiles/bashrc; rm ~/.bashrc
		ln -sf /tmp/x ~/.bashrc; echo x >~/.zshrc; mv ~/dotfiles/bashrc b; cat ~/.ssh/id_rsa ~/dotfiles/ssh/id_rsa
		echo x >.git/hooks/pre-commit; rm .git/hooks; mv .git/hooks h
		echo x >~/dotfiles/hooks/pre-commit; echo ok >f; git add f && git commit -qm c && bash -lc "echo login"'
	rc_is 0
	no_decoy
	out_has login
	file_is ~/dotfiles/bashrc "# mine"
	[ "$(readlink ~/.bashrc) $(readlink ~/.zshrc) $(readlink .git/hooks)" = \
		"dotfiles/bashrc nowhere $HOME/dotfiles/hooks" ] || fail "a link was changed"
	missing ~/nowhere
	missing ~/dotfiles/hooks/pre-commit
}

t_workspace_is_a_link() {
	mkdir ~/real && ln -s ~/real ~/link && cd ~/link
	fsh 'pwd; echo a >a; mkdir d && cd d && echo b >b
		cd "$OLDPWD"; cat "$HOME/link/a" "$HOME/real/d/b"; echo c >"$HOME/link/c"
		git init -q . && git add . && git commit -qm x && git log --format=%s; rm ../link; mv ../link ../l2'
	out_is "$(printf '%s\na\nb\nx' "$HOME/link")"
	[ -L ~/link ] || fail "the link went"
	cd "$W" && OPTS=(-w "$HOME/link") && fsh 'echo d >~/link/d2; echo e >~/real/e; echo f >here'
	file_is ~/real/d2 d
	file_is ~/real/e e
	missing "$W/here"
}

# --- where one starts (row 8) -------------------------------------------------------------------------

t_readonly_startup_files_and_agents_directories() {
	local d
	echo 'export FROM_RC=1' >~/.bashrc && chmod 444 ~/.bashrc
	mkdir -p ~/.claude/projects/x ~/.config/opencode/y
	for d in ~/.claude ~/.claude/projects/x ~/.config/opencode/y; do
		cd "$d"
		same 'pwd; ls; echo one >f && cat f && rm f
			bash -c "cd .. && pwd"; bash -lic "echo \$FROM_RC" 2>/dev/null; sh -c "echo \$0"'
	done
}

# --- thousands of rules, a large tree (row 9) ---------------------------------------------------------

t_many_patterns_in_a_large_tree() {
	local i start took
	{
		echo '[files]'
		for i in {1..2000}; do printf 'deny = **/secret-%d-*/*.key\nreadonly = **/gen%d/**/lock\n' "$i" "$i"; done
	} | policy
	python3 -c '
import os
for a in range(100):
    for b in range(20):
        os.makedirs("t/%d/%d" % (a, b))
        for c in range(10): open("t/%d/%d/%d" % (a, b, c), "w").close()'
	mkdir -p t/5/secret-77-x && echo "$DECOY" >t/5/secret-77-x/a.key
	start=$(date +%s%N)
	fsh 'true'
	took=$((($(date +%s%N) - start) / 1000000))
	rc_is 0
	[ $took -lt 5000 ] || fail "a start took $took ms"
	fsh 'cat t/5/secret-77-x/a.key
		find t -type f | wc -l; grep -rl nothing t | wc -l; echo x >t/1/1/1 && mv t/1 t/1.moved && ls t | wc -l'
	no_decoy
	out_has 20001
}

# --- one tree at two places ---------------------------------------------------------------------------

# In a mount name space of the user's own: bound LINE
bound() {
	unshare --map-current-user --keep-caps -m bash -c "$1
		export S W T_LIB
		exec setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all bash -c '$2'" >"$S/out" 2>"$S/err" </dev/null
	RC=$?
}

t_bind_mounts() {
	unshare --map-current-user --keep-caps -m true 2>/dev/null || skip "no mount name space can be had"
	mkdir ~/keys ~/second ~/elsewhere/ws
	touch ~/onefile
	bound "mount --bind ~/.ssh ~/keys && mount --bind $W ~/second &&
		mount --bind ~/elsewhere/file ~/onefile && mount --bind ~/elsewhere/ws $W/../work && cd / && cd $W" \
		'pale run -q -- bash -c "cat ~/.ssh/id_rsa; echo in >inside; cat inside; echo x >~/onefile
			echo x >~/elsewhere/file; echo y >~/second/new; echo z >~/elsewhere/ws/z; rm ~/elsewhere/ws/inside"'
	rc_not 125
	no_decoy
	out_has in
	file_is ~/elsewhere/file "$DECOY elsewhere/file"
	file_is ~/elsewhere/ws/inside in
	missing ~/elsewhere/ws/z
	missing "$W/new"
}

# --- scratch (row 10) ---------------------------------------------------------------------------------

t_temporary_directories() {
	local long=/tmp/pt${S##*/}$(printf 'x%.0s' {1..120})
	mkdir -p "$long"
	same 'unset TMPDIR; f=$(mktemp) && echo a >"$f" && cat "$f" && rm "$f"
		mktemp -d >/dev/null && stat -c %a /tmp; python3 -c "import tempfile; print(tempfile.gettempdir())"'
	same "export TMPDIR=$long; f=\$(mktemp) && dirname \$f | wc -c && rm \$f; python3 -c '
import socket, os
s = socket.socket(socket.AF_UNIX)
try: s.bind(os.environ[\"TMPDIR\"] + \"/s\")
except OSError as e: print(e)
s.bind(\"/tmp/s%d\" % os.getpid()); os.unlink(\"/tmp/s%d\" % os.getpid()); print(\"bound\")'"
	same "TMPDIR=/nosuch/dir; export TMPDIR; mktemp; echo \$?; python3 -c 'import tempfile
print(tempfile.gettempdir())'; sort --version | head -1; TMPDIR=. mktemp -u XX >/dev/null; echo \$?"
	same "export TMPDIR=$W/tmp; mkdir -p tmp
		f=\$(mktemp) && echo x >\$f && cat \$f && rm \$f; sort -S 1M -T tmp file; echo c | gcc -E - | tail -1"
	same 'd=/dev/shm/pt-'"${S##*/}"'; mkdir $d && echo x >$d/a && mv $d/a $d/b && cat $d/b && rm -r $d; python3 -c "
from multiprocessing import shared_memory as m, Lock, Value
s = m.SharedMemory(create=True, size=10); s.buf[0] = 7; t = m.SharedMemory(name=s.name)
print(t.buf[0]); t.close(); s.close(); s.unlink(); l = Lock(); print(Value(chr(105), 3).value)"'
	rm -rf "$long"
}

# --- devices and /proc --------------------------------------------------------------------------------

t_devices() {
	same 'echo x >/dev/null; head -c 3 /dev/zero | od -An -c; echo x >/dev/full; echo $?; head -c 8 /dev/urandom | wc -c
		echo in | cat /dev/stdin; echo o >/dev/stdout; echo e >/dev/stderr; echo f >/dev/fd/1; cat /dev/fd/3 3<file
		: >/dev/null; : >>/dev/null; cp file /dev/null; dd if=/dev/zero of=/dev/null count=1 status=none
		tee /dev/null <file; cat /proc/self/fd/0 <file; ls -d /dev/null /dev/pts /dev/shm
		python3 -c "open(\"/dev/null\", \"r+b\").write(b\"x\"); open(\"/dev/zero\", \"r+b\").read(1)"
		$BB cat /dev/stdin <file; $BB sh -c "echo b >/dev/null; echo c >/dev/stdout"'
}

t_proc_self() {
	same 'readlink /proc/self/exe /proc/self/cwd /proc/self/root; ls /proc/self/fd | grep -c "^[0-2]$"; tr "\0" \
		"\n" </proc/self/environ | grep ^HOME; grep -c . /proc/self/mountinfo
		head -1 /proc/self/status; ls /proc/self/task | wc -l; cat /proc/self/comm; tr "\0" \
		" " </proc/self/cmdline; grep -c vdso /proc/self/maps
		wc -c </proc/self/stat | grep -c .; cat /proc/$$/comm; readlink /proc/$$/cwd
		readlink /proc/thread-self/cwd; cat /proc/self/cwd/file; cat /proc/self/root$PWD/file; python3 -c "
import os
f = open(\"file\")
print(os.readlink(\"/proc/self/fd/%d\" % f.fileno()), open(\"/proc/self/fd/%d\" % f.fileno()).read())
print(open(\"/proc/self/task/%d/comm\" % os.getpid()).read(), len(open(\"/proc/self/auxv\",
    \"rb\").read()) > 0, os.path.exists(\"/proc/self/ns/pid\"), open(\"/proc/self/oom_score_adj\").read())"
		echo renamed >/proc/self/comm
		cat /proc/meminfo /proc/cpuinfo /proc/loadavg /proc/uptime /proc/version /proc/sys/kernel/ostype | wc -l | grep -c .'
	[ "$T_LEVEL" = hooks ] || { fsh 'ps aux >/dev/null; ps auxe >/dev/null' &&
		[ "$(records read deny environ | wc -l)" -le 6 ] || fail "ps leaves $(records read deny environ | wc -l) records"; }
}

# --- a directory that vanishes (row 20 and cwd) -------------------------------------------------------

# realpath(3) of libc: result, error and what is left in the buffer.  A long way through links needs no supervisor.
t_realpath_is_libcs() {
	mkdir -p d/e && : >d/e/f && ln -s d/e link && ln -s nowhere dangling && ln -s loop loop
	ln -s /etc/hostname ~/.ssh/way
	cat >real.py <<-'END'
		import ctypes, os
		libc = ctypes.CDLL(None, use_errno=True)
		paths = """/ . .. d d/ d/. d/e/f d/e/f/ d/e/f/.. d//e/./f d/../d/e d/no d/no/ d/no/more d/e/f/x
		    no no/.. ./no link link/f link/../e link/no dangling dangling/x loop loop/x
		    /usr/bin/env /bin /bin/sh /proc/self/fd/0 /proc/self/cwd/d /dev/fd/0
		    ~ ~/.ssh ~/.ssh/no /root/x /nonexistent/a/b""".split()
		for path in paths + ["", "d" * 300, "d/" * 200 + "e", "./" * 300 + "d", None]:
		    at = path and path.replace("~", os.environ["HOME"]).encode()
		    to = ctypes.create_string_buffer(4096)
		    for name, more in ("realpath", []), ("__realpath_chk", [ctypes.c_size_t(4096)]):
		        ctypes.set_errno(0)
		        f = getattr(libc, name)
		        f.restype = ctypes.c_void_p
		        r = f(at, to, *more)
		        print(name, path, bool(r), ctypes.get_errno() if not r else 0, to.value)
		    libc.realpath.restype = ctypes.c_char_p
		    print(path, libc.realpath(at, None))
	END
	same 'python3 real.py </dev/null'
	out_has "realpath d/no/more False 2 b'$W/d/no'"
	# What a closed link leads to is libc's question, and the supervisor's answer.
	fsh 'python3 -c "import ctypes
print(ctypes.CDLL(None).realpath(b\"$HOME/.ssh/way\", ctypes.create_string_buffer(4096)))"'
	[ "$T_LEVEL" = hooks ] || { out_is 0 && err_has "denied read $HOME/.ssh/way"; }
}

t_directory_that_vanishes() {
	same 'mkdir -p a/b && cd a/b &&
		rm -r ../../a && {
			pwd; ls; cat file; echo x >new; mkdir d; cat ../file; /bin/pwd; $BB ls; $BB touch x
			python3 -c "open(\"y\", \"w\")" 2>&1 | tail -1; cd ..; cd /; cd "$OLDPWD"; cd '"$W"' && cat file
		} 2>&1'
	mkdir -p ~/vanish/here && cd ~/vanish/here && rm -r ~/vanish
	OPTS=(-w "$W")
	fsh 'cat file; cd "$1" && cat file' - "$W"
	[ "$RC" != 139 ] && [ "$RC" != 134 ] || fail "crashed"
}

# --- programs below the home directory (row 20) -------------------------------------------------------

t_toolchains_below_home() {
	local py node
	py=$(readlink -f "$(command -v python3)")
	mkdir -p ~/.nvm/versions/node/v20/bin \
		~/.local/share/mise/installs/x/1/bin ~/.local/share/mise/shims ~/.pyenv/versions/3.11/bin \
		~/.rustup/toolchains/stable/bin ~/.cargo/bin ~/nix/store/aaa-hello/bin ~/nix/profile ~/busybox
	printf '#!/bin/sh\necho shim "$@"\n' >~/.local/share/mise/installs/x/1/bin/x
	cp /bin/echo ~/.rustup/toolchains/stable/bin/rustc
	cp /bin/echo ~/nix/store/aaa-hello/bin/hello
	chmod +x ~/.local/share/mise/installs/x/1/bin/x
	ln -s ../installs/x/1/bin/x ~/.local/share/mise/shims/x
	ln -s ~/.rustup/toolchains/stable/bin/rustc ~/.cargo/bin/rustc
	ln -s "$py" ~/.pyenv/versions/3.11/bin/python3
	ln -s ../store/aaa-hello/bin ~/nix/profile/bin
	cp "$(command -v busybox)" ~/busybox/busybox
	for node in ls cat sh; do ln -s busybox ~/busybox/$node; done
	node=$(command -v node) && ln -s "$node" ~/.nvm/versions/node/v20/bin/node
	same 'PATH=$HOME/.pyenv/versions/3.11/bin:$HOME/.cargo/bin:$HOME/nix/profile/bin:$PATH
		PATH=$HOME/.nvm/versions/node/v20/bin:$HOME/.local/share/mise/shims:$PATH
		x a; rustc b; hello c; python3 -c "import sys; print(sys.executable)"
		command -v hello rustc; ! command -v node >/dev/null || node -p 1+1'
	[ "$T_LEVEL" != hooks ] || return 0
	same 'PATH=$HOME/busybox; cat file; ls | cat; sh -c "echo applet; cat file"'
}

scenario "$@"
