#!/usr/bin/env python3
"""From a human's decision to the resumed call: tests/bench/approve.py STAGE [N]

A fenced program opens N files that the policy asks about; this is the operator.  Measured from just before
approval/respond is sent to the moment at which the program is through with its open (one clock for both).
Each answer is durable before the program hears of it, so the disk's fdatasync is in the figure; it is
measured beside it.
"""

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../helper")
from carddigest import card_digest

PROGRAM = """
import os, sys, time
for i in range(int(sys.argv[2])):
    fd = os.open("%s/%d" % (sys.argv[1], i), os.O_WRONLY | os.O_CREAT)
    t = time.monotonic_ns()
    os.write(1, b"%d %d\\n" % (i, t))
    os.close(fd)
    time.sleep(0.11)
"""


def call(line, method, **params):
    line.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
    return json.loads(line.recv(1 << 17))["result"]


def sync_us(where):
    fd = os.open(where + "/synced", os.O_WRONLY | os.O_CREAT)
    took = []
    for _ in range(50):
        os.write(fd, b"x" * 600)
        began = time.monotonic_ns()
        os.fdatasync(fd)
        took.append((time.monotonic_ns() - began) / 1000)
    os.close(fd)
    return statistics.median(took)


def main():
    stage, n = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 60
    home = tempfile.mkdtemp(prefix="pale-bench-")
    env = {"PATH": stage + "/bin:/usr/bin:/bin", "HOME": home, "XDG_RUNTIME_DIR": home + "/r", "PALE_PROMPT": "1"}
    for d in ("r", "w", "asked", ".config/pale"):
        os.makedirs(home + "/" + d, 0o700)
    with open(home + "/.config/pale/policy.ini", "w") as f:
        f.write("[session]\ntimeout = 60s\n[files]\nask = ~/asked\n")
    run = subprocess.Popen(["pale", "run", "-q", "--", "python3", "-c", PROGRAM, home + "/asked", str(n)], env=env,
                           cwd=home + "/w", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    line, decided = None, []
    while len(decided) < n:
        if line is None:
            found = [d for d, _, files in os.walk(home + "/r") if "control.sock" in files]
            if not found:
                time.sleep(0.01)
                continue
            line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            line.connect(found[0] + "/control.sock")
        cards = [c for c in call(line, "approval/list")["approvals"] if c["state"] == "pending"]
        if not cards:
            time.sleep(0.005)
            continue
        shown = call(line, "approval/show", id=cards[0]["id"])
        decided.append(time.monotonic_ns())
        call(line, "approval/respond", id=cards[0]["id"], decision="approved", digest=card_digest(shown))
    resumed = [int(l.split()[1]) for l in run.stdout]
    run.wait()
    took = sorted((b - a) / 1e6 for a, b in zip(decided, resumed))
    print("decision to resumed call: median %.2f ms, 95 %% %.2f ms, worst %.2f ms (%d times; fdatasync here %.2f ms)"
          % (statistics.median(took), took[int(len(took) * 0.95)], took[-1], len(took), sync_us(home) / 1000))
    shutil.rmtree(home)


main()
