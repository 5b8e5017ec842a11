# needs: tmpfs
# pale log --machine: what the operator does outside of sessions is recorded before it is done, by many at once,
# and what was changed of it shows.
. "$T_LIB"
. "$T_BASE/t/stepup-lib.sh"

LEDGER=.local/state/pale/machine/ledger.jsonl

# of_machine OP VERDICT TEXT: the machine's ledger has such a record.
of_machine() {
	pale log --machine --json >"$S/machine" || fail "it cannot be shown"
	grep -F "\"op\":\"$1\"" "$S/machine" | grep -F "\"verdict\":\"$2\"" | grep -qF -e "$3" ||
		fail "no $1 $2 $3 in: $(cat "$S/machine")"
}

# project DIR...: projects whose own policy opens something.
project() {
	local dir
	for dir; do
		mkdir -p "$dir/.pale"
		printf '[files]\nread = /opt\n' >"$dir/.pale/policy.ini"
	done
}

t_deeds_are_in_it() {
	local sum
	printf '#!/bin/sh\nprintf "[commands]\\nask = touch\\n" >"$1"\n' >"$S/ed"
	chmod +x "$S/ed"
	run env -u VISUAL EDITOR="$S/ed" pale policy edit
	rc_is 0
	sum=$(sha256sum <"$HOME/.config/pale/policy.ini")
	of_machine policy/saved '' "sha256=${sum%% *}"
	project one
	run pale trust --yes one
	run pale trust --revoke one
	run pale trust --revoke one
	of_machine trust/given '' "$W/one/.pale/policy.ini"
	of_machine trust/revoked '' "$W/one/.pale/policy.ini"
	[ "$(grep -c trust/revoked "$S/machine")" = 1 ] || fail "what was not trusted is revoked"
	echo '{"permissions": {"deny": ["Read(./a)"]}}' >settings.json
	run pale import -o new.ini settings.json
	of_machine policy/saved '' new.ini
	run pale import -o new.ini settings.json
	of_machine policy/saved '' 'not done: File exists'
	set_passphrase
	tty "wrong one" -- pale passphrase check
	tty "$SECRET" -- pale passphrase remove
	of_machine stepup/set '' by=
	of_machine stepup/refused deny ''
	of_machine stepup/removed '' by=
	! grep -q "correct\|wrong one" "$S/machine" || fail "a passphrase is in it"
	run pale log --machine
	out_has "trust/given"
	run pale log verify --machine
	rc_is 0
	out_has "ok: machine: "
	run pale log verify "$HOME/$LEDGER"
	rc_is 0
	# it is no session
	run pale log
	err_has "no session has been run yet"
	run pale log --machine --session x
	rc_is 2
	run pale log prune --machine
	rc_is 2
}

# The helper of a session adds what it sees: who came from inside, and a wrong passphrase.
t_the_helper_adds_to_it() {
	printf '[session]\ntimeout = 60s\nstepup = passphrase\n[commands]\nask = touch\n' | policy
	set_passphrase
	fence python3 -c 'import glob, os, socket
for path in glob.glob(os.environ["XDG_RUNTIME_DIR"] + "/pale/*/control.sock"):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try: s.connect(path); s.recv(1000)
    except OSError: pass'
	[ "$T_LEVEL" != hooks ] || of_machine approval/refused deny "inside a session"
	fsh "cat ~/$LEDGER; echo x >>~/$LEDGER; rm -rf ~/.local/state/pale/machine; pale import -o inside.ini /dev/null; true"
	out_lacks stepup/set
	of_machine stepup/set '' by=
	! grep -q inside.ini "$S/machine" || fail "a session writes to it"
	verifies
}

t_what_was_changed_shows() {
	local file=$HOME/$LEDGER
	project one two
	run pale trust --yes one
	run pale trust --yes two
	cp "$file" "$S/whole"
	# a writer that was killed
	printf '{"seq":3,' >>"$file"
	run pale log verify
	rc_is 0
	run pale trust --revoke two
	run pale log verify
	rc_is 0
	out_has "machine: 3 records"
	cp "$S/whole" "$file"
	run pale log verify
	rc_is 1
	out_has "cut short or rewritten"
	sed -i '1s/one/two/' "$file"
	run pale log verify --machine
	rc_is 1
	out_has "the record was edited"
	# its end is not what it was: nothing is added, and nothing is done
	echo x >>"$file"
	run pale trust --yes two
	rc_is 2
	err_has "see pale log verify"
	run pale trust --list
	out_has "one/.pale"
	out_lacks "two/.pale"
	rm "$file"
	rmdir "${file%/*}"
	run pale log verify
	rc_is 1
	out_has "its ledger is gone"
}

t_many_write_at_once() {
	local i pids=() dirs=()
	for i in {1..12}; do dirs+=("p$i"); done
	project "${dirs[@]}"
	for i in "${dirs[@]}"; do
		pale trust --yes "$i" >/dev/null 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || fail "one was not done"; done
	run pale log verify
	rc_is 0
	out_has "machine: 12 records"
}

t_on_a_full_disk() {
	local i
	[ -n "${T_FULL:-}" ] || skip "no small file system without root"
	project one two
	export XDG_STATE_HOME=$S/full/state
	run pale trust --yes one
	rc_is 0
	dd if=/dev/zero of="$S/full/fill" bs=1k >/dev/null 2>&1
	# The ledger's last block has room for a few records more.
	for i in {1..20}; do
		run pale trust --yes two
		! grep -q "cannot be recorded" "$S/err" || break
		[ "$RC" = 2 ] || pale trust --revoke two 2>/dev/null
	done
	rc_is 2
	err_has "trust/given cannot be recorded (pale log --machine): No space left on device"
	run pale trust --list
	out_lacks "two/.pale"
	# what only tightens is done
	run pale trust --revoke one
	rc_is 0
	run pale trust --list
	out_lacks "one/.pale"
	rm "$S/full/fill"
	run pale log verify
	rc_is 0
}

scenario "$@"
