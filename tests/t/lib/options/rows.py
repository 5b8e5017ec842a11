"""Rows of rules.tsv by explain and by real sessions: rows.py explain|sessions RULES STUBS DRIVERS

STUBS is where the programs of that name stand, DRIVERS where execs and execs-static do.  Prints each row that has
another verdict than the table's; the status is 1 then.
"""
import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile

BASE = """preset = bridge
[session]
approvals = ask
launch = trusted
state = outside
[commands]
allow = execs-static
"""


def rows(path):
    """{rules: [(line number, command, verdict)]}"""
    sets = {}
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if line.strip() and not line.startswith("#"):
            rules, command, verdict = line.rstrip("\n").split("\t")[:3]
            sets.setdefault(rules, []).append((number, command, verdict))
    return sets


def policy(rules, directory):
    path = os.path.join(directory, "policy.ini")
    with open(path, "w", encoding="utf-8") as f:
        f.write(BASE + ("" if "default = " in rules else "default = deny\n"))
        f.write("".join(rule + "\n" for rule in rules.split(" ; ")))
    os.chmod(path, 0o600)
    return path


def told(rules, cases, directory):
    """All of a rule's rows are one shell line: explain judges each command of it by itself."""
    line = " ; ".join(shlex.join(shlex.split(command)) for _, command, _ in cases)
    out = subprocess.run(["pale", "explain", "-w", ".", "-p", policy(rules, directory), "--json", "exec", line],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        got = [answer["verdict"] for answer in json.loads(out.stdout)]
    except ValueError:
        got = [out.stderr]
    return [("explain", got)]


def ran(rules, cases, directory):
    """Nobody answers there, so what would be asked does not run; the static driver goes on where the other ends."""
    lines = os.path.join(directory, "lines")
    with open(lines, "w", encoding="utf-8") as f:
        for _, command, _ in cases:
            words = shlex.split(command)
            f.write("".join(word + "\x1f" for word in [os.path.join(sys.argv[3], words[0])] + words) + "\n")
    drivers = sys.argv[4]
    out = subprocess.run(["pale", "run", "-q", "-n", "-w", ".", "-p", policy(rules, directory), "--",
                          drivers + "/execs", lines, drivers + "/execs-static"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    got = out.stdout.splitlines() or [out.stderr]
    return [("hook", got[:len(cases)]), ("supervisor", got[len(cases):])]


def check(how, rules, cases):
    """The complaints about one rule's rows."""
    with tempfile.TemporaryDirectory(dir=os.environ["S"]) as directory:
        answers = how(rules, cases, directory)
    bad = []
    for who, got in answers:
        want = [verdict if how is told else "ran" if verdict == "allow" else "denied" for _, _, verdict in cases]
        if len(got) != len(want):
            bad.append("%s: %d answers for %d rows of `%s`: %s" % (who, len(got), len(want), rules, got[-1:]))
            continue
        bad += ["rules.tsv:%d: %s: %s, not %s: %s / %s" % (case[0], who, is_, should, rules, case[1])
                for case, is_, should in zip(cases, got, want) if is_ != should]
    return bad


def stub(program):
    """A copy of true with a build id of its own: by the same one two files are the same program to pale."""
    with open("/bin/true", "rb") as f:
        data = f.read()
    note = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"
    at = data.index(note) + len(note)
    path = os.path.join(sys.argv[3], program)
    with open(path, "wb") as f:
        f.write(data[:at] + hashlib.sha1(program.encode()).digest() + data[at + 20:])
    os.chmod(path, 0o755)


def main():
    how = told if sys.argv[1] == "explain" else ran
    sets = rows(sys.argv[2])
    os.environ["PATH"] = sys.argv[3] + ":" + os.environ["PATH"]
    for program in {shlex.split(command)[0] for cases in sets.values() for _, command, _ in cases}:
        stub(program)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        bad = sum(pool.map(lambda item: check(how, *item), sets.items()), [])
    print("\n".join(bad))
    print("%d rows of %d rules, %d otherwise" % (sum(map(len, sets.values())), len(sets), len(bad)))
    return bool(bad)


sys.exit(main())
