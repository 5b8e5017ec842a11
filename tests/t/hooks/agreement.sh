# limit: 60
# levels: full
# Hooks and kernel side by side: every carried call is told as the supervisor's, what went around live
# hooks is told as that, nothing a process writes passes for it, and the numbers agree with the records.
. "$T_LIB"

OPTS=(--level full)

# fact PYTHON: an expression over j, the page of the newest session.
fact() {
	pale session show --json >"$S/page" || fail "pale session show"
	python3 -c 'import json, sys; j = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$S/page" "$1"
}

t_carried_is_told_as_that() {
	fence "$T_VICTIMS/raw-static" file
	rc_is 0
	out_has hello
	recorded read allow "$W/file" '"via":"kernel"' '"level":"full"'
	not_recorded read allow "$W/file" '"via":"hook"'
	fsh "exec $T_VICTIMS/raw-static ~/.ssh/id_rsa"
	rc_is 1
	no_decoy
	recorded read deny "$HOME/.ssh/id_rsa" '"via":"kernel"'
	verifies
}

t_hooked_is_told_as_that() {
	fsh 'read -r x <file; cat ~/.ssh/id_rsa'
	recorded read allow "$W/file" '"via":"hook"'
	not_recorded read allow "$W/file" '"via":"kernel"'
	recorded read deny "$HOME/.ssh/id_rsa" '"via":"hook"'
	not_recorded read deny "$HOME/.ssh/id_rsa" '"via":"kernel"'
	[ "$(fact 'j["counts"]["around"]')" = 0 ] || fail "an honest program went around its hooks"
}

# The hooks are in it and see nothing: the kernel does, and that is worth a word.
t_around_live_hooks() {
	fence "$T_VICTIMS/raw" "$HOME/.ssh/id_rsa"
	rc_is 1
	no_decoy
	recorded read deny "$HOME/.ssh/id_rsa" '"via":"kernel"' "went around the hooks"
	[ "$(fact 'j["counts"]["around"], j["denied"][0]["around"]')" = "(1, 1)" ] || fail "not counted"
	run pale session show
	out_has "1 of them went around the hooks"
	grep -q "1x read .*)  went around the hooks" "$S/out" || fail "the denial does not say that it went around"
}

# Without hooks there is nothing to go around.
t_static_goes_around_nothing() {
	fence "$T_VICTIMS/raw-static" "$HOME/.ssh/id_rsa"
	rc_is 1
	recorded read deny "$HOME/.ssh/id_rsa" '"via":"kernel"'
	not_recorded read deny "went around"
	fsh "env -i $T_VICTIMS/raw-static ~/.aws/credentials"
	not_recorded read deny "$HOME/.aws/credentials" "went around"
}

t_what_runs_without_hooks_is_counted() {
	fsh "$T_VICTIMS/raw-static file; $T_VICTIMS/raw-static file; true"
	[ "$(fact 'j["counts"]["processes"]["static"]')" = 2 ] || fail "static: $(fact 'j["counts"]["processes"]')"
	recorded attach "" raw-static "static program" '"via":"kernel"'
}

# No record that a process makes itself is the supervisor's, whatever stands in it.
t_claims_stay_claims() {
	cat >claim.py <<-'EOF2'
		import ctypes, os, sys
		try:
		    fd = os.open(os.environ["PALE_SESSION_DIR"] + "/ring", os.O_RDWR)
		except OSError as e:
		    sys.exit("shut: %s" % e)
	EOF2
	fence python3 claim.py
	rc_is 1
	err_has shut
	fsh 'cat file; true'
	[ "$(records attach "" '"via":"kernel"' | grep -c bash)" = 0 ] || fail "a hooked program is told as without hooks"
}

t_numbers_agree_with_the_records() {
	fsh "cat file; $T_VICTIMS/raw-static file
		$T_VICTIMS/raw ~/.ssh/id_rsa; cat ~/.ssh/id_rsa; echo x >made; chmod 600 made; true"
	cat >"$S/sum.py" <<-'EOF2'
		import json, sys
		page, records = json.load(open(sys.argv[1])), [json.loads(l) for l in sys.stdin]
		judged = [r for r in records if r["via"] in ("hook", "kernel") and r["op"] != "attach"]
		for via in "hook", "kernel":
		    own = [r for r in judged if r["via"] == via]
		    assert page["counts"]["calls"][via] == sum(r["count"] for r in own), via
		    assert page["counts"]["denied"][via] == sum(r["count"] for r in own if r["verdict"] == "deny"), via
		    assert page["counts"]["calls"][via] > 0 and page["counts"]["denied"][via] > 0, via
		assert page["counts"]["around"] == sum(r["count"] for r in judged if "around the hooks" in r["detail"]) == 1
		assert page["lost"] == 0
	EOF2
	fact 1 >/dev/null
	ledgers | python3 "$S/sum.py" "$S/page" || fail "the numbers disagree: $(cat "$S/page")"
	verifies
}

scenario "$@"
