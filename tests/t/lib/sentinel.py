"""Looks for a secret, which is read from standard input, where a session could have it:

    sentinel.py [--pid PID] [--until-end] [PLACE...]

PID and all its descendants: environment, words, names of maps, and all memory that may be read; --until-end looks at
each process again and again, until PID ends.  A PLACE is a file or a tree: names, contents, targets of links,
extended attributes, and what is packed in objects of git.

The secret is looked for as it stands, in base64 at each of the three offsets, in hex, and escaped for a URL.  A line
`where: form` for each find; then `looked at N processes (N memories), N files, N objects`.  The status is 1 where
it was found, and 2 where nothing could be looked at.
"""
import argparse
import base64
import os
import re
import subprocess
import sys
import time
import urllib.parse
import zlib

CHUNK = 1 << 20


def forms_of(secret):
    """What the secret looks like, by the name of the form."""
    forms = {"plain": secret, "hex": secret.hex().encode(), "HEX": secret.hex().upper().encode(),
             "url": urllib.parse.quote(secret, safe="").encode(),
             "url, all of it": "".join("%%%02X" % c for c in secret).encode(),
             "utf-16": secret.decode().encode("utf-16-le")}
    for offset in range(3):
        # The first and the last characters depend on what is beside the secret.
        text = base64.b64encode(b"\0" * offset + secret)
        whole = (offset + len(secret)) // 3 * 4
        forms["base64 at %d" % offset] = text[4 if offset else 0:whole]
        forms["base64url at %d" % offset] = forms["base64 at %d" % offset].translate(bytes.maketrans(b"+/", b"-_"))
    return forms


class Search:
    def __init__(self, secret):
        self.forms = forms_of(secret)
        self.any = re.compile(b"|".join(re.escape(f) for f in sorted(set(self.forms.values()), key=len, reverse=True)))
        self.overlap = max(map(len, self.forms.values()))
        self.found = set()
        self.processes = set()
        self.memories = set()
        self.files = self.objects = 0

    def look(self, where, data):
        hit = self.any.search(data)
        if not hit:
            return
        form = next(name for name, text in self.forms.items() if text == hit.group())
        if (where, form) not in self.found:
            self.found.add((where, form))
            print("%s: %s" % (where, form), flush=True)

    def look_stream(self, where, read):
        rest = b""
        while True:
            data = read(CHUNK)
            if not data:
                return
            self.look(where, rest + data)
            rest = data[-self.overlap:]

    # --- processes

    def process(self, pid):
        """What there is of a process; it may end at any moment."""
        root = "/proc/%d/" % pid
        try:
            name = "process %d (%s) " % (pid, open(root + "comm").read().strip())
            for what in "cmdline", "environ", "maps":
                with open(root + what, "rb") as f:
                    self.look(name + what, f.read())
            self.processes.add(pid)
            self.memory(root, pid, name + "memory")
        except (OSError, ValueError):
            pass

    def memory(self, root, pid, where):
        with open(root + "maps") as f:
            maps = f.read().splitlines()
        with open(root + "mem", "rb", buffering=0) as mem:
            for line in maps:
                span, mode, *rest = line.split()
                if mode[0] != "r" or rest[-1] in ("[vvar]", "[vsyscall]", "[vdso]"):
                    continue
                start, end = (int(n, 16) for n in span.split("-"))
                try:
                    mem.seek(start)
                    left = [end - start]

                    def read(size):
                        data = mem.read(min(size, left[0])) if left[0] else b""
                        left[0] -= len(data)
                        return data
                    self.look_stream(where, read)
                    self.memories.add(pid)
                except (OSError, OverflowError):
                    pass

    # --- files

    def place(self, place):
        self.file(place)
        for root, folders, files in os.walk(place):
            for name in folders + files:
                self.file(os.path.join(root, name))
            if "objects" in folders and "HEAD" in files:
                self.repository(root)

    def file(self, path):
        self.look("name of " + path, os.fsencode(path))
        try:
            if os.path.islink(path):
                self.look("link " + path, os.fsencode(os.readlink(path)))
                return
            for name in os.listxattr(path, follow_symlinks=False):
                self.look("attribute %s of %s" % (name, path), os.getxattr(path, name))
            if not os.path.isfile(path):
                return
            with open(path, "rb") as f:
                self.look_stream(path, f.read)
            self.files += 1
            if "/objects/" in path:
                with open(path, "rb") as f:
                    self.look("object " + path, zlib.decompressobj().decompress(f.read()))
        except (OSError, zlib.error):
            pass

    def repository(self, path):
        """Each object, whichever way it is stored: by the real git, which is told nothing else of the repository."""
        env = {"PATH": os.environ["PATH"], "GIT_DIR": path}
        env.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null")
        git = subprocess.Popen(["git", "cat-file", "--batch-all-objects", "--batch", "--buffer"], env=env,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        count = [0]

        def read(size):
            data = git.stdout.read(size)
            count[0] += len(re.findall(rb"(?:^|\n)[0-9a-f]{40,64} (?:blob|tree|commit|tag) \d+\n", data))
            return data
        self.look_stream("objects of " + path, read)
        git.wait()
        self.objects += count[0]


def family(root, known):
    """Adds to the known ones all descendants; who was one stays one when its parent has ended."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name) as f:
                    parents[int(name)] = int(f.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                pass
    known.intersection_update(parents)
    if root in parents:
        known.add(root)
    more = True
    while more:
        new = {pid for pid, parent in parents.items() if parent in known} - known
        known |= new
        more = bool(new)
    return root in parents


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--pid", type=int)
    args.add_argument("--until-end", action="store_true")
    args.add_argument("place", nargs="*")
    args = args.parse_args()
    secret = sys.stdin.buffer.read().strip()
    if len(secret) < 8:
        sys.exit("sentinel.py: a secret has eight bytes or more")
    search = Search(secret)
    known = set()
    while args.pid:
        alive = family(args.pid, known)
        for pid in sorted(known):
            search.process(pid)
        if not args.until_end or not alive:
            break
        time.sleep(0.005)
    for place in args.place:
        search.place(place)
    print("looked at %d processes (%d memories), %d files, %d objects" %
          (len(search.processes), len(search.memories), search.files, search.objects))
    if args.pid and not search.memories or args.place and not search.files:
        sys.exit(2)
    sys.exit(1 if search.found else 0)


if __name__ == "__main__":
    main()
