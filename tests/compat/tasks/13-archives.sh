# needs: tar cpio rsync zip unzip gzip bzip2 xz-utils zstd patch diffutils acl file
# Archives, mirrors, differences: what carries trees from one place to another.

p_tree() {
	mkdir -p t/a/b t/empty t/deep/er/still
	(cd t && for i in 1 2 3 4 5 6 7 8 9; do seq $((i * 300)) >a/f$i; done &&
		ln a/f1 a/b/hard && ln -s ../f2 a/b/soft && ln -s nowhere dangling && mkfifo pipe)
	(cd t && truncate -s 20M holes && printf mid | dd of=holes bs=1 seek=10000000 conv=notrunc status=none &&
		chmod 640 a/f3 && chmod 2751 a/b && chmod 4755 a/f4)
	touch "t/with space" $'t/new\nline' "t/é中" "$(printf 't/bad\377')"
	head -c 300000 /dev/urandom >t/random
	find t -exec touch -h -d '2020-02-02 02:02:02 UTC' {} +
}

# Names, types, modes, times.
times_of() {
	(cd "$1" && find . -printf '%P %y %m %Ts %l %n\n' | sed 's/\.0* / /' | sort | sha256sum)
}

p_tar() { p_tree; }
c_tar() {
	tar cf a.tar t && mkdir x && tar xpf a.tar -C x && times_of t && times_of x/t
	tar tvf a.tar | awk '{ print $1, $3, $6, $7, $8 }' | sort | sha256sum
	tar cf - t | (mkdir p && tar xpf - -C p) && diff -r --no-dereference t/a p/t/a
	tar czf a.tgz t && tar cJf a.txz t/a &&
		tar --zstd -cf a.tzst t/a && tar cjf a.tbz t/a && for f in a.t?*; do tar tf "$f" | wc -l; done
	tar -cSf sparse.tar t/holes && stat -c %s sparse.tar && mkdir s && tar xf sparse.tar -C s && cmp s/t/holes t/holes
	tar rf a.tar --transform s/f5/renamed/ t/a/f5 &&
		tar --delete -f a.tar t/a/f6 && tar tf a.tar | grep -c 'f[56]\|renamed' && tar df a.tar t/a/f7
	tar uf a.tar t/a && tar xOf a.tar t/a/f1 | head -1 &&
		tar cf e.tar --exclude='f*' --exclude-vcs t && tar tf e.tar | wc -l
	tar xf a.tar -C x --keep-newer-files t/a/f8 &&
		tar xf a.tar -C x --skip-old-files && tar xf a.tar --strip-components=2 -C x t/a/f9 &&
		tar cf o.tar --owner=0 --group=0 --numeric-owner t/a && tar tvf o.tar | grep -c ' 0/0 '
	tar cf - -C t --files-from <(echo a/f1; echo a/f2) | tar tf - && tar xf nosuch.tar
	tar cf no.tar nosuch
	rm -f *.t*
}

p_tar_incremental() { p_tree; }
c_tar_incremental() {
	tar -g snap -cf 0.tar t
	echo more >>t/a/f1 && rm t/a/f2 && mkdir t/n && echo new >t/n/f && mv t/deep t/moved
	tar -g snap -cf 1.tar t && tar tf 1.tar | sort
	mkdir r && tar -g /dev/null -xf 0.tar -C r &&
		tar -g /dev/null -xf 1.tar -C r && diff -r --no-dereference t/a r/t/a && find r | sort | wc -l
	mkdir acl && touch acl/f && setfacl -m u:nobody:r acl/f && setfattr -n user.k -v v acl/f && tar --acls \
		--xattrs -cf acl.tar acl && rm -r acl && tar --acls --xattrs -xf acl.tar && getfacl -n acl/f | grep -c 65534
	tar -M -L 3000 -F 'echo next >&2; exit 0' -cf vol1.tar \
		-f vol2.tar -f vol3.tar -f vol4.tar -f vol5.tar -f vol6.tar -f vol7.tar -f vol8.tar t/a t/random && ls vol*
	tar cf - t | dd bs=512 count=10 status=none | tar tf - 2>&1 | tail -1
	rm -f *.tar snap
}

p_rsync() { p_tree; }
c_rsync() {
	rsync -aH t/ r/ && times_of t && times_of r
	echo more >>t/a/f1 && rm t/a/f2 && mv t/deep t/moved && echo x >r/extra
	rsync -aHi --delete t/ r/ | sort && rsync -aHin --delete t/ r/
	rsync -a --link-dest="$PWD/r" t/ r2/ && stat -c %h r2/a/f5 && rsync -aS t/holes r3 && cmp t/holes r3
	rsync -a --exclude='f*' --include='*/' t/ r4/ &&
		find r4 | wc -l && rsync -rlt --chmod=F600,D700 t/a r5 && stat -c %a r5/a/f1
	rsync -a --remove-source-files t/a/f8 r6/ && ls t/a/f8 r6 && rsync -a --inplace --append-verify t/random r6/ &&
		rsync -acz --partial --bwlimit=0 t/random r6/ && rsync -ab --suffix=.old --backup-dir=old t/a/f1 r6/
	rsync -a --files-from=<(echo a/f1) t r7 &&
		rsync -aR t/a/f3 r8 && find r7 r8 -type f && rsync --list-only t/a/ | awk '{ print $1, $2, $5 }'
	rsync -a nosuch r9
	echo $?
	rsync -aAX t/ r10/ && rsync -a --delay-updates --fuzzy --delete-after t/ r10/ && diff -r --no-dereference t/a r10/a
}

p_compressors() { seq 20000 >n && mkdir d && cp n d/a && seq 99 >d/b; }
c_compressors() {
	local c
	for c in gzip bzip2 xz zstd; do
		$c -k n && $c -t n.* && $c -dc n.* | cmp - n && $c -c <n | $c -dc | cksum && rm n.*
		cp n m && chmod 640 m && touch -d @1000000000 m &&
			rm -f m.* && $c -q m && rm -f m && ls m.* && stat -c '%a %Y' m.* && $c -qd m.* && cmp m n && rm -f m m.*
	done
	xz -T2 -k n && xzcat n.xz | cksum && xzgrep -c 777 n.xz && zstd -q -T2 --rm n.xz &&
		zstd -qd n.xz.zst && gzip -9 -S .z -k n && zcat <n.z | tail -1 && zgrep -c 77 n.z && zdiff n.z n && rm n.*
	zip -qr z.zip d n && unzip -q z.zip -d z && diff -r d z/d && unzip -l z.zip | awk '{ print $1, $4 }' &&
		zip -qd z.zip n && zip -qm z.zip n && ls && unzip -p z.zip d/b | tail -1 &&
		zip -q -P secret e.zip d/b && unzip -qqo -P secret e.zip && unzip -t z.zip | tail -1
	python3 -c 'import shutil, zipfile, tarfile, gzip, lzma, bz2
print(shutil.make_archive("s", "zip", "d")[-5:]); shutil.make_archive("s", "gztar", "d")
shutil.unpack_archive("s.tar.gz", "u")
print(sorted(tarfile.open("s.tar.gz").getnames()), zipfile.ZipFile("s.zip").testzip())'
	gzip nosuch
	gzip <&-
	rm -f *.zip s.*
}

p_cpio_and_ar() { p_tree; }
c_cpio_and_ar() {
	(cd t && find . -depth ! -name holes -print0 | cpio -0o --quiet -H newc >../a.cpio) &&
		mkdir x && (cd x && cpio -idm --quiet --no-absolute-filenames <../a.cpio) &&
		diff -r --no-dereference t/a x/a && stat -c '%a %h' x/a/f1 x/a/f4
	cpio -t --quiet <a.cpio | wc -l &&
		find t/a | cpio -pdml --quiet y && stat -c %h y/t/a/f1 && cpio -i --to-stdout --quiet 'a/f1' <a.cpio | wc -l
	(cd t/a && ar rcsD ../../l.a f1 f2 f3) && ar t l.a &&
		ar p l.a f1 | tail -1 && ar d l.a f2 && ar x l.a && ls f* && shasum /dev/null 2>/dev/null | wc -c
	file t/a/f1 t/random t/pipe l.a | sed 's/  */ /g'
	rm a.cpio
}

c_diff_and_patch() {
	mkdir old new && seq 50 >old/f && sed 's/^7$/seven/;30d' old/f >new/f &&
		echo same | tee old/s >new/s && echo gone >old/g && echo come >new/c && chmod 755 new/c
	(cd new && ln -s f l)
	TZ=UTC diff -urN -x l old new | sed 's/\t[0-9].*//' >p
	cat p
	cp -r old work && (cd work && patch -p1 <../p && cat c && patch -R -p1 --dry-run <../p && patch -p1 -N <../p)
	echo $?
	diff -r work new | head -3
	(cd work && sed -i 's/^8$/eight/' f && patch -R -p1 <../p)
	echo $?
	find work | sort && diff3 old/f new/f work/f | head -5 &&
		cp old/f m && diff -u old/f new/f | patch -b -s m && ls m* && diff -e old/f new/f | tail -2 &&
		cmp -l old/f new/f | head -2 && diff -y -W 30 old/f new/f | sed -n 7p && diff --git a b 2>&1 | head -1
	interdiff --version >/dev/null 2>&1; true
}
