# nightly: hooks
# What is allowed beyond one question: for the session, for the project until a day, for always; taken back,
# over, for others, broken; and never above a deny.
. "$T_LIB"

# A git repository with a remote, where pushing is asked about.
pushes() {
	git init -q --bare "$S/remote.git"
	git init -q . && git add -A && git commit -qm one && git branch -M start
	git remote add origin "$S/remote.git"
	git branch feature/x && git branch feature/y && git branch staging
	policy <<-EOF2
		[session]
		timeout = 60s
		[files]
		write = $S/remote.git
	EOF2
}

# pushed BRANCH...: these, and no others, are at the remote.
pushed() {
	local have
	have=$(git --git-dir="$S/remote.git" for-each-ref --format='%(refname:short)' refs/heads | sort | tr '\n' ' ')
	[ "$have" = "$(printf '%s\n' "$@" | sort | tr '\n' ' ')" ] || fail "at the remote: $have"
}

out_like() {
	grep -qE -e "$1" "$S/out" || fail "stdout has nothing like: $1"
}

# Answers the next question with the given options of approve.
answer() {
	local id
	id=$(pending_id) || exit 1
	run pale approve "$id" --yes "$@"
	rc_is 0 "approve $*"
}

grant_id() {
	pale grants --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["id"])'
}

# Runs a fenced command line where nobody is there to be asked.
unasked() {
	unset PALE_PROMPT TMUX DISPLAY WAYLAND_DISPLAY
	fsh "$1"
	export PALE_PROMPT=1
}

t_session_grant_answers_the_like() {
	pushes
	bg push bash -c 'git push -q origin feature/x && git push -q origin feature/y && echo both'
	answer --session --rule 'allow = git push origin feature/*'
	bg_wait push
	rc_is 0
	out_is "both"
	pushed feature/x feature/y
	recorded grant/made '' 'allow = git push origin feature/*'
	[ "$(records approval/request '[a-z]*' | wc -l)" = 1 ] || fail "asked again"
	[ "$(records grant/used allow | wc -l)" = 1 ] || fail "the use is not recorded"
	verifies
	# it went with its session
	run pale grants
	err_has "nothing is granted"
	unasked 'git push -q origin staging'
	rc_not 0
	unasked 'git push -q origin feature/x'
	rc_not 0
}

# The same words in another repository, or with another variable, are not what was granted.
t_a_grant_is_for_its_directory_and_variables() {
	pushes
	git init -q --bare other.git
	git clone -q . copy && git -C copy remote set-url origin "$W/other.git" && git -C copy branch feature/x
	bg push bash -c 'git push -q origin feature/x; cd copy; git push -q origin feature/x; echo "other $?"; cd ..
		GIT_SSH_VARIANT=ssh git push -q origin feature/x; echo "variable $?"; git push -q origin feature/x; echo "same $?"'
	answer --session
	run pale deny "$(pending_id)"
	run pale deny "$(pending_id)"
	bg_wait push
	out_has "other 1"
	out_has "variable 1"
	out_has "same 0"
	[ "$(records grant/used allow | wc -l)" = 1 ] || fail "used $(records grant/used allow)"
	run pale grants
}

# One whose comment says no binding does not hold, and one that is bound to something else neither.
t_a_grant_without_bounds_does_not_hold() {
	pushes
	bg push bash -c 'git push -q origin feature/x'
	answer --project
	bg_wait push
	run pale grants
	out_has "in $W: /usr/bin/git"
	sed -i -E 's/\t[0-9a-f]{64}\t/\t\t/' "$STATE/grants.ini"
	unasked 'git push -q origin feature/x'
	rc_not 0
	sed -i -E "s/\t\tin /\t$(printf %064d 0)\tin /" "$STATE/grants.ini"
	unasked 'git push -q origin feature/x'
	rc_not 0
	denied exec 'git push -q origin feature/x' "no one can be reached"
}

t_edited_rule_covers_what_it_says() {
	pushes
	bg push bash -c 'git push -q origin feature/x; until test -e go; do sleep 0.05; done
		git push -q --force origin feature/y; echo force $?
		git push -q origin feature/y:staging; echo staging $?
		git push -q origin feature/y; echo plain $?'
	answer --session --rule 'allow = git push origin feature/*'
	: >go
	for i in 1 2; do
		id=$(pending_id) || exit 1
		run pale deny "$id"
	done
	bg_wait push
	out_has "force 126"
	out_has "staging 126"
	out_has "plain 0"
	pushed feature/x feature/y
}

t_project_grant_outlives_the_session() {
	pushes
	bg push bash -c 'git push -q origin feature/x'
	answer --project --rule 'allow = git push origin feature/*'
	bg_wait push
	rc_is 0
	run pale grants
	out_like 'project until 20[0-9][0-9]-'
	out_has 'allow = git push origin feature/*'
	unasked 'git push -q origin feature/y'
	rc_is 0
	pushed feature/x feature/y
	# nothing of the kind in the user's policy
	! grep -q "git push" "$HOME/.config/pale/policy.ini" || fail "the policy was written to"
	# not in another project
	mkdir "$HOME/other" && cd "$HOME/other" && git init -q . && git remote add origin "$S/remote.git"
	git -C "$W" push -q . HEAD:refs/heads/feature/z 2>/dev/null
	git fetch -q "$W" feature/z:feature/z
	unasked 'git push -q origin feature/z'
	rc_not 0
	cd "$W"
	# and for no other agent
	unasked 'git push -q origin feature/x'
	rc_is 0
	OPTS=(--agent other "${OPTS[@]}")
	unasked 'git push -q origin feature/x'
	rc_not 0
	verifies
}

t_always_holds_in_its_directory_until_revoked() {
	local id
	pushes
	bg push bash -c 'git push -q origin feature/x'
	answer --always
	bg_wait push
	rc_is 0
	mkdir "$HOME/other" && cd "$HOME/other" && git clone -q "$W" . && git remote set-url origin "$S/remote.git"
	git checkout -q -b feature/x origin/feature/x
	unasked 'git push -q origin feature/x'
	rc_not 0
	cd "$W"
	unasked 'git push -q origin feature/x'
	rc_is 0
	id=$(grant_id)
	run pale revoke "${id:0:6}"
	rc_is 0
	out_has "revoked ${id:0:8}"
	# without a session that could record it
	run pale log --machine
	out_has "grant/revoked allow = git push -q origin feature/x"
	unasked 'git push -q origin feature/x'
	rc_not 0
	run pale revoke "$id"
	rc_is 1
}

t_other_sessions_see_what_is_granted_and_revoked() {
	local id
	pushes
	bg long bash -c 'until test -e one; do sleep 0.05; done; git push -q origin feature/x; echo first $?
		until test -e two; do sleep 0.05; done; git push -q origin feature/x; echo second $?'
	long=$BG
	bg push bash -c 'git push -q origin feature/x'
	answer --always
	bg_wait push
	rc_is 0
	: >one
	until_true 10 grep -q 'first 0' "$S/long.out" || fail "what another session was granted does not hold here"
	id=$(grant_id)
	run pale revoke "$id"
	rc_is 0
	: >two
	id=$(pending_id) || exit 1
	run pale deny "$id"
	BG=$long
	bg_wait long
	out_has "second 126"
	[ "$(records grant/revoked '' | wc -l)" -ge 1 ] || fail "the revocation is not recorded"
	verifies
}

t_over_is_over() {
	pushes
	bg push bash -c 'git push -q origin feature/x'
	answer --project --until "$(date -u -d tomorrow +%F)"
	bg_wait push
	unasked 'git push -q origin feature/x'
	rc_is 0
	sed -i "s/\t$(date -u -d tomorrow +%F)\t/\t$(date -u -d yesterday +%F)\t/" "$STATE/grants.ini"
	unasked 'git push -q origin feature/x'
	rc_not 0
	run pale grants
	out_has "(over)"
	# by the clock too, at the command line
	sed -i "s/\t$(date -u -d yesterday +%F)\t/\t$(date -u -d tomorrow +%F)\t/" "$STATE/grants.ini"
	run pale explain exec git push -q origin feature/x
	rc_is 0
	run faketime '+3 days' pale explain exec git push -q origin feature/x
	rc_is 3
}

# asks_touch WORD...: a fenced `touch a` for each word, the next one when there is a file of that name.
asks_touch() {
	printf '[session]\ntimeout = 60s\n[commands]\nask = touch\n' | policy
	bg touch bash -c 'touch a
		for word; do until test -e "$word"; do sleep 0.05; done; touch a; echo "$word $?"; done' - "$@"
}

t_a_grant_is_over_at_its_second() {
	asks_touch go
	answer --for 1s
	grep -qE 'for the session until 20[0-9-]{8}T[0-9:]{8}Z' "$S/err" || fail "no end is told: $(cat "$S/err")"
	until_true 10 eval 'pale grants | grep -q "session until .* (over)"'
	[ "$(pale grants --json | grep -c '"over": *true')" = 1 ] || fail "not over: $(pale grants --json)"
	: >go
	run pale deny "$(pending_id)"
	bg_wait touch
	out_has "go 126"
	verifies
}

t_a_grant_for_an_hour_holds_until_revoked() {
	local left
	asks_touch one two
	answer --for 1h
	: >one
	until_true 10 grep -q "one 0" "$S/touch.out" || fail "it does not hold"
	run pale grants
	out_like 'session until [0-9TZ:-]* \((59|60)m left\)'
	left=$(pale grants --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["left_s"])')
	[ "$left" -gt 3000 ] && [ "$left" -le 3600 ] || fail "left: $left"
	run pale revoke "$(grant_id)"
	rc_is 0
	: >two
	run pale deny "$(pending_id)"
	bg_wait touch
	out_has "two 126"
}

# The file says when each is over, and every session obeys it.
t_kept_grants_end_at_a_time() {
	local scope
	for scope in project always; do
		asks_touch
		answer "--$scope" --until "$(date -u -d '+1 hour' +%FT%TZ)"
		bg_wait touch
		unasked 'touch a'
		rc_is 0 "$scope"
		run pale explain exec touch a
		rc_is 0
		run faketime '+2 hours' pale explain exec touch a
		rc_is 3
		rm "$STATE/grants.ini"
	done
	asks_touch go
	answer --always --for 1s
	grep -q "always 20[0-9-]*T[0-9:]*Z" "$STATE/grants.ini" || fail "no end: $(cat "$STATE/grants.ini")"
	until_true 10 eval 'pale grants | grep -q "always until .* (over)"'
	: >go
	run pale deny "$(pending_id)"
	bg_wait touch
	out_has "go 126"
}

t_a_day_must_be_one() {
	local id
	pushes
	bg push bash -c 'git push -q origin feature/x'
	id=$(pending_id) || exit 1
	for day in 2001-01-01 2026-02-30 2099-01-01 soon 24:00 2026-02-30T10:00 2001-01-01T10:00:00Z 2099-01-01T10:00Z; do
		run pale approve "$id" --yes --project --until "$day"
		rc_not 0 "until $day"
	done
	run pale approve "$id" --yes --until 2001-01-01
	err_has "would already have ended"
	for span in 0s 15 1y soon -1h; do
		run pale approve "$id" --yes "--for=$span"
		rc_is 2 "for $span"
	done
	run pale approve "$id" --yes --for 1h --until 17:30
	rc_is 2
	run pale deny "$id"
	bg_wait push
	missing "$STATE/grants.ini"
}

t_a_deny_added_later_wins() {
	pushes
	bg push bash -c 'git push -q origin feature/x'
	answer --always --rule 'allow = git push origin feature/*'
	bg_wait push
	unasked 'git push -q origin feature/x'
	rc_is 0
	printf '[commands]\ndeny = git push origin feature/x\n' >>"$HOME/.config/pale/policy.ini"
	fence bash -c 'git push -q origin feature/x'
	rc_not 0
	denied exec 'git push -q origin feature/x' deny
	unasked 'git push -q origin feature/y'
	rc_is 0
}

t_never_means_never() {
	pushes
	bg push bash -c 'git push -q origin feature/x'
	answer --always
	bg_wait push
	sed -i 's/^timeout.*/&\napprovals = never/' "$HOME/.config/pale/policy.ini"
	fence bash -c 'git push -q origin feature/x'
	rc_not 0
	run pale explain exec git push origin feature/x
	rc_is 1
}

# Where a second proof is wanted, what was granted without does not stand in for it.
t_a_second_proof_is_wanted_each_time() {
	pushes
	bg push bash -c 'git push -q --force origin feature/x'
	answer --always
	bg_wait push
	unasked 'git push -q --force origin feature/x'
	rc_is 0
	sed -i 's/^timeout.*/&\nstepup = pam/' "$HOME/.config/pale/policy.ini"
	unasked 'git push -q --force origin feature/x'
	rc_not 0
}

# It stays as it is, nothing is added to it, and what is wrong is told.
t_a_broken_file_grants_nothing() {
	local break id
	pushes
	bg push bash -c 'git push -q origin feature/x'
	answer --always
	bg_wait push
	cp "$STATE/grants.ini" "$S/good"
	for break in 'truncate -s -2' 'sed -i s/\[commands\]//' 'chmod 666' 'sed -i $ax'; do
		cp "$S/good" "$STATE/grants.ini"
		chmod 600 "$STATE/grants.ini"
		$break "$STATE/grants.ini"
		cp "$STATE/grants.ini" "$S/broken"
		bg held bash -c 'sleep 0.3; git push -q origin feature/x'
		id=$(pending_id) || fail "not asked: $break"
		run pale approve "$id" --yes --always
		rc_not 0
		err_has "mend or remove it"
		run pale deny "$id"
		bg_wait held
		rc_not 0
		err_has "grants.ini grants nothing"
		recorded grant/store '' ''
		cmp "$S/broken" "$STATE/grants.ini" || fail "written to: $break"
	done
	# what is granted next is kept in a new one
	rm "$STATE/grants.ini"
	bg push bash -c 'git push -q origin feature/x'
	answer --always
	bg_wait push
	unasked 'git push -q origin feature/x'
	rc_is 0
}

# It is a text that people read and edit: the rule that stands there is the one that holds.
t_the_file_is_edited() {
	local id
	pushes
	bg push bash -c 'git push -q origin feature/x'
	answer --always --rule 'allow = git push origin feature/*'
	bg_wait push
	grep -qx '\[commands\]' "$STATE/grants.ini" || fail "no section: $(cat "$STATE/grants.ini")"
	sed -i 's|^allow = .*|allow = git push origin feature/y|' "$STATE/grants.ini"
	unasked 'git push -q origin feature/y'
	rc_is 0
	unasked 'git push -q origin feature/x'
	rc_not 0
	# A line that nobody could have granted grants nothing there either.
	for rule in 'allow = bash' 'allow = git' 'allow = *' 'deny = git push' 'default = allow'; do
		sed -i "s|^[a-z]* = .*|$rule|" "$STATE/grants.ini"
		unasked 'git push -q origin feature/y'
		rc_not 0 "$rule"
	done
}

t_what_cannot_be_granted_is_refused() {
	local id line
	pushes
	printf '[commands]\nask = python3\n' >>"$HOME/.config/pale/policy.ini"
	bg push bash -c 'git push -q origin feature/x'
	id=$(pending_id) || exit 1
	for line in 'allow = *' 'allow = git' 'allow = bash' 'deny = git push' 'allow = git push origin other' \
		'default = allow' 'allow = git (push'; do
		run pale approve "$id" --yes --session --rule "$line"
		rc_not 0 "$line"
	done
	run pale approve "$id" --yes
	rc_is 0
	bg_wait push
	# an interpreter is allowed once, and for no longer
	bg code bash -c 'python3 -c "print(1)"'
	id=$(pending_id) || exit 1
	run pale approve "$id" --yes --always
	rc_not 0
	run pale deny "$id"
	bg_wait code
}

t_agent_reaches_none_of_it() {
	pushes
	bg push bash -c 'git push -q origin feature/x'
	answer --always
	bg_wait push
	fsh "cat '$STATE/grants.ini'"
	rc_not 0
	fsh "echo x >>'$STATE/grants.ini'"
	rc_not 0
	fence pale revoke "$(grant_id)"
	rc_not 0
	[ "$(pale grants --json | grep -c '"id"')" -ge 1 ] || fail "revoked from inside"
}

# What the operator's own policy asks is granted in nested runs too; what theirs alone asks is not.
t_nested_runs_grant_nothing_of_their_own() {
	local id
	pushes
	printf '[commands]\nask = touch\n' >"$W/inner.ini"
	bg push bash -c 'git push -q origin feature/x'
	answer --always
	bg_wait push
	unset PALE_PROMPT
	fsh 'pale run -q -p inner.ini -- bash -c "git push -q origin feature/x; echo nested \$?"'
	# Its environment is its own.
	out_has "nested $([ "$T_LEVEL" = hooks ] && echo 0 || echo 126)"
	export PALE_PROMPT=1
	bg inner bash -c 'pale run -q -p inner.ini -- bash -c "touch a; echo touch \$?"'
	id=$(pending_id) || exit 1
	run pale approve "$id" --yes --session
	rc_not 0
	run pale approve "$id" --yes --always --rule 'allow = touch a $'
	rc_not 0
	err_has "nested run"
	run pale approve "$id" --yes
	bg_wait inner
	out_has "touch 0"
}

t_explain_names_the_grant() {
	local id
	pushes
	run pale explain exec git push origin feature/x
	rc_is 3
	bg push bash -c 'git push -q origin feature/x'
	answer --project --rule 'allow = git push origin feature/*'
	bg_wait push
	id=$(grant_id)
	run pale explain exec git push origin feature/y
	rc_is 0
	out_like "granted by ${id:0:8} \\(project until [0-9-]*\\): allow = git push origin feature/\\*"
	run pale explain --json exec git push origin feature/y
	out_like '"granted": ?\{'
	run pale explain exec git push origin staging
	rc_is 3
	run pale explain --agent other exec git push origin feature/y
	rc_is 3
	run pale grants --ini
	out_has 'allow = git push origin feature/*'
}

t_files_and_hosts_too() {
	mkdir "$HOME/Documents" && echo secret >"$HOME/Documents/a" && echo more >"$HOME/Documents/b"
	policy <<-EOF2
		[files]
		ask = ~/Documents
	EOF2
	bg read bash -c 'cat ~/Documents/a && cat ~/Documents/b'
	answer --session --rule "read = $HOME/Documents"
	bg_wait read
	rc_is 0
	out_is "secret
more"
	fsh "cat ~/Documents/a" </dev/null &
	id=$(pending_id) || exit 1
	run pale deny "$id"
	wait
}

# A store through a mapping that was dirty when it was asked changes no time of the file.
t_another_content_by_a_mapping() {
	[ "$T_LEVEL" != hooks ] || skip "at level hooks a program is known by its path"
	need python3
	printf '[session]\ntimeout = 60s\n[commands]\nask = ./deploy\n' | policy
	cat >map.py <<-'END'
		import mmap, os, subprocess, time
		good, evil = ((b"#!/bin/sh\necho %s >>ran\n#" % w).ljust(200, b"#") for w in (b"good", b"evil"))
		f = os.open("deploy", os.O_RDWR | os.O_CREAT, 0o755)
		os.write(f, good)
		os.fsync(f)
		m = mmap.mmap(f, 200)
		m[:] = good
		time.sleep(0.05)
		before = os.stat("deploy").st_ctime_ns
		def run():
		    try: return subprocess.run(["./deploy"]).returncode
		    except OSError as e: return e.errno
		run()  # text file busy, and granted
		m[:] = evil
		m.close()
		os.close(f)
		open("same", "w").write(str(os.stat("deploy").st_ctime_ns == before))
		run()
	END
	bg it python3 map.py
	answer --session
	until_true 10 has_pending || fail "not asked again"
	file_is same True
	run pale deny "$(pending_id)"
	bg_wait it
	missing ran
}

# What lies under the program's name by then is another program, which nobody has allowed.
t_another_file_under_its_name() {
	[ "$T_LEVEL" != hooks ] || skip "at level hooks a program is known by its path"
	local how
	printf '[session]\ntimeout = 60s\n[commands]\nask = tool\n' | policy
	cp /bin/true tool
	bg it bash -c './tool w1 && ./tool w1 && touch twice; read -r line <go'
	mkfifo go
	answer --always
	until_true 10 test -e twice || fail "the grant does not hold"
	echo >go
	bg_wait it
	for how in 'cp /bin/date n; mv n tool' 'cat /bin/id >tool' 'rm tool; cp /bin/id tool' 'cp /bin/id n; ln -f n tool' \
		'cp /bin/id n; ln -sf n tool' \
		'dd if=/bin/id of=tool conv=notrunc status=none' 'mkdir d; cp /bin/id d/tool; mv d/tool tool'; do
		unasked 'rm -rf n d tool; cp -p /bin/true tool; ./tool w1' # as it stood, and yet another file
		denied exec ./tool
		unasked "$how; ./tool w1"
		denied exec ./tool "no one can be reached"
	done
}

# Nor is a script the same whose interpreter became another: a grant and a late yes are for what they saw.
t_another_interpreter_under_its_name() {
	[ "$T_LEVEL" != hooks ] || skip "at level hooks a program is known by its path"
	local how first
	for first in interp env.sh; do
		for how in 'cp /bin/id n; mv n interp' 'cat /bin/id >interp' 'rm interp; ln -s /bin/id interp'; do
			rm -rf interp twice && cp /bin/echo interp
			printf '[session]\ntimeout = 60s\n[commands]\nask = deploy\n' | policy
			printf '#!%s/interp\n' "$W" >env.sh && printf '#!%s/%s\n' "$W" $first >deploy && chmod 755 env.sh deploy
			bg it bash -c "./deploy x && ./deploy x && touch twice; $how; ./deploy x; echo \"status \$?\""
			answer --session
			until_true 10 test -e twice || fail "the grant does not hold"
			run pale deny "$(pending_id)"
			bg_wait it
			out_has "status 126" "$first: $how"
			out_lacks "uid=" "$first: $how"
		done
		rm interp && cp /bin/echo interp
		printf '[session]\ntimeout = 1s\n[commands]\nask = deploy\n' | policy
		bg late bash -c "./deploy x; until test -e go; do sleep 0.05; done; $how; ./deploy x; echo \"status \$?\""
		how=$(pending_id) || exit 1
		until_true 10 grep -q '^pale: denied' "$S/late.err" || fail "no timeout"
		run pale approve "$how"
		: >go
		bg_wait late
		out_has "status 126" "$first: late"
		rm go
	done
}

scenario "$@"
