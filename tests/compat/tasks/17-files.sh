# needs: python3 gcc coreutils findutils
# limit: 60
# Files and names at the edges.

c_big_directories() {
	mkdir big && cd big && seq 10000 | xargs touch && ls | wc -l && ls -f | wc -l && find . -name '*99' | wc -l &&
		echo * | wc -w && mkdir ../moved && find . -name '1*' -exec mv -t ../moved {} + &&
		ls | wc -l && rm ./* && ls -A | wc -l && cd .. && rm -r moved && ls
	python3 -c '
import os
os.mkdir("py")
for i in range(3000): open("py/%d" % i, "w").close()
print(len(os.listdir("py")), sum(1 for e in os.scandir("py") if e.is_file()), len(list(os.walk("py"))[0][2]))
for i in range(3000): os.rename("py/%d" % i, "py/r%d" % i)
fd = os.open("py", os.O_RDONLY)
for i in range(3000): os.unlink("r%d" % i, dir_fd=fd)
os.rmdir("py")'
}

c_long_paths() {
	local d=dddddddddddddddddddddddddddddddddddddddd n i
	n=$(printf 'n%.0s' {1..255})
	echo y >"$n" && cat "$n" && echo y >"${n}n"
	for i in {1..85}; do mkdir $d && cd -P $d || break; done
	echo deep >f && cat f && mv f g && ln g h && ln -s g l && cat l && chmod 600 g && mkdir sub && rmdir sub &&
		sh -c 'cat g; echo x >new; cp new copied; ls' && rm new copied && git init -q . 2>/dev/null; pwd | wc -c | grep -c .
	rm -rf .git
	python3 -c 'import os; print(open("g").read(), os.path.exists("nosuch")); os.mkdir("p"); os.rmdir("p")'
	cat "$OLDPWD/nosuch/$(printf 'x/%.0s' {1..2100})" 2>&1 | sed 's/.*: //'
}

# Deeper than a path can say.
c_paths_beyond_the_limit() {
	local i
	for i in {1..20}; do mkdir -p "$(printf 'd%.0s' {1..250})" && cd -P d*; done 2>/dev/null
	echo deep >f && cat f && rm f && ls -A
} 2>/dev/null

c_odd_names() {
	local f
	mkdir $'new\nline' ' lead' 'trail ' $'tab\t' 'q"uote' "a'postrophe" 'back\slash' \
		'*' '$(x)' '-dash' '%s%n' é中文🙂 $'bad\377\376' $'\001\033[31m' '{a,b}' '~' '#hash' 'a;b' 'a&b|c' '...' '.. '
	for f in * \
		'...'; do echo "in" >"./$f/file" &&
		mv "./$f/file" "./$f/moved" && ln -s "./$f" "./$f/self" && cat "./$f/moved"; done | sort | uniq -c
	find . -type f -print0 | xargs -0 cat | wc -l && ls -b | wc -l && tar cf - . 2>/dev/null | tar tf - | wc -l &&
		cp -a . "$TMPDIR/copy" && diff -r . "$TMPDIR/copy" && rm -rf "$TMPDIR/copy"
	touch '?' && rm '?' && mkdir '[z]' && rmdir '[z]' && cat $'nosuch\nfile'
	cat $'no\377such'
	python3 -c '
import os
for n in (b"raw\xff", b"\xc3\x28", "\udcff".encode("utf-8", "surrogateescape"), b"a" * 255):
    open(n, "w").write("x"); os.rename(n, n[:-1] + b"_"); os.remove(n[:-1] + b"_")
try: open(b"a" * 256, "w")
except OSError as e: print(e.errno)
try: os.mkdir(""); 
except OSError as e: print(e.errno)
try: open("nul\0")
except ValueError: print("nul")'
}

c_dots_and_slashes() {
	mkdir -p a/b/c && echo f >a/f &&
		ln -s a l && ln -s ../f a/b/up && ln -s /etc/hostname abs && ln -s . dot && ln -s .. a/dd
	cat a/b/../f a//f ./a/./f a/b/c/../../f l/f l/b/../f dot/dot/dot/a/f a/dd/a/f a/b/up | wc -l
	cat a/f/ a/f/. a/f/.. a/nosuch/../f abs/ l/nosuch/.. 2>&1 | sed 's/.*: //'
	(cd l/b && pwd | sed 's/.*work//' && cd .. && pwd | sed 's/.*work//' && cd -P ../l && pwd | sed 's/.*work//')
	mkdir a/b/../new/ l/also a/nosuch/../x; rmdir a/new/. a/new/ l/also/; mkdir dot/. .. . / a/f 2>&1 | sed 's/.*: //'
	mv a/b/c/ a/c2/ && mv l/ l2; mv l l2 && rm l2/ 2>&1 | sed 's/.*: //'
	rm l2 && ln -sfn nowhere dang && cat dang; echo made >dang && cat nowhere; echo x >dang/ 
	touch dang/x a/f/x; ln -s a/ slashed && ls slashed && rm -r slashed/ 2>&1 | sed 's/.*: //'; ls
	ln -s loop1 loop2 && ln -s loop2 loop1 && cat loop1; echo x >loop1; ls -l loop1/ 2>&1 | sed 's/.*: //'
	for i in {1..45}; do ln -s "c$((i - 1))" "c$i"; done; echo end >c0 && cat c39 c42
}

c_gigabytes_of_holes() {
	truncate -s 4G huge && printf tail | dd of=huge bs=1 seek=4294967290 conv=notrunc status=none &&
		stat -c %s huge && tail -c 4 huge && echo
	python3 -c '
import os, mmap
f = os.open("huge", os.O_RDWR)
print(os.lseek(f, 5 << 30, os.SEEK_SET), os.pwrite(f, b"far", 5 << 30), os.fstat(f).st_size,
    os.lseek(f, 0, os.SEEK_DATA) > 0)
os.ftruncate(f, (6 << 30) + 1); os.posix_fallocate(f, 0, 4096)
m = mmap.mmap(f, 4096, offset=4 << 30); m[0:2] = b"mm"; m.flush(); m.close(); print(os.pread(f, 2, 4 << 30))
os.truncate("huge", 3 << 30); g = os.open("copy", os.O_CREAT | os.O_WRONLY); os.pwrite(f, b"c" * 100, 0)
print(os.copy_file_range(f, g, 100), os.sendfile(g, f, 0, 50), os.stat("copy").st_size)'
	cc_to big <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <unistd.h>
		int main(void)
		{
			FILE *f = fopen("huge", "r+");
			fseeko(f, 0, SEEK_END);
			printf("%lld\n", (long long)ftello(f));
			fclose(f);
			return truncate("huge", 1LL << 33) | (open("huge", O_RDONLY) < 0);
		}
	END
	./big && stat -c %s huge && cp --sparse=always huge huge2 2>/dev/null &
	sleep 0.2; kill $! 2>/dev/null; wait 2>/dev/null
	rm -f huge huge2 big
}

c_renames_over_open_files() {
	python3 - <<-'END'
		import os, threading
		open("a", "w").write("old"); f = open("a"); open("b", "w").write("new")
		os.rename("b", "a"); print(f.read(), open("a").read(), os.fstat(f.fileno()).st_nlink,
		    os.readlink("/proc/self/fd/%d" % f.fileno())[-10:])
		print(open("/proc/self/fd/%d" % f.fileno()).read())
		os.remove("a"); g = open("c", "w+"); os.remove("c"); g.write("ghost"); g.flush(); g.seek(0); print(g.read())
		h = os.open("/proc/self/fd/%d" % g.fileno(), os.O_RDWR); os.write(h, b"G"); g.seek(0); print(g.read())
		os.fchmod(h, 0o600); os.ftruncate(h, 2); os.utime(h)
		os.mkdir("d"); d = os.open("d", os.O_RDONLY); os.rename("d", "e"); os.close(os.open("x", os.O_CREAT, dir_fd=d))
		print(os.listdir("e")); os.rename("x", "y", src_dir_fd=d, dst_dir_fd=d)
		os.link("e/y", "z"); print(os.stat("z").st_nlink); os.symlink("y", "l", dir_fd=d)
		print(os.readlink("l", dir_fd=d)); os.chmod("y", 0o640, dir_fd=d); os.unlink("l", dir_fd=d)
		os.mkdir("m", dir_fd=d); os.rmdir("m", dir_fd=d); print(os.access("y", os.W_OK, dir_fd=d), sorted(os.listdir(d)))
		try: os.rename("e", "e/sub")
		except OSError as x: print(x.errno)
		os.mkdir("full"); open("full/f", "w")
		for a, b in (("e", "full"), ("z", "full"), ("full", "z"), ("nosuch", "z")):
		    try: os.rename(a, b)
		    except OSError as x: print(x.errno)
		stop = []
		def flip():
		    while not stop: open("t1", "w").write("1"); os.replace("t1", "t")
		open("t", "w").write("1"); t = threading.Thread(target=flip); t.start()
		print({open("t").read() for _ in range(300)}); stop.append(1); t.join()
		r = os.open("e/../e/./y", os.O_RDONLY | os.O_NOFOLLOW); print(os.path.sameopenfile(r, os.open("z", os.O_PATH)))
		import ctypes; libc = ctypes.CDLL(None, use_errno=True)
		print(libc.renameat2(-100, b"z", -100, b"t", 1), libc.renameat2(-100, b"z", -100, b"t", 2), ctypes.get_errno())
	END
}

c_a_directory_that_is_gone() {
	mkdir -p a/b && cd a/b && rmdir ../b && ls && echo x >f
	mkdir q
	cat ../nosuch
	cat ../../file
	pwd >/dev/null && /bin/pwd
	sh -c 'echo still; cd .. && ls'
	python3 -c '
import os
try: os.getcwd()
except OSError as e: print(e.errno)
print(os.listdir("."))
try: open("x", "w")
except OSError as e: print(e.errno)'
	cd .. 2>/dev/null || cd "$OLDPWD/.." 2>/dev/null || cd ~/work
	mkdir here && cd here && mv ../here ../there && echo y >f && cat f && git init -q . 2>&1 | wc -l &&
		python3 -c 'import os; print(os.path.basename(os.getcwd())); open("g", "w")' && ls -A && cd .. && cat there/f
	mkdir locked && cd locked && chmod 0 . && cat f; ls; cd .. 2>/dev/null && chmod 755 locked
} 2>&1

c_devices_and_proc() {
	echo x >/dev/null && head -c 3 /dev/zero | od -An -c &&
		head -c 3 /dev/urandom | wc -c && cat </dev/null && echo f >/dev/full
	echo "fd" >/dev/fd/1 && cat /dev/fd/0 <<<in && echo e >/dev/stderr && (echo a; echo b) |
		while read -r x; do cat /dev/null; echo "$x"; done && exec 5<<<five && cat /proc/self/fd/5 && cat /dev/fd/5
	cat /proc/self/mountinfo /proc/meminfo /proc/cpuinfo /proc/stat /proc/version /proc/uptime /proc/loadavg \
		/proc/filesystems /proc/self/limits /proc/self/io /proc/self/stat /proc/self/environ >/dev/null &&
		cat /sys/devices/system/cpu/online >/dev/null && ls /proc/self/task | wc -l && readlink /proc/self | grep -c . &&
		test -e /proc/self/root/etc/passwd && cat /proc/sys/kernel/ostype && ls /sys/class >/dev/null && df . >/dev/null &&
		mount >/dev/null 2>&1; echo comm >/proc/self/comm; stat -c %F /dev/null /dev/tty /dev/ptmx /dev/shm
	echo shm >/dev/shm/"$(basename "$TMPDIR")-$$" && cat /dev/shm/"$(basename "$TMPDIR")-$$" &&
		rm /dev/shm/"$(basename "$TMPDIR")-$$" && echo tmp >"$TMPDIR/f" &&
		cp "$TMPDIR/f" /tmp/"pc-$$" && cat /tmp/"pc-$$" && rm /tmp/"pc-$$" "$TMPDIR/f" && ls /root
	python3 -c '
import mmap, os, multiprocessing.shared_memory as s, tempfile
m = s.SharedMemory(create=True, size=100); m.buf[0] = 7; n = s.SharedMemory(m.name); print(n.buf[0]); n.close()
m.close(); m.unlink()
a = mmap.mmap(-1, 4096); a[0] = 1; f = os.memfd_create("x"); os.write(f, b"mem")
print(open("/proc/self/fd/%d" % f).read(), os.eventfd(1) > 0)'
}
