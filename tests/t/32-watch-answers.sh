# limit: 60
# pale watch: answers that are wider than one question, and those that are confirmed.
. "$T_LIB"
. "$T_BASE/t/watch.sh"

# The rule as the dialog shows it, its rows joined.
dialog_text() {
	screen | sed -n '/Allow until/,$p' | LC_ALL=C sed 's/\xe2\x94\x82//g' | tr -d ' \n'
}

t_a_long_rule_is_shown_whole_or_not_granted() {
	local names
	ask_touch
	names=$(printf 'name-%s ' {100..117})tail
	watch 40 10
	bg long bash -c "touch $names && echo done"
	must_show "more rows"
	keys Space End
	must_show "digest"
	sleep 0.7
	keys s
	must_show "Allow until this session"
	sleep 0.5
	keys Enter
	must_show "not all of the rule fits"
	has_pending || fail "granted what was cut"
	tmx resize-window -t w -x 80 -y 24
	must_show "Allow until this session ends"
	sleep 0.5
	case $(dialog_text) in
	*"allow=touch${names// /}\$"*) ;;
	*) fail "not the whole rule: $(screen)" ;;
	esac
	keys Enter
	must_show "approved for: session"
	bg_wait long
	out_is "done"
}

# The program's path and its directory alone, escaped, are more than a packet's worth.
t_what_cannot_be_shown_whole_is_not_asked() {
	local deep
	ask_touch
	deep=$(printf '\001%.0s' {1..200})
	cat >far.sh <<-END
		set -e
		for i in {1..18}; do mkdir -p "$deep"; cd "$deep"; done
		cp /bin/bash ./far
		./far -c 'touch a; echo "status \$?"'
	END
	bg far bash far.sh
	bg_wait far
	out_is "status 126"
	err_has "too long to be shown whole"
}

t_whole_large_screen() {
	local id session
	ask_touch
	watch 120 40
	bg whole bash -c 'touch asked-for'
	settled
	must_show "a allow once"
	id=$(pending_id) || exit 1
	session=$(pale session list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["session"])')
	golden "${id:0:4}" "$session" >"$S/screen"
	keys d
	bg_wait whole
	diff -u - "$S/screen" <<-'END' || fail "the screen differs"
	 pale watch   1 waits   1 session
	- Questions (1) -
	 ID   low          NNs  bash       exec touch asked-for
	- ID  session SESSION  agent bash  denied in NN s -
	 exec       touch
	            asked-for
	 in         SCRATCH/h/work
	 by         /usr/bin/bash (PID)
	 rule       policy.ini:4 [commands] ask = touch
	 risk       low
	 wider      [commands] allow = touch asked-for $
	 digest     DIGEST


















	- Decisions: denied, asked (v: all) -






	- Sessions -
	 SESSION   full   bash         1 wait      0 denied N records
	a allow once  s session  p project  A always  d deny  D tell  g all  ? q
	END
}

t_all_that_are_alike() {
	ask_touch
	mkdir x
	watch 80 24
	bg alike bash -c 'touch x/a & touch x/b & touch x/c & wait; echo end'
	must_show "Questions (3)"
	settled
	keys g
	must_show "for all that wait and are alike"
	keys s
	must_show "Allow until this session ends"
	keys e C-u
	keys -l 'allow = touch x/* $'
	keys Enter
	must_show "allow = touch x/"
	keys Enter
	must_show "approved for: session"
	bg_wait alike
	exists x/a
	exists x/b
	exists x/c
	must_show "nothing waits"
	bg alike bash -c 'touch d & touch e & wait; echo end'
	must_show "Questions (2)"
	settled
	keys g
	must_show "for all that wait and are alike"
	keys d
	must_show "and 1 more"
	bg_wait alike
	missing d
	missing e
}

t_for_the_project_until_a_day() {
	local day
	ask_touch
	watch 80 24
	bg project bash -c 'touch a && touch a && echo done'
	settled
	keys p
	must_show "Allow until $(date -d '+30 days' +%Y-%m-%d) for this agent in this project"
	day=$(date -d '+20 days' +%Y-%m-%d)
	keys t C-u
	keys -l "$day"
	keys Enter
	must_show "Allow until $day"
	must_show "allow = touch a"
	sleep 0.5
	keys Enter
	must_show "approved for: project"
	bg_wait project
	out_is "done"
	run pale grants
	out_has "allow = touch a"
	out_has "$day"
}

t_always() {
	ask_touch
	watch 80 24
	bg always bash -c 'touch a && echo done'
	settled
	keys A
	must_show "Allow for this agent always"
	sleep 0.5
	keys Escape
	until_true 10 is_off_screen "Allow for this agent always" || fail "Esc does not leave"
	has_pending || fail "granted by Esc"
	# What may not be granted is refused, and the question waits.
	keys A
	must_show "Allow for this agent always"
	keys e C-u
	keys -l 'allow = bash'
	must_show "allow = bash"
	keys Enter
	sleep 0.5
	keys Enter
	must_show "this program runs what its arguments say"
	has_pending || fail "granted for a shell"
	keys A
	must_show "allow = touch a"
	keys Escape
	until_true 10 is_off_screen "Allow for this agent always" || fail "Esc does not leave"
	keys A
	must_show "allow = touch a"
	sleep 0.5
	keys Enter
	must_show "approved for: always"
	bg_wait always
	fsh 'touch a && echo again'
	out_is again
}

t_what_cannot_be_taken_back_is_confirmed() {
	mkdir bin
	printf '#!/bin/sh\necho "$@" >>%s/published\n' "$W" >bin/npm
	chmod +x bin/npm
	printf '[session]\ntimeout = 60s\n[commands]\nask = npm\n' | policy
	tmx new-session -d -s w -x 80 -y 24 "pale passphrase set; pale watch"
	for word in "correct horse battery" "correct horse battery" "seven blue herons"; do
		until_true 10 eval 'screen | grep -v "^$" | tail -1 | grep -q "[:?]$"' || fail "no prompt: $(screen)"
		sleep 0.3
		keys -l "$word"
		keys Enter
		sleep 0.5
	done
	must_show "pale watch"
	export PATH=$W/bin:$PATH
	bg publish bash -c 'npm publish || exit 3'
	settled
	must_show "confirmed by the passphrase"
	keys a
	must_show "seven blue herons"
	has_pending || fail "approved without it"
	sleep 0.3
	keys -l "correct horse battery"
	keys Enter
	must_show "approved once by you"
	bg_wait publish
	exists published
}

t_c_locale() {
	ask_touch
	LC_ALL=C watch 80 24
	bg plain bash -c 'touch "$1"; echo "status $?"' - $'\xc3\xa9'
	settled
	must_show '\xc3\xa9'
	must_show "Questions (1)"
	keys d
	bg_wait plain
	out_is "status 126"
}

scenario "$@"
