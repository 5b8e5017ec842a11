# limit: 60
# pale watch: answers that are wider than one question, and those that are confirmed.
. "$T_LIB"
. "$T_BASE/t/watch-lib.sh"

# An editor that leaves this line in the file.
editor() {
	printf '#!/bin/sh\nprintf "%%s\\n" "# a comment" "" "  %s " >"$1"\n' "$1" >"$S/editor"
	chmod +x "$S/editor"
	export VISUAL="$S/editor"
}

t_a_long_rule_is_read_to_its_end_or_not_granted() {
	local names
	ask_touch
	names=$(printf 'name-%s ' {100..117})tail
	watch 40 10
	bg long bash -c "touch $names && echo done"
	must_show "more rows"
	keys Space End
	must_show "digest"
	sleep 0.7
	keys 1
	must_show "[commands] allow"
	must_show "more rows"
	keys s
	must_show "read it to its end first"
	has_pending || fail "granted what was not read"
	tmx resize-window -t w -x 80 -y 24
	must_show "until this session ends"
	case $(screen | sed -n '/ allow /,/ m, h  /p' | LC_ALL=C sed 's/\xe2\x94\x82//g' | tr -d ' \n') in
	*"allow=touch${names// /}\$m,h"*) ;;
	*) fail "not the whole rule: $(screen)" ;;
	esac
	keys s
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
	must_show "y allow once"
	id=$(pending_id) || exit 1
	session=$(pale session list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["session"])')
	golden "${id:0:4}" "$session" >"$S/screen"
	keys n
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
	 wider 1    [commands] allow = touch asked-for $
	 digest     DIGEST


















	- Decisions: denied, asked -








	y allow once  n deny  N deny and tell  1 a rule  e write one  g all  ? q
	END
}

t_all_that_are_alike() {
	ask_touch
	mkdir x
	editor 'allow = touch x/* $'
	watch 80 24
	bg alike bash -c 'touch x/a & touch x/b & touch x/c & wait; echo end'
	must_show "Questions (3)"
	settled
	keys g
	must_show "for all that wait and are alike"
	keys e
	must_show "[commands] allow = touch x/* $"
	keys s
	must_show "and 2 more"
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
	keys n
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
	day=$(date -d '+30 days' +%Y-%m-%d)
	keys 1
	must_show "for this agent in this project, until $day"
	keys p
	must_show "approved for: project"
	bg_wait project
	out_is "done"
	run pale grants
	out_has "allow = touch a"
	out_has "$day"
}

t_always() {
	ask_touch
	editor 'allow = bash'
	watch 80 24
	bg always bash -c 'touch a && echo done'
	settled
	keys 1
	must_show "for this agent always"
	keys Escape
	until_true 10 is_off_screen "for this agent always" || fail "Esc does not leave"
	has_pending || fail "granted by Esc"
	# What may not be granted is refused, and the question waits.
	keys e
	must_show "[commands] allow = bash"
	keys A
	must_show "this program runs what its arguments say"
	has_pending || fail "granted for a shell"
	settled
	keys 1
	must_show "for this agent always"
	keys A
	must_show "approved for: always"
	bg_wait always
	fsh 'touch a && echo again'
	out_is again
}

t_an_editor_that_leaves_no_rule() {
	ask_touch
	VISUAL=false watch 80 24
	bg none bash -c 'touch a; echo "status $?"'
	settled
	keys e
	must_show "no rule: the editor failed"
	has_pending || fail "answered"
	missing "$HOME/.local/state/pale/.rule-to-grant"
	settled
	keys q
	must_show "ended 0"
	tmx kill-server
	editor '# nothing'
	watch 80 24
	settled
	keys e
	must_show "no rule: there is no line"
	keys n
	bg_wait none
	out_is "status 126"
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
	keys y
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
	keys n
	bg_wait plain
	out_is "status 126"
}

scenario "$@"
