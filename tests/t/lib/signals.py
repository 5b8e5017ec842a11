#!/usr/bin/python3
"""Signals, for fence/signals.sh.

signals.py victim FILE          a process of no session, with two threads: writes down each signal that it gets
signals.py outside PID TID      all ways at that victim
signals.py at FILE              SIGKILL to each process and thread whose number FILE has once it is there
signals.py inside               what a session's processes do to each other; says what is not as it should be
signals.py reach PID            `yes` or `no`: that process may be signalled
"""
import ctypes
import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
NR = {"kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297,
      "pidfd_send_signal": 424, "ptrace": 101, "timer_create": 222, "timer_settime": 223,
      "process_mrelease": 448}
F_SETSIG, F_SETOWN_EX, FIOSETOWN, SIOCSPGRP = 10, 15, 0x8901, 0x8902
SIG = signal.SIGUSR1


def call(name, *args):
    """0 or an errno."""
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    return 0 if libc.syscall(NR[name], *words) >= 0 else ctypes.get_errno()


def info(sig, code, pid=None):
    return ctypes.create_string_buffer(struct.pack("iiiiii", sig, 0, code, 0, pid or os.getpid(), os.getuid())
        + bytes(104))


# --- the victim ---------------------------------------------------------------------------------------------

def victim(path):
    def note(number, _):
        with open(path, "a") as f:
            print(number, file=f)
    for number in (SIG, signal.SIGUSR2, signal.SIGIO, signal.SIGURG, signal.SIGXCPU, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, note)
    thread = threading.Thread(target=time.sleep, args=(600,), daemon=True)
    thread.start()
    with open(path + ".new", "w") as f:
        print(os.getpid(), thread.native_id, file=f)
    os.rename(path + ".new", path + ".pids")
    while True:
        signal.pause()


# --- ways out -----------------------------------------------------------------------------------------------

def by_data(set_owner):
    """Whoever owns the socket has the signal when something arrives."""
    a, b = socket.socketpair()
    fcntl.fcntl(a, F_SETSIG, SIG)
    set_owner(a)
    fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | os.O_ASYNC)
    b.send(b"x")


def pidfds(pid):
    try:
        yield os.pidfd_open(pid)
    except OSError:
        pass
    yield 0  # that of whoever started us, where it is one


def outside(pid, tid):
    signal.signal(SIG, signal.SIG_IGN)
    group = os.getpgid(pid)  # ours may be the same
    for number in (pid, tid, 1 << 32 | pid):
        call("kill", number, SIG)
        call("tkill", number, SIG)
        call("rt_sigqueueinfo", number, SIG, info(SIG, -1))
        call("rt_sigqueueinfo", number, SIG, info(SIG, 0))
        for leader in (pid, number, os.getpid()):
            call("tgkill", leader, number, SIG)
            call("rt_tgsigqueueinfo", leader, number, SIG, info(SIG, -6))
    for fd in pidfds(pid):
        for flags in (0, 1, 2, 4):
            call("pidfd_send_signal", fd, SIG, 0, flags)
            call("pidfd_send_signal", fd, SIG, info(SIG, -1), flags)
        call("process_mrelease", fd, 0)
    call("kill", -group, SIG)
    for text in ("F_SETOWN", "F_SETOWN of a thread", "of a group", "F_SETOWN_EX", "FIOSETOWN", "SIOCSPGRP"):
        def own(s, text=text):
            if text == "F_SETOWN_EX":
                fcntl.fcntl(s, F_SETOWN_EX, struct.pack("ii", 1, pid))
            elif text in ("FIOSETOWN", "SIOCSPGRP"):
                fcntl.ioctl(s, FIOSETOWN if text == "FIOSETOWN" else SIOCSPGRP, struct.pack("i", pid))
            else:
                fcntl.fcntl(s, fcntl.F_SETOWN, {"F_SETOWN": pid, "F_SETOWN of a thread": tid}.get(text, -group))
        try:
            by_data(own)
        except OSError:
            pass
    # A timer of one's own that tells another's thread.
    timer = ctypes.c_int()
    event = ctypes.create_string_buffer(struct.pack("qiii", 0, SIG, 4, tid) + bytes(44))
    if call("timer_create", 0, event, ctypes.byref(timer)) == 0:
        call("timer_settime", timer.value, 0, ctypes.create_string_buffer(struct.pack("qqqq", 0, 0, 0, 1)), 0)
    call("ptrace", 0x4206, pid, 0, 0)
    call("ptrace", 8, pid, 0, 0)
    try:
        import resource
        resource.prlimit(pid, resource.RLIMIT_CPU, (0, 0))
    except OSError:
        pass
    # Who is in its group signals it with that.
    if os.fork() == 0:
        try:
            os.setpgid(0, group)
        except OSError:
            pass
        call("kill", 0, SIG)
        call("kill", -1, SIG)
        os._exit(0)
    os.wait()


def at(path):
    while not os.path.exists(path):
        time.sleep(0.02)
    with open(path) as f:
        for number in map(int, f.read().split()):
            call("kill", number, 9)
            call("tkill", number, 9)
            call("kill", -number, 9)
            call("rt_sigqueueinfo", number, 9, info(9, -1))
            for leader in (number, os.getppid()):
                call("tgkill", leader, number, 9)
                call("rt_tgsigqueueinfo", leader, number, 9, info(9, -1))
            for fd in pidfds(number):
                call("pidfd_send_signal", fd, 9, 0, 0)
    print("tried")


# --- ways among oneself -------------------------------------------------------------------------------------

WAITS = """
import ctypes, os, signal, sys, threading
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGUSR2])
def wait(n):
    print(threading.get_native_id(), flush=True)
    for _ in range(n):
        i = signal.sigwaitinfo([signal.SIGUSR1, signal.SIGUSR2])
        print(i.si_signo, i.si_pid, i.si_uid, flush=True)
t = threading.Thread(target=wait, args=(1,)); t.start(); t.join()
wait(int(sys.argv[1]))
"""


def expect(what, got, wanted):
    if got != wanted:
        print("%s: %s, not %s" % (what, got, wanted))


def told_by(how, child, number=signal.SIGUSR1):
    expect(how, child.stdout.readline().split(), [str(int(number)), str(os.getpid()), str(os.getuid())])


def to_a_child():
    child = subprocess.Popen([sys.executable, "-c", WAITS, "6"], stdout=subprocess.PIPE, text=True)
    thread = int(child.stdout.readline())
    expect("tkill", call("tkill", thread, SIG), 0)
    told_by("tkill", child)
    child.stdout.readline()
    fd = os.pidfd_open(child.pid)
    for name, args in (("kill", (child.pid, SIG)), ("tgkill", (child.pid, child.pid, SIG)), ("tkill", (child.pid, SIG)),
                       ("rt_sigqueueinfo", (child.pid, SIG, info(SIG, -1))),
                       ("rt_tgsigqueueinfo", (child.pid, child.pid, SIG, info(SIG, -1))),
                       ("pidfd_send_signal", (fd, SIG, 0, 0))):
        expect(name, call(name, *args), 0)
        told_by(name, child)
    child.wait()
    expect("gone, by number", call("kill", child.pid, 0), 3)
    expect("gone, by pidfd", call("pidfd_send_signal", fd, 0, 0, 0), 3)
    expect("no pidfd", call("pidfd_send_signal", 1, 0, 0, 0), 9)
    expect("a false sender", call("rt_sigqueueinfo", os.getppid(), SIG, info(SIG, 0)), 1)
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    expect("a zombie", call("kill", pid, 0), 0)
    os.waitpid(pid, 0)


def to_oneself():
    got = []
    signal.signal(SIG, lambda number, _: got.append(number))
    os.kill(os.getpid(), SIG)
    signal.raise_signal(SIG)
    signal.pthread_kill(threading.get_ident(), SIG)
    expect("oneself", got, [SIG] * 3)
    thread = threading.Thread(target=time.sleep, args=(0.5,))
    thread.start()
    expect("a thread", call("tkill", thread.native_id, SIG), 0)
    expect("a thread", call("tgkill", os.getpid(), thread.native_id, SIG), 0)
    expect("a thread of none", call("tgkill", os.getpid(), 1, SIG), 3)
    thread.join()
    signal.signal(signal.SIGIO, lambda number, _: got.append(number))
    a, b = socket.socketpair()
    fcntl.fcntl(a, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | os.O_ASYNC)
    del got[:]
    b.send(b"x")
    time.sleep(0.05)
    expect("SIGIO", got, [signal.SIGIO])


def sleepers(**how):
    made = [subprocess.Popen(["sleep", "60"], **how) for _ in range(3)]
    return made, [-9] * 3


def to_many():
    made, dead = sleepers(process_group=0) if sys.version_info >= (3, 11) else sleepers(preexec_fn=os.setpgrp)
    for one in made:
        os.killpg(one.pid, 9)
    expect("groups", [one.wait() for one in made], dead)
    expect("no group", call("kill", -made[0].pid, 9), 3)
    os.setpgid(0, 0)
    made, _ = sleepers()
    got = []
    signal.signal(SIG, lambda number, _: got.append(number))
    os.kill(0, SIG)
    expect("one's own group", [one.wait() for one in made] + got, [-SIG] * 3 + [SIG])
    made, dead = sleepers(start_new_session=True)
    os.kill(-1, 9)
    expect("all", [one.wait() for one in made], dead)
    expect("timeout(1)", subprocess.call(["timeout", "0.2", "sleep", "60"]), 124)
    expect("jobs", subprocess.run(["bash", "-mc", "sleep 60 & kill %1; wait %1; echo $?"],
        stdout=subprocess.PIPE).stdout, b"143\n")


def inside():
    to_a_child()
    to_oneself()
    to_many()
    print("done")


def reach(pid):
    print("yes" if call("kill", pid, 0) == 0 and call("tkill", pid, 0) == 0 else "no", flush=True)


verb, args = sys.argv[1], sys.argv[2:]
{"victim": victim, "at": at, "inside": inside}.get(verb,
    lambda *a: {"outside": outside, "reach": reach}[verb](*map(int, a)))(*args)
