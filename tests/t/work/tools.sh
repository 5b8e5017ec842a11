# levels: full strict
# limit: 60
# Rules about the agents' own tools: each agent's hook, as pale run installs it, is called with the agent's JSON.
. "$T_LIB"

# An agent of that name, outside of the workspace, which calls its hook for each word and says what came.
agent() {
	mkdir -p ~/agents
	cat >~/agents/"$1" <<-'END'
		#!/usr/bin/env python3
		import json, os, subprocess, sys, tomllib
		name, args = os.path.basename(sys.argv[0]), sys.argv[1:]
		if name == "claude":
		    at = args.index("--settings")
		    settings = json.loads(args[at + 1])
		    args[at:at + 2] = []
		elif name == "codex":
		    assert args.pop(0) == "--dangerously-bypass-hook-trust"
		    text = ""
		    while args and args[0] == "-c":
		        text += args[1] + "\n"
		        args[0:2] = []
		    settings = tomllib.loads(text)
		    assert settings["features"]["hooks"] is True
		hook = settings["hooks"]["PreToolUse"][0]
		assert hook["matcher"] == "*" and hook["hooks"][0]["timeout"] >= 90000
		for tool in args:
		    said = {"session_id": "1", "cwd": os.getcwd(), "hook_event_name": "PreToolUse", "tool_name": tool,
		        "tool_input": {"url": "https://example.org/x", "prompt": "what is there"}, "tool_use_id": "call_0"}
		    done = subprocess.run(hook["hooks"][0]["command"], shell=True, input=json.dumps(said), text=True,
		        capture_output=True)
		    answer = json.loads(done.stdout)["hookSpecificOutput"] if done.stdout else {}
		    print(tool, done.returncode, answer.get("permissionDecision", "goes on"),
		        answer.get("permissionDecisionReason", ""), done.stderr.strip(), flush=True)
	END
	chmod 755 ~/agents/"$1"
}

# The same for opencode, whose hook is a module.
agent_opencode() {
	need node
	mkdir -p ~/agents
	cat >~/agents/opencode <<-'END'
		#!/usr/bin/env node
		const config = JSON.parse(process.env.OPENCODE_CONFIG_CONTENT)
		const url = "data:text/javascript," + encodeURIComponent(require("fs").readFileSync(new URL(config.plugin[0])))
		import(url).then(async (plugin) => {
			const hooks = await plugin.Pale()
			for (const tool of process.argv.slice(2))
				try {
					await hooks["tool.execute.before"]({ tool, callID: "1" }, { args: { url: "https://example.org/x" } })
					console.log(tool, "0 goes on")
				} catch (e) {
					console.log(tool, "0 deny", e.message)
				}
		})
	END
	chmod 755 ~/agents/opencode
}

rules() {
	[ "$T_LEVEL" != hooks ] || skip "rules about tools do not hold at level hooks"
	policy <<-END
		[session]
		timeout = 60s
		${1:-}
		[tools]
		deny = WebFetch
		message = use the notes
		ask = mcp__*
	END
}

# holds AGENT: a denied tool, one that no rule names, and one that is asked about and answered from outside.
holds() {
	local id
	rules
	fence ~/agents/"$1" WebFetch Read
	rc_is 0
	out_has "WebFetch 0 deny pale: denied tool WebFetch (policy.ini:5 [tools] deny = WebFetch) id="
	out_has "use the notes"
	out_has "Read 0 goes on"
	recorded tool deny WebFetch
	recorded tool allow Read
	bg asked ~/agents/"$1" mcp__github__push mcp__github__merge
	id=$(pending_id) || exit 1
	run pale pending
	out_has "mcp__github__push"
	out_has "https://example.org/x"
	run pale approve "$id"
	rc_is 0
	until_true 10 test "$id" != "$(pending_id)" || fail "the second tool is not asked about"
	run pale deny "$(pending_id)" --reason "not today"
	bg_wait asked
	out_has "mcp__github__push 0 goes on"
	out_has "mcp__github__merge 0 deny pale: denied tool mcp__github__merge"
	out_has "not today"
	recorded tool allow mcp__github__push
	recorded tool deny mcp__github__merge
	verifies
}

t_claude() {
	agent claude
	holds claude
}

t_codex() {
	agent codex
	holds codex
}

t_opencode() {
	agent_opencode
	holds opencode
}

# For a session, by a grant that names the tool alone.
t_granted() {
	local id
	agent claude
	rules
	bg asked ~/agents/claude mcp__a__b mcp__a__b mcp__a__c
	id=$(pending_id) || exit 1
	run pale approve "$id" --session
	rc_is 0
	until_true 10 test "$id" != "$(pending_id)" || fail "the other tool is not asked about"
	run pale grants
	out_has "[tools] allow = mcp__a__b"
	run pale deny "$(pending_id)"
	bg_wait asked
	[ "$(grep -c '^mcp__a__b 0 goes on' "$S/out")" = 2 ] || fail "the grant does not hold"
	out_has "mcp__a__c 0 deny"
}

# Without rules nothing is installed; where the rules cannot hold, that is said.
t_where_nothing_is_installed() {
	[ "$T_LEVEL" != hooks ] || skip "rules about tools do not hold at level hooks"
	mkdir -p ~/agents
	printf '#!/bin/sh\necho "$0: $*"; env | grep -E "PALE_TOOL|OPENCODE_CONFIG"; true\n' >~/agents/claude
	chmod 755 ~/agents/claude
	for agent in opencode pi gemini qwen; do cp ~/agents/claude ~/agents/$agent; done
	run pale run -- ~/agents/claude x
	grep -q '/claude: x$' "$S/out" || fail "the command line has become another one"
	run pale run -- ~/agents/opencode x
	! grep -q PALE_TOOL "$S/out" || fail "a hook without rules"
	printf '[agent "claude" tools]\ndeny = x\n' | policy
	run pale run -- ~/agents/opencode x
	! grep -q PALE_TOOL "$S/out" || fail "a hook for rules of another agent"
	rules
	run pale run -- ~/agents/pi x
	rc_is 0
	err_has "the rules about tools do not hold for pi: pale knows no hook of it"
	run pale run -- ~/agents/gemini x
	err_has "the rules about tools do not hold for gemini: its own settings can switch off any hook"
	run pale run -- ~/agents/qwen x
	err_has "the rules about tools do not hold for qwen: it leaves out"
	run pale run -- true
	err_has "the rules about tools do not hold for true"
	run pale explain tool WebFetch
	out_has "note   it holds for agents that ask by a hook: claude, codex, opencode"
	run pale explain --agent pi tool WebFetch
	out_has "note   it does not hold for pi"
	run pale explain --agent claude tool WebFetch
	out_has "note   claude asks by a hook"
	printf '[tools]\ndeny = x\n' | policy
	run "$T_STAGE/bin/pale" run --level hooks --allow-unhooked -- ~/agents/claude x
	err_has "do not hold at level hooks"
}

# A command line that would leave the hook out is not started.
t_refused() {
	rules
	agent claude && agent codex && cp ~/agents/claude ~/agents/other && cp ~/agents/claude ~/agents/opencode
	for words in "claude --bare x" "claude --settings={} x" "claude --settings {}" "codex -c features.hooks=false" \
		"codex --disable=hooks" "codex exec --disable hooks" "opencode --pure x"; do
		# shellcheck disable=SC2086
		run pale run -q -- ~/agents/$words
		rc_is 125
		err_has "the policy has rules about tools"
	done
	run pale run -q -- ~/agents/codex webhooks.c
	rc_is 0
	run pale run -q -- ~/agents/claude x --settings
	rc_is 125
	run pale run -q --agent claude -- ~/agents/other x
	rc_is 125
	err_has "does not start it by its own name"
	run pale run -q -e OPENCODE_CONFIG_CONTENT={} -- ~/agents/opencode x
	rc_is 125
	err_has "OPENCODE_CONFIG_CONTENT"
	rules $'[commands]\ndefault = deny\nallow = python3'
	run pale run -q -- ~/agents/claude x
	rc_is 125
	err_has "the policy does not let the agent run its hook"
}

two_wait() {
	[ "$(pale pending --json | grep -c '"target"')" = 2 ]
}

# A card has room for the beginning of a long input: the rest still makes another question.
t_a_long_input() {
	local tail
	rules
	cat >ask.sh <<-'END'
		long=$(printf 'a%.0s' {1..9000})
		for tail in one two; do
			echo "{\"tool_name\": \"mcp__a__b\", \"tool_input\": {\"command\": \"$long $tail\"}}" | pale tool hook claude &
		done
		wait
	END
	pale run -q -- bash ask.sh >"$S/answers" 2>&1 &
	until_true 15 two_wait || fail "not two questions: $(pale pending)"
	run pale pending
	out_has "cut: "
	[ "$(grep -o 'sha256 [0-9a-f]*' "$S/out" | sort -u | wc -l)" = 2 ] || fail "they look alike"
	for tail in 1 2; do
		run pale deny "$(pending_id)"
	done
	wait $!
	[ "$(grep -c deny "$S/answers")" = 2 ] || fail "$(cat "$S/answers")"
}

# Whatever goes wrong is a denial.
t_fails_closed() {
	rules
	run bash -c 'echo "{\"tool_name\": \"Read\"}" | pale tool hook claude'
	rc_is 0
	out_has '"permissionDecision": "deny"'
	out_has "it cannot be asked about"
	fsh 'for text in "" "{}" "[1]" "{\"tool_name\": 1}" "{\"tool_name\": \"a b\"}" "{\"tool_name\": \"/etc/x\"}"; do
		echo "$text" | pale tool hook codex
	done
	echo "{\"tool_name\": \"Read\"}" | pale tool hook nosuch || echo "status $?"
	echo "{\"tool_name\": \"Read\"}" | pale tool hook opencode
	echo "{\"tool_name\": \"WebFetch\"}" | pale tool hook opencode
	echo "{\"tool_name\": \"Read\"}" | pale tool hook claude >/dev/full || echo "full $?"'
	[ "$(grep -c '"permissionDecision": "deny"' "$S/out")" = 6 ] || fail "not each is denied"
	out_has "status 2"
	out_has '"decision": "allow"'
	out_has '"decision": "deny"'
}

# A nested run asks by the rules of the session around it too.
t_nested() {
	rules
	agent claude
	printf '[tools]\ndeny = Read\n' >inner.ini
	fsh 'pale run -q -p inner.ini -- ~/agents/claude WebFetch Read Write'
	out_has "WebFetch 0 deny"
	out_has "Read 0 deny"
	out_has "Write 0 goes on"
}

scenario "$@"
