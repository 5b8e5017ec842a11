"""HELP rows of options.def by the installed programs: helps.py OPTIONS.DEF

Each is run with the option behind its words and one word more, and must print its usage.  The status
is 1 where one does not.  Only programs that act on nothing here are run: there is no daemon, cluster or account.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

SAID = re.compile(r"usage|synopsis|Options:|unknown (sub)?command|unexpected argument|[0-9]+\.[0-9]+", re.I)


CONFIG = tempfile.mkdtemp(dir=os.getcwd())


def commands(path):
    text = re.sub(r'"\s*\n\s*"', "", open(path, encoding="utf-8").read())
    for row in re.findall(r'^HELP\(("[^)]*)\)', text, flags=re.S | re.M):
        programs, options, first, second = [part.split() for part in re.findall(r'"([^"]*)"', row)]
        for program in programs:
            if program == "crontab" or not shutil.which(program):
                continue
            for option in options:
                # npm starts slowly: one of its options for all, which are one to it
                if first == ["-"]:
                    yield [program, option]
                elif option == options[0]:
                    for word in first:
                        yield [program, word, *([] if second == ["-"] else [*second[:1], "x"]), option]


def judge(argv):
    # Without settings: gh says nothing else where a file of its own cannot be read.
    bare = dict(os.environ, XDG_CONFIG_HOME=CONFIG)
    out = subprocess.run(argv, env=bare, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         errors="replace", timeout=60).stdout
    return None if SAID.search(out) else " ".join(argv) + ": " + out[:100]


def main():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        said = list(pool.map(judge, commands(sys.argv[1])))
    bad = [line for line in said if line]
    print("\n".join(bad))
    print("%d commands, %d complaints" % (len(said), len(bad)))
    return bool(bad)


sys.exit(main())
