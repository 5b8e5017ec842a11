"""What every part of the helper's tests needs: where things are, how a test fails, packets."""

import array
import ctypes
import fcntl
import json
import mmap
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback

from carddigest import *

STAGE = os.environ["T_STAGE"]
HELPER = os.environ.get("T_HELPER", STAGE + "/libexec/pale/pale-helper")
PALE = STAGE + "/bin/pale"
SCRATCH = os.environ["T_SCRATCH"]
LIBC = ctypes.CDLL(None, use_errno=True)

WAIT_S = 10
ASK, ALLOW, DENY = 0x5AD6DB1, 0x52A2925 ^ 0xFFFFFFF, 0
OP = {"read": 1, "write": 2, "exec": 14, "connect": 15, "attach": 19}
REASONS = {19: "long", 21: "never", 22: "nobody", 23: "timeout", 24: "human", 25: "repeated"}
STRINGS = ("path", "given", "raw", "ident", "cwd", "git_branch", "host", "aim", "file", "loads", "loads_ident",
    "variable")

# Everything is asked that a test asks for; the timeout is a test's own matter.
POLICY = "[session]\napprovals = ask\ntimeout = %s\n[commands]\nask = ask-me\ndeny = deny-me\n"


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def expect(what, text):
    if not what:
        raise Failed(text)


def prctl(option, *args):
    if LIBC.prctl(option, *(ctypes.c_ulong(a) for a in args)) < 0:
        raise OSError(ctypes.get_errno(), "prctl")


def connect(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(path)
    s.settimeout(WAIT_S)
    return s


def receive(s):
    """One packet, b"" when the other side hung up."""
    try:
        return s.recv(1 << 17)
    except ConnectionResetError:
        return b""


def send_with_fds(s, data, fds):
    s.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
