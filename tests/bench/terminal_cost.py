"""The operator's side of tests/bench/terminal_cost.sh: reads as fast as it can, and types keys one by one."""
import os, pty, statistics, sys, time

WAYS = {
    "bare": lambda line: ["sh", "-c", line],
    "script -qc": lambda line: ["script", "-qc", line, "/dev/null"],
    "pale run": lambda line: ["pale", "run", "-q", "--", "sh", "-c", line],
}
KEYS = 300
ECHO = "stty raw -echo; printf ready; exec cat"


def start(argv):
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(argv[0], argv)
    return pid, fd


def rest(fd):
    size = 0
    try:
        while data := os.read(fd, 1 << 17):
            size += len(data)
    except OSError:
        pass
    return size


def megabytes_a_second(argv):
    pid, fd = start(argv)
    os.read(fd, 1)
    began = time.monotonic()
    size = rest(fd)
    took = time.monotonic() - began
    os.waitpid(pid, 0)
    return size / took / 1e6


def microseconds_a_key(argv):
    pid, fd = start(argv)
    seen = b""
    while b"ready" not in seen:
        seen += os.read(fd, 4096)
    times = []
    for _ in range(KEYS):
        began = time.monotonic()
        os.write(fd, b"k")
        while b"k" not in os.read(fd, 4096):
            pass
        times.append((time.monotonic() - began) * 1e6)
    os.kill(pid, 15)
    os.close(fd)
    os.waitpid(pid, 0)
    return statistics.median(times)


def table(what, measure, line, rounds):
    got = {name: [] for name in WAYS}
    for _ in range(rounds):
        for name, way in WAYS.items():
            got[name].append(measure(way(line)))
    for name, values in got.items():
        ratios = [v / s for v, s in zip(values, got["script -qc"])]
        print("| %-34s | %-10s | %8.0f | %5.2f |" % (what, name, statistics.median(values), statistics.median(ratios)))


rounds = int(sys.argv[1])
print("| %-34s | %-10s | %8s | %5s |" % ("terminal", "way", "median", "ratio"))
print("|---|---|---|---|")
table("cat, MB/s (more is better)", megabytes_a_second, "cat big", rounds)
table("a key and its echo, us (less is better)", microseconds_a_key, ECHO, rounds)
