# nightly: hooks
# limit: 60
# What the operator reads and writes: lint, explain, trust, show, JSON, and that explain tells the truth.
. "$T_LIB"

is_json() {
	python3 -m json.tool <"$S/out" >/dev/null 2>&1 || fail "not JSON"
}

t_json_everywhere() {
	printf '[files]\nwrite = /\n[commands]\nallow = python3\n' | policy
	fsh 'cat file; cat ~/.ssh/id_rsa'
	run pale lint --json
	is_json
	run pale lint --sarif
	is_json
	run pale explain --json read file
	is_json
	run pale explain --json exec git push origin main
	is_json
	run pale explain --json connect example.org:443
	is_json
	run pale pending --json
	rc_is 0
	is_json
	run pale policy show --json
	is_json
	run pale session list --json
	is_json
	run pale log --all --json
	python3 -c 'import json, sys; n = [json.loads(l) for l in open(sys.argv[1])]
assert n' "$S/out" || fail "pale log --json"
	run pale log verify --json
	rc_is 0
	is_json
}

t_data_and_talk_are_apart() {
	run pale explain read ~/.ssh/id_rsa
	rc_is 1
	err_is_empty
	run pale no-such-thing
	rc_is 2
	out_is ""
	run pale --help
	rc_is 0
	err_is_empty
	run pale --version
	rc_is 0
	err_is_empty
}

t_no_colour_in_pipes() {
	fsh 'cat ~/.ssh/id_rsa'
	run pale log
	! grep -q $'\033' "$S/out" || fail "colour in a pipe"
	run env CLICOLOR_FORCE=1 pale log
	grep -q $'\033' "$S/out" || fail "no colour where forced"
	run env NO_COLOR=1 CLICOLOR_FORCE=1 pale log
	! grep -q $'\033' "$S/out" || fail "colour in spite of NO_COLOR"
}

t_did_you_mean() {
	run pale expalin read x
	err_has explain
	run pale run --prest agent -- true
	err_has preset
	run pale explain raed x
	err_has read
	printf '[sesion]\n' | policy
	run pale lint
	cat "$S/out" "$S/err" | grep -q '\[session\]' || fail "no suggestion for a section"
	run pale run --preset agnet -- true
	err_has agent
}

t_explain_exit_codes() {
	printf '[commands]\nask = touch\n' | policy
	run pale explain read file
	rc_is 0
	run pale explain write ../outside
	rc_is 1
	run pale explain exec touch x
	rc_is 3
	run pale explain
	rc_is 2
	run pale explain read
	rc_is 2
	run pale explain exec --
	rc_is 2
	# Said, not judged as a file of that name.
	run pale explain read file --json
	rc_is 2
	err_has "--"
	run pale explain read -- --json
	rc_is 0
	run pale explain exec -- touch --json
	rc_is 3
}

t_explain_tells_the_rule() {
	printf '[files]\n# a comment\ndeny = secret\nwrite = ~/elsewhere\n' | policy
	run pale explain read secret
	rc_is 1
	out_has "policy.ini:3"
	out_has "deny = secret"
	run pale explain write ~/elsewhere/file
	rc_is 0
	out_has "policy.ini:4"
	run pale explain write ~/outside
	rc_is 1
	out_has "[files]"
	out_has "write ="
}

t_most_specific_wins_and_order_never_matters() {
	mkdir -p a/b/c
	printf '[files]\ndeny = a\nwrite = a/b\nreadonly = a/b/c\n' | policy
	fsh 'echo x >a/x; echo x >a/b/x; echo x >a/b/c/x'
	missing a/x
	exists a/b/x
	missing a/b/c/x
	rm a/b/x
	printf '[files]\nreadonly = a/b/c\nwrite = a/b\ndeny = a\n' | policy
	fsh 'echo x >a/x; echo x >a/b/x; echo x >a/b/c/x'
	missing a/x
	exists a/b/x
	missing a/b/c/x
}

t_hard_rules_yield_to_no_rule() {
	printf '[files]\nwrite = ~/.ssh\nread = ~/.ssh/id_rsa\n' | policy
	fence cat ~/.ssh/id_rsa
	no_decoy
	denied read "$HOME/.ssh/id_rsa"
	run pale explain read ~/.ssh/id_rsa
	rc_is 1
	out_has sensitive
}

# A second name of the policy file may lie where the session writes.
t_policy_with_two_names() {
	local file=$HOME/.config/pale/policy.ini
	printf '[commands]\ndeny = tac\n' | policy
	ln "$file" "$W/other"
	run pale run -- sh -c 'echo >other'
	rc_is 125
	err_has "policy.ini: error: has a second name (a hard link), which pale cannot protect"
	run pale lint
	rc_not 0
	rm "$W/other"
	run pale run -- true
	rc_is 0
	pale run -q -- sh -c 'ln ~/.config/pale/policy.ini other' 2>"$S/err"
	missing "$W/other"
}

t_sensitive_flag() {
	OPTS=(--allow-sensitive-roots)
	fence cat ~/.ssh/id_rsa
	rc_is 0
	out_has "$DECOY"
}

# What is trusted, as JSON; and taking back what was not given says so.
t_trust_list_and_revoke() {
	mkdir -p .pale && echo '# nothing' >.pale/policy.ini
	run pale trust --revoke
	rc_is 1
	err_has "was not trusted"
	run pale trust -y
	rc_is 0
	run pale trust --list --json
	python3 -c 'import json, sys; j = json.load(open(sys.argv[1]))
assert [(x["state"], x["path"][-17:]) for x in j] == [("trusted", "/.pale/policy.ini")], j' "$S/out" || fail "not so"
	run pale trust --revoke
	rc_is 0
	err_has "is no longer trusted"
}

t_project_policy_only_tightens() {
	mkdir .pale
	printf '[files]\nwrite = ~/elsewhere\ndeny = private\n[commands]\nask = npm publish\n[session]\napprovals = never\n' \
		>.pale/policy.ini
	chmod 600 .pale/policy.ini
	echo "$DECOY" >private
	fsh 'cat private; echo x >~/elsewhere/made'
	no_decoy
	missing ~/elsewhere/made
	run pale trust
	rc_is 0
	fsh 'cat private; echo x >~/elsewhere/made'
	no_decoy
	exists ~/elsewhere/made
	# Pinned to the content: a change is a stranger again.
	rm ~/elsewhere/made
	printf '\n[network]\nmode = open\n' >>.pale/policy.ini
	fsh 'echo x >~/elsewhere/made'
	missing ~/elsewhere/made
	run pale trust
	fsh 'echo x >~/elsewhere/made'
	exists ~/elsewhere/made
}

t_agent_cannot_trust() {
	mkdir .pale
	printf '[files]\nwrite = ~/elsewhere\n' >.pale/policy.ini
	chmod 600 .pale/policy.ini
	fence pale trust
	rc_not 0
	fsh 'echo x >~/elsewhere/made'
	missing ~/elsewhere/made
}

t_agent_sections() {
	printf '[agent "reviewer" session]\nmode = read-only\n' | policy
	fsh 'echo x >made'
	exists made
	run pale run -q --agent reviewer -- bash -c 'echo x >made2; read -r line <file; echo "$line"; cat file'
	missing made2
	out_is "hello from the workspace"
	denied exec "cat file" "read-only"
}

# One policy for all, and one for each agent above it: what holds for whom can be asked and shown.
t_each_agents_policy_is_told() {
	printf '[commands]\ndeny = touch a\n[agent "reviewer" commands]\ndeny = touch\n' | policy
	run pale explain exec touch b
	rc_is 0
	run pale explain --agent reviewer exec touch b
	rc_is 1
	run pale explain --agent reviewer exec touch a
	rc_is 1
	run pale policy show
	out_has "deny = touch a"
	! grep -q $'^deny = touch\t' "$S/out" || fail "the reviewer's rule is everybody's"
	run pale policy show --agent reviewer
	out_has "deny = touch a"
	grep -q $'^deny = touch\t' "$S/out" || fail "the reviewer's rule is not shown"
	run pale run -q --agent reviewer -- bash -c 'touch b'
	rc_is 126
	missing b
}

# A rule opens a hook, which git obeys: lint, explain and diff say what the session does.
t_a_hook_that_a_rule_opens() {
	git init -q .
	printf 'preset = agent\n' | policy
	printf 'preset = agent\n[files]\nwrite = .git/hooks/pre-commit\n' >"$S/p.ini"
	OPTS=(-n)
	fsh 'echo x >.git/hooks/pre-commit'
	denied write "$W/.git/hooks/pre-commit" "readonly = .git/hooks/*"
	run pale lint "$S/p.ini"
	err_lacks unreachable
	run pale explain -p "$S/p.ini" write .git/hooks/pre-commit
	rc_is 0
	out_has "p.ini:3  [files] write = .git/hooks/pre-commit  (allows it)"
	run pale policy diff "$S/p.ini"
	rc_is 1
	grep -q '^+allow built in \[git\] guard' "$S/out" || fail "the diff says otherwise"
	OPTS=(-n -p "$S/p.ini")
	fsh 'echo x >.git/hooks/pre-commit'
	not_denied
	file_is .git/hooks/pre-commit x
	printf 'preset = agent\n[files]\nwrite = .git/hooks/pre-commit\nreadonly = .git/hooks/pre-commit\n' >"$S/p.ini"
	run pale lint "$S/p.ini"
	rc_is 1
}

# The agents' own tools, by their names: for all agents, and for one.
t_tools_are_judged() {
	policy <<-'END'
		[tools]
		ask = mcp__*
		allow = mcp__github__get_*
		deny = WebFetch
		message = use curl
		[agent "codex" tools]
		deny = shell
	END
	run pale tool check WebFetch
	rc_is 1
	out_has "DENY   tool WebFetch"
	out_has "[tools] deny = WebFetch"
	out_has "says   use curl"
	run pale tool check mcp__github__push
	rc_is 3
	out_has "allow = mcp__github__push"
	run pale tool check mcp__github__get_issue
	rc_is 0
	out_has "(beaten)"
	run pale tool check shell
	rc_is 0
	run pale tool check --agent codex shell
	rc_is 1
	run pale explain --agent codex --json tool webfetch shell
	rc_is 1
	python3 -c 'import json, sys
a, b = json.load(open(sys.argv[1]))
assert (a["verdict"], a["rule"]["text"], b["rule"]["section"]) == ("deny", "WebFetch", "tools"), a' "$S/out" ||
		fail "not as JSON"
	run pale tool check
	rc_is 2
	run pale tool chekc x
	err_has "did you mean \`check\`?"
	printf '[tools]\ndeny = a b\n' | policy
	run pale lint
	rc_is 1
	out_has "no name of a tool"
}

# What holds for an agent, and what each rule overrides.
t_effective_rules() {
	policy <<-'END'
		[tools]
		deny = *
		allow = Read
		allow = shell
		[agent "codex" tools]
		deny = shell
	END
	run pale policy show --effective
	rc_is 0
	grep -q $'^allow = shell\t# user, ' "$S/out" || fail "what holds is not shown"
	grep -A1 $'^allow = Read\t' "$S/out" | grep -q $'^\t# overrides deny = \*\t# user, .*policy.ini:2' ||
		fail "what it overrides is not shown"
	run pale policy show --agent codex --effective
	! grep -q '^allow = shell' "$S/out" || fail "a rule that never decides is shown"
	run pale policy show --agent codex --effective --json
	python3 -c 'import json, sys
rules = [r for r in json.load(open(sys.argv[1]))["rules"] if r["section"] == "tools"]
told = sorted((r["key"], r["text"], r["layer"], [(o["key"], o["text"]) for o in r["overrides"]]) for r in rules)
assert told == [("allow", "Read", "user", [("deny", "*")]), ("deny", "*", "user", []),
    ("deny", "shell", "user", [("allow", "shell")])], told' "$S/out" || fail "not as JSON"
}

t_show_tells_home_and_ledger_size() {
	printf '[files]\nhome = closed\n[ledger]\nsize = 7M\n' | policy
	run pale policy show
	rc_is 0
	out_has $'[ledger]\nsize = 7M\n'
	out_has $'[files]\npaths = any\nhome = closed\n'
	run pale policy show --json
	python3 -c 'import json, sys
s = json.load(open(sys.argv[1]))["settings"]
assert (s["files_home"], s["ledger_size"], s["home"]) == ("closed", 7, sys.argv[2]), s' "$S/out" "$HOME" ||
		fail "the settings are not what they are"
}

# Both forms of a name, the address that is reached in truth, the transport, the rule, and what to write.
t_explain_hosts() {
	printf '[network]\nallow = bücher.example:443\nudp = ntp.example:123\nallow = 10.1.2.3:22\n' | policy
	run pale explain connect 'bücher.example'
	rc_is 0
	out_has "ALLOW  connect xn--bcher-kva.example:443"
	out_has 'name   xn--bcher-kva.example (b\xc3\xbccher.example)'
	out_has 'allow = b\xc3\xbccher.example:443'
	out_has "policy.ini:2  [network] allow = b"
	run pale explain connect xn--bcher-kva.example:80
	rc_is 1
	run pale explain connect udp:ntp.example:123
	rc_is 0
	out_has "port   123, udp"
	run pale explain connect ntp.example:123
	rc_is 1
	run pale explain connect udp:other.example:123
	rc_is 1
	out_has "udp = other.example:123"
	run pale explain connect udp:8.8.8.8:53 8.8.8.8:53
	rc_is 0
	out_has "names are looked up by pale itself"
	run pale explain --level hooks connect 8.8.8.8:53
	rc_is 1
	run pale explain connect github.com 10.0.0.1
	rc_is 3
	out_has "a public name that answers with a private address"
	run pale explain connect '[::ffff:10.1.2.3]:22' 10.1.2.3:22
	rc_is 0
	out_has "addr   10.1.2.3 (not public"
	run pale explain connect '[64:ff9b::10.1.2.3]:22'
	rc_is 1
	out_has "an IPv6 form of a private address"
	run pale explain connect 0.0.0.0:3000
	rc_is 3
	out_has "addr   127.0.0.1 (loopback)"
	run pale explain connect 0x7f.1:3000 0177.0.0.1:3000 127.1:3000 2130706433:3000
	rc_is 1
	out_lacks ALLOW
	run pale explain connect '[fe80::1]:80'
	out_has "link-local"
	run pale explain resolve 'bücher.example' other.example
	rc_is 1
	out_has "ALLOW  resolve xn--bcher-kva.example"
	run pale explain bind udp:0.0.0.0:5353
	rc_is 1
	run pale explain unix /run/docker.sock
	rc_is 1
	out_has "unix = /run/docker.sock"
	run pale explain --json connect github.com 140.82.112.4
	out_has '"address": "140.82.112.4"'
	run pale explain connect github.com:0
	rc_is 2
	run pale explain connect 'a b.example'
	rc_is 1
}

t_presets() {
	local name
	for name in agent security-v0 review ci bridge; do
		run pale policy show --preset $name
		rc_is 0
		printf 'preset = %s\n' $name | policy
		run pale lint
		[ "$RC" -le 1 ] || fail "$name"
		! grep -q ' error: ' "$S/out" "$S/err" || fail "$name has errors"
	done
	policy </dev/null
	run pale run -q --preset review -- bash -c 'cat file; echo x >made; git init -q r; touch y'
	out_has hello
	missing made
	missing y
	run pale run -q --preset ci -- bash -c 'echo x >made; no-such-build-tool; touch y; true'
	exists made
	not_recorded approval/request '[a-z]*'
}

# lints CODE POLICY: lint has this finding.
lints() {
	# shellcheck disable=SC2059
	printf "$2" | policy
	run pale lint
	rc_is 1 "$2"
	cat "$S/out" "$S/err" | grep -qiE "$1" || fail "no finding like $1 for: $2"
}

t_lint_findings() {
	lints 'broad' '[files]\nwrite = /\n'
	lints 'broad' '[commands]\ndefault = ask\nallow = *\n'
	lints 'suffix' '[network]\nallow = *.github.io\n'
	lints 'escape|interpreter|run' '[commands]\ndefault = ask\nallow = find -exec\n'
	lints 'escape|interpreter|run' '[commands]\ndefault = ask\nallow = awk\n'
	lints 'interpreter|run' '[commands]\ndefault = ask\nallow = python3\n'
	lints 'tie|tied' '[files]\nwrite = ~/elsewhere\ndeny = ~/elsewhere\n'
	lints 'unreach|never|dupl' '[files]\nwrite = ~/elsewhere\nwrite = ~/elsewhere\n'
	lints 'deny ?list' '[commands]\nallow = sudo\n'
	lints 'sensitive' '[files]\nwrite = ~/.ssh/made\n'
}

# A backslash says that a character is meant, and a file by that name is there.
t_lint_of_characters() {
	: >'br[a].txt'
	printf '[files]\ndeny = br\\[a].txt\ndeny = *.\\{pem,key}\n' | policy
	run pale lint
	rc_is 0
	out_lacks "never decides"
	out_lacks missing-path
	out_lacks braces
	lints 'braces stand for themselves' '[files]\ndeny = *.{pem,key}\n'
}

# Each line names where the other rule stands, and what is built in has no line.
t_lint_places() {
	printf '[files]\nwrite = ~/.config/pale\nread = x\nread = x\n' | policy
	run pale lint
	err_lacks "built in:"
	out_lacks "built in:"
	cat "$S/out" "$S/err" | grep -q "at built in does" || fail "not where it is"
	cat "$S/out" "$S/err" | grep -q "policy.ini:3 says the same" || fail "not the line"
}

t_lint_notes_are_no_findings() {
	printf '[files]\nwrite = /no/such/place\n' | policy
	run pale lint
	rc_is 0
	out_has missing-path
}

t_lint_statuses() {
	printf '[files]\nwrite = ~/elsewhere\n' | policy
	run pale lint
	rc_is 0
	run pale lint /no/such/file
	rc_is 2
}

# More directories than are remembered, at several depths.
t_many_directories() {
	local i
	{ echo '[files]'; for i in {1..700}; do echo "write = ~/many$i/a$([ $((i % 3)) = 0 ] || echo /b)/c"; done; } | policy
	run pale explain write ~/many700/a/b/c/file
	rc_is 0
	out_has "write = ~/many700/a/b/c"
}

# 200 questions: what explain says is what happens.
t_explain_and_run_agree() {
	local i
	mkdir -p bin a/b vault ~/elsewhere/d
	for i in git npm cargo gh curl touch docker systemctl rm make; do
		printf '#!/bin/sh\nexit 0\n' >bin/$i
		chmod +x bin/$i
	done
	ln -s vault link && ln -s "$HOME/elsewhere" out
	policy <<-EOF2
		[files]
		deny = vault
		readonly = a/b
		write = ~/elsewhere/d
		keep = **/*.sqlite
		[commands]
		deny = git push origin (dev|next)
		ask = make release
		deny = rm -rf
	EOF2
	cat >questions.py <<-'EOF2'
		import random, os
		random.seed(4)
		home, dirs = os.environ["HOME"], ["", "a/", "a/b/", "vault/", "link/", "out/", "out/d/", "../", "../elsewhere/",
		    "../elsewhere/d/", "../.ssh/", "a/../", "a/b/../../vault/", "/tmp/pale-test-%d/" % os.getpid()]
		files = ["f%d", "x%d.sqlite", "id_rsa%d", ".git/hooks/h%d", ".vscode/t%d.json", ".git/hooks/h%d.sample", ".env%d"]
		words = {"git": ["push origin main", "push origin dev", "push origin next", "push", "status", "commit -m x",
		    "-C a push origin +HEAD:main", "push origin topic"],
		         "npm": ["publish", "install", "run build", "token"], "cargo": ["publish", "build"],
		         "gh": ["pr create", "pr view", "api x"],
		         "docker": ["run --privileged x", "ps"], "systemctl": ["poweroff", "status"],
		         "rm": ["-rf x", "-r -f x", "x", "-fr x"], "make": ["release", "all"], "touch": ["x"]}
		out = []
		while len(out) < 130:
		    p = random.choice(dirs) + random.choice(files) % len(out)
		    q = (random.choice(["read", "write", "delete"]), home + "/work/" + p if random.random() < .3
		        and not p.startswith("/") else p)
		    out.append(q)
		    # It exists, so that the answer is about permission; each question has a file of its own.
		    os.makedirs(os.path.dirname(q[1]) or ".", exist_ok=True)
		    open(q[1], "w").close()
		for c in words:
		    for w in words[c]:
		        for pre in ("", "env ", "nice -n 3 "): out.append(("exec", pre + c + " " + w))
		print("\n".join(a + "\t" + b for a, b in out[:200]))
	EOF2
	cat >acts.py <<-'EOF2'
		import os, subprocess, sys
		for line in open("questions.tsv"):
		    op, what = line.rstrip("\n").split("\t")
		    try:
		        if op == "read": os.close(os.open(what, os.O_RDONLY))
		        elif op == "write": os.close(os.open(what, os.O_WRONLY | os.O_APPEND))
		        elif op == "delete": os.unlink(what)
		        else:
		            r = subprocess.run(what.split(), stderr=subprocess.DEVNULL)
		            if r.returncode in (126, 125): raise PermissionError
		        v = "allow"
		    except (PermissionError, FileNotFoundError): v = "deny" # of the home what is closed is not there
		    except OSError: v = "allow"
		    print(v, op, what, sep="\t")
	EOF2
	python3 questions.py >questions.tsv
	export PATH=$W/bin:$PATH
	while IFS=$'\t' read -r op what; do
		# shellcheck disable=SC2086
		if [ "$op" = exec ]; then
			pale explain exec -- $what
		else pale explain --level "$T_LEVEL" "$op" "$what"
		fi >/dev/null 2>"$S/err"
		case $? in
		0) echo "allow	$op	$what" ;;
		1 | 3) echo "deny	$op	$what" ;;
		*) echo "error	$op	$what $(cat "$S/err")" ;;
		esac
	done <questions.tsv >"$S/said"
	OPTS=(-n)
	fence python3 acts.py
	rc_is 0
	cp "$S/out" "$S/done"
	rm -rf "$(dirname "$(grep -o "/tmp/pale-test-[0-9]*/" questions.tsv | head -1)x")"
	: >"$S/out"
	diff "$S/said" "$S/done" >"$S/diff" || fail "explain and run differ: $(head -40 "$S/diff")"
	[ "$(cut -f1 "$S/said" | sort | uniq -c | wc -l)" = 2 ] || fail "not both verdicts occur"
	[ "$(wc -l <"$S/said")" = 200 ] || fail "not 200 questions"
}

# Settings that redirect what is installed: a program reads them unasked, and changes them with leave.
t_changes_alone_are_asked() {
	echo 'registry=http://localhost/' >.npmrc
	fence cat .npmrc
	rc_is 0
	out_is 'registry=http://localhost/'
	OPTS=(-n)
	fsh 'echo more >>.npmrc'
	rc_not 0
	out_is ''
	[ "$(cat .npmrc)" = 'registry=http://localhost/' ] || fail "changed without leave"
	run pale explain write .npmrc
	rc_is 3
	out_has 'ask_write = .npmrc'
	run pale explain read .npmrc
	rc_is 0
}

# What an editor or a habit left there is told with what to do about it.
t_lint_hints() {
	printf '[network]\nmode = STRICT\n' >bad.ini
	run pale lint bad.ini
	rc_is 1
	out_has "write it in small letters"
	printf '\357\273\277[files]\r\n' >bad.ini
	run pale lint bad.ini
	out_has "without a BOM"
	printf '[files]\r\n' >bad.ini
	run pale lint bad.ini
	out_has "a file from Windows"
	printf '# nothing\n\n' >bad.ini
	run pale lint bad.ini
	rc_is 0
	out_has "the preset alone holds [empty-policy]"
	run pale lint
	rc_is 0
	out_has "there is no policy of yours"
}

scenario "$@"
