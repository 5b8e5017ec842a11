# needs: coreutils findutils sed acl attr util-linux bsdextrautils inotify-tools python3
# Coreutils and findutils, each group at its work.

# A tree with every kind of name in it: some_tree DIR
some_tree() {
	mkdir -p "$1"/a/b/c "$1"/empty "$1"/locked
	(cd "$1" && seq 100 >a/f && echo b >a/b/g &&
		ln a/f a/b/hard && ln -s ../f a/b/soft && ln -s nowhere dangling && ln -s a/b dirlink)
	(cd "$1" && mkfifo pipe && touch -d '2001-02-03 04:05:06 UTC' a/b/g &&
		chmod 4751 a/b/g && chmod 2775 a/b/c && chmod 600 a/f && truncate -s 1M holes)
	echo inside >"$1/locked/file"
	chmod 500 "$1/locked"
}

c_cp() {
	some_tree t
	cp -a t copy && diff -r --no-dereference t/a copy/a && stat -c '%a %h %Y' copy/a/b/g && stat -c %h copy/a/f
	cp -r t/a plain && cp -rL t/a/b followed && cp -rs "$PWD/t/a" links && cp -rl t/a hard
	stat -c %h t/a/f
	cp -p t/a/b/g kept && stat -c '%a %Y' kept
	echo new >new && touch -d 2030-01-01 new && cp -u t/a/b/g new && cat new
	cp -n t/a/b/g new && cp -f t/a/b/g new && cp --backup=numbered t/a/f new && cat new.~1~
	cp --sparse=always t/holes sparse && cp --reflink=auto t/holes reflink && cp --parents t/a/b/g copy
	cp -R t/pipe other-pipe && cp --attributes-only t/a/f attr && cp -t copy new plain/f
	cp t/a/f
	cp nosuch x
	cp t/a x
	cp new new
	cp t/dangling x
	cp --remove-destination t/a/f links/f && cp -T t/a/f last && install -D -m 640 last in/deep/file
	chmod u+w copy/locked t/locked
}

c_mv_rm_and_rmdir() {
	some_tree t
	mv t/a/f t/a/moved && mv t/a/b t/a/d && mv -n t/a/moved t/a/d/g && mv -v t/a t/z | sed "s/'//g"
	echo x >x && echo y >y && mv -b x y && cat y y~ && mv -t t y && mv -T t/z t/empty && ls t/empty
	mv t t/empty
	mv nosuch x
	mv t/empty /tmp/"$(basename "$TMPDIR")"-nosuch/x
	mv t/pipe "$TMPDIR/" && mv "$TMPDIR/pipe" back
	mv t/empty "$TMPDIR/" && ls "$TMPDIR/empty" && rm -r "$TMPDIR/empty"
	rmdir t
	rm t
	rm -r t/locked
	chmod u+w t/locked && rm -rv t | sort | sed "s/'//g"
	mkdir -p p/q/r && rmdir -p p/q/r && ls
	rm -f nosuch && rm -i back <<<y && ls
	touch -- -dash && rm -- -dash
	mkdir many && (cd many && seq 3000 | xargs touch) && rm -r many
	ls -A
}

c_links_and_readlink() {
	echo x >f
	ln f h1 && ln f h2 && ln -s f s && ln -sf h1 s && ln -sr f s2 && ln -sn dir s3 && ln -sfn other s3
	readlink s s2 s3
	readlink -f s s2 | sed "s|$PWD|W|"
	readlink -e s3
	realpath --relative-to=/ s | sed 's|.*/work|W|'
	stat -c '%h %F %N' f h1 s
	ln f h1
	ln -L s through && ln -P s itself && stat -c %F through itself
	mkdir d && ln f d && ln -t d h2 s && ln d nodir
	ln -s loop loop
	cat loop
	ln -s a/b/c/../../x deep && readlink -m deep | sed "s|$PWD|W|"
	link f linked && unlink linked && unlink d
	ln -b f h2 && ls
}

c_modes_and_owners() {
	mkdir -p d/sub && touch f d/f d/sub/f && printf '#!/bin/sh\necho ran\n' >run
	chmod 0 f && cat f
	chmod u=rw,g=r,o= f && chmod a+X d &&
		chmod -R go-rwx d && chmod +t d && chmod g+s d/sub && chmod --reference=f run && ./run
	chmod u+x run && ./run
	chmod -R u-w d && touch d/sub/new
	rm -r d
	chmod -R u+w d && chmod 7777 run && chmod -c 755 run | sed "s/'//g"
	chown "$(id -u):$(id -g)" f && chgrp "$(id -g)" f && chown :"$(id -g)" -R d && chown -h "$(id -u)" f
	chown root f
	chgrp root f
	umask 027 && mkdir -m 2770 made && touch made/f && mkdir made/d && stat -c '%a %n' d d/sub f run made made/*
	id -un && groups | wc -w && test -w f && test ! -x f && test -O f && echo mine
	install -m 4711 run inst && install -d -m 1755 dir/one &&
		install -b -m 600 f inst && stat -c '%a %n' inst inst~ dir/one
}

c_times() {
	export TZ=UTC
	touch -d '2001-02-03 04:05:06.789' f && stat -c '%y' f
	touch -a -d 2002-01-01 f && touch -m -t 200301020304.05 f && stat -c '%x %y' f
	touch -r f g && stat -c %Y g && ln -s f l && touch -h -d 2005-05-05 l && stat -c %Y l f
	touch -c nosuch && ls
	mkdir d && touch -d @1000000000 d &&
		stat -c %Y d && cp -p f c && stat -c %Y c && cp f c2 && test c2 -nt f && echo newer
	[ f -ot c2 ] && find . -newer f -type f | sort && find . -newermt 2010-01-01 -name 'c*'
	date -r f +%F && ls --time-style=full-iso -l f | cut -d' ' -f6-8
	touch /nosuch/f
	touch nodir/
	python3 -c 'import os; os.utime("f", ns=(1, 2)); s = os.stat("f"); print(s.st_atime_ns, s.st_mtime_ns)
fd = os.open("g", os.O_RDWR); os.utime(fd, (5, 6)); print(os.stat("g").st_mtime)'
}

c_split_sort_and_sums() {
	seq 20000 >n
	split -n 4 n part. && cat part.* | cmp - n && split -l 7000 -d --additional-suffix=.txt n l && wc -l l*
	split -l 5000 --filter='gzip -n >$FILE.gz' n z && zcat z*.gz | cmp - n
	sort -R n | sort -n | cmp - n &&
		shuf n | sort -n -S 64k -T . | cmp - n && shuf n | sort -n --parallel=2 -S 100k | cmp - n
	sort -n -o n -r n && head -2 n && sort -c n
	sort -m <(seq 1 2 9) <(seq 2 2 8) | paste -sd' '
	md5sum n part.aa >sums && sha256sum n >>sums2 && md5sum -c sums && b2sum n | cut -c1-16 && cksum n && sum n
	echo broken >part.aa && md5sum -c sums --quiet
	tac n | tail -1 && nl n | tail -1 &&
		od -c n | head -2 && base64 n | tail -1 && uniq -c <(printf 'a\na\nb\n') && tsort <(echo a b b c)
	cut -d, -f2 <<<a,b,c && tr -s l <<<hello && expand <<<$'\tx' &&
		fmt -w 20 <<<"some words that are long enough" && pr -t -2 <(seq 4) && ptx -A <<<word | wc -l
	seq -w 8 11 && factor 123456789 && numfmt --to=iec 123456789 && expr 6 '*' 7 && printf '%05.1f|%q\n' 3.14159 'a b'
	comm <(seq 3) <(seq 2 4) && join <(seq 3) <(seq 2 4) &&
		tee copy1 copy2 <sums >/dev/null && cmp copy1 copy2 && wc -c copy1
}

c_dd_truncate_and_holes() {
	dd if=/dev/zero of=z bs=4k count=100 status=none && dd if=z of=y bs=1M iflag=fullblock status=none && cmp z y
	printf abcdef | dd of=z bs=1 seek=10 conv=notrunc status=none && dd if=z bs=1 skip=10 count=6 status=none && echo
	dd if=/dev/zero of=sp bs=1 count=0 seek=4G status=none && stat -c '%s %b' sp && printf end >>sp && tail -c 5 sp | od -c
	truncate -s 10 y && truncate -s +5 y &&
		truncate -s %8 y && truncate -r y w && stat -c %s y w && truncate -s -3 w && stat -c %s w
	truncate -s 5 nosuch/x
	truncate -c -s 5 nosuch2
	fallocate -l 1M fa && fallocate -p -o 0 -l 64k fa && stat -c %s fa && fallocate -d z
	dd if=z of=x conv=sync,noerror oflag=append conv=notrunc status=none &&
		dd if=x of=x2 oflag=direct bs=4k status=none; stat -c %s x
	dd if=nosuch of=q status=none
	dd if=z of=/dev/full bs=4k count=1 status=none
	shred -n 1 -z y && shred -u -n 1 w && ls
	head -c 3 /dev/urandom | wc -c && head -c -2 <<<12345 && tail -c +3 <<<12345 && sync z
	truncate -s 50M sp && cp --sparse=always sp sp2 && cmp sp sp2 && rm sp sp2
}

c_temporary_names() {
	local f d
	f=$(mktemp) && d=$(mktemp -d) && echo x >"$f" && touch "$d/y"
	[[ $f == "$TMPDIR"/tmp.* && $d == "$TMPDIR"/tmp.* ]] && stat -c %a "$f" "$d"
	mktemp -u | grep -c tmp && mktemp -p . xXXXXXX.txt | sed 's/x......\.txt/ok/' &&
		mktemp --tmpdir foo.XXXX | sed 's|.*/foo\.....|ok|'
	mktemp bad
	TMPDIR=/nosuch mktemp
	TMPDIR=. mktemp -d | sed 's/tmp\..*/ok/'
	python3 -c '
import tempfile, os
with tempfile.NamedTemporaryFile() as f, tempfile.TemporaryFile() as t, \
    tempfile.TemporaryDirectory() as d, tempfile.SpooledTemporaryFile(10) as s:
    f.write(b"x"); t.write(b"y" * 100); s.write(b"z" * 100)
    print(f.name.startswith(os.environ["TMPDIR"]), oct(os.fstat(f.fileno()).st_mode),
        os.fstat(t.fileno()).st_nlink, os.listdir(d))
print(os.path.exists(d))'
	cc_to tmpfiles <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/stat.h>
		#include <fcntl.h>
		#include <unistd.h>
		int main(void)
		{
			char a[] = "aXXXXXX", b[] = "bXXXXXX.c", d[] = "dXXXXXX";
			struct stat st;
			FILE *f = tmpfile();
			int t = open(".", O_TMPFILE | O_RDWR, 0640);
			fputs("x", f);
			fstat(t, &st);
			printf("%o %ld\n", st.st_mode, (long)write(t, "anon", 4));
			char fd[40];
			sprintf(fd, "/proc/self/fd/%d", t);
			printf("%d\n", linkat(AT_FDCWD, fd, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
			close(mkstemp(a)), close(mkostemps(b, 2, O_CLOEXEC)), mkdtemp(d);
			return unlink(a) | unlink(b) | rmdir(d);
		}
	END
	./tmpfiles 2>&1
	cat named
	rm -rf tmpfiles "$TMPDIR"/* ./tmp.* x*
}

c_tail_follows() {
	echo 1 >log
	timeout 10 tail -n +1 -F log >seen 2>/dev/null &
	until_true 5 grep -q 1 seen
	echo 2 >>log
	until_true 5 grep -q 2 seen
	mv log old && echo 3 >log
	until_true 5 grep -q 3 seen
	kill $!
	wait $!
	cat seen
	(for i in 1 2 3; do echo "$i"; sleep 0.05; done >late; echo end >>late) &
	local writer=$!
	until_true 5 test -e late
	tail -n +1 -f --pid=$writer -s 0.1 late
	tail -n 2 log old nosuch
}

c_find_and_xargs() {
	some_tree t
	mkdir -p 't/with space' && touch "t/with space/it's" $'t/new\nline'
	(cd t && find . -printf '%P %y %m %s %l %n\n' | sort)
	find t -type f -name '[fg]' -exec cat {} + | wc -l
	find t -type f -size +50 -o -perm -4000 -o -type p | sort
	find t -empty | sort && find -L t -xtype l -o -name 'hard' | sort
	find t -print0 | sort -z | xargs -0 -n 3 sh -c 'echo $#' - &&
		find t -type d -exec sh -c 'for d; do echo "$d"; done' - {} + | sort
	find t -samefile t/a/f | sort &&
		find t -inum "$(stat -c %i t/a/f)" | wc -l && find t -mindepth 2 -maxdepth 2 -not -type d | sort
	find t -name g -execdir pwd \; | sed 's|.*/work|W|' &&
		find t -newermt 2020-01-01 -path '*a*' -prune -o -type l -print | sort
	find t/locked -type f -delete
	chmod u+w t/locked && find t -depth -name 'l*' -delete && find t -name '*line' -ok echo {} \; <<<n 2>/dev/null
	seq 10 | xargs -P 4 -n 1 sh -c 'echo $1 >out.$1; exit 0' - && cat out.* | sort -n | paste -sd, && rm out.*
	seq 3 | xargs -I% touch %.x && xargs -a <(echo 1.x 2.x) rm && ls *.x && echo a | xargs false
	echo $?
	find nosuch
	find t -regex '.*/[a-c]/[^/]*' | sort && find t -fprint listed -name f &&
		cat listed && find t -ls | wc -l && find . -user "$(id -un)" -type d | wc -l
	locate -d /nosuch x 2>/dev/null; updatedb --help >/dev/null 2>&1; true
}

c_acls_and_attributes() {
	mkdir d && touch d/before f
	setfacl -m u:nobody:rw,g:daemon:r f && getfacl -n f &&
		setfacl -d -m g::rwx,o::- d && umask 077 && touch d/after && mkdir d/sub && getfacl -n d/sub d/after
	cp -a f kept && getfacl -n kept | grep -c nobody
	setfacl -b kept && setfacl -x u:nobody f && setfacl -k d && ls -ld d/sub | cut -c1-11
	getfacl -n f | setfacl --set-file=- d/before &&
		stat -c %a d/before && setfacl -R -m o::r d && getfacl -nR d | grep -c other
	setfattr -n user.one -v 1 f && setfattr -n user.two -v 0sAAECAw== f &&
		getfattr -d f && getfattr -n user.two -e hex f && setfattr -x user.one f
	cp --preserve=xattr f g && getfattr -d g && cp f h && getfattr -d h
	setfattr -n user.big -v "$(head -c 3000 /dev/zero | tr '\0' v)" f && getfattr -n user.big --only-values f | wc -c
	setfattr -n trusted.x -v 1 f
	setfattr -n system.y -v 1 f
	ln -s f l && setfattr -h -n user.z -v 1 l
	getfattr -d nosuch
	chattr +d f 2>/dev/null; lsattr f >/dev/null 2>&1; chattr -d f 2>/dev/null; true
}

c_looking_at_things() {
	some_tree t
	chmod u+w t/locked
	ls t && ls -1F t && ls -laR --time-style=+ t | sed 's/ [0-9]* '"$(id -un)"'/ SIZE/;s/^total.*//' && ls -di t/a | wc -w
	(cd t && du -a --apparent-size | sort -k2 | cut -f2 &&
		du -sh --apparent-size holes && tree 2>/dev/null; wc -c a/f holes)
	stat -c '%A %a %F %h %s %U %N' t/* && stat -f -c %T . | wc -w && df --output=target . | wc -l && file t/a/f 2>/dev/null
	test -d t && test -L t/dirlink && test -p t/pipe && test -u t/a/b/g &&
		test -g t/a/b/c && test ! -e t/dangling && test -s t/a/f && test t/a/f -ef t/a/b/hard && echo all true
	basename t/a/f && dirname t/a/f && pwd -P | grep -c work &&
		cd t/dirlink && pwd | grep -o 't/.*' && pwd -P | grep -o 't/.*' && cd .. && pwd | grep -o 't$' && cd ..
	cmp t/a/f t/a/b/g
	diff t/a/f t/a/b/g | tail -1 && diff -rq t/a t && sdiff -s <(seq 3) <(seq 2 4); dircolors -p | wc -l | grep -c .
	nproc | grep -c . && uname -s && hostname | wc -w && arch && tty && logname 2>&1 | wc -l &&
		who | wc -w | grep -c . && users | wc -l && uptime | wc -l && printenv HOME | grep -c h && env | grep -c ^PATH &&
		env -u HOME -S 'sh -c "echo $PATH"' && sleep 0.01 && yes n | head -1 && stty -a 2>&1 | head -1; nice -n 5 nice &&
		ionice -c 3 true && chrt -p 0 >/dev/null 2>&1; taskset -c 0 nproc && setarch -R true && ls --zero t | tr '\0' \
		' '
}

c_watches() {
	mkdir w
	inotifywait -q -m -r -e create,moved_to,moved_from,delete,modify,close_write,attrib --format \
		'%e %f' w >events 2>errors &
	local pid=$!
	sleep 0.5
	echo x >w/f && mv w/f w/g && chmod 600 w/g && ln w/g w/h &&
		ln -s g w/l && rm w/h && mkdir w/d && sed -i s/x/y/ w/g && echo z >>w/g && rm -r w/d w/g && touch w/end
	until_true 5 grep -q 'CLOSE_WRITE.* end' events
	kill $pid
	wait $pid
	sed 's/sed....../sedTEMP/' events | grep -v 'CREATE,ISDIR\|DELETE,ISDIR\|^ISDIR\|DELETE_SELF' | uniq
	rm events errors
	timeout 5 inotifywait -q -e open,access w/l nosuch
}
