"""A push of one's own making: raw-push.py URL OID REF [COMMIT]; the pack has what COMMIT reaches."""

import subprocess
import sys

url, oid, ref = sys.argv[1:4]
git = subprocess.Popen(["git-remote-pale", "x", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def pkt(data):
    return b"%04x" % (len(data) + 4) + data


def read():
    head = git.stdout.read(4)
    if len(head) < 4:
        return None
    n = int(head, 16)
    return git.stdout.read(n - 4) if n else b""


git.stdin.write(b"connect git-receive-pack\n")
git.stdin.flush()
git.stdout.readline()
while read():
    pass
pack = b"PACK\0\0\0\2\0\0\0\0\x02\x9d\x08\x82;\xd8\xa8\xea\xb5\x10\xadj\xc7\\\x82<\xfd>\xd3\x1e"
if len(sys.argv) > 4:
    pack = subprocess.run(["git", "pack-objects", "--revs", "--stdout", "-q"], input=sys.argv[4].encode() + b"\n",
                          stdout=subprocess.PIPE, check=True).stdout
line = b"0" * len(oid) + b" " + oid.encode() + b" " + ref.encode(errors="surrogateescape")
try:
    git.stdin.write(pkt(line + b"\0 report-status atomic") + b"0000" + pack)
    git.stdin.flush()
    while (data := read()):
        sys.stdout.buffer.write(data)
except BrokenPipeError:
    pass
