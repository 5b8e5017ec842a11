#!/usr/bin/env python3
"""What trees hold, one line a name: picture.py DIR...

Path, type, mode, owner, and of links the target, of hard links the first name, of files size and hash of
contents (holes count as zeros, so a sparse file equals a full one), of devices the number; then extended
attributes.  Times are left out, and so are pale's own state, caches, and sockets that nobody listens at any more.
"""
import hashlib
import os
import stat
import sys

# Relative to the first directory: pale's own, and caches.
SKIP = {".cache", ".local/state/pale", ".config/pale"}
CHUNK = 1 << 20
TYPES = {stat.S_IFDIR: "d", stat.S_IFREG: "f", stat.S_IFLNK: "l", stat.S_IFIFO: "p", stat.S_IFSOCK: "s",
         stat.S_IFCHR: "c", stat.S_IFBLK: "b"}


def contents(path, size):
    """Hash of the chunks that are not zero, each with its place."""
    h, at = hashlib.sha256(), 0
    with open(path, "rb", buffering=0) as f:
        while at < size:
            try:
                at = os.lseek(f.fileno(), at, os.SEEK_DATA) // CHUNK * CHUNK
            except OSError:
                break  # a hole up to the end
            data = os.pread(f.fileno(), CHUNK, at)
            if data.strip(b"\0"):
                h.update(b"%d:" % at + data)
            at += CHUNK
    return h.hexdigest()[:16]


def line(path, shown, seen):
    st = os.lstat(path)
    kind = stat.S_IFMT(st.st_mode)
    out = [shown, TYPES[kind], "%04o" % stat.S_IMODE(st.st_mode), "%d:%d" % (st.st_uid, st.st_gid)]
    if kind == stat.S_IFLNK:
        return out + ["->", repr(os.readlink(os.fsencode(path)))]
    if kind != stat.S_IFDIR and st.st_nlink > 1:
        first = seen.setdefault((st.st_dev, st.st_ino), shown)
        out.append("%d links" % st.st_nlink)
        if first != shown:
            return out + ["=", first]
    if kind == stat.S_IFREG:
        out += [str(st.st_size), contents(path, st.st_size) if os.access(path, os.R_OK) else "unreadable"]
    elif kind in (stat.S_IFCHR, stat.S_IFBLK):
        out.append("%d" % st.st_rdev)
    for name in sorted(os.listxattr(path, follow_symlinks=False)):
        out.append("%s=%s" % (name, os.getxattr(path, name, follow_symlinks=False).hex()))
    return out


def walk(top, label, skip, seen):
    """Paths longer than the kernel takes are walked by changing the directory."""
    def inside(rel):
        for name in sorted(os.listdir(b".")):
            here = rel + b"/" + name if rel else name
            if os.fsdecode(here) in skip:
                continue
            print(*line(name, label + repr(here)[1:], seen))
            if stat.S_ISDIR(os.lstat(name).st_mode):
                back = os.open(".", os.O_RDONLY)
                try:
                    os.chdir(name)
                except PermissionError:
                    os.close(back)
                    print(label + repr(here)[1:], "cannot be entered")
                    continue
                inside(here)
                os.fchdir(back)
                os.close(back)
    os.chdir(top)
    inside(b"")


sys.setrecursionlimit(10000)
links = {}
for i, tree in enumerate(sys.argv[1:]):
    walk(tree, "~" if i == 0 else "TMPDIR%d" % i, SKIP if i == 0 else set(), links)
