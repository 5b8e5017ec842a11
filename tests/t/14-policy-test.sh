# limit: 30
# pale policy test: examples inside a policy, judged by the evaluator, told with their lines.
. "$T_LIB"

t_policies_that_hold_here() {
	policy <<'P'
[files]
deny = ~/x
match = read ~/x/y
not_match = read ~/xy
[commands]
deny = git push origin (main|master)
match = git push origin main
not_match = git push origin feature
[network]
allow = registry.example.org:443
match = registry.example.org
P
	run pale policy test
	rc_is 0
	out_has "policy.ini:3:9: match = read ~/x/y"
	err_has "5 examples: 5 hold, 0 fail, 0 not judged"
	run pale lint
	out_lacks "[example]"
}

t_one_that_fails() {
	cat >p.ini <<'P'
[commands]
deny = git push origin (main|master)
match = git push origin topic
[network]
mode = strict
allow = registry.example.org
match = registry.example.org
P
	run pale policy test p.ini
	rc_is 1
	out_has "p.ini:3:9: match = git push origin topic"
	out_has "does not match this"
	out_has "not judged: in network mode strict"
	err_has "2 examples: 0 hold, 1 fail, 1 not judged"
	run pale policy test p.ini --json
	rc_is 1
	python3 - "$S/out" <<'P' || fail "not what JSON should say"
import json, sys
j = json.load(open(sys.argv[1]))
assert (j["holds"], j["fails"], j["silent"]) == (0, 1, 1), j
e = j["examples"][0]
assert (e["line"], e["result"], e["rule_line"], e["section"]) == (3, "fails", 2, "commands"), e
P
	run pale lint p.ini
	rc_is 1
	out_has "p.ini:3:9: warning: match = git push origin topic"
}

t_what_is_no_example() {
	printf '[files]\ndeny = x\nmatch = x\n' >p.ini
	run pale policy test p.ini
	rc_is 2
	err_has "p.ini:3:9: error:"
	err_has "read ~/.ssh/config"
	run pale policy test p.ini q.ini
	rc_is 2
	run pale policy test missing.ini
	rc_is 2
	printf '[commands]\ndeny = zap\n' >p.ini
	run pale policy test p.ini
	rc_is 0
	err_has "no examples"
}

# A session reads past them.
t_a_session_does_not_mind() {
	printf '[commands]\ndeny = zap\nmatch = zip\n' | policy
	fsh 'echo here'
	rc_is 0
	out_is here
}

scenario "$@"
