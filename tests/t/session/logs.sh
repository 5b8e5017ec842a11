# limit: 60
# needs: tmpfs
# The agent's output beside where it goes: [session] logs.
. "$T_LIB"

OPTS=(--level hooks)
LOGS=

logged() {
	LOGS=$HOME/logs
	printf '[session]\nlogs = ~/logs\n%s\n' "${1:-}" | policy
}

only() {
	ls "$LOGS"/*."$1" | head -1
}

t_both() {
	logged
	run pale run "${OPTS[@]}" -q -- bash -c 'echo out; echo err >&2; printf "no end"; exit 7'
	rc_is 7
	out_is $'out\nno end'
	[ "$(cat "$S/err")" = err ] || fail "stderr"
	file_is "$(only stdout)" $'out\nno end'
	file_is "$(only stderr)" err
	[ "$(ls "$LOGS" | wc -l)" = 2 ] || fail "$(ls "$LOGS")"
	[ "$(stat -c %a "$LOGS" "$LOGS"/* | tr '\n' ' ')" = "700 600 600 " ] || fail "modes: $(stat -c %a "$LOGS" "$LOGS"/*)"
	# What pale itself says is no part of it.
	run pale run "${OPTS[@]}" -- true
	[ ! -s "$(ls -t "$LOGS"/*.stderr | head -1)" ] || fail "pale's own words were logged"
}

t_one_file() {
	logged
	RC=0
	pale run -q "${OPTS[@]}" -- bash -c 'for i in 1 2 3 4 5; do
			echo o$i
			echo e$i >&2
		done' >"$S/both" 2>&1 </dev/null || RC=$?
	rc_is 0
	file_is "$S/both" "$(printf '%s\n' o1 e1 o2 e2 o3 e3 o4 e4 o5 e5)"
	cmp -s "$S/both" "$(only stdout)" || fail "the log has another order"
}

# Not a byte is lost at the end, nor added.
t_drained() {
	logged
	RC=0
	pale run -q "${OPTS[@]}" -- bash -c 'head -c 30000000 /dev/zero | tr "\0" x
		head -c 3000000 /dev/zero >&2' 2>"$S/e" | cksum >"$S/sum"
	[ "$(cat "$S/sum")" = "$(head -c 30000000 /dev/zero | tr '\0' x | cksum)" ] || fail "lost on the way"
	[ "$(cksum <"$(only stdout)")" = "$(cat "$S/sum")" ] || fail "lost in the log"
	[ "$(stat -c %s "$S/e" "$(only stderr)" | sort -u)" = 3000000 ] || fail "lost on standard error"
}

# A reader who goes ends the writer, as without us.
t_reader_goes() {
	logged
	set +o pipefail
	pale run -q "${OPTS[@]}" -- yes | head -1 >"$S/out"
	[ "${PIPESTATUS[0]}" = 141 ] || fail "status ${PIPESTATUS[0]}"
	out_is y
	[ "$(head -c 2 "$(only stdout)")" = y ] || fail "the log"
	# and what is closed stays closed
	run bash -c 'pale run -q --level hooks -- bash -c "echo x; echo e >&2" >&-'
	[ "$(ls -t "$LOGS"/*.stderr | head -1 | xargs tail -1)" = e ] || fail "standard error was not logged"
}

# Its own log is not the agent's to write, whatever the policy opens.
t_not_the_agents() {
	OPTS=()
	LOGS=$W/logs
	printf '[session]\nlogs = logs\n[files]\nwrite = logs\nwrite = logs/**\n' | policy
	fsh 'echo said
		L=$(ls logs/*.stdout)
		echo forged >>"$L"; : >"$L"; rm -f "$L"; mv "$L" x; ln "$L" x; chmod 666 "$L"; truncate -s 0 "$L"
		echo forged >logs/abcdef.stdout; rm -rf logs; mv logs other; ln -sfn /tmp logs; mkdir logs/sub
		cat "$L"'
	[ "$(only stdout)" ] || fail "it went"
	grep -q forged "$(only stdout)" && fail "it was written"
	[ "$(ls -A "$LOGS" | wc -l)" = 2 ] || fail "$(ls -A "$LOGS")"
	missing x
	missing other
	out_has said
	recorded 'open|write|truncate' deny "$LOGS/"
}

t_bounded() {
	logged 'log_size = 1M'
	pale run -q "${OPTS[@]}" -- head -c 3000000 /dev/zero 2>"$S/err" >"$S/big"
	[ "$(stat -c %s "$S/big")" = 3000000 ] || fail "the operator's own is cut"
	err_has "the log of standard output is full"
	[ "$(head -c 1048576 "$(only stdout)" | cksum)" = "$(head -c 1048576 /dev/zero | cksum)" ] || fail "the log"
	[ "$(tail -c +1048577 "$(only stdout)")" = $'\n[pale: the log is full]' ] || fail "the end of the log"
}

# No room: the logging ends, with a word; the command does not.
t_full_disk() {
	[ -n "${T_FULL:-}" ] || skip "no small file system here"
	printf '[session]\nlogs = %s/full/logs\n' "$T_SCRATCH" | policy
	mkdir -m 700 "$T_SCRATCH/full/logs"
	pale run -q "${OPTS[@]}" -- bash -c 'head -c 3000000 /dev/zero; exit 5' 2>"$S/err" >"$S/big"
	RC=$?
	rc_is 5
	[ "$(stat -c %s "$S/big")" = 3000000 ] || fail "the operator's own is cut"
	err_has "the log of standard output ends early: No space left on device"
}

# Where there can be no log the command runs, and that is said.
t_no_place() {
	local bad
	logged
	mkdir "$S/elsewhere"
	ln -s "$S/elsewhere" "$LOGS"
	fsh 'echo ran; exit 4'
	rc_is 4
	out_is ran
	err_has "is not logged in"
	[ -z "$(ls "$S/elsewhere")" ] || fail "the link was followed"
	rm "$LOGS"
	mkdir -m 777 "$LOGS"
	chmod 777 "$LOGS"
	fsh 'exit 4'
	rc_is 4
	err_has "others may write there"
	rmdir "$LOGS"
	: >"$LOGS"
	fsh 'exit 4'
	rc_is 4
	err_has "is not logged in"
	for bad in 'logs = /' 'logs = ~/*/x' 'log_size = 5' 'log_size = 0M' 'log_size = 1T'; do
		printf '[session]\n%s\n' "$bad" | policy
		fence true
		rc_is 125 "$bad"
		err_has "policy.ini:2:"
	done
	rm "$HOME/.config/pale/policy.ini"
	mkdir -p .pale
	printf '[session]\nlogs = theirs\n' >.pale/policy.ini
	run pale run --level hooks -- true
	err_has "\`logs\` is ignored"
	missing theirs
}

# Gone after its time; what is not named as a session is not pale's.
t_swept() {
	logged
	fsh 'echo out'
	touch "$LOGS/server.stdout" "$LOGS/abcdef.stdout"
	find "$LOGS" -exec touch -d '-90 hours' {} +
	run pale session gc
	rc_is 0
	err_has "Pruned 1 stale sessions"
	[ "$(ls "$LOGS")" = "abcdef.stdout"$'\n'"server.stdout" ] || fail "$(ls "$LOGS")"
}

# Who reads it stands still: without the log the time limit would be kept all the same.
t_stalled_reader() {
	logged
	mkfifo "$S/pipe"
	sleep 30 <"$S/pipe" &
	run bash -c 'pale run -q --timeout 1s -- yes >"$1"' - "$S/pipe" &
	until_true 15 bash -c '! kill -0 "$1"' - $! || fail "the time limit is not kept"
	kill %1
	grep -q "the rest of standard output is lost: nothing reads it" "$S/err" || fail "it is not told"
	[ -s "$(only stdout)" ] || fail "nothing was logged"
}

# What goes to a terminal is not logged, and that is told; the other stream is.
t_terminal() {
	need script
	logged
	script -qec "pale run -q --level hooks -- bash -c 'echo out; echo err >&2' | cat >$S/piped" \
		"$S/typescript" >"$S/out" </dev/null
	file_is "$S/piped" out
	file_is "$(only stdout)" out
	[ "$(ls "$LOGS" | wc -l)" = 1 ] || fail "$(ls "$LOGS")"
	grep -qa "output to the terminal is not logged; script(1) can log it" "$S/typescript" || fail "nothing is said"
}

scenario "$@"
