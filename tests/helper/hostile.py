"""Hostile starts of the setuid helper, as root to look at what came of each: a refusal in a sentence, or a helper
in the state that it must have whatever it was started with.  T_HELPER is the installed helper, T_USER who starts it."""

import pwd
import pty
import resource

from session import *

PALE_USER = pwd.getpwnam("pale")
STARTER = pwd.getpwnam(os.environ["T_USER"])
MARKER = SCRATCH + "/marker"
EITHER, READY, REFUSED = "either", "ready", "refused"
TERM, INT, HUP = signal.SIGTERM, signal.SIGINT, signal.SIGHUP
cases = []


def case(name, before=None, want=EITHER, kernel=False, **how):
    """kernel: it may be the kernel that ends it, or that does not even execute it."""
    cases.append((name, before, want, kernel, how))


def raw(*args):
    if LIBC.syscall(*args) < 0:
        raise OSError(ctypes.get_errno(), "syscall %r" % (args[0],))


def mask_of(*sigs):
    return sum(1 << (s - 1) for s in sigs)


# --- the starts ---------------------------------------------------------------------------------------


def execve(argv):
    words = (ctypes.c_char_p * (len(argv) + 1))(*[a.encode() for a in argv]) if argv is not None else None
    LIBC.execve(HELPER.encode(), words, None)


for name, argv in (("NULL", None), ("nothing", []), ("an empty name", [""]), ("1 MiB", ["x"] + ["y" * 100000] * 10),
                   ("no verb", ["pale-helper"]), ("a wrong verb", ["pale-helper", "sessio"]),
                   ("a verb too many", ["pale-helper", "session", "session"]), ("service", ["pale-helper", "service"]),
                   ("escapes", ["\x1b[31m\n", "\x1b[2J\n"]), ("10,000 words", ["x"] * 10000)):
    case("argv: " + name, lambda argv=argv: execve(argv), REFUSED)
case("argv: a name like an option", want=READY, argv=("--version", "session"))


def close_fds(closed, extra):
    f = os.open(MARKER, os.O_RDONLY)
    for n in range(200, 200 + extra):
        os.dup2(f, n, inheritable=True)
    os.close(f)
    for n in closed:
        os.close(n)


for subset in range(8):
    closed = [n for n in range(3) if subset & 1 << n]
    for extra in (0, 100):
        case("closed %r, %d more" % (closed, extra), lambda c=closed, e=extra: close_fds(c, e), READY)


def third(make):
    fd = make()
    os.dup2(fd, 3, inheritable=True)


case("no session: closed", lambda: os.close(3), REFUSED)
case("no session: a file", lambda: third(lambda: os.open(MARKER, os.O_RDONLY)), REFUSED)
case("no session: a pipe", lambda: third(lambda: os.pipe()[0]), REFUSED)
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    case("no session: a socket of type %d" % kind,
        lambda k=kind: third(lambda: socket.socketpair(socket.AF_UNIX, k)[0].detach()),
         REFUSED)
case("no session: a listener", lambda: third(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).detach()),
    REFUSED)

NEEDED = {resource.RLIMIT_NOFILE: 10, resource.RLIMIT_FSIZE: 4096, resource.RLIMIT_AS: 1 << 20,
    resource.RLIMIT_DATA: 4096,
          resource.RLIMIT_CPU: 1, resource.RLIMIT_STACK: 65536}
for which in range(16):
    for value in (0, NEEDED.get(which, 1), None):

        def limit(w=which, v=value):
            hard = resource.getrlimit(w)[1]
            # RLIM_INFINITY is -1 here.
            v = hard if v is None or 0 <= hard < v else v
            resource.setrlimit(w, (v, v))

        # The kernel keeps arguments and stack within the first two of these, at exec.
        case("limit %d is %r" % (which, value), limit, READY if value is None else REFUSED if which in NEEDED
            else EITHER,
             kernel=which in (resource.RLIMIT_AS, resource.RLIMIT_STACK, resource.RLIMIT_DATA, resource.RLIMIT_CPU))


def inherit(sig):
    # By the system calls: libc keeps 32 and 33 to itself.
    raw(13, sig, struct.pack("<QQQQ", 1, 0, 0, 0), None, 8)
    raw(14, 0, struct.pack("<Q", mask_of(sig)), None, 8)


for sig in range(1, 65):
    if sig not in (signal.SIGKILL, signal.SIGSTOP):
        case("signal %d is ignored and blocked" % sig, lambda s=sig: inherit(s), READY)
for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
    for seconds in (0.02, 0.2):
        case("timer %d in %.2f s" % (timer, seconds), lambda t=timer, s=seconds: signal.setitimer(t, s, s), READY)
for mask in (0, 0o777, 0o222, 0o111, 0o022):
    case("umask %o" % mask, lambda m=mask: os.umask(m), READY)


def in_dir(then):
    d = tempfile.mkdtemp(dir="/tmp")
    os.chdir(d)
    then(d)


case("cwd: deleted", lambda: in_dir(os.rmdir), READY)
case("cwd: closed", lambda: in_dir(lambda d: os.chmod(d, 0)), READY)
case("cwd: long", lambda: in_dir(lambda d: [(os.mkdir("x" * 200), os.chdir("x" * 200)) for _ in range(30)]), READY)


# Held here: whoever closes the last descriptor of the other side hangs up.
MASTER, SLAVE = pty.openpty()
TTY = os.ttyname(SLAVE)
os.chown(TTY, STARTER.pw_uid, -1)


def lead_terminal():
    os.setsid()
    fcntl.ioctl(os.open(TTY, os.O_RDWR), 0x540E, 0)  # TIOCSCTTY


case("tty: none", lambda: os.setsid(), READY)
case("tty: leads its session", lead_terminal, REFUSED)
case("tty: leads a group of it", lambda: os.setpgid(0, 0), REFUSED)


def traced():
    LIBC.ptrace(0, 0, 0, 0)


def other_name(make):
    path = tempfile.mkdtemp(dir="/opt") + "/helper"
    os.chmod(os.path.dirname(path), 0o755)
    make(HELPER, path)
    os.chown(os.path.dirname(path), STARTER.pw_uid, STARTER.pw_gid)
    return path


case("a hard link in the starter's directory", want=REFUSED, program=lambda: other_name(os.link))
case("a symbolic link", want=READY, program=lambda: other_name(os.symlink))
case("a copy without the bit", want=REFUSED, program=lambda: other_name(shutil.copy))
case("no_new_privs", lambda: prctl(38, 1, 0, 0, 0), REFUSED)
case("nice", lambda: os.nice(19), READY)
case("SCHED_IDLE", lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)), READY)
case("SCHED_BATCH", lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)), READY)
case("one processor", lambda: os.sched_setaffinity(0, {0}), READY)
case("no address randomisation", lambda: LIBC.personality(0x0040000), READY)
case("a parent's death signal", lambda: prctl(1, 9, 0, 0, 0), READY)
case("a subreaper", lambda: prctl(36, 1, 0, 0, 0), READY)
case("timer slack", lambda: prctl(29, 10**9, 0, 0, 0), READY)

for name in ("LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH LD_ORIGIN_PATH LD_DEBUG_OUTPUT LD_PROFILE LD_PROFILE_OUTPUT "
             "LD_HWCAP_MASK LD_USE_LOAD_BIAS LD_DYNAMIC_WEAK LD_BIND_NOW GLIBC_TUNABLES LOCPATH LC_ALL LANG LANGUAGE "
             "NLSPATH TZ TZDIR GCONV_PATH GETCONF_DIR MALLOC_TRACE MALLOC_CHECK_ RES_OPTIONS HOSTALIASES LOCALDOMAIN "
             "RESOLV_HOST_CONF NIS_PATH TMPDIR PATH HOME XDG_RUNTIME_DIR XDG_STATE_HOME LISTEN_FDS PALE_SESSION_DIR "
             "IFS BASH_ENV POSIXLY_CORRECT").split():
    case("environment: " + name, want=READY, env={name: MARKER})
case("environment: 1 MiB", want=READY, env={"X%d" % i: "y" * 100000 for i in range(10)})
case("environment: a name with a newline", want=READY, env={"a\nb": "c"})


# --- what must have come of it ------------------------------------------------------------------------


def status(pid):
    with open("/proc/%d/status" % pid) as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def descriptors(where):
    """What a process has open; it lives on and may have closed one meanwhile."""
    fds = {}
    for n in os.listdir(where):
        try:
            fds[int(n)] = os.readlink(where + n)
        except FileNotFoundError:
            pass
    return fds


def check_state(s):
    st, d = status(s.pid), "/proc/%d/" % s.pid
    uid, gid = str(PALE_USER.pw_uid), str(PALE_USER.pw_gid)
    expect(st["Uid"].split() == [uid] * 4 and st["Gid"].split() == [gid] * 4, "ids %s %s" % (st["Uid"], st["Gid"]))
    for cap in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        expect(int(st[cap], 16) == 0, cap + " " + st[cap])
    # libc blocks all signals for the moment in which it makes a thread.
    for _ in range(100):
        blocked = int(status(s.pid)["SigBlk"], 16)
        if blocked == mask_of(TERM, INT, HUP):
            break
        time.sleep(0.01)
    ignored = int(st["SigIgn"], 16)
    expect(ignored == mask_of(signal.SIGPIPE, signal.SIGXFSZ, signal.SIGXCPU), "ignores %x" % ignored)
    expect(blocked == mask_of(TERM, INT, HUP), "blocks %x" % blocked)
    # 33 is libc's own, of every program with threads (SIGSETXID).
    expect(int(st["SigCgt"], 16) & ~(1 << 32) == 0, "catches " + st["SigCgt"])
    expect(int(st["Umask"], 8) == 0o77, "umask " + st["Umask"])
    expect(st["TracerPid"] == "0", "traced")
    expect(os.getsid(s.pid) == s.pid, "in the session of its starter")
    with open(d + "stat") as f:
        expect(f.read().rpartition(")")[2].split()[4] == "0", "has a terminal")
    expect(os.readlink(d + "cwd") == "/", "cwd " + os.readlink(d + "cwd"))
    expect(os.stat(d + "environ").st_uid == 0, "can be dumped")
    with open(d + "limits") as f:
        core = next(line for line in f if line.startswith("Max core")).split()[4:6]
    expect(core == ["0", "0"], "core %r" % core)
    fds = descriptors(d + "fd/")
    expect({0, 1, 2} <= set(fds) and len(fds) < 32, "descriptors %r" % fds)
    expect(not [n for n in fds.values() if n == MARKER], "inherited descriptors stay: %r" % fds)
    expect(not [n for n in range(3) if fds[n].startswith("socket") or "pale" in fds[n]],
        "a standard one is ours: %r" % fds)
    expect(os.path.exists("/run/pale/%d/%s/control.sock" % (s.owner, s.id)), "no runtime directory")


def refused(s, said, kernel):
    code = s.wait()
    if kernel and code in (99, -signal.SIGKILL, -signal.SIGSEGV, -signal.SIGXCPU):
        return
    expect(code in (1, 2, 125, 127), "ended %d saying %r" % (code, said))


def try_one(name, before, want, kernel, how):
    r, w = os.pipe()
    how = dict(how)
    if callable(how.get("program")):
        how["program"] = how["program"]()

    def hostile():
        os.setgroups([])
        os.setresgid(STARTER.pw_gid, STARTER.pw_gid, STARTER.pw_gid)
        os.setresuid(STARTER.pw_uid, STARTER.pw_uid, STARTER.pw_uid)
        if before:
            before()

    s = Session(foreign=True, before=hostile, stderr=w, **how)
    s.owner = STARTER.pw_uid
    os.close(w)
    p = None
    try:
        s.send_start(message=s.message(runtime_dir=None, state_dir=None))
        p = s.packet()
    except (BrokenPipeError, ConnectionResetError):
        pass
    if p and p["type"] == "ready":
        expect(want != REFUSED, "it serves")
        check_state(s)
        # Timers that were to go off have gone off by now.
        if "timer" in name:
            time.sleep(0.25)
        expect(s.finish() == 0, "ended %r" % s.status)
    else:
        # It has hung up, or hears so.
        s.fd.close()
        refused(s, None, kernel)
        said = os.read(r, 4096)
        expect(want != READY, "refused: %r %r" % (p, said))
        expect(said.startswith(b"pale-helper: ") and said.count(b"\n") == 1 or (p and p["text"]) or kernel
            or "argv" in name or "listener" in name,
               "without a word: %r" % said)
    os.close(r)
    expect(not os.path.exists("/run/pale/%d/%s" % (s.owner, s.id)), "the runtime directory is left behind")
    return p and p["type"] == "ready"


@test
def traced_from_the_start():
    """The kernel gives no other user to a traced program: then it is nobody's helper."""
    s = Session(foreign=True, before=lambda: (os.setresuid(*[STARTER.pw_uid] * 3), traced()))
    os.waitpid(s.pid, 0)
    expect(status(s.pid)["Uid"].split() == [str(STARTER.pw_uid)] * 4, "a traced one is setuid")
    os.kill(s.pid, signal.SIGKILL)
    s.wait()


@test
def hostile_starts():
    good = bad = 0
    failed = []
    for name, *what in cases:
        try:
            if try_one(name, *what):
                good += 1
            else:
                bad += 1
        except Failed as e:
            failed.append("%s: %s" % (name, e))
        finally:
            while running:
                running.pop().close()
    expect(not failed, "\n".join(failed))
    print("# %d hostile starts: %d served in the right state, %d refused" % (good + bad, good, bad))
    expect(good + bad >= 200, "only %d" % (good + bad))


open(MARKER, "w").close()
os.chmod(MARKER, 0o644)
main()
