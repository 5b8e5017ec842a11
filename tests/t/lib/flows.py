"""The parts of flows-lib.sh that are no shell: cuts the table, takes pictures of repositories, and compares them.

    flows.py cut TABLE GROUP DIR         DIR/NN-NAME/{head,outside,flow} for each row of the group
    flows.py picture UPSTREAM WORK FILE  what a flow left: refs, objects, index, worktree, as JSON
    flows.py compare NAME BARE INSIDE DIFFERS   prints what differs; the status is 1 where something does

BARE and INSIDE are directories with out, err, status, before (the upstream before the flow) and picture.  A ref
below session/ID/ stands for the one that the agent named, and covers it.
"""
import difflib
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys

SESSION = re.compile(r"session/[0-9a-z]{6}/")


# --- the table --------------------------------------------------------------------------------------

def rows(table):
    """(name, words, lines that others do, lines of the flow)"""
    row = None
    for line in open(table):
        line = line.rstrip("\n")
        if line.startswith("= "):
            if row:
                yield row
            row = (line.split()[1], line.split()[2:], [], [])
        elif row and line and not line.startswith("#"):
            row[2 if line.startswith("outside: ") else 3].append(line.removeprefix("outside: "))
    yield row


def cut(table, group, to):
    for number, (name, words, outside, flow) in enumerate(rows(table)):
        if not fnmatch.fnmatch(name, group + "/*") and name != group:
            continue
        place = "%s/%03d-%s" % (to, number, name.replace("/", "-"))
        os.makedirs(place)
        for what, lines in ("head", [" ".join([name] + words)]), ("outside", outside), ("flow", flow):
            with open(place + "/" + what, "w") as f:
                f.write("".join(line + "\n" for line in lines))


# --- pictures ---------------------------------------------------------------------------------------

def git(where, *words, stdin=None):
    env = dict(os.environ, GIT_OPTIONAL_LOCKS="0", GIT_NO_LAZY_FETCH="1")
    words = ["git", "-c", "remote.origin.promisor=false", "-C", where] + list(words)
    done = subprocess.run(words, env=env, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, errors="surrogateescape")
    return done.stdout.splitlines()


def collapse(refs):
    """The refs as the agent named them: what it pushed covers what was there."""
    covered = {}
    for name, value in refs.items():
        if not SESSION.search(name):
            covered.setdefault(name, value)
    for name, value in refs.items():
        if SESSION.search(name):
            covered[SESSION.sub("", name)] = value
    return covered


def refs_of(where):
    lines = git(where, "for-each-ref", "--format=%(refname) %(objectname) %(symref)")
    return {name: " ".join(rest) for name, *rest in (line.split() for line in lines)}


def repository(where):
    refs = collapse(refs_of(where))
    head = git(where, "symbolic-ref", "-q", "HEAD") or git(where, "rev-parse", "-q", "--verify", "HEAD")
    tips = sorted({value.split()[0] for value in refs.values()})
    objects = git(where, "rev-list", "--objects", "--missing=print", "--stdin", stdin="\n".join(tips))
    objects = sorted(line.split()[0] for line in objects if not line.startswith("?"))
    return {"refs": dict(sorted(refs.items())), "head": head, "objects": objects}


def checkout(where):
    return {"index": git(where, "ls-files", "-s", "-v"), "status": git(where, "status", "--porcelain", "--ignored"),
            "config": sorted(git(where, "config", "-l", "--local")),
            "stash": git(where, "stash", "list", "--format=%H %s")}


def worktree(root):
    """Names, kinds, modes and contents, without git's own directories; and where these are."""
    entries, repositories = {}, []
    for folder, names, files in os.walk(root):
        if "HEAD" in files and "objects" in names:
            repositories.append(folder)
            names.clear()
            continue
        if ".git" in files:
            repositories.append(folder)
        names[:] = sorted(n for n in names if n != ".pale")
        for name in [n for n in names if n != ".git"] + files:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            what = oct(mode)
            if os.path.islink(path):
                what += " " + os.readlink(path)
            elif os.path.isfile(path) and name != ".git":
                with open(path, "rb") as f:
                    what += " " + str(hash_of(f.read()))
            entries[os.path.relpath(path, root)] = what
    return entries, repositories


def hash_of(data):
    import hashlib
    return hashlib.sha256(data).hexdigest()[:16]


def picture(upstream, work):
    entries, repositories = worktree(work)
    whole = {"upstream": repository(upstream), "worktree": entries}
    for where in repositories:
        name = os.path.relpath(where, work)
        whole[name] = repository(where)
        place = os.path.dirname(where) if os.path.basename(where) == ".git" else where
        whole[name].update(checkout(place))
    return whole


# --- comparison -------------------------------------------------------------------------------------

def differs(table, name):
    """The rows for a flow: (verb, argument)"""
    for line in open(table):
        line = line.split(" # ")[0].rstrip()
        if line and not line.startswith("#"):
            which, verb, *rest = line.split(None, 2)
            if fnmatch.fnmatchcase(name, which):
                yield which, verb, rest[0] if rest else ""


def read(place, what):
    with open("%s/%s" % (place, what), errors="surrogateescape") as f:
        return f.read().splitlines()


def flatten(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, path + "/" + key)
        if not value:
            yield path, "nothing"
    elif isinstance(value, list):
        yield from ((path, line) for line in value or ["nothing"])
    else:
        yield path, value


def lines_of(place, what, inside):
    if what == "picture":
        return ["%s %s" % pair for pair in flatten(json.load(open(place + "/picture")))]
    lines = read(place, what)
    return [SESSION.sub("", line) for line in covering(lines)] if inside else lines


def covering(lines):
    """What ls-remote says, without refs that are covered (collapse)."""
    covered = {SESSION.sub("", line[41:]) for line in lines if SESSION.search(line) and line[40:41] == "\t"}
    return [line for line in lines if line[41:] not in covered]


def compare(name, bare, inside, table):
    found = []
    rules = list(differs(table, name))
    said = read(inside, "out") + read(inside, "err")
    refused = [text for _, verb, text in rules if verb == "refused"]
    for text in refused:
        if not any(text in line for line in said):
            found.append("nothing says: " + text)
    if refused:
        before, after = (json.load(open(inside + "/" + what))["upstream"] for what in ("before", "picture"))
        if before != after:
            found += ["the upstream changed:"] + changes(flatten(before), flatten(after))
        return found
    used = set()
    for what in "status", "out", "err", "picture":
        one, two = lines_of(bare, what, False), lines_of(inside, what, True)
        if what in ("out", "err") and any(SESSION.search(line) for line in read(inside, what)):
            # The names of a session's branches stand elsewhere in a sorted list.
            one, two = sorted(one), sorted(two)
        for which, verb, text in rules:
            if verb == "drop":
                kept = [[line for line in lines if not re.search(text, line)] for lines in (one, two)]
                if one != two and kept != [one, two]:
                    used.add((which, text))
                one, two = kept
            elif verb == "skip" and what == text and one != two:
                used.add((which, text))
                two = one
        found += ["%s %s" % (what, line) for line in changes(one, two)]
    found += ["differs.txt explains what is the same: %s %s" % (which, text) for which, verb, text in rules
              if "*" not in which and (which, text) not in used]
    return found


def changes(one, two):
    lines = difflib.unified_diff([str(x) for x in one], [str(x) for x in two], lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def main():
    verb, *words = sys.argv[1:]
    if verb == "cut":
        shutil.rmtree(words[2], ignore_errors=True)
        cut(*words)
    elif verb == "picture":
        with open(words[2], "w") as f:
            json.dump(picture(*words[:2]), f)
    else:
        found = compare(*words)
        sys.stdout.reconfigure(errors="backslashreplace")
        print(*found[:40], sep="\n")
        sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
