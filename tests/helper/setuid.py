"""Installed setuid and started by a hostile user.  Runs as root, to be several users in turn:
T_HELPER is the installed helper, T_USER who starts it."""

from users import *


def proc_status(pid, name):
    with open("/proc/%d/status" % pid) as f:
        return next(line for line in f if line.startswith(name + ":")).split(":")[1].split()


@hostile
def a_session_works():
    s = session().start()
    w = s.ask(argv=["ask-me", "a"])
    s.respond(s.card())
    expect(s.answer(w).allowed, "not allowed")
    s.ring().decide("/srv/seen")
    expect(s.finish() == 0, "ended %r" % s.status)
    expect(not os.path.exists(s.runtime), "the runtime directory is left behind")


@hostile
def every_id_is_given_up():
    s = session().start()
    uid, gid = str(PALE_USER.pw_uid), str(PALE_USER.pw_gid)
    expect(proc_status(s.pid, "Uid") == [uid] * 4, "uids %r" % proc_status(s.pid, "Uid"))
    expect(proc_status(s.pid, "Gid") == [gid] * 4, "gids %r" % proc_status(s.pid, "Gid"))
    for cap in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
        expect(int(proc_status(s.pid, cap)[0], 16) == 0, cap)


@hostile
def the_starter_cannot_touch_it():
    s = session().start()
    for sig in (0, signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP, signal.SIGHUP):
        denied(lambda: os.kill(s.pid, sig), "signal %d can be sent" % sig)
    expect(LIBC.ptrace(16, s.pid, 0, 0) < 0, "it can be traced")
    for name in ("mem", "environ", "maps"):
        denied(lambda: open("/proc/%d/%s" % (s.pid, name)).read(), name + " can be read")
    denied(lambda: os.listdir("/proc/%d/fd" % s.pid), "its descriptors can be listed")
    for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE):
        denied(lambda: resource.prlimit(s.pid, which, (0, 0)), "its limits can be set")
    expect(os.stat("/proc/%d/environ" % s.pid).st_uid == 0, "it can be dumped")
    with open("/proc/%d/limits" % s.pid) as f:
        core = next(line for line in f if line.startswith("Max core")).split()[4:6]
    expect(core == ["0", "0"], "core %r" % core)
    s.tell(type="agent", pid=os.getpid())
    until(lambda: os.path.exists(s.state + "/session.json"), "session.json is not written")
    expect(s.records()[0]["op"] == "session/start", "the owner cannot read the ledger")
    for path in (s.ledger_path(), s.state + "/session.json"):
        for what in (lambda: open(path, "r+b"), lambda: open(path, "ab"), lambda: os.unlink(path),
                     lambda: os.truncate(path, 0), lambda: os.chmod(path, 0o666), lambda: os.rename(path, path + "x")):
            denied(what, path + " can be changed")
    for d in (s.runtime, s.state, os.path.dirname(s.runtime), os.path.dirname(s.state),
              "%s/%d" % (LIB, os.getuid()), LIB, RUN):
        denied(lambda: os.mkdir(d + "/mine"), "something can be made in " + d)
        denied(lambda: os.chmod(d, 0o777), d + " can be opened to all")
        denied(lambda: os.rename(d, d + "x"), d + " can be renamed")
    for d in (LIB, RUN):
        denied(lambda: os.listdir(d), d + " can be listed")
    denied(lambda: open(s.runtime + "/x", "w"), "files can be put into the runtime directory")
    expect(not os.path.exists(s.runtime + "/ring"), "the ring has a path")
    denied(lambda: os.rename(s.runtime, s.runtime + "x"), "the directory can be renamed")
    denied(lambda: open(s.runtime + "/image", "r+b"), "the image can be written")


@hostile
def the_environment_is_ignored():
    trap = SCRATCH + "/trap"
    os.mkdir(trap)
    # Whoever opens a FIFO waits for ever: a start that hangs has believed one of these.
    os.mkfifo(trap + "/fifo")
    env = {"LD_PRELOAD": trap + "/fifo", "LD_AUDIT": trap + "/fifo", "LD_LIBRARY_PATH": trap, "LD_DEBUG": "all",
           "LD_DEBUG_OUTPUT": trap + "/ld", "LD_SHOW_AUXV": "1", "GLIBC_TUNABLES": "glibc.malloc.perturb=165",
           "LOCPATH": trap, "LC_ALL": "fifo", "LANG": "fifo", "LANGUAGE": "fifo", "NLSPATH": trap + "/fifo",
           "TZ": ":" + trap + "/fifo", "TZDIR": trap, "GCONV_PATH": trap, "MALLOC_TRACE": trap + "/malloc",
           "RES_OPTIONS": "debug", "HOSTALIASES": trap + "/fifo", "TMPDIR": trap, "PATH": trap, "HOME": trap}
    for name in ("libc.so.6", "libm.so.6"):
        os.symlink("fifo", trap + "/" + name)
    r, w = os.pipe()
    s = session(env=env, stderr=w).start()
    os.close(w)
    w = s.ask(argv=["ask-me"])
    s.card()
    w.close()
    expect(sorted(os.listdir(trap)) == ["fifo", "libc.so.6", "libm.so.6"], "it wrote %r" % os.listdir(trap))
    s.finish()
    expect(os.read(r, 4096) == b"", "it talks")
    # That the trap is one: any other program falls into it.
    subprocess.run(["/bin/true"], env={"LD_DEBUG": "all", "LD_DEBUG_OUTPUT": trap + "/ld"}, check=True)
    expect(len(os.listdir(trap)) == 4, "the trap is none")


@hostile
def hostile_inheritance():
    def before():
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        for sig in range(1, 65):
            try:
                signal.signal(sig, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
        os.umask(0)
        for fd in range(3):
            os.close(fd)

    s = session(before=before).start()
    time.sleep(0.2)
    w = s.ask(argv=["ask-me"])
    s.respond(s.card())
    expect(s.answer(w).allowed and s.finish() == 0, "it does not work")
    for which, value in ((resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_NOFILE, 10), (resource.RLIMIT_CPU, 1)):

        def low():
            resource.setrlimit(which, (value, value))

        expect(session(before=low).wait() == 125, "limit %d is taken" % which)
    for argv in ((), None):

        def bare():
            LIBC.execve(HELPER.encode(), None if argv is None else (ctypes.c_char_p * 1)(None), None)

        expect(session(before=bare).wait() == 2, "no arguments")


@hostile
def the_starters_word_for_directories_is_nothing():
    for more in (dict(state_dir=SCRATCH + "/mine"), dict(runtime_dir="/tmp/x"), dict(runtime_dir="/root/x"),
                 dict(state_dir="/etc/x"), dict(state_dir=None, runtime_dir=None)):
        s = session()
        s.send_start(message=s.message(**more))
        p = s.packet()
        expect(p == {"type": "ready", "runtime_dir": "%s/%d/%s" % (RUN, os.getuid(), s.id),
                     "state_dir": "%s/%d/sessions/%s" % (LIB, os.getuid(), s.id)}, "%r: %r" % (more, p))
    for name in ("../x", "a/b", ".", "", "x" * 64):
        s = session()
        s.send_start(message=s.message(session=name))
        p = s.packet()
        expect(p["type"] == "error" and s.wait() != 0, "%r: %r" % (name, p))


@hostile
def a_session_is_made_once():
    s = session().start()
    again = session()
    again.send_start(message=again.message(session=s.id))
    p = again.packet()
    expect(p["type"] == "error" and "File exists" in p["text"] and again.wait() != 0, "%r" % p)
    expect(s.question(argv=["true"]).allowed, "the first one is harmed")


@test
def strangers_stay_outside():
    """Only who started the session may enter its directory, whatever the modes inside."""
    r, w = os.pipe()
    r2, w2 = os.pipe()
    pid = os.fork()
    if pid == 0:
        become(STARTER)
        s = session().start()
        os.write(w, s.runtime.encode())
        os.read(r2, 1)
        s.finish()
        os._exit(0)
    runtime = os.read(r, 4096).decode()

    def stranger():
        got = []
        state = runtime.replace(RUN, LIB).replace("/s", "/sessions/s")
        for path in [runtime + "/" + n for n in ("image", "session.json")] + [
                state + "/ledger.jsonl", state + "/session.json"]:
            try:
                open(path, "rb").close()
                got.append(path)
            except PermissionError:
                pass
        for name in ("agent.sock", "control.sock"):
            try:
                connect(runtime + "/" + name)
                got.append(name)
            except PermissionError:
                pass
        for d in (runtime, state, os.path.dirname(runtime), os.path.dirname(state), RUN, LIB):
            try:
                os.listdir(d)
                got.append(d)
            except PermissionError:
                pass
        return got

    try:
        expect(as_user(STRANGER, stranger) == [], "a stranger reaches %r" % as_user(STRANGER, stranger))
    finally:
        os.write(w2, b"g")
        os.waitpid(pid, 0)
        for fd in (r, w, r2, w2):
            os.close(fd)


FLOOR = "/etc/pale/policy.ini"


def put(path, text, mode=0o644, owner=0):
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, mode)
    os.chown(path, owner, 0)


def put_back():
    for path in (FLOOR, FLOOR[:-4] + ".d"):
        if os.path.islink(path) or os.path.isfile(path) or (os.path.exists(path) and not os.path.isdir(path)):
            os.unlink(path)
        shutil.rmtree(path, ignore_errors=True)
    os.mkdir(FLOOR[:-4] + ".d")
    os.chmod("/etc/pale", 0o755)


def starts():
    """What the starter's session says first."""

    def body():
        s = session()
        s.send_start()
        p = s.packet()
        return [p["type"], p.get("diags"), p.get("text")]

    return as_user(STARTER, body)


@test
def the_floor_is_what_root_wrote():
    put_back()
    put(FLOOR, "[commands]\ndeny = floor-me\n")
    put(FLOOR[:-4] + ".d/10.ini", "[commands]\ndeny = drop-in\n")
    put(FLOOR[:-4] + ".d/no", "nonsense")

    def body():
        # The launcher's word for a floor: none, or another one.
        for claimed in ([], [[0, FLOOR, "[commands]\nallow = floor-me\ndeny = claimed\n"]]):
            s = session()
            b = s.members()
            s.start(sources=claimed + b["sources"])
            for word, denied in (("floor-me", True), ("drop-in", True), ("claimed", False), ("true", False)):
                a = s.question(argv=[word])
                expect(a.allowed != denied, "%s with %r: %r" % (word, claimed, a))
            first = s.records("session/start")[0]["detail"]
            expect(FLOOR in first and "10.ini" in first, first)

    as_user(STARTER, body)
    put_back()
    expect(starts()[0] == "ready", "no floor at all is refused: %r" % starts())


@test
def a_floor_that_is_not_roots_alone_refuses_the_session():
    good = "[commands]\ndeny = floor-me\n"

    def symlink():
        put("/etc/pale.real", good)
        os.symlink("/etc/pale.real", FLOOR)

    def far_symlink():
        os.rmdir(FLOOR[:-4] + ".d")
        os.symlink("/tmp", FLOOR[:-4] + ".d")

    bad = {
        "unreadable": lambda: put(FLOOR, good, 0o600),
        "the group writes": lambda: put(FLOOR, good, 0o664),
        "all write": lambda: put(FLOOR, good, 0o646),
        "the starter's": lambda: put(FLOOR, good, 0o644, STARTER.pw_uid),
        "pale's own": lambda: put(FLOOR, good, 0o644, PALE_USER.pw_uid),
        "with errors": lambda: put(FLOOR, "[commands]\ndney = x\n"),
        "a FIFO": lambda: os.mkfifo(FLOOR),
        "a directory": lambda: os.mkdir(FLOOR),
        "a link": symlink,
        "a link of a directory": far_symlink,
        "a directory for all": lambda: os.chmod("/etc/pale", 0o777),
        "the starter's directory": lambda: os.chown(FLOOR[:-4] + ".d", STARTER.pw_uid, 0),
        "too large": lambda: put(FLOOR, "# " + "x" * 70 + "\n" * (9 << 20)),
        "a dropin unreadable": lambda: put(FLOOR[:-4] + ".d/a.ini", good, 0o600),
    }
    for name, make in bad.items():
        put_back()
        make()
        got = starts()
        expect(got[0] == "error" and got[1], "%s: %r" % (name, got))
    put_back()


@test
def root_is_given_up_too():
    s = session().start()
    expect(proc_status(s.pid, "Uid") == [str(PALE_USER.pw_uid)] * 4, "uids %r" % proc_status(s.pid, "Uid"))
    for cap in ("CapPrm", "CapEff"):
        expect(int(proc_status(s.pid, cap)[0], 16) == 0, cap)
    s.finish()


@test
def setuid_root_is_refused():
    program = SCRATCH + "/root-helper"
    shutil.copy(HELPER, program)
    os.chown(program, 0, 0)
    os.chmod(program, 0o4755)
    r, w = os.pipe()
    code = as_user(STARTER, lambda: session(program=program, stderr=w).wait())
    os.close(w)
    said = os.read(r, 4096)
    os.close(r)
    expect(code == 125 and b"setuid root" in said, "ended %r saying %r" % (code, said))


def ledgers():
    """Those of all users."""
    for user in filter(str.isdigit, os.listdir(LIB)):
        for d in os.listdir("%s/%s/sessions" % (LIB, user)):
            yield "%s/%s/sessions/%s/ledger.jsonl" % (LIB, user, d)


@test
def ledgers_verify():
    n = 0
    for path in ledgers():
        n += 1
        st = os.stat(path)
        expect((st.st_uid, st.st_mode & 0o7777) == (PALE_USER.pw_uid, 0o644),
            "%s is %o of %d" % (path, st.st_mode, st.st_uid))
        p = subprocess.run([PALE, "log", "verify", path], capture_output=True, text=True)
        expect(p.returncode == 0 and p.stdout.splitlines()[0].endswith(", sealed"), p.stdout + p.stderr)
    expect(n >= 6, "only %d ledgers" % n)


def verify_says(path, *options):
    p = subprocess.run([PALE, "log", "verify", *options, path], capture_output=True, text=True)
    return p.returncode, p.stdout


@test
def the_key_seals():
    """Who has no key can make no chain that verifies, and nobody but the helper has it."""
    key, public = os.stat(LIB + "/ledger.key"), os.stat(LIB + "/ledger.pub")
    expect((key.st_uid, key.st_mode & 0o7777) == (PALE_USER.pw_uid, 0o600),
        "the key is %o of %d" % (key.st_mode, key.st_uid))
    expect(public.st_mode & 0o7777 == 0o644, "the public key is %o" % public.st_mode)
    for user in (STARTER, STRANGER):
        as_user(user, lambda: denied(lambda: open(LIB + "/ledger.key"), "the key can be read by %s" % user.pw_name))
    path = next(ledgers())
    copy = SCRATCH + "/ledger.jsonl"
    with open(path) as f:
        lines = f.readlines()
    shutil.copy(path, copy)
    code, said = verify_says(copy)
    expect(code == 0 and "not known here" in said, "%d: %s" % (code, said))
    code, said = verify_says(copy, "--key", LIB + "/ledger.pub")
    expect(code == 0 and said.splitlines()[0].endswith(", sealed, of user %d" % STARTER.pw_uid),
        "%d: %s" % (code, said))
    with open(SCRATCH + "/other.pub", "w") as f:
        f.write("ab" * 32 + "\n")
    code, said = verify_says(copy, "--key", SCRATCH + "/other.pub")
    expect(code == 1 and "another key" in said, "%d: %s" % (code, said))
    # Without its checkpoint it is cut short, by whoever did it.
    with open(copy, "w") as f:
        f.writelines(lines[:-1])
    code, said = verify_says(copy, "--key", LIB + "/ledger.pub")
    expect(code == 1 and "sealed" in said, "%d: %s" % (code, said))


@test
def a_seal_names_its_owner():
    """Whoever takes a session's name and workspace of another user gets a ledger of his own."""
    mine = as_user(STARTER, lambda: (lambda s:
        (s.ask(argv=["ask-me"]).close(), s.finish(), s.id, s.state)[2:])(session().start()))

    def take_it():
        s = session()
        s.send_start(message=s.message(session=mine[0], agent="test"), bundle=s.bundle(session=mine[0]))
        expect(s.packet()["type"] == "ready", "not ready")
        s.state = "%s/%d/sessions/%s" % (LIB, os.getuid(), mine[0])
        s.finish()
        return s.state

    theirs = as_user(STRANGER, take_it) + "/ledger.jsonl"
    copy = SCRATCH + "/taken.jsonl"
    shutil.copy(theirs, copy)
    os.chmod(copy, 0o644)
    key = ("--key", LIB + "/ledger.pub")

    def refused(path, *options, user=None):
        code, said = as_user(user, lambda: verify_says(path, *options)) if user else verify_says(path, *options)
        expect(code == 1 and "another user" in said, "%r: %d: %s" % (options, code, said))

    refused(copy, *key, user=STARTER)
    refused(copy, "--user", STARTER.pw_name, *key)
    refused(copy, "--user", str(STARTER.pw_uid), *key, user=STRANGER)
    # Put into the other's place, name and all.
    place = mine[1] + "/ledger.jsonl"
    os.rename(place, place + ".kept")
    shutil.copy(theirs, place)
    refused(place)
    os.rename(place + ".kept", place)
    # The owner's word in the first record alone, or in the seal alone: the seal holds both.
    with open(copy) as f:
        text = f.read()
    for where in ("; owner=%d;", " owner=%d key="):
        with open(copy, "w") as f:
            f.write(text.replace(where % STRANGER.pw_uid, where % STARTER.pw_uid))
        code, said = as_user(STARTER, lambda: verify_says(copy, *key))
        expect(code == 1, "%r: %d: %s" % (where, code, said))
    with open(copy, "w") as f:
        f.write(text)
    code, said = verify_says(copy, *key, "--user", STRANGER.pw_name)
    expect(code == 0 and said.splitlines()[0].endswith(", sealed"), said)
    code, said = as_user(STRANGER, lambda: verify_says(copy, *key))
    expect(code == 0, said)


@test
def heads_in_the_journal():
    """Each checkpoint, with fields of its own, by the journal's own protocol."""
    os.makedirs("/run/systemd/journal", exist_ok=True)
    journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    journal.bind("/run/systemd/journal/socket")
    os.chmod("/run/systemd/journal/socket", 0o666)
    journal.settimeout(WAIT_S)

    def whole():
        s = session().start()
        s.ask(argv=["ask-me"]).close()
        s.finish()
        return s.id, s.bye

    id_, bye = as_user(STARTER, whole)
    fields = dict(line.split("=", 1) for line in journal.recv(65536).decode().splitlines())
    expect(fields["PALE_SESSION"] == id_ and fields["PALE_HEAD"] == bye["head"], "%r, %r" % (fields, bye))
    expect(fields["PALE_OWNER"] == str(STARTER.pw_uid), "%r" % fields)
    expect(fields["PALE_COUNT"] == str(bye["records"]) and fields["PALE_SEALED"] == "1", "%r" % fields)
    expect(len(fields["MESSAGE_ID"]) == 32 and fields["PRIORITY"] == "6" and bye["head"] in fields["MESSAGE"],
        "%r" % fields)
    journal.close()
    os.unlink("/run/systemd/journal/socket")


main()
