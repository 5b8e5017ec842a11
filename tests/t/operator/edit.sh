# The operator changes policies: pale policy edit in visudo's manner, pale trust with what it means.
. "$T_LIB"

MINE=.config/pale/policy.ini

# An editor of these shell lines; $1 is the copy.  What it does is counted in $S/edits.
editor() {
	{
		printf '#!/bin/bash\necho "$1" >>%q\n' "$S/edits"
		cat
	} >"$S/ed"
	chmod +x "$S/ed"
	export EDITOR="$S/ed"
	unset VISUAL
	: >"$S/edits"
}

edits_are() {
	[ "$(wc -l <"$S/edits")" = "$1" ] || fail "the editor ran $(wc -l <"$S/edits") times, not $1"
}

# edit ANSWERS [OPTION...]: the answers are lines on standard input.
edit() {
	local answers=$1
	shift
	RC=0
	printf "$answers" | pale policy edit "$@" >"$S/out" 2>"$S/err" || RC=$?
}

nothing_is_left() {
	local left
	left=$(find "$(dirname "$1")" -name '.edit-*' -o -name '.new-*')
	[ -z "$left" ] || fail "left: $left"
}

# on_terminal RC COMMAND...: on a terminal of its own; $S/say holds lines of `EXPECTED<TAB>ANSWER`.
on_terminal() {
	local want=$1
	shift
	need python3
	python3 - "$S/say" "$want" "$@" >"$S/out" 2>&1 <<-'PY' || fail "on a terminal: $*"
		import os, pty, select, sys, time
		steps = [l.rstrip("\n").split("\t") for l in open(sys.argv[1])]
		pid, fd = pty.fork()
		if pid == 0:
		    os.execvp(sys.argv[3], sys.argv[3:])
		seen, at, end = b"", 0, time.time() + 30
		while time.time() < end:
		    if steps and steps[0][0].encode() in seen[at:]:
		        at = len(seen)
		        # What is typed before the question is flushed.
		        time.sleep(0.1)
		        os.write(fd, steps.pop(0)[1].encode() + b"\n")
		    if not select.select([fd], [], [], 0.1)[0]:
		        continue
		    try:
		        data = os.read(fd, 4096)
		    except OSError:
		        break
		    if not data:
		        break
		    seen += data
		sys.stdout.write(seen.decode(errors="replace"))
		if steps:
		    sys.exit("never seen: %r" % steps)
		rc = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
		sys.exit(0 if rc == int(sys.argv[2]) else "exit status %d" % rc)
	PY
}

t_saved_whole() {
	printf 'preset = agent\n' | policy
	chmod 640 ~/$MINE
	editor <<<'printf "[commands]\ndeny = touch it\n" >>"$1"'
	edit ''
	rc_is 0
	err_has "policy.ini is saved"
	edits_are 1
	grep -q "touch it" ~/$MINE || fail "what was written is not there"
	[ "$(stat -c %a ~/$MINE)" = 640 ] || fail "its mode is another"
	[ "$(dirname "$(cat "$S/edits")")" = "$(realpath ~/.config/pale)" ] || fail "the copy lies elsewhere"
	nothing_is_left ~/$MINE
	fsh 'touch it'
	rc_is 126
}

t_new_one_begins_with_a_template() {
	editor \
		<<<'grep -q "^# allow = git.example.org" "$1" || exit 9; sed -i "s/^\[network\]/&\nudp = ntp.example.org:123/" "$1"'
	edit ''
	rc_is 0
	[ "$(stat -c %a ~/$MINE)" = 600 ] || fail "mode $(stat -c %a ~/$MINE)"
	run pale lint
	rc_is 0
}

t_unchanged_is_said() {
	printf 'preset = agent\n' | policy
	before=$(stat -c '%i %Y' ~/$MINE)
	editor <<<':'
	edit ''
	rc_is 0
	err_has "is unchanged"
	[ "$(stat -c '%i %Y' ~/$MINE)" = "$before" ] || fail "it was written"
	nothing_is_left ~/$MINE
}

t_errors_are_never_saved() {
	printf 'preset = agent\n' | policy
	editor <<<'printf "[files]\nwirte = ~/x\n" >>"$1"'
	edit 'Q\n?\nx\n'
	rc_is 1
	edits_are 1
	err_has "policy.ini:3:1: error"
	err_lacks ".edit-"
	err_has "never saved"
	err_has "(e)dit again"
	err_lacks "(Q)uit"
	[ "$(cat ~/$MINE)" = "preset = agent" ] || fail "it was saved"
	nothing_is_left ~/$MINE
	# Without an answer neither.
	edit ''
	rc_is 1
	[ "$(cat ~/$MINE)" = "preset = agent" ] || fail "it was saved without a word"
}

t_edited_again_until_it_is_good() {
	printf 'preset = agent\n' | policy
	editor <<<'if grep -q wirte "$1"; then sed -i s/wirte/write/ "$1"; else printf "[files]\nwirte = ~/build\n" >>"$1"; fi'
	mkdir ~/build
	edit 'e\n'
	rc_is 0
	edits_are 2
	grep -q '^write = ~/build' ~/$MINE || fail "not saved"
}

t_warnings_are_the_operators_choice() {
	printf 'preset = agent\n' | policy
	editor <<<'printf "[files]\nwrite = /\n" >>"$1"'
	edit 'x\n'
	rc_is 1
	err_has "warning"
	! grep -q write ~/$MINE || fail "saved though it was left"
	edit '?\nQ\n'
	rc_is 0
	err_has "(Q)uit and save despite"
	grep -q 'write = /' ~/$MINE || fail "not saved"
}

t_editor_that_fails_changes_nothing() {
	printf 'preset = agent\n' | policy
	editor <<<'echo "[files]" >>"$1"; exit 3'
	edit 'Q\n'
	rc_is 1
	err_has "failed"
	[ "$(cat ~/$MINE)" = "preset = agent" ] || fail "it was saved"
	EDITOR="$S/none --such" edit ''
	rc_is 1
	err_has "cannot be run"
}

# Words and quotes, and no shell: what follows a semicolon runs nowhere.
t_editor_is_words() {
	printf 'preset = agent\n' | policy
	printf '#!/bin/bash\nprintf "%%s|" "$@" >%q\n' "$S/args" >"$S/two words"
	chmod +x "$S/two words"
	VISUAL="'$S/two words' -n \"a b\"" EDITOR=false edit ''
	rc_is 0
	case $(cat "$S/args") in
	"-n|a b|"*"/.edit-policy.ini|") ;;
	*) fail "the editor's words: $(cat "$S/args")" ;;
	esac
	VISUAL="true; touch $S/ran" edit ''
	rc_is 1
	missing "$S/ran"
	VISUAL='true $(touch '"$S/ran)" edit ''
	missing "$S/ran"
}

t_two_editors() {
	printf 'preset = agent\n' | policy
	editor \
		<<<"touch '$S/first'; while [ ! -e '$S/go' ]; do sleep 0.05; done; printf '[git]\nprotect = release\n' >>\"\$1\""
	pale policy edit >"$S/bg" 2>&1 </dev/null &
	until_true 10 test -e "$S/first" || fail "the first does not begin"
	EDITOR=true edit ''
	rc_is 2
	err_has "is being edited already"
	touch "$S/go"
	wait $! || fail "the first: $(cat "$S/bg")"
	grep -q release ~/$MINE || fail "the first is not saved"
}

t_nobodys_work_is_lost() {
	printf 'preset = agent\n' | policy
	editor <<<'printf "[git]\nprotect = mine\n" >>"$1"; printf "[git]\nprotect = theirs\n" >>'"$HOME/$MINE"
	edit ''
	rc_is 2
	err_has "changed by another program"
	grep -q theirs ~/$MINE || fail "their work is lost"
	grep -q mine ~/.config/pale/.edit-policy.ini || fail "ours is lost"
}

t_killed_on_the_way() {
	local pid
	printf 'preset = agent\n' | policy
	editor <<<"printf '[git]\nprotect = half\n' >>\"\$1\"; touch '$S/first'; while [ -e '$S/first' ]; do sleep 0.05; done"
	pale policy edit >"$S/bg" 2>&1 </dev/null &
	pid=$!
	until_true 10 test -e "$S/first" || fail "it does not begin"
	kill -9 $pid
	wait $pid
	rm "$S/first"
	[ "$(cat ~/$MINE)" = "preset = agent" ] || fail "half is there"
	fsh 'true'
	rc_is 0
	# The next begins with what is there.
	editor <<<'! grep -q half "$1"'
	edit ''
	rc_is 0
	nothing_is_left ~/$MINE
}

t_of_the_project() {
	mkdir .pale
	printf '[files]\nwrite = ~/elsewhere\n' >.pale/policy.ini
	chmod 600 .pale/policy.ini
	run pale trust
	rc_is 0
	editor <<<'echo "deny = private" >>"$1"'
	edit 'Q\n' --project
	rc_is 0
	grep -q private .pale/policy.ini || fail "not saved"
	err_has "until \`pale trust\`"
	# A project's link leads to no other file of the operator.
	rm .pale/policy.ini
	ln -s ~/outside-file .pale/policy.ini
	before=$(cat ~/outside-file)
	edit 'Q\n' --project
	rc_is 2
	err_has "by a link"
	[ "$(cat ~/outside-file)" = "$before" ] || fail "the link was followed"
}

t_project_without_a_policy() {
	editor <<<':'
	edit '' --project
	rc_is 0
	missing .pale
	editor <<<'sed -i "s/^\[commands\]/&\nask = make deploy/" "$1"'
	edit 'Q\n' --project
	rc_is 0
	exists .pale/policy.ini
}

t_never_inside() {
	printf 'preset = agent\n' | policy
	editor <<<'echo "[files]" >>"$1"'
	fsh "EDITOR=$S/ed pale policy edit
		EDITOR=$S/ed pale policy edit --project; env -u PALE_SESSION_DIR EDITOR='sed -i 1s/^/x/' pale policy edit"
	rc_not 0
	err_has "may not edit"
	[ "$(cat ~/$MINE)" = "preset = agent" ] || fail "a session edited the policy"
}

# What was refused here before, and what the change means for it.
t_what_it_changes_of_the_past() {
	printf 'preset = agent\n' | policy
	fsh "echo x >~/elsewhere/made"
	rc_not 0
	editor <<<'printf "[files]\nwrite = ~/elsewhere\n" >>"$1"'
	edit 'Q\n'
	rc_is 0
	out_has "past denials would now be allowed"
	out_has "elsewhere/made"
}

t_loaded_into_sessions_that_run() {
	printf 'preset = agent\n' | policy
	mkfifo "$S/in"
	pale run -q -- bash -c 'echo ready; while read -r line; do eval "$line"; done' <"$S/in" >"$S/said" 2>&1 &
	exec 7>"$S/in"
	until_true 10 grep -q ready "$S/said" || fail "the session does not begin"
	editor <<<'printf "[files]\nwrite = ~/elsewhere\n" >>"$1"'
	printf 'What now?\tQ\nsessions that run? [y/N]\ty\n' >"$S/say"
	grep -q warning <(pale lint 2>&1; :) || printf 'sessions that run? [y/N]\ty\n' >"$S/say"
	on_terminal 0 pale policy edit
	out_has "policy loaded again"
	echo "echo x >~/elsewhere/made && echo done" >&7
	until_true 10 grep -q done "$S/said" || fail "the session has the old policy: $(cat "$S/said")"
	# Who does not want it says so.
	editor <<<'printf "deny = ~/elsewhere/secret\n" >>"$1"'
	printf 'sessions that run? [y/N]\tn\n' >"$S/say"
	on_terminal 0 pale policy edit
	out_has "keep the old policy"
	exec 7>&-
	wait
}

# --- trust ------------------------------------------------------------------------------------------------

project() {
	mkdir -p .pale
	cat >.pale/policy.ini
	chmod 600 .pale/policy.ini
}

t_trust_shows_and_asks() {
	printf '# \e[2J \xe2\x80\xae\n[files]\nwrite = ~/elsewhere\n' | project
	run pale trust
	rc_is 2
	out_has '# \x1b[2J \xe2\x80\xae'
	! grep -q "$(printf '\033')" "$S/out" "$S/err" || fail "an escape sequence is let through"
	printf '# caf\xc3\xa9 p\xd0\xb0ypal\n[files]\nwrite = ~/elsewhere\ndeny = private\n[network]\nmode = open\n' | project
	printf '[y/N]\t\n' >"$S/say"
	on_terminal 1 pale trust
	out_has $'# caf\xc3\xa9 p\\xd0\\xb0ypal'
	out_has 'network_mode: "open" in place of "merge"'
	out_has "deny = private"
	out_has "line 3: [files] write = ~/elsewhere"
	out_lacks "[files] deny"
	out_has "is not trusted"
	fsh 'echo x >~/elsewhere/made'
	missing ~/elsewhere/made
	printf '[y/N]\ty\n' >"$S/say"
	on_terminal 0 pale trust
	fsh 'echo x >~/elsewhere/made'
	exists ~/elsewhere/made
	: >"$S/say"
	run pale trust --revoke
	on_terminal 0 pale trust --yes
	out_has "is trusted until it changes"
}

t_trust_says_what_changed() {
	printf '[files]\nwrite = ~/elsewhere\ndeny = one\n' | project
	run pale trust
	rc_is 0
	printf '[files]\nwrite = ~/elsewhere\ndeny = two\n[commands]\nallow = terraform plan\n' | project
	run pale trust
	rc_is 0
	out_has "what changed"
	grep -q '^- deny = one' "$S/out" || fail "what is gone is not shown"
	grep -q '^+ deny = two' "$S/out" || fail "what is new is not shown"
	grep -q '^  write' "$S/out" || fail "what stayed is not shown"
	out_has "line 5: [commands] allow = terraform plan"
	# Nothing to say of what is trusted as it stands.
	run pale trust
	rc_is 0
	out_is ""
}

t_trust_refuses_errors() {
	printf '[files]\nwirte = ~/elsewhere\n' | project
	run pale trust
	rc_is 2
	err_has "policy.ini:2:1: error"
	err_has "has errors and is not trusted"
	run pale trust --list
	out_is ""
}

t_trust_list() {
	printf '[files]\nwrite = ~/elsewhere\n' | project
	run pale trust
	run pale trust --list
	rc_is 0
	out_is "trusted    $W/.pale/policy.ini"
	echo "deny = x" >>.pale/policy.ini
	run pale trust --list
	out_is "changed    $W/.pale/policy.ini"
	rm .pale/policy.ini
	run pale trust --list
	out_is "gone       $W/.pale/policy.ini"
	run pale trust --revoke
	rc_is 0
	run pale trust --list
	out_is ""
	[ -z "$(ls "$STATE/trust")" ] || fail "left: $(ls "$STATE/trust")"
}

# Of a .env only what is ours is shown, and kept.
t_trust_keeps_secrets_unshown() {
	printf 'API_KEY=%s\nWHITE_LIST_DOMAINS=git.example.org\n' "$DECOY" >.env
	chmod 600 .env
	run pale trust
	rc_is 0
	out_has "WHITE_LIST_DOMAINS=git.example.org"
	out_lacks "$DECOY"
	! grep -r "$DECOY" "$STATE/trust" || fail "a secret is kept"
}

t_trust_of_another_directory() {
	printf '[files]\nwrite = ~/elsewhere\n' | project
	cd /
	run pale trust "$W"
	rc_is 0
	out_has "line 2: [files] write"
	cd "$W"
	fsh 'echo x >~/elsewhere/made'
	exists ~/elsewhere/made
}

scenario "$@"
