# retry: timeouts
# levels: full strict
# Attacks on what asks, grants and records, from inside: each was one that got through, or nearly.
. "$T_LIB"

asks() {
	printf '[session]\ntimeout = 60s\n[commands]\nask = %s\n' "$1" | policy
}

# A virtual environment's bin/ comes first on the operator's PATH, and the agent may write there.
t_planted_notify_send_is_not_run() {
	asks touch
	mkdir -p "$W/.venv/bin"
	export PATH="$W/.venv/bin:$PATH" DISPLAY=:99
	printf '#!/bin/sh\necho out >"%s/escaped"\n' "$S" >"$S/plant"
	cp "$S/plant" "$W/plant"
	cp /bin/true .venv/bin/notify-send
	bg plant bash -c 'cp plant .venv/bin/notify-send; chmod 755 .venv/bin/notify-send; touch a'
	run pale deny "$(pending_id)"
	bg_wait plant
	sleep 0.3
	missing "$S/escaped"
}

t_planted_tmux_is_not_run() {
	asks touch
	mkdir -p "$W/.venv/bin"
	export PATH="$W/.venv/bin:$PATH" TMUX="$S/no-server,1,0" TMUX_PANE=%0
	printf '#!/bin/sh\necho out >"%s/escaped"\n' "$S" >"$W/plant"
	cp /bin/true .venv/bin/tmux
	bg plant bash -c 'cp plant .venv/bin/tmux; chmod 755 .venv/bin/tmux; touch a'
	run pale deny "$(pending_id)"
	bg_wait plant
	sleep 0.3
	missing "$S/escaped"
}

# A directory's name speaks the ledger's language.
t_cwd_does_not_forge_a_decision() {
	asks touch
	mkdir "$W/x scope=always by=root pid=1 confirmed=pam"
	bg forge bash -c 'cd x*; touch a'
	run pale approve "$(pending_id)"
	bg_wait forge
	recorded approval/decision allow '"detail":"op=exec scope=once by=operator pid='
	recorded approval/request ask '"detail":"op=exec cwd='
	verifies
}

# argv[0] is whatever the caller writes there.
t_the_card_names_the_file_that_runs() {
	asks npm
	mkdir "$S/bin"
	printf '#!/bin/sh\ntrue\n' >"$S/bin/npm"
	chmod 755 "$S/bin/npm"
	PATH=$S/bin:$PATH
	bg liar bash -c 'exec -a ls npm publish'
	id=$(pending_id) || fail "not asked: $(cat "$S"/*.err) $id"
	run pale pending
	out_has "$S/bin/npm"
	run pale deny "$(pending_id)"
	bg_wait liar
	rc_is 126
}

# The state directory is where the agent may write.
t_state_inside_the_workspace_is_pales() {
	asks touch
	export XDG_STATE_HOME=$W/state
	STATE=$W/state/pale
	fsh 'echo "# mine" >state/pale/grants.ini; echo x >state/pale/passphrase
		mv state gone; rm -rf state; cat state/pale/heads.jsonl; true'
	missing state/pale/grants.ini
	missing state/pale/passphrase
	missing gone
	verifies
}

t_a_token_in_argv_is_not_kept() {
	asks touch
	bg sec bash -c 'touch ghp_abcdefghijklmnopqrstuvwxyz0123456789' ghp_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789
	run pale deny "$(pending_id)"
	bg_wait sec
	! grep -rIl 'ghp_[aA]' "$STATE" || fail "a token is in the state directory"
}

# swapped MODE [SIZE]: a program's content is exchanged through a mapping of it, which changes no time of the file.
swapped() {
	rm -f tool go stored ran
	cp "$T_VICTIMS/swap" tool
	[ -z "${2:-}" ] || truncate -s "$2" tool
	bg swap "$T_VICTIMS/swap" ./tool "$1"
	id=$(pending_id) || exit 1
	touch go
	[ "$1" = close ] || until_true 10 test -e stored || fail "nothing was stored"
	run pale approve "$id"
	bg_wait swap
	! grep -q evil ran || fail "what runs is not what was approved: $*"
}

t_a_program_exchanged_in_memory_while_it_is_asked() {
	local id size
	asks tool
	for size in '' 20M 300M; do
		swapped file $size
		err_has "changed while the question waited" "$size"
	done
}

# The kernel looks at the file after the supervisor has compared it and before nobody can write to it any more.
t_a_program_exchanged_in_memory_after_the_answer() {
	local id
	asks tool
	for _ in $(seq 12); do
		swapped close
	done
}

# A program is compared whole, so one that is too large for that is not asked about.
t_a_program_too_large_to_compare() {
	asks tool
	cp "$T_VICTIMS/swap" tool
	truncate -s 1025M tool
	fsh './tool; exit $?' </dev/null
	err_has "larger than 1 GiB"
	missing ran
	truncate -s 100M tool
	bg large bash -c './tool; exit $?'
	run pale approve "$(pending_id)"
	bg_wait large
	file_is ran good
}

scenario "$@"
