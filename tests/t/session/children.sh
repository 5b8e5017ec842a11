# nightly: hooks
# limit: 60
# Everything that is started stands inside the same fence, however it is started.
. "$T_LIB"

cannot_read() {
	no_decoy
	grep -q '^pale: denied read' "$S/err" || fail "nothing was denied"
}

t_empty_environment() {
	fsh 'env -i /bin/cat ~/.ssh/id_rsa; env -i /usr/bin/env -i /bin/cat ~/.ssh/id_rsa
		(unset LD_PRELOAD PALE_SESSION_DIR; cat ~/.ssh/id_rsa); exec -c /bin/cat '"$HOME"'/.ssh/id_rsa'
	cannot_read
	[ "$(grep -c '^pale: denied read' "$S/err")" = 4 ] || fail "not all four were denied"
	fsh 'env -i /usr/bin/env' # the fence's own two variables are there again, and nothing else
	out_has LD_PRELOAD=
	out_has PALE_SESSION_DIR=
	[ "$(wc -l <"$S/out")" = 2 ] || fail "more than two variables"
}

t_own_preload_stays() {
	fsh 'LD_PRELOAD=libutil.so.1 env | grep LD_PRELOAD'
	out_has libpale.so
	out_has libutil.so.1
}

t_python_subprocess() {
	fence python3 - <<-'EOF2'
		print("no input")
	EOF2
	cat >sub.py <<-'EOF2'
		import os, subprocess, sys, multiprocessing
		key = os.path.expanduser("~/.ssh/id_rsa")
		for close_fds in (True, False):
		    for env in (None, {}, {"PATH": "/bin:/usr/bin"}):
		        for extra in ({}, {"start_new_session": True}, {"cwd": "/"}, {"pass_fds": (0,)} if close_fds else {}):
		            r = subprocess.run(["/bin/cat", key], close_fds=close_fds, env=env, capture_output=True, **extra)
		            assert r.returncode == 1 and not r.stdout and b"pale: denied read" in r.stderr, (close_fds, env, extra, r)
		r = subprocess.run("cat ~/.ssh/id_rsa", shell=True, capture_output=True)
		assert r.returncode == 1 and not r.stdout, r
		assert os.system("cat ~/.ssh/id_rsa 2>/dev/null") == 256
		assert os.popen("cat ~/.ssh/id_rsa 2>/dev/null").read() == ""
		pid = os.posix_spawn("/bin/cat", ["cat", key], {})
		assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
		pid = os.fork()
		if pid == 0:
		    try: os.execve("/bin/cat", ["cat", key], {})
		    finally: os._exit(9)
		assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
		def read(): open(key).read()
		for how in ("fork", "spawn", "forkserver"):
		    p = multiprocessing.get_context(how).Process(target=read); p.start(); p.join()
		    assert p.exitcode == 1, how
		for f in (lambda: open(key), lambda: os.open(key, os.O_RDONLY), lambda: os.listdir(os.path.dirname(key)),
		          lambda: os.scandir(os.path.dirname(key)), lambda: __import__("shutil").copy(key, "k"),
		          lambda: __import__("pathlib").Path(key).read_text()):
		    try: f()
		    except PermissionError: continue
		    raise SystemExit("read it")
		print("all refused")
	EOF2
	sed -i '/^if __name__/d' sub.py
	python3 - <<-'EOF2'
		s = open("sub.py").read().split("\n")
		i = next(n for n, l in enumerate(s) if l.startswith("def read"))
		open("sub.py", "w").write("\n".join(["import os", "key = os.path.expanduser('~/.ssh/id_rsa')", s[i], "def main():"] +
		    ["    " + l for n, l in enumerate(s) if n != i] + ["if __name__ == '__main__': main()"]))
	EOF2
	fence python3 sub.py
	rc_is 0
	out_has "all refused"
	verifies
}

t_node() {
	need node
	cat >sub.js <<-'EOF2'
		const fs = require('fs'), cp = require('child_process'), os = require('os');
		const key = os.homedir() + '/.ssh/id_rsa', out = os.homedir() + '/outside';
		const refused = f => {
		  try { f() } catch (e) { if (e.code === 'EACCES') return; throw e }
		  throw new Error('done: ' + f)
		};
		refused(() => fs.readFileSync(key));
		refused(() => fs.openSync(key));
		refused(() => fs.writeFileSync(out, 'x'));
		refused(() => fs.mkdirSync(out));
		refused(() => fs.unlinkSync(os.homedir() + '/outside-file'));
		refused(() => fs.renameSync('file', out));
		refused(() => fs.symlinkSync('x', out));
		refused(() => fs.copyFileSync('file', out));
		refused(() => fs.appendFileSync(os.homedir() + '/outside-file', 'x'));
		refused(() => fs.rmSync(os.homedir() + '/outside-file'));
		if (cp.spawnSync('cat', [key], { env: {} }).stdout.length) throw new Error('child read it');
		if (cp.spawnSync('/bin/cat', [key], { stdio: ['ignore', 'pipe', 'pipe'] }).status !== 1) throw new Error('child');
		try {
		  cp.execSync('cat ~/.ssh/id_rsa', { stdio: 'pipe' });
		  throw new Error('shell read it')
		} catch (e) { if (e.status !== 1) throw e }
		fs.writeFileSync('made', 'x'); fs.renameSync('made', 'made2'); fs.unlinkSync('made2');
		fs.promises.readFile(key).then(() => { throw new Error('async read it') }, async e => {
			if (e.code !== 'EACCES') throw e;
			await fs.promises.writeFile('async', 'x');
			fs.readFile(key, e => { if (!e || e.code !== 'EACCES') throw new Error('callback');
				fs.writeFileSync('kid.js', 'process.exit(3)');
				const c = cp.fork('./kid.js');
				c.on('exit', code => console.log('all refused', code)); });
		});
	EOF2
	fence node sub.js
	rc_is 0
	out_has "all refused 3"
	missing ~/outside
	exists ~/outside-file
	verifies
}

# libuv lists directories with scandir(), whose own open no other hook sees.
t_node_lists_no_secrets() {
	need node
	fence node -e 'const l = require("fs").readdirSync(process.env.HOME + "/.ssh"); console.log(l)'
	rc_is 1
	out_lacks id_rsa
	fence node -e 'require("fs").readdir(process.env.HOME + "/.ssh", (e, l) => console.log(e ? e.code : l))'
	out_is EACCES
}

t_perl() {
	need perl
	fence perl -e '
open(my $f, "<", "$ENV{HOME}/.ssh/id_rsa") and die "read";
open($f, ">", "$ENV{HOME}/outside") and die "written";
unlink("$ENV{HOME}/outside-file") and die "removed";
rename("file", "$ENV{HOME}/outside") and die "moved";
print `cat $ENV{HOME}/.ssh/id_rsa 2>/dev/null`;
%ENV = (HOME => $ENV{HOME}); system("/bin/cat", "$ENV{HOME}/.ssh/id_rsa") == 256 or die "system";
print "all refused\n";'
	rc_is 0
	out_is "all refused"
}

t_vfork_and_posix_spawn() {
	cat >v.c <<-'EOF2'
		#include <spawn.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			char *args[] = { "cat", argv[1], NULL }, *none[] = { NULL };
			int status, bad = 0;
			pid_t pid;
			(void)argc;
			for (int i = 0; i < 50; i++) {
				pid = vfork();
				if (pid == 0) {
					execve("/bin/cat", args, none);
					_exit(9);
				}
				waitpid(pid, &status, 0);
				bad += WEXITSTATUS(status) != 1;
				if (posix_spawn(&pid, "/bin/cat", NULL, NULL, args, none))
					bad++;
				waitpid(pid, &status, 0);
				bad += WEXITSTATUS(status) != 1;
			}
			printf("bad %d\n", bad);
			return bad;
		}
	EOF2
	gcc -o v v.c
	fence ./v "$HOME/.ssh/id_rsa"
	rc_is 0
	out_is "bad 0"
	verifies
}

t_close_range_child() {
	fence python3 -c '
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if os.fork() == 0:
    os.closerange(3, 65536)
    libc.close_range(3, 0xffffffff, 0)
    try: open(os.path.expanduser("~/.ssh/id_rsa")); os._exit(1)
    except PermissionError: pass
    open("made", "w").close()
    os.execv("/bin/cat", ["cat", os.path.expanduser("~/.ssh/id_rsa")])
print(os.waitstatus_to_exitcode(os.wait()[1]))'
	out_is 1
	no_decoy
	exists made
	recorded write allow "$W/made"
}

t_threads() {
	fence python3 -c '
import os, threading
key = os.path.expanduser("~/.ssh/id_rsa")
bad = []
def work(n):
    for i in range(200):
        try: open(key); bad.append(n)
        except PermissionError: pass
        open("t%d" % n, "w").close(); open("file").close()
ts = [threading.Thread(target=work, args=(n,)) for n in range(8)]
[t.start() for t in ts]; [t.join() for t in ts]
print("bad", len(bad))'
	out_is "bad 0"
	verifies
}

t_static_program_is_refused() {
	[ "$T_LEVEL" = hooks ] || skip "above level hooks the kernel carries it"
	cp "$T_VICTIMS/raw-static" static
	run pale run -q -- ./static "$HOME/.ssh/id_rsa"
	rc_is 126
	err_has static
	no_decoy
	fsh './static ~/.ssh/id_rsa; echo "status $?"'
	out_is "status 126"
	denied exec ./static
	recorded exec deny static
	fence python3 -c 'import subprocess; subprocess.run(["./static", "file"])'
	rc_not 0
	out_lacks hello
	OPTS=(--allow-unhooked)
	fence ./static file
	rc_is 0
	out_has hello
}

t_script_with_a_static_interpreter() {
	[ "$T_LEVEL" = hooks ] || skip "above level hooks the kernel carries it"
	cp "$T_VICTIMS/raw-static" static
	printf '#!%s/static\n' "$W" >script
	chmod +x script
	run pale run -q -- ./script
	rc_is 126
	fsh './script; echo "status $?"'
	out_has "status 126"
}

t_other_loader() {
	local ld
	ld=$(readelf -lW /bin/cat | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
	fsh "$ld /bin/cat ~/.ssh/id_rsa; $ld --preload '' /bin/cat ~/.ssh/id_rsa; $ld --inhibit-cache /bin/cat ~/.ssh/id_rsa"
	no_decoy
	cp "$T_VICTIMS/raw-static" static
	[ "$T_LEVEL" = hooks ] || return 0
	fsh "$ld ./static file"
	out_lacks hello
}

t_static_program_is_carried() {
	[ "$T_LEVEL" != hooks ] || skip "refused there"
	cp "$T_VICTIMS/raw-static" static
	run pale run -q -- ./static "$HOME/.ssh/id_rsa"
	no_decoy
	denied read "$HOME/.ssh/id_rsa" sensitive
	fsh './static file'
	out_has hello
	recorded read deny '"via":"kernel"'
}

t_nested_run() {
	fence pale run -- cat file
	rc_is 0
	out_has hello
	err_has joining
	fence pale run --danger --allow-sensitive-roots -- cat ~/.ssh/id_rsa
	rc_is 125
	no_decoy
	fence pale run -p /dev/null -- cat ~/.ssh/id_rsa
	rc_is 125
	fsh 'pale run -q -- cat ~/.ssh/id_rsa; unset PALE_SESSION_DIR; pale run -q -- cat ~/.ssh/id_rsa
		env -i HOME=$HOME PATH=$PATH XDG_RUNTIME_DIR=$HOME/work pale run -q -- cat ~/.ssh/id_rsa'
	no_decoy
}

t_asan_program() {
	cat >a.c <<-'END'
		#include <stdio.h>
		int main(int c, char **v) {
			FILE *f = fopen(v[1], "r");
			char b[99];
			if (!f) { perror("open"); return 1; }
			puts(fgets(b, 99, f));
			return 0;
		}
	END
	gcc -fsanitize=address -o a a.c || fail "does not compile"
	fence ./a file
	cat "$S/out" "$S/err" >both
	# The sanitizer insists on being first; ours is: either it works or it says so, and reads nothing.
	fsh 'ASAN_OPTIONS=verify_asan_link_order=0 ./a file; ASAN_OPTIONS=verify_asan_link_order=0 ./a ~/.ssh/id_rsa'
	out_has hello
	no_decoy
}

t_constructor_before_ours() {
	cat >c.c <<-'EOF2'
		#include <fcntl.h>
		#include <unistd.h>
		__attribute__((constructor(101))) static void early(void) { int fd = open("file", O_RDONLY); if (fd >= 0) close(fd); }
		int main(void) { return access("file", R_OK); }
	EOF2
	gcc -o c c.c
	fence ./c
	rc_is 0
}

scenario "$@"
