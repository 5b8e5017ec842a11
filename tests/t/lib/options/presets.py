"""What explain says of each line: presets.py allow|ask|deny LINES <JSON

allow: the line runs.  Else a rule of that kind, or of the denylist, holds it.  The status is 1 where one is not so.
"""
import json
import sys

verb, path = sys.argv[1:]
lines = open(path, encoding="utf-8").read().splitlines()
answers = json.load(sys.stdin)
bad = 0
if len(answers) != len(lines):
    sys.exit("%d answers for %d lines" % (len(answers), len(lines)))
for line, answer in zip(lines, answers):
    rule = answer["rule"] or {"section": "", "key": ""}
    held = rule["section"] == "commands" and rule["key"] in (verb, "denylist")
    if answer["verdict"] != "allow" if verb == "allow" else not held or answer["verdict"] == "allow":
        print("%s: %s, %s" % (line, answer["verdict"], answer["why"]))
        bad = 1
sys.exit(bad)
