"""What the installed programs say of their own options against options.def: walk.py OPTIONS.DEF REVIEWED

An option must stand in a list of the program's rows, or in REVIEWED, which has those that were looked at and found
harmless; where the rest is named (REST_NAMED) only values are compared.  A value must be marked as the program takes
it.  Prints what is not so, and each program that is not installed; the status is 1 then.
"""
import re
import shutil
import subprocess
import sys


def table(path):
    """[(programs, subcommands or None, flags, {option: mark})]"""
    text = re.sub(r"/\*.*?\*/", "", open(path, encoding="utf-8").read(), flags=re.S)
    rows = []
    for args in re.findall(r"^OPTIONS\((.*?)\)\n", text, flags=re.S | re.M):
        args = re.sub(r'"\s*\n\s*"', "", args)
        fields = re.findall(r'"[^"]*"|[A-Z_]+(?: \| [A-Z_]+)*|0', args)
        programs, sub, flags, harmless, named, runs = [f.strip('"') for f in fields[:6]]
        options = {o.rstrip("=?+"): o[len(o.rstrip("=?+")):] for o in (harmless + " " + named + " " + runs).split()}
        rows.append((programs.split(), None if sub == "NULL" else sub.split(), flags.split(" | "), options))
    return rows


def said(*argv):
    """What a program prints about itself, whatever its status."""
    return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          errors="replace", timeout=30).stdout


def listed(text, sign=r"[=\s]\s*[<A-Za-z{(\"'/.]"):
    """Lines like `  -o, --output <file>  Write to file`: {option: does it take a value, None: optional or unsaid}."""
    found = {}
    for line in text.splitlines():
        head = re.match(r"\s*(-\S.*?)(?:\s{2,}|\t|$| : )", line)
        if not head or len(line) - len(line.lstrip()) > 12:
            continue
        parts = re.split(r",\s+|\s+\|\s+", head.group(1))
        value = any(re.search(sign, p.lstrip("-")) for p in parts)
        names = [m.group().replace("[no-]", "")
                 for m in (re.match(r"--\[no-\][\w-]+|--?[\w#?.:-]+", part) for part in parts) if m]
        unsaid = "[" in head.group(1) or len(names) > len(set(names))
        for name in names:
            found[name] = None if unsaid or found.get(name, value) != value else value
    return found


def git(sub):
    found = {}
    for word in said("git", sub, "--git-completion-helper-all").split():
        if word.startswith("--") and word != "--" and not word.startswith("--no-"):
            found[word.rstrip("=")] = None
    short = {o: None for o in listed(said("git", sub, "-h"))}
    return {**short, **found}


def words(text):
    return {w: None for w in re.findall(r"(?<![\w-])-[A-Za-z][\w-]*", text)}


def npm():
    """`[--tag <tag>] [--dry-run] [-w|--workspace <name> ...]`"""
    return {o: bool(v) if v or "|" not in s else None
            for o, s, v in re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*)([|\]]|( <))", said("npm", "publish", "-h"))}


def ssh():
    usage = said("ssh")
    flags = re.search(r"\[-([0-9A-Za-z]+)\]", usage).group(1)
    return {**{"-" + c: False for c in flags}, **{o: True for o in re.findall(r"\[(-\w) ", usage)}}


def python():
    return {o: None for o in re.findall(r"^(-\w|--[\w-]+)", said("python3", "--help"), flags=re.M)}


def pflag(*argv):
    """docker and kubectl say a value's type, or `=''` with its default."""
    found = {}
    form = r"^\s+(?:(-\w), )?(--[\w-]+)((?: [a-z]\S*|='?[^:\s]*)?)"
    for short, name, value in re.findall(form, said(*argv), flags=re.M):
        takes = bool(value) and value not in ("=false", "=true")
        # a default in quotes may be that of a value that can be left out
        takes = None if re.match("='.+'", value) else takes
        found.update({o: takes for o in (short, name) if o})
    return found


WALKS = [("git", sub, lambda sub=sub: git(sub)) for sub in
         "push fetch pull clone branch tag diff log show grep rebase config".split()]
WALKS += [(p, None, lambda p=p: listed(said(p, "--help"))) for p in
          "rm tar rsync env xargs make sort split node".split()]
WALKS += [
    ("curl", None, lambda: listed(said("curl", "--help", "all"), r"\s<")),
    ("find", None, lambda: words(said("find", "-help").split("Valid arguments")[0])),
    ("ssh", None, ssh),
    ("python3", None, python),
    ("npm", "publish", npm),
    ("cargo", "publish", lambda: listed(said("cargo", "publish", "--help"))),
    ("twine", "upload", lambda: listed(said("twine", "upload", "--help"))),
    ("docker", "run", lambda: pflag("docker", "run", "--help")),
    ("podman", "run", lambda: pflag("podman", "run", "--help")),
    ("kubectl", None, lambda: {**pflag("kubectl", "options"), **pflag("kubectl", "get", "--help"),
                               **pflag("kubectl", "delete", "--help"), **pflag("kubectl", "apply", "--help")}),
    ("terraform", None, lambda: words(said("terraform", "plan", "-help") + said("terraform", "apply", "-help"))),
]


def find(rows, program, sub):
    for programs, subs, flags, options in rows:
        if any(re.fullmatch(p.replace("+", "\\+").replace("*", ".*"), program) for p in programs):
            if (sub is None) == (subs is None) and (sub is None or sub in subs):
                return flags, options
    return [], {}


def judge(rows, reviewed, program, sub, options):
    """The complaints about one program's list."""
    flags, own = find(rows, program, sub)
    above, outer = find(rows, program, None) if sub else ([], {})
    known = {**(outer if "EVERYWHERE" in above else {}), **own}
    what = program + (" " + sub if sub else "")
    bad = []
    for option, value in sorted(options.items()):
        if option in known:
            if value is not None and value != bool(known[option]):
                has = "takes" if value else "has no"
                bad.append("%s %s: %s a value, the table says otherwise" % (what, option, has))
        elif "REST_NAMED" not in flags and option not in reviewed.get(what, ()):
            bad.append("%s %s: nobody classified it" % (what, option))
    return bad


def main():
    rows = table(sys.argv[1])
    reviewed = {}
    for line in open(sys.argv[2], encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            what, options = line.rstrip("\n").split("\t")
            reviewed.setdefault(what, set()).update(options.split())
    bad, walked = [], 0
    for program, sub, options in WALKS:
        if not shutil.which(program):
            print("skip: %s is not installed" % program)
            continue
        found = options()
        if len(found) < 5:
            bad.append("%s %s: its list of options is not understood: %s" % (program, sub or "", sorted(found)))
        walked += len(found)
        bad += judge(rows, reviewed, program, sub, found)
    print("\n".join(bad))
    print("%d options, %d complaints" % (walked, len(bad)))
    return bool(bad)


sys.exit(main())
