# needs: expect util-linux bash less procps
# Terminals: a pty of one's own, and jobs that are stopped, resumed and interrupted on it.

# Types into a program on a new pty: on_pty COMMAND with the script of expect on stdin.
on_pty() {
	{ printf 'log_user 1\nset timeout 10\nset stty_init "rows 24 cols 80 -echo"\nspawn -noecho %s\n' "$1"
		cat
		printf 'expect eof\nset s [wait]\nputs "status [lindex $s 3]"\n'; } >play.exp
	expect -f play.exp | tr -d '\r'
}

c_script_makes_a_terminal() {
	script -qec 'tty >/dev/null && echo a terminal; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all three
		echo direct >/dev/tty; exit 5' log </dev/null | tr -d '\r'
	echo "${PIPESTATUS[0]}"
	sed '1d;/^Script done/d' log | tr -d '\r'
	rm log
	script -qec 'stty size; stty rows 30 cols 99; stty size; stty -a | grep -c speed' /dev/null </dev/null | tr -d '\r'
	script -qec 'ps -o tty= -p $$ | grep -c pts' /dev/null </dev/null | tr -d '\r'
	tty
	tty -s </dev/null
	echo $?
	setsid -w bash -c 'echo lost >/dev/tty' 2>&1 | sed 's/.*\/dev/\/dev/'
}

c_job_control() {
	on_pty 'bash --norc --noprofile -i' <<-'END' | sed 's/^\[1\] [0-9]*/[1] PID/;/Terminated/d'
		send "PS1='@ '; unset HISTFILE\r"; expect -re {@ $}
		send "sleep 30\r"; sleep 0.3; send "\032"; expect "Stopped"; expect -re {@ $}
		send "jobs\r"; expect "sleep 30"; expect -re {@ $}
		send "bg\r"; expect "sleep 30 &"; expect -re {@ $}
		send "kill %1; wait; echo ended\r"; expect "ended"; expect -re {@ $}
		send "cat\r"; sleep 0.3; send "typed\r"; expect "typed"; send "\004"; expect -re {@ $}
		send "sleep 30\r"; sleep 0.3; send "\003"; expect -re {@ $}
		send "echo \$?\r"; expect "130"; expect -re {@ $}
		send "(sleep 0.2; exit 3) & fg; echo got \$?\r"; expect "got 3"; expect -re {@ $}
		send "sleep 31 | cat\r"; sleep 0.3; send "\032"; expect "Stopped"; expect -re {@ $}
		send "fg\r"; expect "sleep 31"; sleep 0.2; send "\003"; expect -re {@ $}
		send "exit 6\r"
	END
}

c_job_control_shown() {
	on_pty 'bash --norc --noprofile -i' <<-'END' | grep -aoE 'Stopped|Terminated|status [0-9]+|caught [A-Z]+|fore-[0-9]+'
		send "PS1='@ '; unset HISTFILE\r"; expect -re {@ $}
		send "sleep 30\r"; sleep 0.3; send "\032"; expect "Stopped"; expect -re {@ $}
		send "kill -TERM %1; fg; echo fore-\$?\r"; expect -re {fore-[0-9]}; expect -re {@ $}
		send "trap 'echo caught QUIT' QUIT; kill -QUIT \$\$\r"; expect "caught"; expect -re {@ $}
		send "trap 'echo caught WINCH' WINCH; stty rows 40\r"; expect -re {@ $}
		send "exit 7\r"
	END
}

c_reads_from_the_terminal() {
	on_pty 'bash --norc' <<-'END' | grep -aE '^(secret|name|key|status|term)' 
		send "unset HISTFILE; read -r -p 'name? ' n </dev/tty; echo; echo name \$n; exec 5<>/dev/tty; read -rs -u 5 p; \
echo secret \${#p}; read -rn 1 k; echo; echo key \$k; stty -echo; stty echo; echo term \$TERM; exit 3\r"
		expect "name? "; send "Ana\r"; expect "name Ana"
		sleep 0.2; send "hidden\r"; expect "secret 6"
		sleep 0.2; send "q"; expect "key q"
	END
}

c_pager_and_editor_keys() {
	seq 100 >lines
	export LESSHISTFILE=-
	on_pty 'less lines' <<-'END' | grep -a status
		expect "23"; send "G"; expect "100"; send "?42\r"; expect -re "\n43"; send "q"
	END
	script -qec 'less -FX lines | tail -1' /dev/null </dev/null
	echo short | less | cat
	LESSOPEN='|cat %s' less lines | head -2
}

c_python_ptys() {
	python3 - <<-'END'
		import os, pty, termios, fcntl, struct, signal, time
		pid, fd = pty.fork()
		if pid == 0:
		    os.execvp("sh", ["sh", "-c", "tty >/dev/null && echo on a pty; read x; echo got $x; exit 9"])
		os.write(fd, b"word\n")
		out = b""
		try:
		    while True:
		        b = os.read(fd, 1000)
		        if not b: break
		        out += b
		except OSError: pass
		print(out.decode().split("\r\n"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
		m, s = pty.openpty()
		fcntl.ioctl(s, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 20, 0, 0))
		print(struct.unpack("HHHH", fcntl.ioctl(m, termios.TIOCGWINSZ, b"\0" * 8))[:2], os.isatty(s),
		    os.ttyname(s).startswith("/dev/pts/"))
		a = termios.tcgetattr(s); a[3] &= ~(termios.ICANON | termios.ECHO); termios.tcsetattr(s, termios.TCSANOW, a)
		os.write(m, b"x"); print(os.read(s, 1))
		n = os.open(os.ttyname(s), os.O_RDWR | os.O_NOCTTY); os.write(n, b"y"); print(os.read(m, 9)[-1:])
		pid = os.fork()
		if pid == 0:
		    os.setsid(); os.close(m)
		    t = os.open(os.ttyname(s), os.O_RDWR)
		    os.dup2(t, 0)
		    open("/dev/tty", "w").write("controlling")
		    os._exit(0)
		os.waitpid(pid, 0); print(os.read(m, 99))
	END
}

# What was typed at other times is the operator's: interactive programs go on without a history.
c_histories() {
	HISTFILE=~/.bash_history bash -i -c 'history -s word; history -w; echo $?' 2>/dev/null
	seq 100 >lines
	on_pty 'less lines' <<-'END' | grep -a status
		expect "23"; send "/42\r"; expect "64"; send "q"
	END
}
