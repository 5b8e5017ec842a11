# limit: 60
# levels: full strict
# The index of the workspace's repository: a later checkout writes what it names, so it names nothing in .git.
. "$T_LIB"

OPTS=(-n)

repo() {
	git init -q && git config user.email a@b &&
		git config user.name a && echo a >a && git add a && git commit -qm x && git switch -q -c topic
}

# An index with one more entry: index.py PATH [TABLE] >FILE
maker() {
	cat >"$S/index.py" <<-'PY'
		import hashlib, struct, sys
		path, how = sys.argv[1].encode(), sys.argv[2:]
		old = open(".git/index", "rb").read()
		first = old[12:12 + 72]
		assert first[62:64] == b"a\0", first
		def entry(name):
		    head = first[:60] + struct.pack(">H", min(len(name), 0xfff)) + name
		    return head + b"\0" * (8 - len(head) % 8)
		good, bad = entry(b"a"), entry(path)
		entries, n = (good, 1) if how else (good + bad, 2)
		body = struct.pack(">4sII", b"DIRC", 2, n) + entries
		if how:
		    # The other one stands where only a table of entries leads to.
		    ext = b"XXXX" + struct.pack(">I", len(bad)) + bad
		    at = len(body) + 8
		    table = b"IEOT" + struct.pack(">IIII", 12, 1, at, 1)
		    heads = b"XXXX" + struct.pack(">I", len(bad)) + b"IEOT" + struct.pack(">I", 12)
		    end = at if how[0] == "end" else len(body)
		    body += ext + table + b"EOIE" + struct.pack(">II", 24, end) + hashlib.sha1(heads).digest()
		sys.stdout.buffer.write(body + hashlib.sha1(body).digest())
	PY
}

t_no_entry_in_git() {
	local path
	need python3
	repo
	maker
	cp .git/index "$S/before"
	for path in .git/hooks/post-checkout .GIT/config d/.git/config ../../.bashrc /etc/x d//x ./x d/..; do
		python3 "$S/index.py" "$path" >new || fail "no index"
		fence mv new .git/index
		denied rename "$W/.git/index" "an entry of it lies in .git or outside"
		python3 "$S/index.py" "$path" >new
		fsh 'cat new >.git/index; git add a; cp new .git/index.lock; mv .git/index.lock .git/index
			ln -f new .git/index; ln -sf ../new .git/index; rm .git/index; ln new .git/index'
		! git ls-files | grep -qF "${path##*/}" || fail "$path is in the index"
		cp "$S/before" .git/index
	done
	python3 "$S/index.py" d/x >new
	fence mv new .git/index
	rc_is 0
	[ "$(git ls-files)" = "a
d/x" ] || fail "a harmless one was refused"
}

# git reads entries where a table says that they are.
t_no_table_elsewhere() {
	local how
	need python3
	repo
	maker
	for how in table end; do
		python3 "$S/index.py" .git/hooks/post-checkout $how >new || fail "no index"
		fence mv new .git/index
		rc_not 0
		denied rename "$W/.git/index"
	done
}

# Each shape that git itself gives it.
t_ordinary() {
	local a i
	repo
	fsh 'set -e; mkdir d; echo c >d/c; git add -N d/c; git add .; git commit -qm c
		for v in 2 3; do git update-index --index-version $v; echo $v >f$v; git add f$v; git commit -qm $v; done
		echo 1 >>a; git stash -q; git stash pop -q; git checkout -q -- a
		git sparse-checkout set --cone --sparse-index d; git sparse-checkout disable
		git worktree add -q w -b w; (cd w; echo w >w; git add w; git commit -qm w); git worktree remove w; git merge -q w
		git add .; git reset -q --hard HEAD; git status --short'
	rc_is 0
	out_is ""
	err_is_empty
	# What cannot be judged, and the way back that is told.
	fsh 'git update-index --split-index'
	rc_not 0
	err_has "it is split"
	fsh 'set -e; git update-index --index-version 4; mkdir -p d/d; echo e >d/d/e; git add .; git commit -qm e
		git reset -q --hard HEAD; git status --short; git update-index --index-version 2; git add a'
	rc_is 0
	a=$(git rev-parse HEAD:a)
	for i in $(seq 25000); do echo "100644 $a 0	many/$i"; done >list
	fsh 'git -c index.threads=2 update-index --index-info <list'
	rc_not 0
	err_has "it has a table of entries"
	git -c index.threads=2 update-index --index-info <list && grep -aq IEOT .git/index || fail "no table"
	fsh 'git -c index.threads=1 update-index --force-write-index && git update-index --index-info <list'
	rc_is 0
	[ "$(git ls-files many | wc -l)" = 25000 ] || fail "the index is another"
}

# A linked worktree has its own.
t_of_a_worktree() {
	need python3
	repo
	maker
	git worktree add -q ../other -b other
	python3 "$S/index.py" .git/hooks/x >new
	fence cp new .git/worktrees/other/index
	fence mv new .git/worktrees/other/index
	denied rename "$W/.git/worktrees/other/index"
	! git -C ../other ls-files | grep -q hooks || fail "it is in the index"
}

# As have a repository in the workspace, and a submodule.
t_of_others() {
	local dir
	need python3
	git init -q -b main nest && (cd nest &&
		git config user.email a@b && git config user.name a && echo a >a && git add a && git commit -qm x)
	repo
	git -c protocol.file.allow=always submodule --quiet add ./nest sub && git commit -qm sub
	OPTS=()
	fsh 'set -e; cd nest; echo b >b; git add b; git commit -qm b
		cd ../sub; git config user.email a@b; git config user.name a; git switch -q -c index; echo c >c
		git add c; git commit -qm c; git gc -q; cd ..; git clone -q nest copy; cd copy; git status --short'
	rc_is 0
	cd nest
	OPTS=(-n)
	maker
	git checkout -q HEAD~1 && python3 "$S/index.py" .git/hooks/x >../new
	cd ..
	for dir in nest/.git .git/modules/sub; do
		fence cp new $dir/index
		fence mv new $dir/index.lock
		fence mv $dir/index.lock $dir/index
		denied rename "$W/$dir/index"
		! grep -aq hooks/x $dir/index || fail "$dir: it is in the index"
		fence mv $dir/index.lock new
	done
}

# A `.git` file may name a directory of any name, and a directory may become a repository after its index was made.
t_of_a_directory_of_any_name() {
	local how
	need python3
	repo
	maker
	python3 "$S/index.py" ../../.bashrc >new
	git init -q sub && mv sub/.git any && echo "gitdir: ../any" >sub/.git
	fence cp new any/index
	denied write "$W/any/index" "an entry of it lies in .git or outside"
	while read -r how; do
		rm -rf any/index late && mkdir late && cp any/HEAD late/
		fsh "$how"
		! grep -aq bashrc any/index || fail "the index is there: $how"
		[ ! -e late/objects ] && [ ! -e late/commondir ] || ! grep -aq bashrc late/index || fail "late: $how"
	done <<-'END'
		cp new new2; mv new2 any/index
		cp new new2; ln new2 any/index
		ln -s ../new any/index
		cp new late/index; mkdir late/objects
		cp new late/index; mkdir o; mv o late/objects
		cp new late/index; ln -s ../any/objects late/objects
		cp new late/index; echo ../any >late/commondir
		cp new late/index; echo ../any >c; mv c late/commondir
		cp new late/index; ln -s ../c late/commondir
		cp any/HEAD late/index; exec 5<>late/index; mkdir late/objects; cat new >&5
		git read-tree HEAD; cp .git/index late/index; exec 5<>late/index; mkdir late/objects; cat new >&5
		echo ../any >late/commondir; cp new late/index
	END
	fsh 'set -e; mkdir plain; cp new plain/index; echo x >>plain/index; rm plain/index; mkdir plain/objects
		cp .git/index good; cp good .git/index; umask 777; cp good any/index'
	rc_is 0
	[ "$(stat -c %a any/index)" = 0 ] || fail "its mode is another"
}

# git reads an index by the object format that `config` says, or `config` where `commondir` leads.
t_of_another_object_format() {
	local other
	need python3
	repo
	maker
	fsh 'set -e; git init -q --object-format=sha256 s; cd s; git config user.email a@b; git config user.name a
		echo a >a; git add a; git commit -qm x; git worktree add -q ../s-other; cd ../s-other; echo b >b; git add b'
	rc_is 0
	[ "$(git -C s-other ls-files)" = "a
b" ] || fail "it is not in the index"
	python3 "$S/index.py" d/x >new
	for other in s/.git s/.git/worktrees/s-other; do
		fence cp new $other/index
		denied write "$W/$other/index"
	done
	git init -q n && cp .git/index n/.git/index
	fence git -C n config extensions.objectFormat sha256
	denied rename "$W/n/.git/config"
	fence git -C s config --unset extensions.objectFormat
	denied rename "$W/s/.git/config" "its worktrees have indexes of another object format"
	fsh 'mkdir -p z/objects z/worktrees/w; echo ../.. >z/worktrees/w/commondir; cp .git/index z/worktrees/w/
		cp s/.git/config z/config'
	denied write "$W/z/config" "its worktrees have indexes of another object format"
	fence git clone -q s again
	rc_is 0
}

# cp takes the files of a directory in any order: commondir may come behind the index.
t_of_a_copied_worktree() {
	need python3
	repo
	maker
	git worktree add -q other
	python3 "$S/index.py" ../../.bashrc >new
	fsh 'set -e; D=x/.git/worktrees/other; mkdir -p x/.git/objects ${D%/*}; cp .git/config x/.git/config
		mkdir $D; cp .git/worktrees/other/index $D; cp .git/worktrees/other/commondir $D; cp -r .git y'
	rc_is 0
	fsh 'D=x/.git/worktrees/other; rm $D/commondir; cp new $D/index; cp .git/worktrees/other/commondir $D'
	denied write "$W/x/.git/worktrees/other/commondir" "an entry of it lies in .git or outside"
	missing x/.git/worktrees/other/commondir
	fsh 'D=x/.git/worktrees/other; cp .git/index $D/index; exec 5<>$D/index
		cp .git/worktrees/other/commondir $D; cat new >&5'
	! grep -aq bashrc x/.git/worktrees/other/index || fail "it came in by an open descriptor"
}

scenario "$@"
