"""Plays git-remote-pale and the supervisor of one operation: git starts it as `git-remote-pale NAME URL`.

GATE_ORDER is a file with the order, of which service and url are added here; GATE_LOG gets what the gate says, a
line each.  GATE_ANSWER: `yes`, `no TEXT`, `eof`, or `wait FILE`, whose content is the answer once it is there.
GATE_PROGRAM is pale-gate; GATE_URL stands for the URL.  GATE_SECRETS: values for the descriptor that goes with the
order, separated by commas."""

import array
import json
import os
import socket
import subprocess
import sys
import threading
import time


def answer_of(words):
    while words.startswith("wait "):
        name = words[5:]
        while not os.path.exists(name):
            time.sleep(0.02)
        words = open(name).read().strip()
    return words


def supervise(link, order, secrets, log, words):
    fds = []
    if secrets:
        fd = os.memfd_create("secrets")
        os.write(fd, b"".join(s.encode() + b"\0" for s in secrets.split(",")))
        fds = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))]
    link.sendmsg([json.dumps(order).encode()], fds)
    while packet := link.recv(1 << 20):
        with open(log, "a") as f:
            f.write(packet.decode() + "\n")
        if "ask" not in json.loads(packet):
            continue
        says = answer_of(words)
        if says == "eof":
            return
        kind, _, text = says.partition(" ")
        link.send(json.dumps({"allow": kind == "yes", "text": text}).encode())


def start(service, url):
    url = os.environ.get("GATE_URL", url)
    order = json.load(open(os.environ["GATE_ORDER"])) | {"service": service, "url": url}
    ours, theirs = socket.socketpair()
    link, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # It outlives the agent's git, as the supervisor does.
    if os.fork() == 0:
        os.setsid()
        ours.close()
        for fd in (0, 1, 2):
            os.dup2(os.open("/dev/null", os.O_RDWR), fd)
        err = open(os.environ["GATE_LOG"] + ".err", "a")

        def become():
            os.dup2(its.fileno(), 3)
            os.set_inheritable(3, True)

        gate = subprocess.Popen([os.environ["GATE_PROGRAM"]], stdin=theirs, stdout=theirs, stderr=err,
                                preexec_fn=become, close_fds=False)
        its.close()
        theirs.close()
        supervise(link, order, os.environ.get("GATE_SECRETS"), os.environ["GATE_LOG"],
                  os.environ.get("GATE_ANSWER", "yes"))
        link.close()
        gate.wait()
        os._exit(0)
    its.close()
    theirs.close()
    link.close()
    return ours


def pump(stream):
    def up():
        while data := os.read(0, 65536):
            stream.sendall(data)
        stream.shutdown(socket.SHUT_WR)

    threading.Thread(target=up, daemon=True).start()
    while data := stream.recv(65536):
        os.write(1, data)


def main():
    while line := b"".join(iter(lambda: os.read(0, 1), b"\n")).decode():
        if line == "capabilities":
            os.write(1, b"connect\n\n")
        elif line.startswith("connect "):
            stream = start(line[8:], sys.argv[2])
            os.write(1, b"\n")
            pump(stream)
            return


main()
