"""What systemd does for pale-helper.socket: each connection to /run/pale/helper.sock gets a helper of its own,
with the connection as descriptor 3, as user pale, under no_new_privs and the unit's filter of system calls.  As root:
socket_unit.py HELPER UNIT."""

import ctypes
import os
import pwd
import signal
import socket
import sys

import unitfilter

PATH = "/run/pale/helper.sock"
PR_SET_NO_NEW_PRIVS = 38


def serve(conn):
    pale = pwd.getpwnam("pale")
    os.setsid()
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.dup2(conn.fileno(), 3)
    os.set_inheritable(3, True)
    os.closerange(4, 256)
    os.setgroups([])
    os.setresgid(pale.pw_gid, pale.pw_gid, pale.pw_gid)
    os.setresuid(pale.pw_uid, pale.pw_uid, pale.pw_uid)
    ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    unitfilter.load(FILTER)
    env = {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid()), "LISTEN_FDNAMES": "connection"}
    os.execve(sys.argv[1], [sys.argv[1], "service"], env)


FILTER = unitfilter.prepare(sys.argv[2])
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(PATH)
os.chmod(PATH, 0o666)
listener.listen(64)
print("listening", flush=True)
while True:
    conn, _ = listener.accept()
    if os.fork() == 0:
        try:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            serve(conn)
        finally:
            os._exit(99)
    conn.close()
