#!/usr/bin/python3
"""A session in which helper, supervisor or agent is killed at a random moment, for ledger/killed.sh.

killed.py ROUNDS STATE    what is not as it should be, a line each; nothing where all is well

In each round a session makes files (a hooked process, and a static one), starts programs, and has two
processes that each ask for one command after the other.  Questions are answered with yes as they come.
"""
import glob
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

WORK = r"""
round=$1
mark() { echo $1 >"pids/$BASHPID"; }
( mark hooked; exec python3 -c '
import os
for i in range(10**9):
    os.close(os.open("made-%d-%d" % (os.getpid(), i), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))' ) &
( mark static; exec busybox sh -c 'i=0; while :; do : >"made-$$-$i"; i=$((i + 1)); done' ) &
( mark touch; i=0; while :; do /usr/bin/touch "made-$BASHPID-$i"; i=$((i + 1)); done ) &
for n in 1 2; do ( mark; i=0; while :; do ./deed "$round-$n-$i"; i=$((i + 1)); done ) & done
mark
: >"begun-$round"
wait
"""
DEED = '#!/bin/sh\necho "$1" >>deeds\n'
TARGETS = ("helper", "supervisor", "agent")


def lines(path):
    try:
        with open(path, errors="replace") as f:
            return f.read().splitlines()
    except FileNotFoundError:
        return []


def children(pid):
    return [int(p) for p in " ".join(lines("/proc/%d/task/%d/children" % (pid, pid))).split()]


def name(pid):
    return "".join(lines("/proc/%d/comm" % pid))


def until(seconds, is_true):
    end = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def alive(pid):
    state = [line for line in lines("/proc/%d/status" % pid) if line.startswith("State:")]
    return bool(state) and state[0].split()[1] not in "ZX"


def answer(over):
    """Yes to each question, as it comes."""
    while not over.is_set():
        out = subprocess.run(["pale", "pending", "--json"], capture_output=True, text=True).stdout
        for card in json.loads(out or "[]"):
            subprocess.run(["pale", "approve", card["id"]], capture_output=True)
        time.sleep(0.01)


def one_round(n):
    level = ("full", "strict")[n // len(TARGETS) % 2]
    pale = subprocess.Popen(["pale", "run", "-q", "--level", level, "--", "bash", "-c", WORK, "work", str(n)],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open("../err-%d" % n, "w"))
    if not until(20, lambda: os.path.exists("begun-%d" % n)):
        pale.kill()
        return ["round %d does not begin" % n]
    # A question was answered, and its command ran: the round shows something.
    if not until(30, lambda: any(deed.startswith("%d-" % n) for deed in lines("deeds"))):
        pale.kill()
        return ["round %d: no question is answered" % n]
    time.sleep(random.uniform(0, 0.5))
    target = TARGETS[n % len(TARGETS)]
    helper = [c for c in children(pale.pid) if name(c) == "pale-helper"]
    agent = [c for c in children(pale.pid) if name(c) == "bash"]
    pid = {"helper": helper, "supervisor": [pale.pid], "agent": agent}[target]
    if not pid:
        pale.kill()
        return ["round %d: the %s is not found" % (n, target)]
    os.kill(pid[0], signal.SIGKILL)
    found = []
    try:
        rc = pale.wait(30)
        expected = {"helper": 125, "supervisor": -signal.SIGKILL, "agent": -signal.SIGKILL}[target]
        if rc != expected:
            found.append("round %d: after the end of the %s the status is %d" % (n, target, rc))
    except subprocess.TimeoutExpired:
        pale.kill()
        found.append("round %d: no end after the %s was killed" % (n, target))
    pids = [int(p) for p in os.listdir("pids")]
    if not until(20, lambda: not any(map(alive, pids))):
        found += ["round %d: %d (%s) goes on after the end of the %s" % (n, p, name(p), target)
                  for p in pids if alive(p)]
    if not until(20, lambda: not any(map(alive, helper))):
        found.append("round %d: the helper goes on" % n)
    for p in pids:
        os.rename("pids/%d" % p, "ended/%d-%s-%s" % (p, target, level))
    return found


def told(state):
    """What is in the ledgers, and in what was kept of a helper that died: names of files, deeds that ran."""
    made, deeds = set(), []
    for ledger in glob.glob(state + "/sessions/*/ledger.jsonl"):
        for line in lines(ledger):
            if '"verdict":"allow"' in line.replace(" ", ""):
                made.update(re.findall(r"made-\d+-\d+", line))
                deeds += re.findall(r"deed (\d+-\d+-\d+)", line)
    for line in lines(state + "/unwritten.jsonl"):
        made.update(re.findall(r"made-\d+-\d+", line))
    return made, deeds


def main():
    rounds, state = int(sys.argv[1]), sys.argv[2]
    os.mkdir("pids")
    os.mkdir("ended")
    with open("deed", "w") as f:
        f.write(DEED)
    os.chmod("deed", 0o755)
    over = threading.Event()
    clerk = threading.Thread(target=answer, args=(over,))
    clerk.start()
    found = []
    for n in range(rounds):
        found += one_round(n)
    over.set()
    clerk.join()
    made, deeds = told(state)
    done = {f for f in os.listdir(".") if f.startswith("made-")}
    ran = lines("deeds")
    if len(done) < 20 * rounds or len(ran) < rounds:
        found.append("too little was done: %d files, %d deeds" % (len(done), len(ran)))
    for f in sorted(done - made)[:5]:
        by = glob.glob("ended/%s-*" % f.split("-")[1])
        found.append("done, and not recorded: %s (%s)" % (f, " ".join(e + " " + "".join(lines(e)) for e in by)))
    found += ["done twice: %s" % d for d in sorted(set(ran)) if ran.count(d) > 1]
    found += ["ran, and no record says who was asked: %s" % d for d in sorted(set(ran) - set(deeds))]
    print("%d files, %d deeds" % (len(done), len(ran)), file=sys.stderr)
    print("\n".join(found), end="")
    sys.exit(bool(found))


main()
