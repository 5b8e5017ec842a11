# needs: tmux vim less python3 expect bc gawk jq m4 flex bison util-linux bsdextrautils bsdutils ncurses-bin xxd ed gcc
# limit: 60
# What lives in a terminal: tmux, vim, less, expect; and small tools with files of their own.

c_tmux() {
	unset TMUX
	t() { tmux -S "$PWD/t.sock" -f /dev/null "$@"; }
	shows() { t capture-pane -p -t "$1" | grep -qF -- "$2"; }
	t new-session -d -s one -n first -x 100 -y 20 "env PS1='\$ ' HISTFILE= bash --norc --noprofile" &&
		t send-keys -t one 'echo $((6 * 7)) "$(tty | cut -c1-8)"
		stty size' Enter && until_true 10 shows one '20 100' && t capture-pane -p -t one | grep -E '^[0-9]'
	t split-window -t one -h 'echo in a pane; exec cat' && t list-panes -t one -F '#{pane_index} #{pane_width}' &&
		t send-keys -t one.1 'typed' Enter && until_true 10 shows one.1 typed
	t new-window -d -t one -n two 'sleep 60' &&
		t list-windows -t one -F '#{window_index} #{window_name}' && t set-buffer 'pasted text' &&
		t paste-buffer -t one.1 && until_true 10 shows one.1 'pasted text' && t save-buffer buf && cat buf && echo
	t send-keys -t one.0 'exec >out; echo written; exit' Enter && until_true 10 test -s out &&
		t run-shell 'echo run >ran' && cat out ran && t pipe-pane -t one.0 'cat >piped' &&
		t send-keys -t one.0 'last' Enter && until_true 10 grep -q last piped && t has-session -t one && t kill-server
	echo $? && rm -f piped t.sock
}

c_vim() {
	export VIMINIT= EXINIT= HOME=$PWD
	vi() { vim -N -u NONE -i NONE -es "$@"; }
	seq 20 >f && vi -c '%s/1/one/g' -c '5,7d' -c 'normal ggOtop' -c 'w' -c 'w g' -c '1,3w! h' -c 'q' f
	echo $? && cat f h && chmod 640 f && ln -s f l && ln f hard &&
		vi -c 'set backup backupext=.bak' -c 'normal Goend' -c 'wq' l && ls -l f l hard | cut -c1-10 && ls ./*.bak
	vi -c 'set undofile undodir=.' -c 'normal ddp' -c 'wq' g &&
		ls -A | grep -c un~ && vi -c 'set undofile undodir=.' -c 'undo' -c 'wq' g && head -2 g
	vi -c 'r !echo from a shell' -c '%!sort -r' -c 'w sorted' -c 'q!' f &&
		head -2 sorted && vi -c 'set directory=. swapfile' -c \
		'normal ix' -c 'preserve' -c 'call writefile(glob(".*.sw?", 0, 1), "swap")' -c 'q!' f && cat swap
	printf '%s\n' 'call mkdir("d/e", "p")' 'call writefile(["a","b"], "d/e/x")' 'call rename("d/e/x", "d/y")' \
		'echo readfile("d/y")' 'call writefile([system("cat", "in"), string(getfperm("f")), json_encode({"a": [1]})], "vs")' \
		'let j = job_start(["sh", "-c", "echo job"], {"out_io": "file", "out_name": "job"})' \
		'while job_status(j) ==# "run" | sleep 10m | endwhile' 'qa!' >s.vim && vi -S s.vim && cat vs job
	vim -u NONE -i NONE -es -c 'w none/x' -c 'q!' f && vim -d -u NONE -i NONE -es -c 'diffupdate' -c 'qa!' f g
	echo $? && vi --cmd 'set encoding=utf-8' -c 'normal oäöü' -c 'wq ++enc=latin1' f &&
		tail -c 4 f | od -An -tx1 && xxd f | head -2 && rm -f ./.*.un~
}

c_less_and_vim_in_a_pty() {
	seq 500 >f
	cat >e.exp <<-'END'
		log_user 0
		set timeout 20
		set env(TERM) xterm
		set env(LESSHISTFILE) hist
		set env(HISTFILE) /dev/null
		set stty_init "rows 10 cols 40"
		proc want {pattern word} {
		    expect -re $pattern { puts $word } timeout { puts "late for $word" } eof { puts "gone before $word" }
		}
		proc end {} { expect eof; puts [lindex [wait] 3] }
		spawn less f
		want {\n9\r} first
		send "G"
		want 500 last
		send "?250\r"
		want 251 found
		send "!echo sh-\$((1+1))\r"
		want {sh-2} shell
		send "\r"
		want {\n251} again
		send "q"
		end
		spawn sh -c "seq 300 | less -X"
		want {\n9\r} first
		send "G"
		want 300 last
		send "s"
		want {[Ff]ilename|file:} asked
		send "saved\r"
		want {:|END} saved
		send "q"
		end
		spawn vim -N -u NONE -i NONE -n g
		want {~} opened
		send "ihello from vim\033"
		send ":wq\r"
		end
		spawn bash --norc --noprofile
		want {\$ } prompt
		send "sleep 50 &\r"
		want {\[1\] \d} started
		send "fg\r"
		want {sleep 50\r} foreground
		sleep 0.3
		send "\032"
		want {Stopped} stopped
		send "kill -9 %1\r"
		sleep 0.5
		send "exit 3\r"
		end
	END
	expect e.exp && cat g && wc -l saved && rm -f hist
}

c_small_tools() {
	echo '{"a":[1,{"b":"x"}]}' >j && jq -r '.a[1].b, (.a | length), env.PWD != null' j &&
		jq -n 'input' none 2>&1 | head -1 && jq '.a[0] = 5' j >k && mv k j && cat j
	printf 'scale=5\n22/7\n' | bc && echo 'define(`x'"'"', `hello $1'"'"')x(world) syscmd(`echo m4 sys'"'"')' | m4 &&
		gawk 'BEGIN { "echo piped" | getline l; print l; print "to sort b\nto sort a" | "sort"; close("sort")
		print "x" > "gawked"; system("exit 3"); while ((getline l < "j") > 0) n++; print n }' && ls gawked
	gawk -i inplace '{ print toupper($0) }' gawked &&
		cat gawked && gawk 'BEGIN { s = "cat"; print "co" |& s; close(s, "to"); s |& getline r; print r }'
	printf \
		'%%%%\n[0-9]+ { printf("<%%s>", yytext); }\n%%%%\nint yywrap(void) {
			return 1; }\nint main(void) { return yylex(); }\n' \
		>l.l && flex -o l.c l.l && gcc -w -o l l.c && echo a12b | ./l &&
		printf '%%token N\n%%%%\ns: N;\n%%%%\n' >b.y && bison -d -o b.c b.y && ls b.h && rm -f l.c l b.c b.h
	printf 'a\nw ed\nq\n' | ed -s 2>/dev/null
	infocmp -1 xterm | grep -c cols && column -t <<<'a b
	ccc d' && hexdump -C <<<abc | head -1 && script -qec 'tty >/dev/null && echo a tty' /dev/null | tr -d '\r' &&
		setsid -w sh -c 'echo own session' && flock lock -c 'flock -n lock true || echo locked' && look abc none 2>&1 |
		head -1 && mcookie | wc -c && fallocate -l 5000 fa && stat -c %s fa && getopt -o a: -- -a 1 b && rev <<<abc &&
		logger -s --no-act words 2>&1 | grep -o words && prlimit --nofile --noheadings -o SOFT | grep -c . &&
		taskset -p $$ | grep -c mask && ionice -p $$ | grep -c . && nice -n 5 nice && timeout 0.1 sleep 5
	echo $?
}
