# nightly: strict
# limit: 40
# What is ordinary comes out as it does bare: the same line in two workspaces of the same name, then
# output, status, names, modes, links and contents are compared.
. "$T_LIB"

# Runs in the workspace, bare or fenced, and keeps its output and what is left: once NAME COMMAND...
once() {
	local rc=0 name=$1
	shift
	rm -rf "$HOME/empty" && mkdir "$HOME/empty" && mv -T "$HOME/empty" "$HOME/now"
	cp -a "$W/." "$HOME/now/"
	(cd "$HOME/now" && exec "$@") >"$S/$name.out" 2>"$S/$name.err" </dev/null || rc=$?
	echo "status $rc" >>"$S/$name.out"
	picture "$HOME/now" >"$S/$name.tree"
	mv "$HOME/now" "$HOME/$name"
}

# same 'LINE'
same() {
	local what
	rm -rf "$HOME/bare" "$HOME/inside"
	once bare bash -c "$1"
	once inside pale run -q -- bash -c "$1"
	for what in out err tree; do
		diff "$S/bare.$what" "$S/inside.$what" >"$S/diff" || fail "$1: $what differs: $(head -20 "$S/diff")"
	done
}

# --- signals ----------------------------------------------------------------------------------------

# A handled signal ends the wait for the other end of a FIFO, or with SA_RESTART does not.
t_signals_while_a_fifo_opens() {
	cat >p.py <<-'END'
		import os, signal, threading, time
		os.mkfifo("ff")
		def stop(*a): raise InterruptedError
		signal.signal(signal.SIGALRM, stop)
		signal.setitimer(signal.ITIMER_REAL, .3)
		try: open("ff")
		except InterruptedError: print("interrupted")
		heard = []
		signal.signal(signal.SIGALRM, lambda *a: heard.append(1))
		signal.siginterrupt(signal.SIGALRM, False)
		signal.setitimer(signal.ITIMER_REAL, .1, .1)
		t = threading.Thread(target=lambda: (time.sleep(.6), open("ff", "w").write("x")))
		t.start()
		print(open("ff").read(), len(heard) > 2)
	END
	same 'timeout 10 python3 p.py'
}

t_signals_while_a_fifo_opens_unhooked() {
	cat >m.c <<-'END'
		#include <errno.h>
		#include <fcntl.h>
		#include <signal.h>
		#include <stdio.h>
		#include <string.h>
		#include <unistd.h>
		static void on(int s) { (void)s; }
		int main(void)
		{
			struct sigaction a = { .sa_handler = on };
			sigaction(SIGALRM, &a, 0);
			alarm(1);
			int fd = open("ff", O_RDONLY);
			printf("%d %s\n", fd, strerror(errno));
			a.sa_flags = SA_RESTART;
			sigaction(SIGALRM, &a, 0);
			alarm(1);
			printf("%d\n", open("ff", O_RDONLY) >= 0);
			return 0;
		}
	END
	gcc -static -o s m.c || fail "does not compile"
	mkfifo ff
	same '(sleep 2.5; echo x >ff) & timeout 10 ./s; wait'
}

# --- another libc -----------------------------------------------------------------------------------

t_musl_programs() {
	need musl-gcc
	cat >m.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/stat.h>
		#include <unistd.h>
		static void *work(void *name) { fclose(fopen(name, "w")); return 0; }
		int main(void)
		{
			pthread_t t;
			pthread_create(&t, 0, work, "by-thread");
			pthread_join(t, 0);
			mkdir("d", 0750);
			FILE *f = fopen("d/f", "w");
			fputs("x", f);
			fclose(f);
			printf("%d%d%d\n", rename("d/f", "d/g"), symlink("g", "d/l"), chmod("d/g", 0600));
			fflush(stdout);
			return system("cat d/l; mkfifo p") || unlink("by-thread") || !fopen("file", "r");
		}
	END
	musl-gcc -o m m.c && musl-gcc -static -o s m.c || fail "no compiler"
	same './m && rm -r d p && ./s; echo $?'
	same 'busybox sh -c "./m; echo $?"; ls'
	fsh './m; cd /; exec "$OLDPWD/m"'
	rc_not 0
}

# --- limits -----------------------------------------------------------------------------------------

# Up to what the kernel takes: 2 MiB of words.
# All names together are just short of what an exec may have; that they are few spares the disk.
t_long_command_lines() {
	mkdir many
	(cd many && seq -f "$(printf 'a%.0s' {1..200})%g" 9000 | xargs touch)
	same 'cd many && echo * | wc && ls * | wc -l && find . -type f -exec ls {} + | wc -l && rm * && ls | wc -l'
	same 'python3 -c "
import subprocess
for words in ([\"x\" * 100000] * 19, [\"x\" * 131071] * 14, [\"y\" * 131072], [\"a\"] * 200000,
              [\"a\"] * 300000, [\"x\" * 100000] * 30):
    try: print(subprocess.run([\"true\"] + words).returncode)
    except OSError as e: print(e.errno)"'
	# E2BIG, on which a program makes two of it, and no denial.
	not_recorded exec deny
}

t_no_descriptor_is_left() {
	cat >m.c <<-'END'
		#include <errno.h>
		#include <fcntl.h>
		#include <stdio.h>
		#include <sys/resource.h>
		#include <sys/stat.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define TRY(x) (errno = 0, printf(#x " %d %d\n", x, errno))
		int main(void)
		{
			struct rlimit r = { 20, 20 };
			int status;
			setrlimit(RLIMIT_NOFILE, &r);
			while (open("/dev/null", O_RDONLY) >= 0)
				;
			TRY(mkdir("d", 0755));
			TRY(rename("d", "e"));
			TRY(rmdir("e"));
			TRY(symlink("a", "l"));
			TRY(link("file", "h"));
			TRY(chmod("file", 0600));
			TRY(truncate("file", 3));
			TRY(mkfifo("p", 0600));
			TRY(unlink("h"));
			TRY(open("file", O_RDONLY));
			fflush(stdout);
			if (fork() == 0) {
				execl("./s", "s", (char *)0);
				_exit(errno);
			}
			wait(&status);
			printf("exec %d\n", WEXITSTATUS(status));
			return 0;
		}
	END
	echo 'int main(void) { return 3; }' >s.c
	gcc -static -o s s.c && gcc -o m m.c || fail "does not compile"
	same './m'
}

t_small_limits() {
	same '(ulimit -n 8; cat file | wc -l; mkdir a; mv a b; echo x >o; cat o; rm -r b)'
	same '(ulimit -f 10; trap "" XFSZ; dd if=/dev/zero of=big bs=1k count=100 2>/dev/null; echo $?)
		(ulimit -v 300000; ls >/dev/null; echo $?); (ulimit -s 512; ls; echo $?); (ulimit -u 3000; ls; echo $?)'
}

t_closed_streams() {
	same 'cat file <&-; ls >&- 2>/dev/null; echo $?; (mkdir d; mv d e; cp file f; echo x >g) 0<&- 1>&- 2>&-
		bash -c "exec 0<&- 1>&- 2>&-; cp file h; git init -q r"; ls; env -i /bin/bash -c "cat file; echo x >i"'
}

# --- where one stands -------------------------------------------------------------------------------

t_directory_removed_or_renamed() {
	mkdir -p a/b a/c
	same 'cd a/b && rmdir ../b && (ls; echo x >f; mkdir q; cat ../c/nosuch; cat ../../file; cd ..; busybox ls) 2>&1'
	same 'cd a/b && mv ../b ../z && (echo y >f
			cat f ../../file; git init -q .; cd ../c && mv ../c ../../k && touch here && busybox touch bb && ls . ..)'
}

# --- trees ------------------------------------------------------------------------------------------

t_trees() {
	mkdir -p t/d
	for i in {1..60}; do echo "$i" >t/d/f"$i"; done
	ln t/d/f1 t/h && ln -s d/f2 t/s && chmod 2755 t/d && touch -d 2001-02-03 t/d/f9
	same 'tar cf - t | (mkdir x; tar xpf - -C x) &&
		diff -r t/d x/t/d && stat -c "%Y %a" x/t/d/f9 x/t/d && cp -a t y && stat -c "%h %Y" y/h y/d/f9'
	! command -v rsync >/dev/null ||
		same 'rsync -aH t/ r/ && rm t/d/f6 && rsync -aH --delete t/ r/ && rsync -a --link-dest=$PWD/r t/ r2/ && diff -r t r2'
	! command -v zip >/dev/null || same 'zip -qr z.zip t && unzip -q z.zip -d zz && diff -r t zz/t; rm z.zip'
}

t_names_and_links() {
	same 'n=$(printf "n%.0s" {1..255}); echo y >$n; cat $n; echo y >${n}n
		mkdir é中 "$(printf "nl\nname")" " sp " "$(printf "bad\377")"; echo x >"$(printf "bad\377")/f"
		ln -s l2 l1; ln -s l1 l2; cat l1; echo c >c0; for i in {1..41}; do ln -s c$((i - 1)) c$i; done; cat c39 c41
		ln -s t dang; echo z >dang; cat t; mkdir r; ln -s r rl; rmdir rl/; rmdir rl; rm rl/; rm rl; cat file/; mkdir file/x
		mkdir r/new/; mv r/new r/new2/; mkdir ""; mv r r/x; rmdir nosuch/.; ln file h1; ln h1 h2; stat -c %h file; true'
	same 'd=dddddddddddddddddddd; for i in {1..170}; do mkdir $d && cd $d || break; done; echo x >f; cat f; busybox cat f'
}

t_modes_and_attributes() {
	same 'umask 077; touch u; mkdir ud; busybox touch bu
		umask 0; touch v; mkdir vd; busybox mkdir bd; mkdir sg; chmod 2775 sg; touch sg/f; mkdir sg/d
		chmod 4755 u; chmod 000 v; cat v; chmod 555 vd; touch vd/x; rmdir vd; truncate -s 50M sp
		du -k sp; fallocate -l 1M fa; fallocate -p -o 0 -l 4096 fa; cp --sparse=always sp sp2; rm sp sp2'
	! command -v setfacl >/dev/null || same 'mkdir ud; setfacl -d -m g::rwx ud
		umask 077; touch ud/f; busybox touch ud/g; setfattr -n user.x -v 1 ud/f; cp -a ud/f k; getfattr -d k'
}

# --- processes --------------------------------------------------------------------------------------

t_many_processes() {
	same 'for i in {1..100}; do /bin/true || echo bad; done; for i in {1..60}; do (echo $i >o.$i) & done
		wait; cat o.* | sort -n | cksum; seq 60 | xargs -P 20 -I{} sh -c "echo {} >p.{}"
		head -c 30000000 /dev/zero | cat | cksum; seq 50000 | sort -R -S 1M -T . | sort -n -S 1M -T . | cksum'
}

t_daemons_and_pipes() {
	same '(setsid sh -c "sleep 0.2; echo late >late" >/dev/null 2>&1 &); sleep 0.5; cat late
		coproc cat; echo co >&${COPROC[1]}; read -u ${COPROC[0]} x; echo $x
		mkfifo a b; (cat <a >b &); (echo thru >a &); cat b
		cat <(echo 1) <(echo 2); echo o > >(cat); sleep 0.1; cat /dev/stdin <<<in; echo so >/dev/stdout
		timeout 0.1 sleep 5; echo $?; nice true; nohup true 2>/dev/null; setsid -w sh -c "exit 4"; echo $?
		flock lk sh -c "flock -n lk echo no || echo busy"
		script -qec "tty >/dev/null && echo tty; echo x >/dev/tty; exit 5" /dev/null | tr -d "\r"'
}

# --- what looks around ------------------------------------------------------------------------------

t_ps_says_nothing_more() {
	need ps
	fsh 'ps -o comm= -p $$; ps ax >/dev/null; uptime >/dev/null'
	rc_is 0
	err_is_empty
	fence cat "/proc/$$/environ"
	rc_not 0
	recorded read deny "/proc/$$/environ" 'outside the session'
}

t_own_corner_of_proc() {
	same 'echo 0x33 >/proc/self/coredump_filter; echo 0x33 >/proc/$$/coredump_filter && cat /proc/$$/coredump_filter
		busybox sh -c "echo 0x33 >/proc/self/coredump_filter"; echo 5 >/proc/self/oom_score_adj'
}

scenario "$@"
