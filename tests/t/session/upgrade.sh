# nightly: hooks strict
# limit: 120
# Pale is replaced by another version, whose numbers all differ, while a session runs; and the other way round.
. "$T_LIB"

OURS=$("$T_STAGE/bin/pale" --version | cut -d' ' -f2)

# Puts a version in the installation that is this test's own, as packages do: put ours|bumped [FILE...]
put() {
	local version=$1 f
	shift
	[ $# != 0 ] || set -- bin/pale lib/pale/libpale.so libexec/pale/pale-helper
	for f; do
		mkdir -p "$S/i/$(dirname "$f")"
		if [ "$version" = ours ]; then
			cp "$T_STAGE/$f" "$S/i/$f.new"; else cp "$T_VICTIMS/bumped/${f##*/}" "$S/i/$f.new"
		fi &&
			mv "$S/i/$f.new" "$S/i/$f" || fail "cannot put $f"
	done
}

mine() {
	run "$S/i/bin/pale" "$@"
}

# Begins a session, a shell that obeys `deed`; what stands in the policy's [files] and [session] besides.
begin() {
	policy <<-END
		preset = agent
		[session]
		${1:-}
		[files]
		deny = $HOME/elsewhere
		[commands]
		ask = id
	END
	for name in before after gone; do echo "$DECOY" >"$HOME/elsewhere/$name"; done
	mkfifo "$S/in"
	: >"$S/said"
	"$S/i/bin/pale" run --level "$T_LEVEL" ${T_ABI:+--abi-max "$T_ABI"} -- bash -c \
		'while read -r n line; do eval "$line"; echo "end $n $?"; done' <"$S/in" >>"$S/said" 2>>"$S/said" &
	RUN=$!
	exec 7>"$S/in"
	DEED=0
	deed true
}

# One command line inside: what it says is in $S/out and $S/err, its status in RC.
deed() {
	local from
	from=$(wc -l <"$S/said")
	DEED=$((DEED + 1))
	echo "$DEED $*" >&7
	: >"$S/err"
	until_true 15 grep -q "^end $DEED " "$S/said" || fail "no answer to: $*; $(cat "$S/said")"
	tail -n +$((from + 1)) "$S/said" | tee "$S/err" | grep -v "^end $DEED " >"$S/out"
	RC=$(sed -n "s/^end $DEED //p" "$S/said")
}

finish() {
	exec 7>&-
	wait "$RUN" || fail "the session ended with $?: $(cat "$S/said")"
	verifies
}

# What a session does to the programs that it starts: all that is allowed, and nothing that is denied.
is_fenced() {
	deed cat file
	out_has "hello from the workspace"
	deed "python3 -c 'print(open(\"file\").read() + \"python\")'"
	out_has python
	rm -f made
	deed touch made
	rc_is 0
	exists made
	deed cat "$HOME/elsewhere/$1"
	rc_not 0
	no_decoy
	denied read "$HOME/elsewhere/$1" "deny = $HOME/elsewhere"
	deed touch "$HOME/out-$1"
	rc_not 0
	missing "$HOME/out-$1"
	denied write "$HOME/out-$1"
}

was_recorded() {
	finish
	for name; do
		recorded read deny "$HOME/elsewhere/$name"
		recorded write deny "$HOME/out-$name"
	done
}

# Nothing was started, and whoever started it was told why.
is_refused() {
	for program in "cat file" "cat $HOME/elsewhere/file" "touch made"; do
		deed "$program"
		rc_is 126
		out_lacks hello
		no_decoy
		missing made
		err_has "$1"
	done
}

# replaced FROM TO
replaced() {
	put "$1"
	begin
	is_fenced before
	rm -f made
	put "$2"
	if [ "$T_LEVEL" = hooks ]; then
		is_refused "pale was replaced by another version since the session began; end the session and start it anew"
		put "$1"
	fi
	is_fenced after
	rm -f "$S/i/lib/pale/libpale.so" made
	if [ "$T_LEVEL" = hooks ]; then
		is_refused "libpale.so is gone: pale was removed, or is being replaced"
		put "$1"
	fi
	is_fenced gone
	# Each of them had the hooks, and its loader had nothing to complain of.
	mine session show
	out_has " hooked, 0 held by the kernel alone"
	! grep LD_PRELOAD "$S/said" || fail "the loader misses the hooks"
	was_recorded before after gone
	[ "$T_LEVEL" != hooks ] || recorded exec deny "libpale.so is gone"
}

t_up() {
	replaced ours bumped
}

t_down() {
	replaced bumped ours
}

# Where the kernel itself opens what is read, it is the new library that is loaded: all goes to the supervisor.
t_reads_of_the_floor() {
	[ "$T_LEVEL" = full ] || skip "reads = floor is of level full"
	for versions in "ours bumped" "bumped ours"; do
		rm -f "$S/in"
		put ${versions% *}
		begin "reads = floor"
		put ${versions#* }
		deed cat file
		out_has "hello from the workspace"
		deed touch made
		exists made
		deed cat "$HOME/elsewhere/file"
		no_decoy
		deed touch "$HOME/out-${versions% *}"
		missing "$HOME/out-${versions% *}"
		denied write "$HOME/out-${versions% *}"
		finish
		recorded write deny "$HOME/out-${versions% *}" '"via":"kernel"'
		rm made
	done
}

# Replaced to and fro while programs start: none of them is without a fence.
t_to_and_fro() {
	local i
	put ours
	begin
	: >go
	deed "while [ -e go ]; do cat $HOME/elsewhere/file; done >tries 2>&1 &"
	for i in $(seq 40); do
		put bumped lib/pale/libpale.so
		put ours lib/pale/libpale.so
	done
	rm go
	deed wait
	deed true
	finish
	[ "$(grep -c 'Permission denied\|not started' tries)" -gt 20 ] || fail "it was not tried: $(tail -5 tries)"
	cp tries "$S/out"
	no_decoy
}

# The clients of the other version say what it is; those of a session's own version go on.
clients() {
	local id session theirs=$3 own=$4
	put "$1"
	begin
	session=$("$S/i/bin/pale" session list | cut -d' ' -f1)
	echo "$((DEED + 1)) id" >&7
	until_true 10 eval '"$S/i/bin/pale" pending | grep -q "exec"' || fail "nothing is asked: $(cat "$S/said")"
	id=$("$S/i/bin/pale" pending --json | grep -oE '"id": *"[0-9a-f]+"' | head -1 | grep -oE '[0-9a-f]{8,}')
	put "$2"
	for client in pending "approve $id" "deny $id" turn "policy reload" grants; do
		RC=0
		timeout 3 "$S/i/bin/pale" $client >"$S/out" 2>&1 </dev/null || RC=$?
		grep -qE "pale $own, which speaks version .* and not .*pale session stop $session" "$S/out" &&
			grep -q "this is pale $theirs" "$S/out" ||
			fail "pale $client says: $(cat "$S/out")"
		[ "$client" = grants ] || rc_not 0 "$client"
	done
	mine session list
	out_has runs
	mine session show
	out_has "asked      1 times"
	# Nothing of that was an answer.
	! grep -q "^end $((DEED + 1))" "$S/said" || fail "an answer of another version counts"
	put "$1"
	mine approve "$id"
	rc_is 0
	until_true 10 grep -q "^end $((DEED + 1)) 0" "$S/said" || fail "the approved id does not run"
	put "$2"
	mine session stop "$session"
	rc_is 0
	wait "$RUN"
	exec 7>&-
	verifies
}

t_clients_up() {
	clients ours bumped 9.9.9 "$OURS"
}

t_clients_down() {
	clients bumped ours "$OURS" 9.9.9
}

# A run inside goes on as what it joins, and narrows nothing that it cannot read.
t_nested() {
	[ "$T_LEVEL" != hooks ] || skip "no program is started there"
	for versions in "ours bumped 9.9.9" "bumped ours $OURS"; do
		set -- $versions
		rm -f "$S/in"
		put "$1"
		begin
		put "$2"
		deed "$S/i/bin/pale run -q -- cat file"
		out_has hello
		deed "$S/i/bin/pale run -q -- cat $HOME/elsewhere/file"
		no_decoy
		deed "$S/i/bin/pale run -q --mode read-only -- touch made"
		rc_is 125
		err_has "began with another version of pale than this one, $3"
		missing made
		finish
	done
}

# Half an upgrade: what `pale run` finds is of another version than itself.
t_half() {
	put ours
	put bumped libexec/pale/pale-helper
	policy <<-END
		preset = agent
		[files]
		deny = $HOME/elsewhere
	END
	mine run --level "$T_LEVEL" -- touch made
	rc_is 125
	err_has "this pale and pale-helper 9.9.9 are of different versions"
	grep -qE '\([0-9]+ and 107 of what they say to each other\)' "$S/err" || fail "no numbers"
	put bumped
	put ours libexec/pale/pale-helper
	mine run --level "$T_LEVEL" -- touch made
	rc_is 125
	err_has "this pale and pale-helper $OURS are of different versions (107 and "
	missing made
	put ours
	put bumped lib/pale/libpale.so
	mine run --level "$T_LEVEL" -- bash -c "cat $HOME/elsewhere/file; cat file"
	no_decoy
	if [ "$T_LEVEL" = hooks ]; then
		rc_not 0
		err_has "pale was replaced by another version"
	else
		out_has hello
		recorded read deny "$HOME/elsewhere/file"
	fi
}

scenario "$@"
