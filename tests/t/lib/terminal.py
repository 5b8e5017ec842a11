"""The operator's terminal, for scenarios: a pty with a program on it, and what is seen and typed there.

Nothing here sleeps for a while and hopes: whatever is waited for has LIMIT seconds.
"""
import fcntl, os, pty, select, signal, struct, sys, termios, time

LIMIT = 30


class Terminal:
    """argv runs in a session of its own on a new terminal, which `self.slave` keeps open."""

    def __init__(self, *argv, rows=24, cols=80, env=None, keep=True):
        self.master, self.slave = pty.openpty()
        self.size(rows, cols)
        self.before = termios.tcgetattr(self.slave)
        self.seen = b""
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(self.slave, fd)
            os.closerange(3, 64)
            for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(ignored, signal.SIG_DFL)
            os.execvpe(argv[0], argv, {**os.environ, **(env or {})})
        if not keep:
            os.close(self.slave)

    def size(self, rows, cols):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def type(self, data):
        while data:
            data = data[os.write(self.master, data):]

    def read(self, seconds=0.05):
        """Whether something came."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.seen += data
        return bool(data)

    def until(self, what):
        """Reads until `what` (bytes, or a function that is true) was seen; all up to it is taken away."""
        end = time.monotonic() + LIMIT
        done = (lambda: what in self.seen) if isinstance(what, bytes) else what
        while not done():
            if time.monotonic() > end:
                sys.exit("not seen: %r in %r" % (what, self.seen[-2000:]))
            self.read()
        if isinstance(what, bytes):
            cut = self.seen.index(what) + len(what)
            text, self.seen = self.seen[:cut], self.seen[cut:]
            return text

    def modes(self):
        return termios.tcgetattr(self.slave)

    def is_raw(self):
        return not self.modes()[3] & (termios.ICANON | termios.ISIG | termios.ECHO)

    def end(self):
        """Its status as a shell says it; what it wrote to the last is in self.seen."""
        end, done = time.monotonic() + LIMIT, 0
        while not done:
            self.read()
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if not done and time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                sys.exit("does not end: %r" % self.seen[-2000:])
        while self.read(0.1):
            pass
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 128 - code

    def ends(self, want=0):
        code = self.end()
        if code != want:
            sys.exit("status %d, not %d: %r" % (code, want, self.seen[-2000:]))

    def hang_up(self):
        os.close(self.slave)
        os.close(self.master)


def until(true):
    end = time.monotonic() + LIMIT
    while not true():
        if time.monotonic() > end:
            sys.exit("never true: %s" % true)
        time.sleep(0.02)


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def same(what, *values):
    """All are equal, or the test ends."""
    if any(v != values[0] for v in values):
        sys.exit("%s: %s" % (what, " / ".join(repr(v)[:1500] for v in values)))


PALE = ["pale", "run", "-q", "--"]
