# limit: 90
# nightly: strict
# Projects below the workspace, and in whatever else may be written: the policy that a later session there is
# started with is none of this session's making.
. "$T_LIB"

# What the tree says of policies: where each is, what it holds, and where a .pale is no directory.
policies() {
	find . ../build -path '*/.pale/policy.ini' -printf '%p %y %m %n ' -exec cat {} \; 2>/dev/null | LC_ALL=C sort
	find . ../build -name .pale ! -type d -printf '%p %y\n'
}

# W/sub and W/a/b/sub are projects with a policy, W/fresh and W/a/fresh are without, W/plain is no project.
projects() {
	local dir
	printf '[files]\nwrite = ~/build\n' | policy
	for dir in sub a/b/sub ../build/sub; do
		mkdir -p "$dir/.pale"
		echo '[session]' >"$dir/.pale/policy.ini"
	done
	mkdir -p fresh a/fresh plain/deep prepared/x ../build/fresh
	echo '[files]' >prepared/policy.ini
	mkfifo prepared/fifo
	policies >"$S/before"
}

# held HOW: it fails, says so, and no policy is another than before.
held() {
	fsh "$1"
	rc_not 0 "$1"
	policies | cmp -s "$S/before" - || fail "$1: $(policies | diff "$S/before" -)"
	grep -q '^pale: denied' "$S/err" || fail "$1: nothing is said"
}

t_changed() {
	local at run
	need busybox python3
	projects
	for at in sub a/b/sub "$HOME/build/sub"; do
		for run in '' busybox; do
			held "$run rm -f $at/.pale/policy.ini"
			held "$run rm -rf $at"
			held "$run mv $at/.pale/policy.ini x"
			held "$run mv prepared/policy.ini $at/.pale/policy.ini"
			held "$run cp prepared/policy.ini $at/.pale/policy.ini"
			held "$run truncate -s 0 $at/.pale/policy.ini"
			held "$run chmod 0 $at/.pale/policy.ini"
			held "$run ln $at/.pale/policy.ini x"
			held "$run ln -sf ../../prepared/policy.ini $at/.pale/policy.ini"
			held "$run mv $at/.pale x"
			held "$run mv $at x"
			held "$run mv $at $HOME/build/x"
		done
		held "echo >>$at/.pale/policy.ini"
		held "cd $at/.pale && echo >policy.ini"
		held "cd $at/.pale && exec 3<. && cd / && python3 -c 'import os; os.unlink(\"policy.ini\", dir_fd=3)'"
		held "ln -s $at l && rm l/.pale/policy.ini; r=\$?; rm l; exit \$r"
		held "python3 -c 'import os; os.setxattr(\"$at/.pale/policy.ini\", \"user.x\", b\"y\")'"
		held "dd if=/dev/zero of=$at/.pale/policy.ini bs=1 count=1 conv=notrunc"
	done
	held 'mv a x'
	held 'mv a/b plain/'
	held 'mv ../work ../build/x'
}

t_made() {
	local at run
	need busybox
	projects
	# In the workspace itself it is pale that makes the directory, and a session does not.
	held "mkdir .pale"
	printf '[session]\nstate = .pale\n' >>~/.config/pale/policy.ini
	for at in fresh a/fresh . "$HOME/build/fresh" nowhere/yet; do
		fsh "mkdir -p $at/.pale"
		rc_is 0 "mkdir -p $at/.pale"
		for run in '' busybox; do
			held "$run touch $at/.pale/policy.ini"
			held "$run mkdir $at/.pale/policy.ini"
			held "$run mkfifo $at/.pale/policy.ini"
			held "$run cp prepared/policy.ini $at/.pale/"
			held "$run mv prepared/policy.ini $at/.pale/"
			held "$run ln prepared/policy.ini $at/.pale/"
			held "$run ln -s ../../prepared/policy.ini $at/.pale/"
		done
		held "echo >$at/.pale/policy.ini"
		held "cd $at/.pale && echo >policy.ini"
		[ $at = . ] && continue
		# The directory itself: put in place, or a link.
		rmdir "$at/.pale"
		for run in '' busybox; do
			held "$run mv prepared $at/.pale"
			held "$run ln -s ../prepared $at/.pale"
			held "ln -s ../prepared l; $run mv -T l $at/.pale; r=\$?; rm -f l; exit \$r"
			held "$run mkfifo $at/.pale"
		done
		held "ln -s ../prepared l; ln -P l $at/.pale; r=\$?; rm -f l; exit \$r"
	done
}

# By the calls that no tool makes.
t_by_call() {
	need python3
	projects
	cat >call.py <<-'END'
		import ctypes, os, socket, sys
		how = sys.argv[1]
		libc = ctypes.CDLL(None, use_errno=True)
		sub = b"sub/.pale/policy.ini"
		def exchange(a, b):
		    if libc.renameat2(-100, a, -100, b, 2) < 0: raise OSError(ctypes.get_errno(), "exchange")
		if how == "exchange": exchange(b"prepared/policy.ini", sub)
		if how == "exchange-directory": exchange(b"prepared", b"sub/.pale")
		if how == "exchange-project": exchange(b"sub", b"fresh")
		if how == "exchange-project-back": exchange(b"fresh", b"sub")
		if how == "whiteout" and libc.renameat2(-100, sub, -100, b"x", 4) < 0: raise OSError(ctypes.get_errno(), "whiteout")
		if how == "range":
		    a, b = os.open("prepared/policy.ini", os.O_RDONLY), os.open(sub, os.O_WRONLY)
		    os.copy_file_range(a, b, 8)
		if how == "tmpfile":
		    fd = os.open("fresh", os.O_TMPFILE | os.O_WRONLY)
		    os.mkdir("fresh/.pale") if not os.path.isdir("fresh/.pale") else None
		    os.link("/proc/self/fd/%d" % fd, "fresh/.pale/policy.ini", follow_symlinks=True)
		if how == "socket":
		    socket.socket(socket.AF_UNIX).bind("fresh/.pale/policy.ini")
		if how == "node": os.mknod("fresh/.pale/policy.ini")
		if how == "fchmod": os.fchmod(os.open(sub, os.O_RDONLY), 0)
		if how == "truncate": os.truncate(sub, 0)
		if how == "magic": open("/proc/self/cwd/sub/.pale/policy.ini", "w")
		if how == "dirfd": os.rename("sub", "x", src_dir_fd=os.open(".", os.O_PATH), dst_dir_fd=os.open("fresh", os.O_PATH))
		if how == "slash": os.rename("sub/", "x/")
		if how == "dotdot": os.rename("fresh/../sub", "x")
	END
	for how in exchange exchange-directory exchange-project exchange-project-back whiteout range tmpfile socket node \
		fchmod truncate magic dirfd slash dotdot; do
		held "python3 call.py $how"
	done
}

# It is said what keeps a directory where it is, and what cannot be looked through stays.
t_what_is_said() {
	projects
	fsh 'mv a x'
	denied rename "$W/a" "$W/a/b/sub/.pale/policy.ini may be moved only by its owner, outside the session"
	recorded rename deny "$W/a/b/sub/.pale/policy.ini may be moved only by its owner"
	fsh 'rm -r sub'
	denied delete "$W/sub/.pale/policy.ini" "a project's policy, which its owner changes, outside the session"
	run pale explain write plain/.pale/policy.ini
	rc_is 1
	out_has "a project's policy"
	held 'chmod 0 a/b; mv a x; r=$?; chmod 755 a/b; exit $r'
	denied rename "$W/a" \
		"$W/a/b cannot be checked (unreadable, too deep, or one entry too many): copy the directory, or move its parts"
}

# Ordinary work: trees without a policy, and the sessions' own directories.
t_ordinary_work() {
	need git busybox
	projects
	mkdir -p old/.pale/data && chmod 700 old/.pale && echo x >old/.pale/data/f
	git init -q made && git -C made commit -q --allow-empty -m one
	fsh 'set -e
		mkdir new && mv new new2 && mv new2 plain/ && mv plain moved && mv moved plain
		busybox mv plain/deep plain/deeper
		git clone -q made cloned && mv cloned away && rm -rf away
		mkdir -p q/w && mv -T q r && python3 -c "import os; os.rename(\"r/w\", \"r/v\")"
		cp -a old copy && cp -a old /tmp/copy.$$ && rm -rf /tmp/copy.$$
		[ "$(cat copy/.pale/data/f)" = x ] && mv copy copy2 && rm -rf copy2 old
		tar cf t.tar plain && rm -rf plain && tar xf t.tar'
	rc_is 0
	not_denied
	[ -d plain/deeper ] && [ ! -e old ] || fail "it was not done"
	# What a clone brings is left out of it, and the rest is there.
	mkdir made/.pale && echo '[files]' >made/.pale/policy.ini && echo y >made/y
	git -C made add -A . && git -C made commit -q -m two
	fsh 'git clone -q made cloned; cat cloned/y'
	out_is y
	missing cloned/.pale/policy.ini
}

# A tree that another process fills and moves meanwhile hides nothing.
t_while_it_moves() {
	need python3
	projects
	cat >shuffle.py <<-'END'
		import os, threading, time
		stop = time.time() + 4
		os.makedirs("t/u/v", exist_ok=True)
		def work(pairs):
		    while time.time() < stop:
		        for a, b in pairs:
		            for x, y in ((a, b), (b, a)):
		                try: os.rename(x, y)
		                except OSError: pass
		many = [threading.Thread(target=work, args=(p,)) for p in
		        ([("sub", "t/u/v/sub")], [("t/u", "u")], [("t", "t2"), ("t2", "plain/t")], [("a", "t/a")], [("a/b", "b")])]
		for t in many: t.start()
		for t in many: t.join()
	END
	fsh 'python3 shuffle.py 2>/dev/null'
	policies | cmp -s "$S/before" - || fail "$(policies | diff "$S/before" -)"
}

scenario "$@"
