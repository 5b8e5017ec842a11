# pale session show: one session on a page, while it runs and afterwards.
. "$T_LIB"

OPTS=(--level hooks)

a_session() {
	fsh 'cat file; cat ~/.ssh/id_rsa; cat ~/.ssh/id_rsa; echo x >made; rm made; exit 3'
	ID=$(basename "$(ls -d "$STATE"/sessions/*)")
}

# fact PYTHON: an expression over j, the page as JSON.
fact() {
	python3 -c 'import json, sys; j = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$S/out" "$1"
}

fact_is() {
	[ "$(fact "$1")" = "$2" ] || fail "$1 is $(fact "$1"), expected $2"
}

t_after_its_end() {
	a_session
	run pale session show "$ID"
	rc_is 0
	out_has "session $ID"
	out_has "exit 3"
	out_has "command    bash -c cat file"
	out_has "workspace  $W"
	out_has "level      hooks"
	out_has "static"
	out_has "5 hooked, 0 held by the kernel alone, 0 static"
	out_lacks "carried by the supervisor"
	grep -qF "2x read $HOME/.ssh/id_rsa" "$S/out" || fail "the denials are not counted"
	out_has "1 paths written"
	out_lacks "$DECOY"
}

t_json() {
	a_session
	run pale session show --json
	rc_is 0
	fact_is 'j["session"]' "$ID"
	fact_is 'j["status"], j["alive"]' "('exit 3', False)"
	fact_is 'sum(j["counts"]["denied"].values())' 2
	fact_is 'j["counts"]["processes"]' "{'hooked': 5, 'kernel_only': 0, 'static': 0}"
	fact_is '[(d["op"], d["target"], d["count"], d["hook"], d["kernel"]) for d in j["denied"]]' "[('read', '$HOME/.ssh/id_rsa', 2, 2, 0)]"
	fact_is 'list(j["changed"])' "['$W/made']"
	# What it says is what the ledger has.
	fact_is 'j["counts"]["calls"]["hook"]' "$(ledgers | python3 -c '
import json, sys
print(sum(r["count"] for r in map(json.loads, sys.stdin) if r["via"] == "hook" and r["op"] != "attach"))')"
	run pale explain "$(fact 'j["denied"][0]["id"]')"
	out_has "id_rsa"
}

t_while_it_runs() {
	bg long bash -c 'cat ~/.aws/credentials; until test -e stop; do sleep 0.05; done'
	until_true 10 bash -c 'pale session show --json 2>/dev/null | grep -q "op.*read"' || fail "not told while it runs"
	run pale session show
	rc_is 0
	out_has "runs"
	out_has "1x read $HOME/.aws/credentials"
	run pale session show --json
	fact_is 'j["alive"], j["status"], j["counts"]["denied"]["hook"]' "(True, None, 1)"
	: >stop
	wait $BG
	run pale session show
	out_has "exit 0"
}

t_which_one() {
	local first
	run pale session show
	rc_is 2
	err_has "no session"
	fsh true
	first=$(basename "$(ls -d "$STATE"/sessions/*)")
	fsh 'exit 7'
	run pale session show
	out_has "exit 7"
	run pale session show "$first"
	out_has "exit 0"
	run pale session show "${first:0:4}"
	out_has "session $first"
	run pale session show no-such
	rc_is 2
	err_has "no session no-such"
	run pale session show ""
	rc_is 2
	err_has "more than one"
	run pale session show a b
	rc_is 2
	run pale session shwo
	rc_is 2
	err_has "show"
}

# Killed in the middle: what is on the disk is told, and that it ended so.
t_cut_short() {
	local helper id
	bg long bash -c 'cat ~/.aws/credentials; until test -e stop; do sleep 0.05; done'
	until_true 10 bash -c 'pale session show --json 2>/dev/null | grep -q "op.*read"' || fail "not told while it runs"
	run pale session show --json
	id=$(fact 'j["session"]')
	helper=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["helper_pid"])' "$STATE/sessions/$id/session.json")
	kill -9 "$helper"
	: >stop
	wait $BG
	run pale session show "$id"
	rc_is 0
	out_has "was cut short"
	out_has "1x read $HOME/.aws/credentials"
}

# Control characters of a path reach no terminal.
t_escaped() {
	: >"$HOME/.ssh/"$'\033]0;x\007id'
	fsh 'cat ~/.ssh/$'"'\\033]0;x\\007id'"'; true'
	run pale session show
	out_has '\x1b'
	! grep -q "$(printf '\033')" "$S/out" || fail "an escape sequence came out"
}

scenario "$@"
