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
	out_has "started    20"
	out_has "ended      20"
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
	fact_is '[(d["op"], d["target"], d["count"], d["hook"], d["kernel"]) for d in j["denied"]]' \
		"[('read', '$HOME/.ssh/id_rsa', 2, 2, 0)]"
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
	helper=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["helper_pid"])' "$STATE/sessions/$id/session.json")
	kill -9 "$helper"
	: >stop
	wait $BG
	run pale session show "$id"
	rc_is 0
	out_has "was cut short"
	out_has "1x read $HOME/.aws/credentials"
}

# --- list and stop ------------------------------------------------------------------------------------

long_session() {
	rm -f pid
	bg long bash -c "$1"
	until_true 20 test -e pid || fail "it does not run: $(cat "$S/long.err")"
	ID=$(pale session list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["session"])')
}

t_list() {
	local agent
	long_session 'cat ~/.ssh/id_rsa; echo $$ >pid; until test -e stop; do sleep 0.05; done'
	until_true 20 bash -c "pale session list --json | grep -q '\"denied\": *1'" || fail "the denial is not counted"
	run pale session list --json
	fact_is '[(r["session"], r["alive"], r["state"], r["level"], r["agent"], r["workspace"], r["denied"], r["records"] > 1)
		      for r in j]' \
		"[('$ID', True, 'live', 'hooks', 'bash', '$W', 1, True)]"
	fact_is 'j[0]["command"][:2], j[0]["pid"] == int(open("pid").read())' "(['bash', '-c'], True)"
	run pale session list
	out_has "$ID  runs"
	out_has "1 denied"
	# From inside there is nothing to list and nobody to stop.
	run pale session stop no-such
	rc_is 2
	err_has "no session no-such runs"
	: >stop
	wait $BG
	run pale session list --all --json
	fact_is '[(r["session"], r["state"], r["denied"]) for r in j]' "[('$ID', 'ended', 1)]"
	run pale session list
	rc_is 0
	out_lacks "$ID"
}

t_stop() {
	long_session 'trap "echo told; exit 0" TERM; echo $$ >pid; while :; do sleep 0.1; done'
	# What another word takes does not turn into nothing.
	run pale session stop "${ID:0:4}" --dry-run
	rc_is 2
	err_has "\`session stop\` takes no --dry-run (gc: "
	run pale session stop "${ID:0:4}"
	rc_is 0
	err_has "session $ID has ended"
	bg_wait long
	rc_is 143
	out_has told
	err_has "the operator ended the session"
	recorded session/stop "" "the operator ends it"
	run pale session show "$ID" --json
	fact_is 'j["status"]' "exit 143 (stopped by the operator)"
	run pale session stop "$ID"
	rc_is 2
	verifies
}

t_stop_now() {
	long_session 'trap "" TERM; setsid bash -c "trap \"\" TERM; echo \$\$ >daemon
		exec sleep 60" & until test -e daemon; do sleep 0.05; done; echo $$ >pid; while :; do sleep 0.1; done'
	run pale session stop "$ID" --now --json
	rc_is 0
	fact_is 'j["ended"]' True
	bg_wait long
	rc_is 137
	! kill -0 "$(cat pid)" 2>/dev/null || fail "it lives on"
	! kill -0 "$(cat daemon)" 2>/dev/null || fail "what it started lives on"
}

# The agent is not the operator, at any level, whatever it calls.
t_agent_cannot_stop() {
	local level
	for level in hooks full; do
		OPTS=(--level $level)
		fsh 'pale session stop "${PALE_SESSION_DIR##*/}"; echo "stop $?"; pale session list --json; python3 - <<-END
			import json, os, socket
			s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
			try:
			    s.connect(os.environ["PALE_SESSION_DIR"] + "/control.sock")
			    s.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "session/stop", "params": {"now": True}}).encode())
			    print("answer", s.recv(4096).decode())
			except OSError as e:
			    print("refused", e.errno)
		END
		echo on; exit 5'
		rc_is 5
		out_has on
		out_lacks "stop 0"
		out_lacks launcher_pid
		out_lacks '"live"'
		rm -rf "$STATE/sessions"
	done
}

# Control characters of a path reach no terminal.
t_escaped() {
	: >"$HOME/.ssh/"$'\033]0;x\007id'
	fsh 'cat ~/.ssh/$'"'\\033]0;x\\007id'"'; true'
	run pale session show
	out_has '\x1b'
	! grep -q "$(printf '\033')" "$S/out" || fail "an escape sequence came out"
}

# The last line of the run, the page and the list agree, and what nobody was told is in none of them.
t_counts_agree() {
	local id
	run pale run -- bash -c 'cat ~/.ssh/id_rsa ~/.npmrc; ps aux >/dev/null; exit 0'
	err_has "records, 1 denied"
	err_lacks "ledger head"
	[ "$(grep -c '^pale: ' <(sed '/denied read/,$d' "$S/err"))" -le 3 ] || fail "the banner has more than three lines"
	id=$(basename "$(ls -d "$STATE"/sessions/*)")
	run pale session show "$id"
	out_has "1x read $HOME/.ssh/id_rsa"
	out_lacks "read $HOME/.npmrc"
}

scenario "$@"
