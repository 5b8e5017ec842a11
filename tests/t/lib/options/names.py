"""NAMES rows of options.def by the installed npm and docker: names.py OPTIONS.DEF

npm's own table says what each word and each beginning of one is taken for; docker's help has a line of aliases.
Prints each name that the table has otherwise; the status is 1 then.
"""
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys

NPM = """const list = require(process.argv[1]), abbrev = require(process.argv[2]), aliases = list.aliases;
const all = abbrev(list.commands.concat(Object.keys(aliases))), of = word => aliases[word] || word;
console.log(JSON.stringify(Object.fromEntries(Object.keys(all).map(word => [word, of(of(all[word]))]))))"""


def rows(path, program):
    for programs, forms in re.findall(r'^NAMES\("([^"]*)", "([^"]*)"\)', open(path, encoding="utf-8").read(), re.M):
        if program in programs.split():
            yield forms.split("|")


def npm(path):
    base = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("npm"))))
    out = subprocess.run(["node", "-e", NPM, base + "/lib/utils/cmd-list.js", base + "/node_modules/abbrev"],
                         stdout=subprocess.PIPE, check=True).stdout
    meant = json.loads(out)
    for forms in rows(path, "npm"):
        forms = [form for form in forms if " " not in form]
        for word, command in meant.items():
            if any(fnmatch.fnmatchcase(word, form) for form in forms) != (command == meant.get(forms[0])):
                yield "npm %s is %s: %s" % (word, command, "|".join(forms))


def docker(path):
    for forms in rows(path, "docker"):
        out = subprocess.run(["docker", *forms[-1].split(), "--help"], stdout=subprocess.PIPE, text=True).stdout
        said = re.search(r"^Aliases:\n(.*)", out, re.M)
        for form in said.group(1).split(",") if said else []:
            form = form.strip().removeprefix("docker ")
            if form not in forms:
                yield "docker %s: %s" % (form, "|".join(forms))


def main():
    bad = [line for judge in (npm, docker) if shutil.which(judge.__name__) for line in judge(sys.argv[1])]
    print("\n".join(bad))
    return bool(bad)


sys.exit(main())
