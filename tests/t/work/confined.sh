# levels: full strict hooks
# limit: 60
# A program that confines itself with Landlock stays inside its own domain, as do its children.
. "$T_LIB"

# own COMMAND [NET]: in a domain in which everything can be read and executed, and everything done below sub.
build() {
	cat >own.c <<-'END'
		#define _GNU_SOURCE
		#include <errno.h>
		#include <fcntl.h>
		#include <linux/landlock.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/prctl.h>
		#include <sys/stat.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		static int set;
		static void rule(const char *path, unsigned long access)
		{
			struct landlock_path_beneath_attr p = { access, open(path, O_PATH | O_CLOEXEC) };
			if (syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &p, 0) < 0)
				exit(9);
		}
		#define TRY(x) printf(#x ": %s\n", (x) < 0 ? strerror(errno) : "done")
		int main(int argc, char **argv)
		{
			unsigned long attr[2] = { (1ul << 13) - 1, argc > 2 ? 3 : 0 };
			set = syscall(SYS_landlock_create_ruleset, attr, sizeof attr, 0);
			if (set < 0)
				return printf("%s\n", strerror(errno)), 0;
			rule("/", LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);
			rule("sub", attr[0]);
			rule("/dev/null", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE);
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
			if (syscall(SYS_landlock_restrict_self, set, 0) < 0)
				return 9;
			setvbuf(stdout, 0, _IONBF, 0);
			TRY(open("out", O_CREAT | O_WRONLY, 0600));
			TRY(syscall(SYS_open, "out", O_CREAT | O_WRONLY, 0600));
			TRY(open("file", O_WRONLY));
			TRY(mkdir("out", 0700));
			TRY(syscall(SYS_mkdir, "out", 0700));
			TRY(symlink("file", "out"));
			TRY(mkfifo("out", 0600));
			TRY(link("file", "sub/link"));
			TRY(rename("file", "sub/file"));
			TRY(rename("sub", "out"));
			TRY(unlink("file"));
			TRY(syscall(SYS_unlink, "file"));
			TRY(open("file", O_RDONLY));
			TRY(chmod("file", 0600));
			TRY(open("sub/new", O_CREAT | O_WRONLY, 0600));
			TRY(syscall(SYS_open, "sub/newer", O_CREAT | O_WRONLY | O_TRUNC, 0600));
			TRY(mkdir("sub/dir", 0700));
			TRY(rename("sub/new", "sub/newest"));
			TRY(unlink("sub/newest"));
			TRY(symlink("newer", "sub/symlink"));
			TRY(mkfifo("sub/fifo", 0600));
			fflush(stdout);
			return system(argv[1]);
		}
	END
	gcc -o own own.c && gcc -static -o owns own.c || fail "does not compile"
	mkdir -p sub
}

CHILD='touch sub/x out1; env -u LD_PRELOAD touch sub/y out2; (setsid sh -c "touch out3; cat file") & wait
	rm sub/x; env -u LD_PRELOAD sh -c "echo z >sub/z; echo >/dev/null; echo >out4; cat file"; pwd'

t_a_domain_of_its_own() {
	build
	for program in ./own ./owns; do
		rm -rf sub/*
		RC=0
		LC_ALL=C $program "$CHILD" >"$S/bare" 2>&1 || RC=$?
		cp -a sub bare
		rm -rf sub/*
		[ "$T_LEVEL $program" != 'hooks ./owns' ] || continue
		fence env LC_ALL=C sh -c "exec $program \"\$1\" 2>&1" sh "$CHILD"
		diff "$S/bare" "$S/out" >"$S/diff" || fail "$program: $(cat "$S/diff")"
		[ "$(ls sub)" = "$(ls bare)" ] || fail "$program: $(ls sub)"
		rm -rf bare
		[ -z "$(ls | grep out)" ] || fail "$program is outside of its domain: $(ls)"
		[ -s file ] || fail "the file"
	done
}

# Other programs of the session do what they did, and so does a run inside the run.
t_the_others_of_the_session() {
	build
	fsh './own true >/dev/null; env -u LD_PRELOAD sh -c "mkdir -p a/b; mv a c; rmdir c/b; echo x >y; cat y"; ulimit -x
		pale run -q -- sh -c "mkdir n; mv n m; rmdir m; env -u LD_PRELOAD touch inner; ls inner"'
	out_is "x
unlimited
inner"
}

# Ports: the supervisor cannot see which ones a domain has, so none is left.
t_ports_of_a_domain() {
	[ "$(abi)" -ge 4 ] || skip "Landlock has no ports here"
	build
	local line='import socket
l = socket.socket(); l.bind(("127.0.0.1", 0)); l.listen()
socket.socket().connect(l.getsockname()); print("reached")'
	for with in '' net; do
		OPTS=(-e "LINE=$line")
		fsh "./own 'python3 -c \"\$LINE\" 2>&1 | tail -n 1' $with | tail -n 1"
		case $with in
		net) out_is 'PermissionError: [Errno 13] Permission denied' ;;
		*) out_is reached ;;
		esac
	done
}

# confine [TIMES] COMMAND...: in a domain that limits next to nothing, after so many children with one of their own.
confining() {
	cat >confine.py <<-'END'
		import ctypes, os, sys
		c = ctypes.CDLL(None, use_errno=True)
		def confine():
		    attr = (ctypes.c_uint64 * 1)(1 << 6)  # the making of character devices
		    ruleset = c.syscall(444, attr, 8, 0)
		    if ruleset < 0 or c.prctl(38, 1, 0, 0, 0) or c.syscall(446, ruleset, 0):
		        os._exit(8)
		for _ in range(int(sys.argv[1])):
		    child = os.fork()
		    if child == 0:
		        confine()
		        os._exit(0)
		    if os.waitpid(child, 0)[1]:
		        sys.exit("no domain")
		confine()
		os.execv(sys.argv[2], sys.argv[2:])
	END
}

# What it may not do by the policy it does not do in a race either: the supervisor acts for it.
t_what_is_judged_is_what_happens() {
	[ "$T_LEVEL" != hooks ] || return 0
	confining
	mkdir d
	echo good >d/good
	echo bad >d/locked
	echo "$DECOY" >d/late
	printf '[files]\nreadonly = d/locked\ndeny = d/late\n' | policy
	fsh 'confined() { python3 confine.py 0 "$@" || exit; }
		confined "$1" write 3000 d/good d/locked; confined "$1" unlink 3000 d/good d/locked; echo good >d/good
		confined "$1" read 3000 d/good d/late' sh "$T_VICTIMS/words-static"
	rc_is 0
	out_is "write: 0
unlink: 0
read: 0"
	file_is d/locked bad
}

# A session forgets the domains whose processes are gone, and each program keeps its own.
t_many_domains() {
	[ "$T_LEVEL" != hooks ] || return 0
	build
	confining
	fsh 'python3 confine.py 300 ./owns "echo >out 2>/dev/null; echo x >sub/last"'
	rc_is 0
	out_has 'mkdir("out", 0700): Permission denied'
	missing out
	exists sub/last
}

# What tells the supervisor of a domain cannot be changed, by a program of another one either.
t_the_mark_stays() {
	[ "$T_LEVEL" != hooks ] || return 0
	fsh 'ulimit -x 5 2>/dev/null || echo refused; prlimit --locks=5 true 2>/dev/null || echo refused
		sleep 5 & prlimit --pid $! --locks=5 2>/dev/null || echo refused; kill $!; ulimit -x'
	out_is "refused
refused
refused
unlimited"
}

# domain.py CASE: what the kernel answers, and so must the supervisor.
domain_cases() {
	cat >domain.py <<-'END'
		import ctypes, errno, os, struct, sys, threading
		c = ctypes.CDLL(None, use_errno=True)
		c.prctl(38, 1, 0, 0, 0)
		CREATE, RULE, RESTRICT, ALL = 444, 445, 446, (1 << 13) - 1
		READ = 1 | 4 | 8
		def call(*words):
		    r = c.syscall(*words)
		    return errno.errorcode[ctypes.get_errno()] if r < 0 else r
		def ruleset(handled):
		    return call(CREATE, struct.pack("Q", handled), 8, 0)
		def rule(set, path, access):
		    where = os.open(path, os.O_PATH)
		    answer = call(RULE, set, 1, struct.pack("=Qi", access, where), 0)
		    os.close(where)
		    return answer
		def try_open(path, flags=os.O_WRONLY):
		    r = call(2, path.encode(), flags, 0)
		    return r if isinstance(r, str) else "open"
		def reading():
		    set = ruleset(ALL)
		    rule(set, "/", READ)
		    return set
		def growing():
		    set = reading()
		    call(RESTRICT, set, 0)
		    print("in it:", try_open("file"))
		    rule(set, ".", ALL)
		    print("after a rule more:", try_open("file"), try_open("made", os.O_CREAT | os.O_WRONLY))
		    if os.fork() == 0:
		        rule(set, "/", ALL)
		        print("a child:", try_open("file"), call(83, b"dir", 0o700))
		        os._exit(0)
		    os.wait()
		def parent_adds():
		    set = reading()
		    r, w = os.pipe()
		    r2, w2 = os.pipe()
		    if os.fork() == 0:
		        call(RESTRICT, set, 0)
		        print("before:", try_open("file"))
		        os.write(w2, b"x")
		        os.read(r, 1)
		        print("after:", try_open("file"))
		        os._exit(0)
		    os.read(r2, 1)
		    rule(set, "/", ALL)
		    os.write(w, b"x")
		    os.wait()
		    print("the parent:", try_open("file"))
		def links():
		    held = os.memfd_create("secret")
		    os.write(held, b"secret")
		    deleted = os.open("deleted", os.O_CREAT | os.O_RDWR)
		    os.unlink("deleted")
		    r, w = os.pipe()
		    parent = os.getpid()
		    set = ruleset(1 << 6)
		    if os.fork() == 0:
		        own = os.memfd_create("own")
		        call(RESTRICT, set, 0)
		        for fd in held, deleted, r, w:
		            name = "/proc/%d/fd/%d" % (parent, fd)
		            link = os.open(name, os.O_PATH | os.O_NOFOLLOW)
		            print("link:", call(267, link, b"", ctypes.create_string_buffer(99), 99))
		            print("of another:", try_open(name), call(90, name.encode(), 0o600), call(76, name.encode(), 0))
		        print("of its own:", try_open("/proc/self/fd/%d" % own), try_open("/proc/%d/fd/%d" % (os.getpid(), own)))
		        me = os.getpid()
		        if os.fork() == 0:
		            print("of one in it:", try_open("/proc/%d/fd/%d" % (me, own)))
		            call(RESTRICT, set, 0)
		            print("further in:", try_open("/proc/%d/fd/%d" % (me, own)))
		            os._exit(0)
		        os.wait()
		        print("of another's directory:", try_open("/proc/%d/cwd/file" % parent), try_open("/proc/%d/exe" % parent, 0))
		        os._exit(0)
		    os.wait()
		def threads():
		    set = ruleset(ALL)
		    rule(set, "/", ALL)
		    go, said = threading.Barrier(20), []
		    def one():
		        said.append((call(RESTRICT, set, 0), try_open("file")))
		        go.wait()
		    all = [threading.Thread(target=one) for _ in range(20)]
		    for t in all: t.start()
		    for t in all: t.join()
		    print(said)
		def flags():
		    set = reading()
		    print(call(RESTRICT, set, 1 << 20), try_open("file"))
		    print(call(CREATE, 0, 8, 0), call(CREATE, struct.pack("Q", 4), 0, 0), call(CREATE, bytes(8000), 8000, 0))
		    print(call(RULE, set, 9, bytes(64), 0), call(RULE, 0, 1, bytes(64), 0), call(RULE, set, 1, 1, 0))
		    print(call(RULE, set, 1, struct.pack("=Qi", 4, -1), 0), call(RULE, set, 1, bytes(64), 5))
		def moving():
		    set = ruleset(ALL)
		    rule(set, ".", ALL)
		    call(RESTRICT, set, 0)
		    print(call(82, b"d1/config", b".git/config"), call(82, b"d1/a", b"d1/b"))
		globals()[sys.argv[1]]()
	END
}

# A domain is what its ruleset held when it was made; what is not in it is out of reach by whatever name.
t_as_the_kernel_has_it() {
	local case
	domain_cases
	for case in growing parent_adds links threads flags moving; do
		rm -rf made dir d1 .git
		echo x >file
		mkdir d1
		/usr/bin/git init -q .
		cp .git/config d1/
		echo a >d1/a
		python3 domain.py $case >"$S/bare" 2>&1
		rm -rf made dir
		mv d1/b d1/a 2>/dev/null
		fence python3 domain.py $case
		cat "$S/err" >>"$S/out"
		diff "$S/bare" "$S/out" >"$S/diff" || fail "$case: $(cat "$S/diff")"
		[ ! -e made ] && [ ! -e dir ] || fail "$case: something was made"
	done
}

# Few descriptors: the domains of processes that are gone do not stay.
t_few_descriptors() {
	[ "$T_LEVEL" != hooks ] || return 0
	confining
	run bash -c 'ulimit -n 256; pale run -q --level '"$T_LEVEL"' -- python3 confine.py 150 /bin/sh -c ":"
		pale run -q --level '"$T_LEVEL"' -- sh -c "python3 confine.py 400 /bin/true; mkdir made; echo x >new"'
	rc_is 0
	exists made
	exists new
}

scenario "$@"
