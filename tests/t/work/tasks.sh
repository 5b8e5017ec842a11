# nightly: hooks
# limit: 90
# Real work under the fence gives what it gives without.
. "$T_LIB"

# same COMMAND: in two copies of the workspace, bare and fenced: output, status and tree are equal.
same() {
	local bare fenced rc
	rm -rf "$HOME/bare" "$HOME/fenced"
	cp -a "$W" "$HOME/bare"
	cp -a "$W" "$HOME/fenced"
	# Both run in a directory of the same name, so that paths in outputs agree.
	mv "$W" "$HOME/kept"
	mv "$HOME/bare" "$W" && cd "$W" || exit 1
	rc=0
	bash -c "$1" >"$S/bare.out" 2>"$S/bare.err" </dev/null || rc=$?
	cd / && mv "$W" "$HOME/bare"
	mv "$HOME/fenced" "$W" && cd "$W" || exit 1
	fsh "$1"
	cd / && mv "$W" "$HOME/fenced"
	mv "$HOME/kept" "$W" && cd "$W" || exit 1
	rc_is $rc "$1"
	not_denied
	diff "$S/bare.out" "$S/out" >"$S/diff" || fail "$1: output differs: $(head -20 "$S/diff")"
	diff "$S/bare.err" "$S/err" >"$S/diff" || fail "$1: stderr differs: $(head -20 "$S/diff")"
	diff <(shape "$HOME/bare") <(shape "$HOME/fenced") >"$S/diff" ||
		fail "$1: trees differ: $(head -20 "$S/diff")"
}

# Names, types, modes and links, but for where pale lets agents keep their state.
shape() {
	(cd "$1" && find . -name .pale -prune -o -printf '%P %y %m %l\n' | LC_ALL=C sort)
}

export GIT_AUTHOR_DATE=2026-01-02T03:04:05Z GIT_COMMITTER_DATE=2026-01-02T03:04:05Z

t_git() {
	same 'git init . && git add . && git commit -m one && git log --stat && git status && git rev-parse HEAD'
	git init -q . && git add . && git commit -q -m one
	same 'git checkout -b base && git checkout -b topic &&
		echo more >>file && git commit -am two && git checkout base && git merge topic && git log --oneline --graph'
	same 'git branch side && git worktree add ../work/wt side &&
		git worktree list && ls wt && git worktree remove wt && git branch -d side'
	same 'git clone -q . copy && cd copy && git log --oneline && git remote -v'
	same 'echo x >>file && git diff && git checkout file && git tag v1 && git describe --tags'
	same 'git -c gc.packRefs=false gc -q &&
		git fsck && git archive HEAD | tar tf - && git bundle create b HEAD && git bundle verify b'
	same 'for i in 1 2 3; do echo $i >>file; git commit -qam $i; done
		git rebase -q --onto HEAD~1 HEAD~1 && git log --format=%s'
	same 'git config user.name Other &&
		git config --get user.name && git commit --allow-empty -qm x && git log -1 --format=%an'
}

# Git tries to remove its own directory there, knowing that it is not empty.
t_git_stash() {
	git init -q . && git add . && git commit -q -m one
	same 'echo x >>file && git stash && git stash pop && git diff'
}

t_clone_from_a_local_remote() {
	git init -q --bare ~/remote.git
	git init -q . && git add . && git commit -q -m one && git push -q ~/remote.git main
	same 'git clone -q --no-hardlinks ~/remote.git sub && cd sub && git fetch && git pull && git log --oneline'
}

# uniq opens its file by freopen, which here is a pipe without a name.
t_a_stream_on_an_own_descriptor() {
	same 'uniq <(printf "a\na\nb\n") && uniq <(echo c) /dev/stdout | cat'
}

t_gcc_and_make() {
	local i
	mkdir src
	for i in 1 2 3 4 5 6 7 8 9; do
		printf '#include <stdio.h>\nint f%d(void) { return printf("%d\\n"); }\n' $i $i >src/f$i.c
	done
	printf 'int f1(void), f2(void);\nint main(void) { return f1() + f2() != 4; }\n' >src/main.c
	printf 'OBJ = $(patsubst %%.c,%%.o,$(sort $(wildcard src/*.c)))
prog: $(OBJ)\n\tgcc -o $@ $^
%%.o: %%.c\n\tgcc -O1 -c -o $@ $<
clean:\n\trm -f $(OBJ) prog\n' >Makefile
	same 'make && ./prog && make clean &&
		make -j2 >/dev/null && ./prog && ar rcs lib.a src/*.o && nm lib.a | grep -c " T "'
	same 'gcc -g -fPIC -shared -o lib.so src/f1.c && readelf -d lib.so | grep -c NEEDED
		gcc nosuch.c; gcc -E src/f1.c | tail -1'
}

t_python() {
	mkdir pkg
	printf 'def double(x):\n    return 2 * x\n' >pkg/__init__.py
	printf 'import unittest, pkg\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(pkg.double(2), 4)\n' \
		>test_it.py
	same 'python3 -c "import pkg; print(pkg.double(21))" &&
		PYTHONDONTWRITEBYTECODE=1 python3 -m unittest -q test_it 2>/dev/null; echo $?'
	same 'python3 -c "
import tempfile, os, json, sqlite3, subprocess, shutil, glob
d = tempfile.mkdtemp(dir=\".\"); open(d + \"/x\", \"w\").write(\"1\"); shutil.rmtree(d)
db = sqlite3.connect(\"db\"); db.execute(\"create table t (a)\")
db.execute(\"insert into t values (1)\"); db.commit(); print(db.execute(\"select * from t\").fetchall())
print(subprocess.check_output([\"ls\", \"pkg\"]).decode().split()[0], sorted(glob.glob(\"*.py\")))
with tempfile.NamedTemporaryFile() as f: f.write(b\"x\")
print(json.dumps({\"a\": os.listdir(\"pkg\")[:1]}))"'
}

t_node() {
	need node
	printf 'module.exports = x => 2 * x;\n' >two.js
	same 'node -e "
console.log(require(\"./two\")(21)); require(\"fs\").mkdirSync(\"d/e\", {recursive: true})
require(\"fs\").writeFileSync(\"d/e/f\", \"x\")
console.log(require(\"child_process\").execSync(\"ls d\").toString())
require(\"fs\").rmSync(\"d\", {recursive: true})"'
	same 'node -e "
const http = require(\"http\");
const s = http.createServer((q, r) => r.end(\"answer\")).listen(0, \"127.0.0.1\", () =>
  http.get({port: s.address().port, host: \"127.0.0.1\"}, r => {
    r.on(\"data\", d => console.log(String(d))); r.on(\"end\", () => s.close()); }));"'
}

t_tools() {
	local i
	mkdir -p t/a t/b
	for i in $(seq 40); do echo "line $i" >t/a/f$i; done
	same 'tar cf t.tar t && tar tf t.tar | sort | head -5 &&
		mkdir x && tar xf t.tar -C x && diff -r t x/t && rm -rf x t.tar'
	same 'find . -name "f1*" | sort; grep -rn "line 7" . ; grep -rl line t | wc -l; sed -i s/line/LINE/ t/a/f1; cat t/a/f1'
	same 'sort -R t/a/f1 >/dev/null; awk "{ n++ } END { print n }" t/a/*; cut -c1-3 t/a/f2; wc -c t/a/f3
		xargs -n1 basename <<<"t/a/f1 t/a/f2"; cp -a t u; mv u v; rm -r v; ls'
	same 'gzip -k t/a/f1 && zcat t/a/f1.gz; mkfifo p; (echo through >p &) ; cat p
		mktemp -d ./tmp.XXXXXX >/dev/null; rmdir tmp.*; ln -s t l; readlink l; touch -d 2020-01-01 n; date -r n +%Y'
	same 'echo $((1+1)); x=$(cat file); echo "$x"; cat <<<here; cat <(echo sub); ls nosuch; cd t && pwd
		type cat; for f in a/*; do :; done; echo ${BASH_VERSION%%.*}'
}

t_bash_job_control() {
	same 'sleep 0.1 & wait $!; echo $?; (exit 3)
		echo $?; kill -0 $$; trap "echo bye" EXIT; timeout 1 sleep 0.05; echo $?; timeout 0.1 sleep 5; echo $?'
}

t_time_and_temporary_files() {
	same 'f=$(mktemp) && echo x >"$f" && cat "$f" && rm "$f"; d=$(mktemp -d) && rmdir "$d"
		echo ok >/dev/shm/pale-t-$$ && cat /dev/shm/pale-t-$$ && rm /dev/shm/pale-t-$$'
}

scenario "$@"
