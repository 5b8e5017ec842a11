# needs: bash dash zsh busybox-static bc gawk mawk ed util-linux procps
# Shells: what every script does.

c_pipelines() {
	printf '%s\n' c a b a | sort | uniq -c | sort -rn | awk '{ print $2, $1 }'
	seq 1000 | grep 7 | sed 's/7/seven/' | tail -3
	false | true
	echo "${PIPESTATUS[@]}"
	set -o pipefail
	false | true
	echo $?
	yes | head -1
	echo "${PIPESTATUS[@]}"
	cat /dev/null | wc -c
	(exit 3) | cat
	echo "$? $(! true; echo $?)"
}

c_hundred_megabytes_through_pipes() {
	head -c 100000000 /dev/zero | tr '\0' x | cat | tee >(cksum >one) | cksum
	head -c 100000000 /dev/zero | dd bs=64k status=none | wc -c
	until_true 10 test -s one && cat one
}

c_redirections() {
	echo one >a 2>b
	echo two >>a
	ls nosuch >>a 2>&1
	cat <a >c
	exec 3<>d 4>e 5<c
	echo three >&3
	echo four >&4
	read -r -u 5 line
	echo "$line"
	exec 3>&- 4>&- 5<&-
	{ echo out; echo err >&2; } 2>&1 >f | sed 's/^/piped: /'
	set -C
	echo no >a
	echo yes >|a
	set +C
	echo x 2>/dev/full >/dev/full
	cat <>g a - <c
	echo "to stderr" >/dev/stderr
	echo "to fd 1" >/dev/fd/1
	cat /dev/stdin <<<"from stdin"
	: >"a b" >'c"d'
	wc -c <"a b"
	cat <&-
	ls >&-
	exec 9>&1
	(echo inherited >&9)
}

c_here_documents() {
	local x=value
	cat <<-END
		$x $(echo command) $((6 * 7)) \$x
	END
	cat <<'END'
$x $(echo command)
END
	head -c 200000 /dev/zero | tr '\0' y >big
	cat <<END | wc -c
$(cat big)
END
	cat <<<"$x" - <<END
second
END
	dash -c 'cat <<END
dash $0
END' name
}

c_substitutions() {
	diff <(seq 5) <(seq 2 6)
	cat <(echo a) <(echo b)
	seq 10 | tee >(sort -r >sorted) >/dev/null
	until_true 10 test -s sorted && head -2 sorted
	echo "$(echo "$(echo deep)")" "$(<sorted)" | wc -w
	coproc UP { while read -r l; do echo "${l^^}"; done; }
	echo word >&"${UP[1]}"
	read -r -u "${UP[0]}" reply && echo "$reply"
	eval "exec ${UP[1]}>&-"
	wait "$UP_PID"
	echo $?
	paste <(seq 3) <(seq 4 6) <(printf '%s\n' x y z)
	mapfile -t lines < <(seq 3)
	echo "${#lines[@]} ${lines[2]}"
}

c_traps_and_signals() {
	bash -c 'trap "echo exit \$?" EXIT; trap "echo term" TERM; kill -TERM $$; echo after; exit 4'
	echo $?
	bash -c 'trap "" INT; kill -INT $$; echo ignored; trap - INT; kill -INT $$; echo never'
	echo $?
	bash -c 'kill -KILL $$'
	echo $?
	bash -c 'trap "echo child; exit 0" USR1; echo ready; while :; do sleep 0.02; done' >ready &
	until_true 10 test -s ready
	kill -USR1 $!
	wait $!
	echo $? "$(tail -1 ready)"
	(sleep 30 & echo $! >pid; wait) &
	until_true 10 test -s pid
	kill "$(cat pid)"
	wait $!
	echo $?
	rm pid
	set -e
	trap 'echo "err line"' ERR
	(false; echo not reached) || echo caught
	dash -c 'trap "echo dash exit" 0; kill -HUP $$' || echo $?
	timeout 0.2 sleep 5 || echo $?
	timeout -s KILL 0.2 sleep 5 || echo $?
	timeout --preserve-status -k 1 0.2 bash -c 'trap "exit 9" TERM; while :; do sleep 0.01; done' || echo $?
} 2>/dev/null

c_exit_statuses() {
	for s in 0 1 2 77 125 126 127 128 255; do
		bash -c "exit $s"
		echo -n "$? "
	done
	echo
	./nosuch 2>/dev/null
	echo $?
	echo '#!/nosuch/interpreter' >bad && chmod +x bad && ./bad
	echo $?
	echo "echo ran" >plain && ./plain
	echo $?
	chmod +x plain && ./plain
	echo $?
	mkdir dir && ./dir
	echo $?
	head -c 100 /dev/zero >zeros && chmod +x zeros && ./zeros
	echo $?
	: >empty && chmod +x empty && ./empty
	echo $?
	exit 42
}

c_limits_and_umask() {
	(ulimit -n 16 && ulimit -n && cat /etc/hostname | wc -l)
	(ulimit -f 1 && head -c 4096 /dev/zero >big; echo $?; stat -c %s big) 2>/dev/null
	(ulimit -v 200000 && ls / >/dev/null && echo listed)
	(ulimit -t 100 && ulimit -S -t && ulimit -c 0 && ulimit -a | grep -c .)
	(ulimit -s 256 && bash -c 'echo small stack' && ls -d .)
	for mask in 000 002 022 027 077 777; do
		(umask $mask && touch f$mask && mkdir d$mask && mkfifo p$mask && umask && bash -c umask)
	done
	umask -S
	umask u=rwx,g=rx,o=
	echo x >after
	mkdir -m 1777 sticky && mkdir -p -m 700 a/b/c
	stat -c '%a %n' f* d* p* after sticky a a/b a/b/c
	chmod u+rwx d777
}

c_jobs_without_a_terminal() {
	sleep 0.1 &
	sleep 0.2 &
	jobs | sed 's/+//;s/-//'
	wait
	jobs
	set -m
	sleep 0.1 &
	fg %1 >/dev/null
	echo $?
	(exit 7) &
	wait $!
	echo $?
	for i in 1 2 3 4 5; do (sleep 0.0$i; exit $i) & done
	for i in 1 2 3 4 5; do wait -n; echo $?; done | sort
	wait
	nohup bash -c 'echo nohup' 2>/dev/null
	setsid -w bash -c 'echo setsid; exit 3'
	echo $?
	disown -a
}

c_other_shells() {
	local sh
	for sh in dash zsh bash "bash --posix"; do
		$sh -c 'set -e
			x=$(echo sub; echo two | cat); echo "$x"
			for i in a b c; do [ -e "$i" ] || echo "$i" >"$i"; done
			cat a b c | while read -r l; do printf "%s," "$l"; done; echo
			f() { case $1 in a*) return 3 ;; esac; }
			f abc || echo $?
			(cd / && pwd); . ./a 2>/dev/null || echo sourced
			echo x >out; echo y >>out; wc -l <out | tr -d " "
			rm a b c; test ! -e a && echo gone
			exec 3<out; read -r z <&3; echo "$z"; trap "echo bye" 0; mkdir -p d/e && cd d/e && pwd | sed "s|.*/work|W|"' "$sh"
		echo "$sh $?"
		rm -rf d out
	done
}

# Statically linked: nothing to preload into.  And what only pretends to be a program.
c_a_static_shell() {
	busybox sh -c 'cat <<END
ash $0
END
		for i in 1 2 3; do echo $i; done | busybox sort -r
		busybox mkdir -p a/b; echo x >a/b/f; busybox cp -r a c; busybox rm -r a
		busybox find c; busybox sed -i s/x/y/ c/b/f; cat c/b/f; (exit 3); echo $?
		busybox tar cf t c && busybox tar tf t' name
	rm t
	printf '\x7fELF\2\1\1' >broken && chmod +x broken && ./broken
	echo $?
}

c_programs_of_text() {
	printf '%s\n' 'a 1' 'b 2' 'c 3' >in
	sed -i 's/b/B/;2a\inserted' in && cat in
	sed -n '/B/,$p' in
	sed -i.bak -e '1d' in && ls in*
	sed --follow-symlinks -i 's/c/C/' in
	sed 'w written' in >/dev/null && sed '1r written' in
	gawk '{
			s += $2; print > ("by-" $1) } END { print s; close("by-B")
			while ((getline l < "by-B") > 0) print "got", l
			"date +%Y" | getline y; print y > 2000; print "x" | "cat 1>&2"; system("echo system") }' \
		in
	mawk 'BEGIN { while (("ls by-*" | getline f) > 0) n++; print n; printf "%s\n", ENVIRON["LANG"] }'
	gawk -i inplace '{ print "g", $0 }' in && cat in
	printf '%s\n' 1d '$a' last . w q | ed -s in && cat in
	echo '2^100; scale=5; 22/7' | bc
	tr a-z A-Z <in | rev | nl | expand | fold -w 10 | column -c 40
	grep -rn g . | sort
	grep -c nothing in
	xargs -n 1 echo item <in | sort -u
	printf 'a\0b c\0' | xargs -0 -I{} sh -c 'echo "<$1>"' - {}
	look LINE /dev/null
	comm -12 <(seq 5) <(seq 3 8) | paste -sd,
	join <(printf '1 a\n2 b\n') <(printf '1 x\n2 y\n')
	csplit -s in '/last/' && wc -c xx0*
}
