# limit: 60
# What holds the intake: what the real git is tricked into reaches neither the network nor what the courier obeys.
. "$T_LIB"
. "$T_BASE/t/gate-lib.sh"

# Puts a script in the intake, in the place of a hook that pale does not use; its words come back to the client.
# The script lies where the intake may read.
in_the_intake() {
	local gate
	cloned
	gate=$(ls -d "$STATE"/gate/*.git)
	git push -q origin topic 2>"$S/err" || fail "no push"
	{ printf '#!/bin/sh\ng=%s\n' "$gate" && cat; } >"$gate/objects/probe" && chmod 755 "$gate/objects/probe"
	ln -s "$gate/objects/probe" "$STATE/gate/hooks/post-receive"
	git commit -q --allow-empty -m x
	run git push origin topic
	rc_is 0
	err_has "remote: probe ran"
}

t_files() {
	in_the_intake <<-'END'
		echo probe ran
		for f in config HEAD hooks/x packed-refs refs/heads/evil info/attributes refs/changes/1/head description; do
			(echo evil >"$g/$f") 2>/dev/null && echo "BAD wrote $f"
		done
		(echo evil >"$g/../hooks/pre-receive") 2>/dev/null && echo BAD wrote hook
		(echo evil >"$g/../changes/9.json") 2>/dev/null && echo BAD wrote change
		rm -f "$g/HEAD" "$g/../hooks/pre-receive" 2>/dev/null
		mv "$g/objects" "$g/objects2" 2>/dev/null && echo BAD moved
		ln "$g/config" "$g/objects/config" 2>/dev/null && echo BAD linked
		for f in /etc/passwd /proc/self/environ; do
			cat "$f" >/dev/null 2>&1 && echo "BAD read $f"
		done
		for f in /tmp "$g/../changes" "$g/../.." /home /etc; do
			ls "$f"/ >/dev/null 2>&1 && echo "BAD listed $f"
		done
		(echo x >/tmp/pale-gate-probe) 2>/dev/null && echo BAD tmp
		env | grep -E 'SSH_AUTH|HOME=/home|XDG|TOKEN' && echo BAD environment
		echo probe done
	END
	err_has "probe done"
	err_lacks BAD
	git -C "$STATE"/gate/*.git rev-parse -q --verify HEAD >"$S/out" || fail "HEAD is gone"
	[ "$(readlink "$STATE/gate/hooks/pre-receive")" = "$GATE_PROGRAM" ] || fail "the hook is gone"
}

t_network_and_processes() {
	in_the_intake <<-'END'
		echo probe ran
		/usr/bin/python3 -S - <<-'PY'
			import ctypes, os, signal, socket
			print("python ran", flush=True)
			for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
			    try:
			        socket.socket(family, socket.SOCK_DGRAM)
			        print("BAD socket", family)
			    except OSError:
			        pass
			def bad(name, call, *args):
			    try:
			        call(*args)
			        print("BAD", name)
			    except OSError:
			        pass
			bad("socketpair", socket.socketpair)
			bad("setsid", os.setsid)
			bad("setpgid", os.setpgid, 0, 0)
			bad("kill", os.kill, os.getppid(), 0)
			libc = ctypes.CDLL(None, use_errno=True)
			for name, number in (("ptrace", 101), ("unshare", 272), ("io_uring", 425), ("bpf", 321), ("pidfd", 434)):
			    if libc.syscall(number, 0, 0, 0, 0, 0) != -1:
			        print("BAD", name)
			pid = os.fork()
			if pid == 0:
			    os._exit(0)
			os.waitpid(pid, 0)
		PY
		(sleep 300 >/dev/null 2>&1 </dev/null &)
		echo probe done
	END
	err_has "python ran"
	err_has "probe done"
	err_lacks BAD
	# what it left behind has ended with it
	until_true 5 eval '[ -z "$(pgrep -u "$(id -u)" -x sleep -f "sleep 300")" ]' || fail "a process is left"
}

# Objects of another place: the courier's git would read them.
t_alternates() {
	in_the_intake <<-'END'
		echo probe ran
		echo /etc >"$g/objects/info/alternates"
	END
	run git push origin topic
	rc_not 0
	err_has "the gate's repository cannot be used"
}

# What is no pkt-line, is cut short or never ends.
t_lines() {
	local what
	cloned
	for what in '' 0000 00 zzzz 'GET / HTTP/1.0' 0003 0004 ffff 00ff0000 "$(head -c 100000 /dev/zero | tr '\0' a)" \
		0032want\ 0000000000000000000000000000000000000000 \
		"00940000000000000000000000000000000000000000 $(git rev-parse HEAD) refs/heads/x"; do
		for service in upload receive; do
			run timeout 20 python3 - "$URL" "git-$service-pack" "$what" <<-'PY'
				import subprocess, sys
				p = subprocess.Popen(["git-remote-pale", "x", sys.argv[1]], stdin=subprocess.PIPE)
				try:
				    p.stdin.write(f"connect {sys.argv[2]}\n{sys.argv[3]}".encode())
				    p.stdin.close()
				except BrokenPipeError:
				    pass
				p.wait()
			PY
			rc_is 0 "$service ${what:0:40}"
		done
	done
	[ ! -s "$GATE_LOG" ] || fail "asked"
	until_true 5 eval '[ -z "$(ls -d "$STATE"/gate/intake.* 2>/dev/null)" ]' || fail "a directory is left"
	run git push origin topic
	rc_is 0
}

scenario "$@"
