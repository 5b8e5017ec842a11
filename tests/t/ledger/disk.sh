# The ledger on a disk that is full, or that cannot be written.
# needs: tmpfs
. "$T_LIB"

on_a_small_disk() {
	[ -n "${T_FULL:-}" ] || skip "no small file system without root"
	export XDG_STATE_HOME=$S/full/state
	mkdir -p "$XDG_STATE_HOME"
	STATE=$XDG_STATE_HOME/pale
}

fill_disk() {
	dd if=/dev/zero of="$S/full/fill" bs=1k >/dev/null 2>&1
}

t_full_disk() {
	on_a_small_disk
	printf '[session]\ntimeout = 2s\n[commands]\nask = touch\n' | policy
	bg full bash -c 'until test -e go; do sleep 0.05; done
		for i in $(seq 300); do echo x >made-$i; done; touch a; echo "status $?"; cat ~/.ssh/id_rsa'
	until_true 10 has_ledger || fail "no ledger"
	fill_disk
	: >go
	bg_wait full
	out_has "status 126"
	no_decoy
	missing a
	run pale session show
	out_has "lost       "
	out_has " records; see: pale log"
	run pale log verify
	[ "$RC" -le 1 ] || fail "verify cannot run"
	out_lacks "bad record"
	err_lacks "bad record"
}

# What is refused while the disk is full is told in the end, by name; of what was allowed, the number.
t_full_disk_keeps_denials() {
	on_a_small_disk
	for i in $(seq 20) late; do
		cp "$HOME/.ssh/id_rsa" "$HOME/.ssh/id_rsa$i"
	done
	bg full bash -c 'until test -e go; do sleep 0.05; done; for i in $(seq 200); do echo x >made-$i; done
		for i in $(seq 20); do cat ~/.ssh/id_rsa$i; echo x >more-$i; done; sleep 1.5
		cat ~/.ssh/id_rsalate; for i in $(seq 50); do echo x >last-$i; done'
	until_true 10 has_ledger || fail "no ledger"
	fill_disk
	: >go
	bg_wait full
	err_has "the ledger cannot be written (No space left on device)"
	for i in $(seq 20); do
		recorded read deny ".ssh/id_rsa$i"
	done
	recorded read deny .ssh/id_rsalate
	recorded loss '[a-z]*'
	run pale log verify
	rc_is 0
	out_has "records were lost, as the ledger says"
}

# The room that a killed helper kept takes what it had not written.
t_full_disk_and_a_killed_helper() {
	local i
	on_a_small_disk
	bg full bash -c 'until test -e go; do sleep 0.05; done
		for i in $(seq 300); do echo x >~/.ssh/no-$i; done 2>/dev/null; touch done; sleep 30'
	until_true 10 has_ledger || fail "no ledger"
	fill_disk
	kill -STOP "$(pgrep -P "$BG" -x pale-helper)"
	: >go
	until_true 20 test -e done || fail "it does not go on"
	kill -KILL "$(pgrep -P "$BG" -x pale-helper)"
	bg_wait full
	rc_is 125
	[ -z "$(ls "$STATE"/sessions/*/ledger.reserve 2>/dev/null)" ] || fail "the room is kept for nobody"
	for i in $(seq 300); do
		grep -q "/.ssh/no-$i\"" "$STATE/unwritten.jsonl" || fail "no-$i is not kept"
	done
}

# Without that room the end of a session could not be written, so none begins.
t_no_room_for_the_reserve() {
	on_a_small_disk
	dd if=/dev/zero of="$S/full/fill" bs=1k \
		count=$(($(df --output=avail "$S/full" | tail -1) - 200)) >/dev/null 2>&1
	run pale run -- touch began
	rc_is 125
	err_has "there is no room for the ledger and the 256 KiB that it keeps for its end: No space left on device"
	missing began
	[ -z "$(ls -A "$STATE/sessions" 2>/dev/null)" ] || fail "something is left: $(ls "$STATE/sessions")"
}

# What a human approved runs only when that is on the disk, and what is on the disk runs.
t_full_disk_stops_approved_acts() {
	local i id
	on_a_small_disk
	printf '[session]\ntimeout = 2s\n[commands]\nask = touch\n' | policy
	bg full bash -c 'for i in 1 2 3 4 5 6 7 8 9; do touch a$i; done'
	id=$(pending_id) || exit 1
	fill_disk
	for i in 1 2 3 4 5 6 7 8 9; do
		until_true 1 has_pending || break
		pale approve "$(pending_id)" >>"$S/approve" 2>&1
	done
	bg_wait full
	for i in 1 2 3 4 5 6 7 8 9; do
		if [ -e a$i ]; then
			recorded approval/decision allow "touch a$i"
		else
			not_recorded approval/decision allow "touch a$i"
		fi
	done
	run pale log verify
	[ "$RC" -le 1 ] || fail "verify cannot run"
}

t_disk_has_room_again() {
	on_a_small_disk
	bg full bash -c 'until test -e go; do sleep 0.05; done; for i in $(seq 100); do echo x >made-$i; done; sleep 3
		: >filled; until test -e on; do sleep 0.05; done; for i in 1 2 3 4 5; do cat ~/.ssh/id_rsa; sleep 0.5; done'
	until_true 10 has_ledger || fail "no ledger"
	fill_disk
	: >go
	until_true 20 test -e filled || fail "stuck"
	rm "$S/full/fill"
	: >on
	bg_wait full
	recorded loss '[a-z]*'
	recorded read deny .ssh/id_rsa
	verifies
}

has_ledger() {
	[ -s "$(ls "$STATE"/sessions/*/ledger.jsonl)" ]
}

t_full_from_the_start() {
	on_a_small_disk
	mkdir -p "$STATE/sessions"
	fill_disk
	fence touch made
	rc_is 125
	missing made
}

t_unwritable_state() {
	mkdir -p "$STATE"
	chmod 500 "$STATE"
	fence touch made
	rc_is 125
	err_has "$STATE"
	missing made
	chmod 777 "$STATE"
	fence touch made
	rc_is 125
	err_has "$STATE cannot be used: it is not yours alone to write (chmod go-w)"
	missing made
	chmod 700 "$STATE"
	fence touch made
	rc_is 0
}

scenario "$@"
