"""Run inside a session: all that its code can try to answer its own question.  Prints a line for each attempt,
`NAME: what came of it`; what was accepted says ACCEPTED."""

import array
import carddigest
import ctypes
import fcntl
import json
import mmap
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

LIBC = ctypes.CDLL(None, use_errno=True)
# syscall(2) without libc, which is hooked: the number first, -errno back.
CODE = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
CODE.write(bytes.fromhex("4889f8 4889f7 4889d6 4889ca 4d89c2 4d89c8 0f05 c3"))
SYSCALL = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long, *[ctypes.c_void_p] * 3)(
    ctypes.addressof(ctypes.c_char.from_buffer(CODE)))
RUNTIME = os.environ["PALE_SESSION_DIR"]
CONTROL = RUNTIME + "/control.sock"
CONNECT = 42
attempts = []


def attempt(fn):
    attempts.append(fn)
    return fn


def say(line, method, **params):
    try:
        line.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode())
    except (BrokenPipeError, ConnectionResetError):
        pass
    try:
        raw = line.recv(1 << 17)
    except ConnectionResetError:
        # What was said before it was closed stands behind the error.
        raw = line.recv(1 << 17)
    reply = json.loads(raw or b'{"error": {"message": "hung up"}}')
    if "error" in reply:
        raise OSError(0, "the helper: " + reply["error"]["message"])
    return reply["result"]


def answer(line):
    """The whole way from a connection to an answer."""
    line.settimeout(5)
    for _ in range(100):
        cards = say(line, "approval/list")["approvals"]
        if cards:
            break
        time.sleep(0.05)
    shown = say(line, "approval/show", id=cards[0]["id"])
    say(line, "approval/respond", id=cards[0]["id"], digest=carddigest.card_digest(shown), decision="approved")
    return "ACCEPTED"


def sun(path):
    raw = path if isinstance(path, bytes) else path.encode() + b"\0"
    return b"\x01\x00" + raw


def raw_connect(path, kind=socket.SOCK_SEQPACKET):
    """By the system call itself, past the hooks."""
    s = socket.socket(socket.AF_UNIX, kind)
    addr = sun(path)
    err = -SYSCALL(CONNECT, s.fileno(), ctypes.cast(ctypes.c_char_p(addr), ctypes.c_void_p), len(addr))
    if err > 0:
        raise OSError(err, os.strerror(err))
    return s


def direct(path=CONTROL):
    return answer(raw_connect(path))


def result(body):
    try:
        return str(body())
    except BaseException as e:
        return "%s: %s" % (type(e).__name__, e)


def far(body, *before):
    """In a forked child, after what comes before."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        def run():
            for b in before:
                b()
            return body()
        os.write(w, result(run).encode())
        os._exit(0)
    os.close(w)
    said = os.read(r, 4096).decode()
    os.close(r)
    os.waitpid(pid, 0)
    return said


@attempt
def by_connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(CONTROL)
    return answer(s)


@attempt
def by_system_call():
    return direct()


@attempt
def by_pale_itself():
    cards = subprocess.run(["pale", "pending", "--json"], capture_output=True, text=True)
    p = subprocess.run(["pale", "approve", sys.argv[1]], capture_output=True, text=True)
    return "ACCEPTED" if p.returncode == 0 else (p.stderr or cards.stderr).strip()


@attempt
def in_a_thread():
    got = []
    t = threading.Thread(target=lambda: got.append(result(direct)))
    t.start()
    t.join()
    return got[0]


@attempt
def in_a_vfork_child():
    # posix_spawn; the child tries on its own.
    p = subprocess.run([sys.executable, __file__, "-", "by_system_call"], capture_output=True, text=True,
        close_fds=False)
    return p.stdout.strip()


@attempt
def after_setsid():
    return far(direct, os.setsid)


@attempt
def as_an_orphan():
    r, w = os.pipe()
    if os.fork() == 0:
        os.setsid()
        me = os.getpid()
        if os.fork() == 0:
            for _ in range(500):
                if os.getppid() != me:
                    break
                time.sleep(0.002)
            os.write(w, result(direct).encode())
        os._exit(0)
    os.wait()
    os.close(w)
    return os.read(r, 4096).decode()


@attempt
def on_a_terminal_of_its_own():
    def there():
        os.setsid()
        master, slave = pty.openpty()
        fcntl.ioctl(slave, 0x540E, 0)
        return direct()

    return far(there)


@attempt
def in_name_spaces_of_its_own():
    def there():
        if LIBC.unshare(0x10000000 | 0x20000000) < 0:
            raise OSError(ctypes.get_errno(), "unshare")
        return far(direct)

    return far(there)


@attempt
def not_dumpable():
    return far(direct, lambda: LIBC.prctl(4, 0, 0, 0, 0))


@attempt
def dies_after_connecting():
    def there():
        s = raw_connect(CONTROL)
        s.send(b'{"jsonrpc":"2.0","id":1,"method":"approval/list"}')
        if os.fork() == 0:
            time.sleep(0.2)
            os.write(w, result(lambda: answer(s)).encode())
            os._exit(0)
        os._exit(0)

    r, w = os.pipe()
    if os.fork() == 0:
        os.write(w, result(there).encode())
        os._exit(0)
    os.wait()
    os.close(w)
    return os.read(r, 4096).decode()


@attempt
def execs_after_connecting():
    def there():
        s = raw_connect(CONTROL)
        os.set_inheritable(s.fileno(), True)
        p = subprocess.run([sys.executable, __file__, "-", "--line", str(s.fileno())], pass_fds=[s.fileno()],
                           capture_output=True, text=True)
        return p.stdout.strip()

    return far(there)


@attempt
def by_a_symbolic_link():
    os.symlink(CONTROL, "link.sock")
    return direct(os.path.abspath("link.sock"))


@attempt
def by_a_link_to_the_directory():
    os.symlink(RUNTIME, "linked")
    return direct(os.path.abspath("linked") + "/control.sock")


@attempt
def by_a_hard_link():
    os.link(CONTROL, "hard.sock")
    return direct(os.path.abspath("hard.sock"))


@attempt
def by_renaming_it():
    os.rename(CONTROL, "moved.sock")
    return direct(os.path.abspath("moved.sock"))


@attempt
def by_a_bind_mount():
    open("bound.sock", "w").close()
    if LIBC.mount(CONTROL.encode(), os.path.abspath("bound.sock").encode(), None, 4096, None) < 0:
        raise OSError(ctypes.get_errno(), "mount")
    return direct(os.path.abspath("bound.sock"))


@attempt
def by_a_descriptor_of_it():
    fd = os.open(CONTROL, 0o10000000)
    return direct("/proc/self/fd/%d" % fd)


@attempt
def by_a_relative_path():
    os.chdir(RUNTIME)
    try:
        return direct("control.sock")
    finally:
        os.chdir(os.environ["PWD"])


@attempt
def by_an_abstract_twin():
    return direct(b"\0" + CONTROL.encode())


@attempt
def by_a_stream():
    return answer(raw_connect(CONTROL, socket.SOCK_STREAM))


@attempt
def by_a_socket_in_its_place():
    os.unlink(CONTROL)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.bind(CONTROL)
    return "ACCEPTED: it listens in the helper's place"


@attempt
def by_a_session_of_its_own_making():
    os.mkdir(os.path.dirname(RUNTIME) + "/zzzzzz", 0o700)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.bind(os.path.dirname(RUNTIME) + "/zzzzzz/control.sock")
    return "ACCEPTED: the operator's programs would find it"


@attempt
def by_typing_into_the_terminal():
    fd = os.open("/dev/tty", os.O_RDWR)
    for c in b"pale approve\n":
        fcntl.ioctl(fd, 0x5412, bytes([c]))
    return "ACCEPTED: typed"


@attempt
def by_the_agents_socket():
    """What an agent may say there is a question."""
    s = raw_connect(RUNTIME + "/agent.sock")
    s.settimeout(3)
    s.send(b'{"jsonrpc":"2.0","id":1,"method":"approval/list"}')
    got = s.recv(4096)
    return "ACCEPTED" if b"result" in got else "hung up" if not got else repr(got)


@attempt
def by_killing_the_helper():
    info = json.load(open(RUNTIME + "/session.json"))
    os.kill(info["helper_pid"], signal.SIGSTOP)
    return "ACCEPTED: stopped"


@attempt
def by_tracing_the_helper():
    info = json.load(open(RUNTIME + "/session.json"))
    if LIBC.ptrace(16, info["helper_pid"], 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    return "ACCEPTED: traced"


def launder(argv):
    p = subprocess.run(argv, capture_output=True, text=True, timeout=10)
    if p.returncode:
        return (p.stderr or p.stdout or "exit %d" % p.returncode).strip()
    time.sleep(1)
    return "ACCEPTED" if os.path.exists("laundered") else "nothing came of it"


@attempt
def by_tmux():
    sock = os.environ.get("T_TMUX", "")
    if not shutil.which("tmux") or not sock:
        return "no tmux here"
    return launder(["tmux", "-S", sock, "run-shell",
        "pale approve %s && touch %s/laundered" % (sys.argv[1], os.getcwd())])


@attempt
def by_systemd_run():
    if not shutil.which("systemd-run"):
        return "no systemd-run here"
    return launder(["systemd-run", "--user", "pale", "approve", sys.argv[1]])


@attempt
def by_at():
    if not shutil.which("at"):
        # What it would do: a file in the spool.
        open("/var/spool/cron/atjobs/a0000101", "w").close()
        return "ACCEPTED: written"
    return launder(["sh", "-c", "echo pale approve %s | at now" % sys.argv[1]])


@attempt
def by_a_git_hook():
    os.makedirs(".git/hooks", exist_ok=True)
    open(".git/hooks/post-checkout", "w").write("#!/bin/sh\npale approve %s\n" % sys.argv[1])
    return "ACCEPTED: the operator's git will run it"


@attempt
def by_the_operators_shell():
    open(os.path.expanduser("~/.bashrc"), "a").write("pale approve %s\n" % sys.argv[1])
    return "ACCEPTED: the operator's shell will run it"


def main():
    if sys.argv[2:3] == ["--line"]:
        print(result(lambda: answer(socket.socket(fileno=int(sys.argv[3])))))
        return
    os.makedirs("try", exist_ok=True)
    os.chdir("try")
    os.environ["PWD"] = os.getcwd()
    for fn in attempts:
        if len(sys.argv) == 2:
            print("%s: %s" % (fn.__name__, result(fn).replace("\n", " | ")), flush=True)
        elif fn.__name__ in sys.argv[2:]:
            print(result(fn))


main()
