# limit: 60
# pale learn: what a session was observed doing becomes rules, but never for a secret; what is written lints
# clean and replays.
. "$T_LIB"

MINE=.config/pale/policy.ini
OPTS=(--observe)

# A day of an agent's work that the policy does not allow, beside things that nobody should allow.
a_day() {
	policy <<-'INI'
		# my policy
		preset = agent

		[commands]
		# what I ask about
		ask = make deploy
		ask = id -g

		[network]
		# the end
	INI
	printf 'deploy:\n\ttrue\n' >Makefile
	mkdir -p ~/build/out
	fsh 'echo a >~/build/out/a; echo b >~/build/out/b; mkdir -p ~/.local/share/tool; echo c >~/.local/share/tool/c
		echo t >~/build/api-token.txt; id -g; make deploy; cat ~/.ssh/id_rsa; echo x >~/.bashrc'
}

covered() {
	fsh 'echo a >~/build/out/a && echo b >~/build/out/b && echo c >~/.local/share/tool/c'
}

# What is learnt into a policy of its own.
learn_apart() {
	cp ~/$MINE "$S/new.ini"
	run pale learn -p "$S/new.ini" --write
	rc_is 0
}

t_proposed_and_replayed() {
	a_day
	cp ~/$MINE "$S/before"
	run pale learn
	rc_is 0
	out_has "write = ~/build/out"
	out_has "write = ~/.local/share/tool"
	out_has "allow = id -g $"
	out_has "# left out: write $HOME/build/api-token.txt: its name looks like a secret's"
	out_has ".ssh/id_rsa: it is a secret"
	out_has ".bashrc: a rule keeps it as it is"
	! grep -qx 'write = ~/build' "$S/out" || fail "what is above is proposed"
	[ "$(grep -A9 -xF '[files]' "$S/out" | grep -m2 -E '^\[' | tail -1)" = "[commands]" ] || fail "it is not by section"
	err_has "nothing was written"
	cmp -s ~/$MINE "$S/before" || fail "something was written"
	grep -v '^# \(session\|left\)' "$S/out" >"$S/printed"
	run pale learn --write
	rc_is 0
	err_has "is saved"
	# What was there stays, and what was printed stands behind it.
	cmp -s <(cat "$S/before" "$S/printed" | cat -s) <(cat -s ~/$MINE; echo) ||
		fail "another text was written: $(cat ~/$MINE)"
	grep -qE "^# learnt from session [0-9a-z-]+: 2 things, 2 times$" ~/$MINE || fail "the comment is not there"
	run pale lint
	rc_is 0
	err_has "no findings"
	OPTS=(-n)
	covered
	rc_is 0
	err_is_empty
	fsh 'echo t >~/build/api-token.txt; cat ~/.ssh/id_rsa'
	no_decoy
	denied write "$HOME/build/api-token.txt"
	run pale learn --session "$(pale log --all --json | head -1 | sed 's/.*"session": *"\([^"]*\)".*/\1/')"
	rc_is 0
}

t_json_and_apart() {
	a_day
	cp ~/$MINE "$S/before"
	run pale learn --json
	rc_is 0
	python3 - "$S/out" <<-'PY' || fail "the report"
		import json, sys
		j = json.load(open(sys.argv[1]))
		lines = [p["line"] for p in j["proposals"]]
		assert "write = ~/build/out" in lines, lines
		p = next(p for p in j["proposals"] if p["line"] == "write = ~/build/out")
		assert len(p["events"]) == 2 and p["taken"] and p["why_not"] is None, p
		assert j["written"] is None and j["replayed"] >= 4, j
		why = {x["target"].split("/")[-1]: x["why"] for x in j["left"]}
		assert "secret" in why["id_rsa"] and "secret" in why["api-token.txt"], why
	PY
	learn_apart
	cmp -s ~/$MINE "$S/before" || fail "the policy itself was written"
	run pale lint "$S/new.ini"
	rc_is 0
}

t_denied_sessions_teach_too() {
	OPTS=(-n)
	policy <<-'INI'
		preset = agent
		[commands]
		default = ask
		allow = bash
		deny = id -n
	INI
	mkdir -p ~/build
	fsh 'id -u; id -n -u; git status; python3 -c 1; nice id -g; echo x >~/build/x; echo x >/etc/x; echo x >~/loose'
	run pale learn
	rc_is 0
	out_has "allow = id -u $"
	out_has "allow = git status $"
	out_has "write = ~/build"
	out_has "write = ~/loose"
	out_has "exec id -n -u: a rule denies it"
	out_has "exec python3 -c 1: it runs what its arguments say"
	out_has "exec nice id -g: it runs what its arguments say"
	out_has "/etc/x: it is the machine's own"
}

# Of what git writes, the repository: the next object has another name.
t_a_repository() {
	git init -q --bare ~/src/far.git
	git init -q ~/src/near
	OPTS=(-n)
	fsh 'echo 1 | git -C ~/src/far.git hash-object -w --stdin; echo 2 | git -C ~/src/near hash-object -w --stdin
		git config --global user.name x; touch ~/src/near/Cargo.lock'
	run pale learn --write
	rc_is 0
	out_lacks objects
	out_lacks "write = ~/.gitconfig"
	out_has ".gitconfig.lock: a rule keeps it as it is"
	fsh 'echo 3 | git -C ~/src/far.git hash-object -w --stdin && echo 4 | git -C ~/src/near hash-object -w --stdin'
	rc_is 0
	err_is_empty
}

# What a shell, a debugger or an editor of the operator runs later, and names that are nobody's own.
t_nothing_dangerous() {
	local f
	OPTS=(-n)
	mkdir -p ~/.nvm ~/.ipython ~/.config/pip ~/.local/share/bash-completion ~/build
	fsh 'for f in .inputrc .gdbinit .screenrc .psqlrc .xsession .nvm/nvm.sh .ipython/x.py .config/pip/pip.conf \
		.local/share/bash-completion/ls .selected_editor build/x; do echo x >~/$f; done
		for h in github.io s3.amazonaws.com co.uk own.example; do getent hosts $h; done'
	run pale learn
	rc_is 0
	out_has "write = ~/build"
	out_has "allow = own.example"
	for f in .inputrc .gdbinit .screenrc \
		.psqlrc .xsession .nvm .ipython .config/pip .local/share/bash-completion .selected_editor; do
		out_lacks "write = ~/$f"
	done
	for f in github.io s3.amazonaws.com co.uk; do
		out_has "resolve $f: it is a public suffix: anyone can register names below it"
		out_lacks "allow = $f"
	done
}

# Not a note either: lint itself is asked, of each line that could be taken.
t_what_lint_says_is_not_taken() {
	policy <<<$'preset = agent\n[network]\ndeny = evil.example:443'
	OPTS=(-n)
	mkdir -p ~/snap/tool/out
	fsh 'for h in pastebin.com own.example evil.example; do getent hosts $h; done
		echo x >~/snap/tool/out/x; echo y >~/snap/tool/out/y'
	run pale learn --json
	python3 - "$S/out" <<-'PY' || fail "the report"
		import json, sys
		j = json.load(open(sys.argv[1]))
		why_not = {p["line"]: p["why_not"] for p in j["proposals"]}
		assert why_not.pop("allow = evil.example:443"), j
		assert why_not == {"allow = own.example:443": None, "write = ~/snap/tool/out": None,
		                   "allow = pastebin.com:443": "pale lint: anyone can publish on pastebin.com"}, why_not
	PY
	run pale learn
	out_has "# not taken: network allow = pastebin.com:443: pale lint: anyone can publish"
	learn_apart
	! grep -q pastebin "$S/new.ini" || fail "it was written"
	run pale lint "$S/new.ini"
	rc_is 0
	err_has "no findings"
}

# A directory that holds a secret is proposed by the pieces that were touched, and they hold.
t_beside_a_secret() {
	policy <<<'preset = agent'
	fsh 'mkdir -p ~/.davfs2/plugins/x; echo a >~/.davfs2/plugins/x/a; echo b >~/.davfs2/plugins/b; echo c >~/.davfs2/sig'
	run pale learn --write
	rc_is 0
	out_has "write = ~/.davfs2/plugins"
	out_has "write = ~/.davfs2/sig"
	out_has "/.davfs2: it holds what stays closed"
	out_lacks "not taken"
	grep -qx 'write = ~/.davfs2' ~/$MINE && fail "the whole directory is there"
	run pale lint
	err_has "no findings"
	OPTS=(-n)
	rm -r ~/.davfs2
	fsh 'mkdir -p ~/.davfs2/plugins/x && echo a >~/.davfs2/plugins/x/a && echo c >~/.davfs2/sig'
	rc_is 0
	err_is_empty
	fsh 'echo x >~/.davfs2/secrets'
	rc_not 0
}

t_nothing_to_learn() {
	run pale learn
	rc_is 2
	err_has "no session has run in this workspace yet"
	OPTS=()
	fence cat file
	run pale learn --write
	rc_is 0
	out_has "0 different requests"
	missing ~/$MINE
	run pale learn --session nosuch
	rc_is 2
	fence pale learn --write
	rc_is 1
	err_has "a session may not change policies"
}

t_ledgers_that_lie() {
	local ledger
	a_day
	ledger=$(echo "$STATE"/sessions/*/ledger.jsonl)
	sed 's#/build/out/a#/build/out/z#' "$ledger" >"$S/forged.jsonl"
	cp ~/$MINE "$S/before"
	run pale learn --ledger "$S/forged.jsonl" --write
	rc_is 2
	err_has "--unverified takes it as it is"
	cmp -s ~/$MINE "$S/before" || fail "a forged ledger taught"
	run pale learn --ledger "$S/forged.jsonl" --unverified
	rc_is 0
	out_has "write = ~/build/out"
	# What a ledger says is text, whatever it says.
	printf '{"op": "write", "target": "/x\\n[files]\\nwrite = /"}\n{' >"$S/rubbish.jsonl"
	run pale learn --ledger "$S/rubbish.jsonl" --unverified --write
	rc_is 0
	cmp -s ~/$MINE "$S/before" || fail "rubbish taught"
	# Nor does its session's name become a line of the policy: a record with a line's end in it is none.
	sed 's#"session": *"[^"]*"#"session":"x\\n[files]\\nwrite = /opt/any"#' "$ledger" >"$S/named.jsonl"
	run pale learn --ledger "$S/named.jsonl" --unverified
	rc_is 0
	out_lacks "/opt/any"
	run pale learn --ledger "$S/none.jsonl"
	rc_is 2
}

# What the learnt policy would have decided otherwise is what was learnt.
t_diff() {
	a_day
	learn_apart
	run pale policy diff "$HOME/$MINE"
	rc_is 0
	[ ! -s "$S/out" ] || fail "a policy differs from itself"
	run pale policy diff "$S/new.ini"
	rc_is 1
	out_has "+++ $S/new.ini"
	grep -A2 "^@@ exec id -g (1 time) @@$" "$S/out" >"$S/hunk" || fail "what was asked is not told"
	grep -qE '^-ask +policy.ini:7 \[commands\] ask = id -g' "$S/hunk" || fail "the old rule is not told"
	grep -qE '^\+allow new.ini:[0-9]+ \[commands\] allow = id -g' "$S/hunk" || fail "the new rule is not told"
	out_lacks "id_rsa"
	run pale policy diff --json "$HOME/$MINE" "$S/new.ini"
	rc_is 1
	python3 - "$S/out" <<-'PY' || fail "the report"
		import json, sys
		j = json.load(open(sys.argv[1]))
		d = {x["op"] + " " + x["target"]: x for x in j["differ"]}
		assert d["exec make deploy"]["old"]["verdict"] == "allow" and d["exec make deploy"]["new"]["verdict"] == "ask", d
		assert j["judged"] > len(j["differ"]) >= 4, j
	PY
	echo 'nonsense' >>"$S/new.ini"
	run pale policy diff "$S/new.ini"
	rc_is 2
	run pale policy diff "$S/none.ini"
	rc_is 2
	run pale policy diff
	rc_is 2
}

t_diff_by_other_ledgers() {
	local ledger
	policy <<<'preset = agent'
	OPTS=(-n)
	TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789 fsh 'echo $TOKEN ghp_abcdefghijklmnopqrstuvwxyz0123456789 >/dev/null
		ls "/tmp/ghp_abcdefghijklmnopqrstuvwxyz0123456789"; echo x >../made'
	printf 'preset = agent\n[files]\nwrite = ~/made\n[commands]\ndeny = ls\n' >"$S/new.ini"
	chmod 600 "$S/new.ini"
	ledger=$(echo "$STATE"/sessions/*/ledger.jsonl)
	run pale policy diff --ledger "$ledger" "$S/new.ini"
	rc_is 1
	out_has "@@ write $HOME/made (1 time) @@"
	grep -q '"target": *"[^"]*\*\*\*' "$ledger" || fail "nothing was masked"
	out_has "not judged"
	grep -q "^  exec ls /tmp/.*\*\*\*$" "$S/out" || fail "what was masked is not listed"
	sed 's#"via": *"hook"#"via":"kernel"#' "$ledger" >"$S/forged.jsonl"
	run pale policy diff --ledger "$S/forged.jsonl" "$S/new.ini"
	rc_is 2
	err_has "--unverified"
	run pale policy diff --ledger "$S/forged.jsonl" --unverified "$S/new.ini"
	rc_is 1
	gzip -c "$ledger" >"$S/part.jsonl.gz"
	run pale policy diff --ledger "$S/part.jsonl.gz" "$S/new.ini"
	rc_is 1
	out_has "@@ write $HOME/made"
	run pale policy diff --ledger "$S/none" "$S/new.ini"
	rc_is 2
}

# However much a ledger holds, it costs no more memory than this.
t_diff_of_a_huge_ledger() {
	policy <<<'preset = agent'
	printf 'preset = agent\n[files]\nwrite = /srv/data\n' >"$S/new.ini"
	chmod 600 "$S/new.ini"
	python3 - >"$S/huge.jsonl" <<-'PY'
		import json
		r = {"seq": 1, "time": "2026-01-01T00:00:00.000000Z", "session": "x", "turn": 1, "agent": "", "pid": 1, "ppid": 1,
		     "exe": "", "op": "write", "target": "", "access": "w", "verdict": "deny", "rule": "", "via": "hook",
		     "level": "full", "approval": "", "detail": "id=1", "count": 1, "prev": "0" * 64, "hash": "0" * 64}
		for i in range(60000):
		    r["target"] = "/srv/data/%d/%s" % (i, "x" * 100)
		    print(json.dumps(r))
	PY
	run bash -c 'ulimit -v 400000
		exec pale policy diff --ledger "$1" --unverified --json "$2"' - "$S/huge.jsonl" "$S/new.ini"
	rc_is 1
	python3 - "$S/out" <<-'PY' || fail "the report"
		import json, sys
		j = json.load(open(sys.argv[1]))
		assert len(j["differ"]) == 4096 and j["beyond"] > 50000, (len(j["differ"]), j["beyond"])
	PY
}

t_policy_with_errors() {
	a_day
	echo 'nonsense' >>~/$MINE
	run pale learn --write
	rc_is 2
	err_has "nothing is learnt for a policy with errors"
}

scenario "$@"
