# limit: 60
# pale import: the rules of fence and claude as a policy that lints clean and decides as
# they did; what cannot be carried over is told, and nothing becomes weaker in silence.
. "$T_LIB"

# import FILE: its policy in p.ini, its report in $S/err; it lints clean.
import() {
	rm -f p.ini
	run pale import "$@" -o p.ini
	[ "$RC" -lt 2 ] || fail "cannot import $*"
	cp "$S/err" report
	run pale lint p.ini
	! grep -E ': (error|warning|note): ' "$S/out" | grep -vE ' \[(missing-path|user-content)\]$' ||
		fail "what was imported does not lint clean"
	[ "$RC" = 0 ] || fail "lint: $RC"
}

reported() {
	grep -qF -e "$1" report || {
		cat report
		fail "the report lacks: $1"
	}
}

has_line() {
	grep -qxF -e "$1" p.ini || {
		cat p.ini
		fail "the policy lacks: $1"
	}
}

lacks_line() {
	! grep -qxF -e "$1" p.ini || {
		cat p.ini
		fail "the policy has: $1"
	}
}

# decides allow|deny|ask OPERATION ARG...
decides() {
	local want=$1
	shift
	run pale explain -p p.ini --json "$@"
	python3 -c 'import json, sys; v = json.load(open(sys.argv[1]))
v = v[0] if isinstance(v, list) else v; sys.exit(v["verdict"] != sys.argv[2])' \
		"$S/out" "$want" || fail "not $want: $*"
}

t_fence() {
	cat >fence.json <<'J'
{
  // with comments, and a trailing comma
  "$schema": "https://example.org/schema.json",
  "extends": "no-such-template",
  "network": {"allowedDomains": ["github.com", "*.npmjs.org", "evil.example.org", "https://no/x"],
    "deniedDomains": ["*.example.org"], "allowLocalOutboundPorts": [5432]},
  "filesystem": {"allowWrite": [".", "~/out"], "denyRead": ["**/*.pem", "~/notes/"],
    "denyWrite": ["**/.env", "~/out/x"]},
  "command": {"deny": ["git push", "rm -rf", "dd if=", "a && b"], "allow": ["git push origin docs"],
    "useDefaults": false},
  "ssh": {"allowedHosts": ["*.example.net"], "allowedCommands": ["ls"]},
  "weird": 1,
}
J
	import fence.json
	has_line "# filesystem.denyRead"
	has_line "deny = **/*.pem"
	has_line "allow = *.npmjs.org"
	lacks_line "allow = evil.example.org"
	reported "extends: not carried over"
	reported "command.deny[3]: not carried over"
	reported "network.allowedDomains[3]: not carried over"
	reported "command.useDefaults: stricter here"
	reported "weird: not carried over"
	decides deny exec git push origin topic
	decides allow exec git push origin docs
	decides deny exec rm -rf x
	decides allow exec rm x
	decides deny exec dd if=/dev/zero
	decides ask exec ssh host ls
	decides allow connect registry.npmjs.org:443
	decides deny connect evil.example.org:443
	decides deny connect pypi.org:443
	decides allow connect localhost:5432
	decides deny connect localhost:8080
	decides allow connect a.example.net:22
	decides deny read sub/key.pem
	decides deny read ~/notes/a
	decides allow read .env
	decides deny write sub/.env
	decides allow write ~/out/y
	decides deny write ~/out/x
	decides deny write ~/out/sub/.env
}

# What a file extends holds too: files from where each stands, the user's own, a template; never in a circle.
t_fence_extends() {
	mkdir -p sub/deep ~/.config/fence
	echo '{"extends": "../base.json", "command": {"deny": ["make deploy"]}, "filesystem": {"allowWrite": ["."]}}' \
		>sub/fence.json
	echo \
		'{"extends": "sub/deep/more.jsonc", "network": {"allowedDomains": ["one.example"]}, "command": {"deny": ["make"]}}' \
		>base.json
	echo '{"extends": "@base", "filesystem": {"denyRead": ["~/notes"]}, /* and */ "odd": 1,}' >sub/deep/more.jsonc
	echo '{"network": {"allowedDomains": ["two.example"]}}' >~/.config/fence/fence.json
	import sub/fence.json
	has_line "# extends(../base.json).network.allowedDomains"
	reported "extends(../base.json).extends(sub/deep/more.jsonc).odd: not carried over"
	decides allow connect one.example:443
	decides allow connect two.example:443
	decides deny connect three.example:443
	decides deny exec make deploy
	decides deny exec make
	decides deny read ~/notes/x
	decides allow write file
	echo '{"extends": "./base.json"}' >base.json
	import --from fence base.json
	reported "more than 10 files, or they go in a circle"
	echo '{"extends": "nowhere.json"}' >base.json
	import --from fence base.json
	reported "extends: not carried over: \`nowhere.json\`: No such file"
	echo '{"extends": 7}' >base.json
	import --from fence base.json
	reported "extends: not carried over: is no name"
	echo '{"extends": "code-strict", "command": {"allow": ["git push origin docs"]}}' >fence.json
	import fence.json
	reported "extends: note: \`code-strict\` as fence had it"
	decides deny exec git push origin topic
	decides allow exec git push origin docs
	decides deny exec gh pr merge 1
	decides allow exec gh pr view 1
	decides allow connect crates.io:443
	decides deny connect x.sentry.io:443
	decides deny connect example.org:443
	decides allow write file
	decides deny write sub/.env.local
	decides deny read ~/.netrc
	decides deny read ~/other
	decides allow read ~/.rustup/x
	echo '{"extends": "git-readonly"}' >fence.json
	import fence.json
	decides deny exec git rebase main
	decides deny write .git/x
}

# What the preset says already is left out; what lint notes of a host that the source names is told.
t_fence_template_lint() {
	echo '{"extends": "code"}' >fence.json
	import fence.json
	reported 'extends(code).filesystem.denyRead[4]: note: `deny = ~/.aws` left out: never decides: `sensitive = ~/.aws`'
	decides deny read ~/.aws/x
	has_line "allow = raw.githubusercontent.com"
	reported 'note: `allow = raw.githubusercontent.com` is carried over: anyone can publish on'
}

# One line of the report for all that one rule of the source became.  It holds also where what it is against was
# not carried over: the preset or an agent's profile may open that place.
t_fence_template_report() {
	echo '{"extends": "code"}' >fence.json
	import fence.json
	[ "$(grep -c ' added for [0-9]* places, ' report)" = 5 ] || fail "not one line a rule: $(cat report)"
	[ "$(wc -l <report)" -lt 40 ] || fail "the report has $(wc -l <report) lines"
	reported '`write = ~/.config` cannot be held'
	for f in ~/.config/x/.env ~/.cache/x/.env ~/.bun/x.key ~/.aws/x ~/.claude/x/.env.local .env /tmp/x/.env; do
		decides deny write "$f"
	done
	has_line "readonly = ~/.codex/**/.env*"
	decides deny --agent codex write ~/.codex/x/.env
	decides allow --agent codex write ~/.codex/x/y
	decides allow write /tmp/x/y
}

# Where the workspace is not named it is readonly.
t_fence_walls() {
	echo '{"network": {"allowedDomains": ["example.org"], "deniedDomains": ["*:22"]},
		"filesystem": {"denyRead": ["~/x"], "allowWrite": ["./build"], "denyWrite": ["build/keep"]},
		"credentials": []}' >fence.json
	import fence.json
	reported "credentials: not carried over"
	reported "the workspace is readonly"
	reported "weaker here"
	decides deny write file
	decides allow write build/a
	decides deny write build/keep
	decides deny read ~/x/y
	decides deny connect example.org:22
	decides allow connect example.org:443
}

t_claude() {
	mkdir .claude
	cat >.claude/settings.json <<'J'
{"permissions": {
	"allow": ["Bash(npm run:*)", "Bash(git status)", "Bash(git:*)", "Bash(python3:*)", "Bash(cd x && make)",
	"Edit(/docs/**)",
		"WebFetch(domain:docs.rs)", "mcp__github__search", "Bash(git push origin topic)"],
	"ask": ["Bash(git push:*)", "Bash(make deploy now:*)"],
	"deny": ["Read(./.env)", "Read(.env.*)", "Read(//srv/secret/**)", "Edit(/docs/private/**)", "Bash(curl:*)",
		"Bash(git commit --amend:*)", "Bash(*secret*)", "WebFetch", "Bash(make deploy:*)"],
	"additionalDirectories": ["~/elsewhere"], "defaultMode": "acceptEdits"},
	"model": "x"}
J
	import .claude/settings.json
	reported "permissions.allow[4]: not carried over"
	! grep -q "allow\[7\]: not carried over" "$S/out" "$S/err" || fail "a rule for a tool is not carried over"
	reported "permissions.deny[6]: not carried over"
	reported "not about permissions, not looked at: model"
	reported "python3"
	lacks_line "allow = git push origin topic $"
	decides allow exec npm run build
	decides ask exec make
	decides ask exec python3 -c x
	decides ask exec git push origin topic
	decides ask exec git -c core.pager=x log
	decides allow exec git log
	decides deny exec git commit --amend
	decides deny exec curl example.org
	decides deny exec make deploy now
	decides deny read .env
	decides deny read a/b/.env.local
	decides deny read docs/.env.local
	decides deny read /srv/secret/x
	decides deny write docs/private/x
	decides allow write docs/x
	decides allow write ~/elsewhere/x
	decides allow connect docs.rs:443
	decides deny tool WebFetch
}

# Rules that name a tool alone are rules of [tools]; its deny beats its ask beats its allow, however specific.
t_claude_tools() {
	cat >settings.json <<'J'
{"permissions": {
	"allow": ["WebFetch", "mcp__github__*", "mcp__files__read", "mcp__*__get", "Agent(Explore)"],
	"ask": ["mcp__files", "WebSearch"],
	"deny": ["mcp__github__push", "Task"]}}
J
	import --from claude settings.json
	reported "permissions.allow[3]: not carried over"
	reported "permissions.allow[4]: not carried over"
	reported "permissions.allow[0]: stricter here: \`WebFetch\`: its hosts are judged too"
	reported "tools that no rule names are allowed"
	lacks_line "allow = mcp__files__read"
	decides allow tool WebFetch
	decides allow tool mcp__github__get
	decides deny tool mcp__github__push
	decides ask tool mcp__files__read
	decides ask tool mcp__files__write
	decides ask tool WebSearch
	decides deny tool Task
}

t_files_that_are_none() {
	echo '{"network": ' >fence.json
	run pale import fence.json
	rc_is 2
	err_has "fence.json: line 2, column 0: "
	echo '{"a": 1}' >x.json
	run pale import x.json
	rc_is 2
	err_has "the kind of this file cannot be determined; import reads"
	echo '{"network": {}, "network": {}}' >x.json
	run pale import x.json
	rc_is 2
	err_has "duplicate"
	printf '{"network": {}}\0' >x.json
	run pale import x.json
	rc_is 2
	run pale import x.json y.json
	rc_is 2
	run pale import --from clade x.json
	rc_is 2
	err_has "clade: no format that is known"
	# What is not read is told with what is, and with the way to a policy for any agent.
	printf 'model = "m"\n' >config.toml
	local args
	for args in "codex config.toml" "--from codex config.toml" \
		"--from opencode config.toml" "--from srt config.toml" config.toml "--from claude config.toml"; do
		run pale import $args
		rc_is 2
		err_has "import reads the rules of fence and claude"
		err_has "\`pale run --observe\` and then \`pale learn\`"
	done
	echo 1 >p.ini
	echo '{"network": {}}' >x.json
	run pale import x.json -o p.ini
	rc_is 2
	file_is p.ini 1
}

t_values_that_no_line_holds() {
	printf '{"command": {"deny": ["a\\nallow = b", "x ;y", "%s", 7, "\\u001b[2J"]},
		"filesystem": {"denyRead": ["~/a ; b", "$HOME/x"]}}' \
		"$(printf 'w%.0s' {1..300})" >fence.json
	import fence.json
	lacks_line "allow = b"
	reported "command.deny[0]: not carried over"
	reported "command.deny[1]: not carried over"
	reported "command.deny[2]: not carried over"
	reported "command.deny[3]: not carried over"
	reported "filesystem.denyRead[0]: not carried over"
	reported "filesystem.denyRead[1]: not carried over"
	! grep -q $'\033' report || fail "an escape sequence came through"
}

# 0 where nothing was lost and nothing is weaker, else 1, with what it is.
t_exit_status() {
	echo '{"permissions": {"allow": ["Bash(python3:*)"]}}' >settings.json
	run pale import settings.json
	rc_is 0
	err_has "0 not, 0 weaker and 1 stricter here"
	echo '{"permissions": {"defaultMode": "default"}}' >settings.json
	run pale import settings.json
	rc_is 1
	err_has "permissions.defaultMode: weaker here: it asks before each edit"
	err_has "0 not, 1 weaker and 0 stricter here"
	run pale import --json settings.json
	rc_is 1
	out_has '"weaker"'
}

t_as_json() {
	echo '{"permissions": {"allow": ["Bash(make:*)"], "deny": ["Agent(x)", "Task"]}}' >settings.json
	run pale import --json settings.json
	rc_is 1
	err_is_empty
	python3 - "$S/out" <<'P' || fail "not what JSON should say"
import json, sys
j = json.load(open(sys.argv[1]))
assert j["source"] == "claude" and "allow = make" in j["policy"], j
l = [x for x in j["lines"] if x["value"] == "make"][0]
assert l["from"] == 'permissions.allow[0]' and j["policy"].split("\n")[l["line"] - 1] == "allow = make", l
assert [f["from"] for f in j["findings"] if f["kind"] == "lost"] == ["permissions.deny[0]"], j["findings"]
P
}

scenario "$@"
