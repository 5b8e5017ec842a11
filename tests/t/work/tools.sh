# levels: full strict
# limit: 60
# Rules about the agents' own tools: what an agent's hook asks and hears.
. "$T_LIB"

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

# Whatever goes wrong is a denial.
t_fails_closed() {
	rules
	run bash -c 'echo "{\"tool_name\": \"Read\"}" | pale tool hook claude'
	rc_is 0
	out_has '"permissionDecision": "deny"'
	out_has "no supervisor can be asked"
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

scenario "$@"
