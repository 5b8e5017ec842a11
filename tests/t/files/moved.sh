# limit: 120
# nightly: strict
# What a pattern protects stays protected when the directory that it lies in moves to where the pattern does not hold.
. "$T_LIB"

# One kept thing in each directory of the workspace; ~/build may be written, and no pattern holds there.
trees() {
	policy <<-'END'
		[session]
		approvals = never
		[files]
		write = ~/build
		deny = **/.env
		deny = **/vault
		keep = **/*.sqlite
		readonly = **/*.locked
		ask = **/*.asked
		ask_write = **/[Mm]anifest?
		deny = conf/*/key
	END
	mkdir -p denied/in below/a/b/c/d kept locked asked asked_write closed/vault conf/prod free/in
	mkdir -p "$HOME/build/empty" "$HOME/build/full/in"
	echo secret >denied/in/.env
	echo secret >below/a/b/c/d/.env
	echo rows >kept/db.sqlite
	echo one >locked/x.locked
	echo one >asked/x.asked
	echo one >asked_write/manifest1
	echo secret >closed/vault/key
	echo secret >conf/prod/key
	echo free >free/in/f
	ln -s "$HOME/build" out
	listing >"$S/before"
}

listing() {
	find . "$HOME/build" -path ./.pale -prune -o \( -type f -printf '%p %n ' -exec cat {} \; \) -o -printf '%p\n' |
		LC_ALL=C sort
}

# held COMMAND: it fails, says that, and all is where it was.
held() {
	fsh "$1"
	rc_not 0 "$1"
	listing | cmp -s "$S/before" - || fail "$1: $(listing | diff "$S/before" -)"
	grep -q '^pale: denied rename' "$S/err" || fail "$1: nothing is said"
}

all="denied below kept locked asked asked_write closed conf/prod"

t_by_tools() {
	local at run
	need busybox
	trees
	for at in $all; do
		for run in '' busybox; do
			held "$run mv $at $HOME/build/x"
			held "$run mv $at $HOME/build/"
		done
		held "mv -T $at $HOME/build/empty"
		held "mv $at/ $HOME/build/x"
		held "mv $at out/x"
		held "mv free/../$at out/"
		held "cd $at && mv ../${at##*/} $HOME/build/x"
		held "mv /proc/self/cwd/$at $HOME/build/x"
		held "mv -n $at $HOME/build/x"
	done
	held "mv below/a $HOME/build/x"
	held "mv below/a/b/c/d $HOME/build/x"
	held "mv closed/vault $HOME/build/x"
	# Inside the workspace, to where this one pattern does not hold.
	held 'mv conf/prod prod'
	held 'mv conf/prod free/in/'
	held 'mv conf free/'
}

t_by_call() {
	local at how
	need python3
	trees
	cat >"$S/call.py" <<-'END'
		import ctypes, os, sys
		at, how, build = sys.argv[1], sys.argv[2], os.environ["HOME"] + "/build"
		libc = ctypes.CDLL(None, use_errno=True)
		def renameat2(a, b, flags):
		    if libc.renameat2(-100, a.encode(), -100, b.encode(), flags) < 0: raise OSError(ctypes.get_errno(), "renameat2")
		if how == "rename": os.rename(at, build + "/x")
		if how == "replace": os.rename(at, build + "/empty")
		if how == "exchange": renameat2(at, build + "/full", 2)
		if how == "exchanged": renameat2(build + "/full", at, 2)
		if how == "noreplace": renameat2(at, build + "/x", 1)
		if how == "dirfd":
		    os.rename(os.path.basename(at), "x", src_dir_fd=os.open(os.path.dirname(at) or ".", os.O_PATH),
		              dst_dir_fd=os.open(build, os.O_PATH))
		if how == "syscall" and libc.syscall(82, at.encode(), (build + "/x").encode()) < 0: sys.exit("rename")
		if how == "thread":
		    import threading
		    t = threading.Thread(target=os.rename, args=(at, build + "/x")); t.start(); t.join()
		    sys.exit(not os.path.exists(build + "/x"))
	END
	[ "$(uname -m)" = x86_64 ] || sed -i '/"syscall"/d' "$S/call.py"
	for at in $all; do
		for how in rename replace exchange exchanged noreplace dirfd syscall thread; do
			[ $how != syscall ] || [ "$(uname -m)" = x86_64 ] || continue
			held "python3 $S/call.py $at $how"
		done
	done
}

# Another name for the file itself, or the file without its directory.
t_without_the_directory() {
	local file
	trees
	for file in denied/in/.env locked/x.locked asked/x.asked asked_write/manifest1 closed/vault/key conf/prod/key; do
		fsh "ln $file $HOME/build/y || ln -P $file free/y || ln -L $file $HOME/build/y || mv $file $HOME/build/y ||
			cp -al ${file%/*} $HOME/build/y"
		rc_not 0 "$file"
		missing "$HOME/build/y/${file##*/}"
		rmdir "$HOME/build/y" 2>/dev/null
		listing | cmp -s "$S/before" - || fail "$file: $(listing | diff "$S/before" -)"
	done
	held "mv kept/db.sqlite $HOME/build/y"
	fsh "ln -s $W/denied $HOME/build/l; mv $HOME/build/l $HOME/build/m; cat $HOME/build/m/in/.env || cat out/m/in/.env"
	rc_not 0
	out_is ""
}

t_what_is_said() {
	trees
	fsh "mv below $HOME/build/x"
	denied rename "$W/below" "[files] deny = **/.env: a directory above"
	denied rename "$W/below" \
		"$W/below/a/b/c/d/.env would be less protected at $HOME/build/x/a/b/c/d/.env"
	recorded rename deny "$W/below/a/b/c/d/.env would be less protected at"
	fsh "chmod 0 free/in; mv free x; r=\$?; chmod 755 free/in; exit \$r"
	rc_not 0
	denied rename "$W/free" \
		"$W/free/in cannot be checked (unreadable, too deep, or one entry too many): copy the directory, or move its parts"
	mkdir -p "free/$(printf 'd/%.0s' $(seq 140))"
	fsh 'mv free x'
	rc_not 0
	denied rename "$W/free" "cannot be checked (unreadable, too deep"
	fsh 'mv free/d/d x'
	rc_not 0
	fsh "mv free/$(printf 'd/%.0s' $(seq 20)) x"
	rc_is 0
}

# Whoever allowed the move of a directory that is asked about allowed that of what lies in it.
t_asked_about() {
	local id
	policy <<-'END'
		[files]
		write = ~/build
		ask = box
		deny = **/.env
	END
	mkdir -p box/in "$HOME/build" box2
	echo x >box/in/f
	bg moved mv box "$HOME/build/box"
	id=$(pending_id) || exit 1
	run pale approve "$id"
	rc_is 0
	bg_wait moved
	file_is "$HOME/build/box/in/f" x
	# And no more than that.
	mkdir -p box && touch box/.env
	bg other mv box "$HOME/build/other"
	bg_wait other
	exists box/.env
	missing "$HOME/build/other"
}

# What another session moved into a directory after it was looked through is found before it goes.
t_by_another_session() {
	local id state=${XDG_STATE_HOME:-$HOME/.local/state}/pale
	policy <<-'END'
		[files]
		write = ~/build
		ask = box
		deny = [pb]*/**/*.sec
	END
	grep -v '^ask' ~/.config/pale/policy.ini >"$S/other.ini"
	mkdir -p box/m priv/E "$HOME/build"
	echo secret >priv/E/x.sec
	bg moved mv box "$HOME/build/box"
	id=$(pending_id) || exit 1
	run pale run -q -p "$S/other.ini" -- mv priv/E box/m/E
	rc_is 0
	run pale approve "$id"
	rc_is 0
	bg_wait moved
	rc_not 0
	exists box/m/E/x.sec
	missing "$HOME/build/box"
	# a move waits for one of another session that is on its way
	(flock 9 && touch locked && sleep 1 && touch unlocked) 9<>"$state/moves" &
	until_true 10 test -e locked
	mkdir free
	fsh 'mv free freed; test -e unlocked'
	rc_is 0
	exists freed
	wait
}

# Where the same rules hold, and where nothing is protected, directories move as they did.
t_ordinary_work() {
	need git busybox
	trees
	git init -q . && git add -A free && git commit -q -m one
	git checkout -q -b moved && git mv free later && mkdir -p src/hooks && echo x >src/hooks/use.ts &&
		echo x >src/hooks/config && git add src && git commit -q -m two
	git checkout -q main 2>/dev/null || git checkout -q master
	fsh 'set -e
		for d in denied below kept locked asked_write closed; do
			mv $d $d.2
			mkdir -p sub
			mv $d.2 sub/
			mv sub/$d.2 $d
		done
		mv conf/prod conf/other
		busybox mv conf/other conf/prod
		git checkout -q moved
		mv src/hooks src/lib
		mv src/lib src/hooks
		git checkout -q -
		git checkout -q moved
		mv later '"$HOME"'/build/
		mv '"$HOME"'/build/later later
		git mv src/hooks lib
		mkdir many
		(cd many && seq 5000 | xargs touch)
		mv many '"$HOME"'/build/
		mv '"$HOME"'/build/many node_modules
		mv '"$HOME"'/build/full in
		mv in '"$HOME"'/build/full'
	rc_is 0
	not_denied
	[ "$(ls node_modules | wc -l)" = 5000 ] || fail "files are gone"
	file_is denied/in/.env secret
}

# A tree that another thread fills, and moves what is above, takes nothing out.
t_while_it_moves() {
	need python3
	trees
	cat >"$S/shuffle.py" <<-'END'
		import os, threading, time
		build = os.environ["HOME"] + "/build"
		stop = time.time() + 5
		os.makedirs("t/u")
		for i in range(1500): open("t/f%d" % i, "w").close()
		def move(a, b):
		    try: os.rename(a, b)
		    except OSError: return False
		    return True
		def inner():
		    while time.time() < stop:
		        for there in ("t/u/denied", build + "/t/u/denied", "u/denied"):
		            if move("denied", there): time.sleep(0.0005)
		            move(there, "denied")
		def outer(a, b):
		    while time.time() < stop:
		        if move(a, b) and any(os.path.lexists(build + p) for p in ("/t/u/denied/in/.env", "/u/denied/in/.env")):
		            print("out", flush=True)
		        move(b, a)
		many = [threading.Thread(target=inner) for _ in range(2)]
		many += [threading.Thread(target=outer, args=p) for p in (("t", build + "/t"), ("t/u", "u"), ("u", build + "/u"))]
		for t in many: t.start()
		for t in many: t.join()
	END
	fsh "python3 $S/shuffle.py 2>/dev/null"
	out_is ""
	[ "$(find . -name .env | wc -l)" = 2 ] || fail "it is gone: $(find . "$HOME/build" -name .env)"
}

scenario "$@"

# A kept file may be replaced as an editor does it, and not by what is no file: then it would be gone.
t_over_a_kept_file() {
	local run
	need busybox
	trees
	ln -s nowhere l
	mkfifo p
	listing >"$S/before"
	for run in '' busybox; do
		held "$run mv -f l kept/db.sqlite"
		held "$run mv -f p kept/db.sqlite"
	done
	held 'cd kept && exec mv -f ../l db.sqlite'
	held 'python3 -c "import os; os.rename(\"l\", \"kept/db.sqlite\")"'
	held 'perl -e "exit !rename \"l\", \"kept/db.sqlite\"" || { echo $?; exit 1; }'
	fsh 'echo other >new; mv new kept/db.sqlite && mv l kept/free && ln -s x kept/fresh.sqlite'
	rc_is 0
	[ "$(cat kept/db.sqlite)" = other ] || fail "the file was not saved"
}
