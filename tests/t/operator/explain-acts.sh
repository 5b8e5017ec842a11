# limit: 120
# nightly: strict
# What `pale explain` says is what happens: the same act is explained outside and tried inside.
. "$T_LIB"

# same OP TARGET COMMAND...: explained and tried, and both say yes or both say no.
same() {
	local op=$1 target=$2 said done=deny
	shift 2
	pale explain --level "$T_LEVEL" -n "$op" "$target" >"$S/said" 2>&1
	said=$?
	pale run -q -n --level "$T_LEVEL" -- "$@" >"$S/did" 2>&1 && done=allow
	# What the kernel itself refuses is no matter of the policy.  Other processes and some secrets do not exist.
	grep -q '^pale: denied\|Permission denied\|Operation not permitted\|\(proc\|npmrc\).*No such file' "$S/did" ||
		done=allow
	case $said in 0) said=allow ;; 1) said=deny ;; *) said="exit $said" ;; esac
	[ "$said" = "$done" ] || WRONG+="$op $target: explained $said, done $done: $(tail -1 "$S/did")"$'\n'
}

all_same() {
	[ -z "$WRONG" ] || fail "$WRONG"
}

# The words of another process, by every way that leads there: of init, and of one of the user's own.
t_other_processes() {
	local pid p WRONG=
	sleep 60 &
	pid=$!
	ln -s /proc/$pid/cwd through-proc
	ln -s /proc/$pid/environ proc-words
	for p in /proc/$pid/environ /proc/$pid/mem /proc/$pid/maps /proc/$pid/cwd/file /proc/$pid/root/etc/hosts \
		/proc/$pid/fd/0 /proc/$pid/task/$pid/environ /proc/$pid/task/$pid/cwd/file /proc/self/../$pid/environ \
		/proc/thread-self/../../../$pid/auxv through-proc/file words /proc/1/environ /proc/1/mem /proc/1/maps \
		/proc/1/task/1/environ /proc/self/../1/environ /proc/$pid/stat /proc/$pid/status /proc/$pid/cmdline \
		/proc/$pid/task/$pid/stat /proc/1/stat /proc/1/comm; do
		same read "$p" cat "$p"
	done
	for p in /proc/$pid/comm /proc/$pid/oom_score_adj /proc/$pid/task/$pid/comm; do
		same write "$p" sh -c ': >>"$1"' - "$p"
	done
	[ -z "$WRONG" ] || fail "$WRONG"
	# And the verdict names the rule.
	run pale explain read /proc/$pid/environ
	rc_is 1
	out_has "it belongs to a process outside the session"
	# What is one's own, or nobody's.
	for p in /proc/self/environ /proc/self/maps /proc/thread-self/stat /proc/self/cwd/file /proc/self/task/../environ \
		/proc/meminfo /proc/self/fd/0 /dev/stdin /proc/loadavg; do
		same read "$p" cat "$p"
	done
	kill $pid
	all_same
}

# Inside a session its own processes are no others.
t_inside() {
	fsh 'sleep 9 & pale explain read /proc/$!/environ; a=$?; pale explain read /proc/1/environ; echo "rc $a $?"; kill $!'
	out_has "rc 0 1"
}

t_files() {
	local p WRONG=
	printf '[files]\ndeny = closed\nkeep = *.db\nreadonly = fixed\nask = asked\nwrite = ~/open\n' | policy
	mkdir -p closed fixed ~/open d .git/hooks .pale
	touch a.db fixed/f closed/c asked ~/open/f d/f
	ln -s closed/c link
	ln -s ~/.ssh/id_rsa key
	ln -s ../outside-file up
	ln -s ~/elsewhere out
	for p in file closed/c asked link key up d/../closed/c ~/.ssh/id_rsa ~/.aws/credentials ~/outside-file /etc/hosts \
		/usr/bin/env ~/.bash_history ~/.npmrc a.db fixed/f missing \
		out/../work/file out/../.ssh/id_rsa out/../work/closed/c d/../../.ssh/id_rsa; do
		same read "$p" cat "$p"
	done
	for p in file closed/c asked link key up a.db fixed/f ~/open/f ~/outside-file /etc/hosts new ~/new .git/hooks/new \
		/tmp/pale-test-$$ /dev/null ~/.bashrc fixed/new .pale/policy.ini; do
		same write "$p" sh -c ': >>"$1"' - "$p"
	done
	for p in a.db fixed/f d/f closed ~/outside-file; do
		same delete "$p" rm -r "$p"
	done
	all_same
}

t_commands() {
	local WRONG= words
	printf '[commands]\ndeny = nope\nask = maybe\ndeny = git push origin prod\n' | policy
	mkdir bin
	printf '#!/bin/sh\nexit 0\n' | tee bin/nope bin/maybe bin/tool >/dev/null
	chmod +x bin/*
	git init -q .
	while read -r words; do
		pale explain --level "$T_LEVEL" -n exec $words >"$S/said" 2>&1
		case $? in 0) said=allow ;; 1) said=deny ;; *) said=strange ;; esac
		pale run -q -n --level "$T_LEVEL" -- sh -c '"$@"; true' - $words >"$S/did" 2>&1
		did=allow
		grep -q '^pale: denied exec' "$S/did" && did=deny
		[ $said = $did ] || WRONG+="exec $words: explained $said, done $did"$'\n'
	done <<-END
		bin/tool
		bin/nope
		bin/maybe
		env bin/nope
		nice -n 5 bin/maybe
		git status
		git push origin prod
		git push origin main
		git -C . push origin main
		git push -f origin work
		rm -rf missing
		timeout 5 bin/nope x
		npm publish
		true
	END
	all_same
}

t_hosts() {
	local WRONG= host
	printf '[network]\nmode = strict\nallow = 10.9.9.9:9\ndeny = localhost:22\nallow = pypi.org\n' | policy
	for host in 10.9.9.9:9 127.0.0.1:22 192.0.2.1:443 10.0.0.1:80 169.254.169.254:80 [::1]:22 [2001:db8::1]:443; do
		pale explain --level "$T_LEVEL" -n connect "$host" >"$S/said" 2>&1
		case $? in 0) said=allow ;; 1) said=deny ;; *) said=strange ;; esac
		pale run -q -n --level "$T_LEVEL" -- python3 -c '
import socket, sys
host, port = sys.argv[1].rsplit(":", 1)
s = socket.socket(socket.AF_INET6 if "[" in host else socket.AF_INET)
s.settimeout(0.2)
try: s.connect((host.strip("[]"), int(port)))
except OSError: pass' "$host" >"$S/did" 2>&1
		did=allow
		grep -q '^pale: denied connect' "$S/did" && did=deny
		[ $said = $did ] || WRONG+="connect $host: explained $said, done $did"$'\n'
	done
	all_same
}

# Whatever stands around a command in a shell program, the command is judged.
t_shell_programs() {
	local line
	printf '[commands]\ndefault = deny\ndeny = git push\nallow = (ls|echo|cat|git|[|f|time)\n' | policy
	while IFS= read -r line; do
		run pale explain exec "$line"
		rc_is 1 "$line"
	done <<-'END'
		(git push t)
		{ git push t; }
		! git push t
		if true; then git push t; fi
		while git push t; do ls; done
		until git push t; do ls; done
		for i in a b; do git push $i; done
		case x in a) ls;; b) git push t;; esac
		f() { git push t; }; f
		x=$(git push t)
		echo "a $(git push t) b"
		echo $(echo $(git push t))
		echo `git push t`
		$'git' push t
		cat <(git push t)
		time git push t
		function f { git push; }
		[[ -f x ]] && git push t
	END
	while IFS= read -r line; do
		run pale explain exec "$line"
		rc_is 0 "$line"
	done <<-'END'
		echo 'git push t; (git push t)'
		echo for git push
		for git in push; do ls; done
		ls $((1+2))
		[ -f x ] && ls
		case git in push|pull) ls;; git|push) ls;; esac
		[[ git && push ]] || ls
	END
}

scenario "$@"
