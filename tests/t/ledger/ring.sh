# levels: full strict
# limit: 900
# The record's memory: whatever the session or a full file system does to it, no hooked process is ended or
# stopped by a store into it, and what was done is in the ledger or the session says that it is not.
. "$T_LIB"

OPTS=(--level "$T_LEVEL")

# beside COMMAND...: that command in a session in which a hooked shell and its children read before, meanwhile
# and after.
beside() {
	fence bash -c '
		hooked() { for i in {1..40}; do [ "$(cat file)" = "hello from the workspace" ] || exit 90; done; }
		hooked
		while [ ! -e over ]; do cat file >/dev/null || exit 91; done &
		"$@"
		status=$?
		hooked
		: >over
		wait $! || exit 92
		exit $status' - "$@"
}

attacked() {
	local n=0 attack
	while read -r attack; do
		rm -f over
		beside "$T_VICTIMS/ring_attack" "$attack"
		[ "$RC" = 0 ] || fail "$attack: status $RC"
		n=$((n + 1))
	done < <("$T_VICTIMS/ring_attack" list | sed -n "s/^$1 //p")
	[ "$n" -ge "$2" ] || fail "only $n attacks"
}

t_nobody_cuts_or_fills_it() {
	attacked refused 13
	verifies
}

t_no_store_into_it_fails() {
	attacked harmless 9
}

t_it_has_no_path() {
	fsh 'ls -la /proc/self/fd /proc/$$/fd; grep ring /proc/self/maps'
	grep -q '[0-9]  */memfd:pale-ring (deleted)$' "$S/out" || fail "it is not mapped: $(cat "$S/out")"
	! grep -- '-> /memfd:pale' "$S/out" || fail "a process has a descriptor of it"
	bg held bash -c ': >begun; until test -e go; do sleep 0.05; done'
	until_true 10 test -e begun || fail "it does not begin"
	! ls "$XDG_RUNTIME_DIR"/pale/*/ring 2>/dev/null || fail "it has a path"
	: >go
	bg_wait held
}

# A file's size is limited, descriptors and memory are few.
t_limits_of_the_process() {
	fsh 'ulimit -f 0; cat file >/dev/null; bash -c "cat file >/dev/null"'
	rc_is 0
	err_is_empty
	fsh 'ulimit -n 4; cat file'
	rc_is 0
	OPTS+=(--limit memory=200M)
	fsh 'for i in {1..50}; do cat file; done'
	rc_is 0
	verifies
}

t_no_room_at_the_start() {
	local limit name
	for limit in "f 1 FSIZE" "f 100 FSIZE" "f 60000 FSIZE" "Sf 1 FSIZE" "s 64 STACK" "s 256 STACK" \
		"n 16 NOFILE" "v 200000 AS" "St 30 CPU"; do
		name=${limit##* }
		run bash -c "ulimit -${limit% *}; exec pale run -q -- true"
		rc_is 125
		err_has "pale: RLIMIT_$name is below"
		[ "$(wc -l <"$S/err")" = 1 ] || fail "more than one line"
	done
}

# What is full: the file systems that people have, with the session's directories on them.
on_full_file_systems() {
	local dir
	for dir in /dev/shm /run "$XDG_RUNTIME_DIR"; do
		mount -t tmpfs -o size=2m,mode=1777 tmpfs "$dir" || exit 77
	done
	chown "$T_USER:" "$XDG_RUNTIME_DIR" && chmod 700 "$XDG_RUNTIME_DIR"
	as_user() {
		setpriv --reuid "$T_USER" --regid "$(id -g "$T_USER")" --clear-groups env \
			PATH="$PATH" HOME="$HOME" XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" LEVEL="$T_LEVEL" "$@"
	}
	cat >session.sh <<-'EOF2'
		pale run -q --level "$LEVEL" -- bash -c '
			for i in {1..20}; do cat file || exit 90; done
			: >begun
			until test -e full; do sleep 0.05; done
			for i in {1..300}; do cat file || exit 91; done
			exit 7'
	EOF2
	as_user bash session.sh >"$S/out" 2>"$S/err" &
	until_true 20 test -e begun || fail "it does not begin"
	for dir in /dev/shm /run "$XDG_RUNTIME_DIR"; do
		dd if=/dev/zero of="$dir/filler" bs=64k 2>/dev/null
		[ "$(stat -f -c %a "$dir")" = 0 ] || fail "$dir is not full"
	done
	as_user touch full
	RC=0
	wait $! || RC=$?
	rc_is 7
	err_is_empty
}

t_full_file_systems() {
	machine
	verifies
}

# All that a hooked process decides is in the ledger, or the session is marked; and it is not held up for long.
marked() {
	err_has "was tampered with: its processes wrote over the memory of their records"
	run pale session show "$ID"
	out_has "tampered"
	run pale log verify --session "$ID"
	out_has "tampered with: its processes"
	rc_is 0
}

# One word of the header at a time: where the head is, what is read, what is lost, whose ring it is.
t_no_word_silences_it() {
	local word value said
	for word in 0 1 2 8 16 24 25 26 32 33; do
		for value in 0 1 0xffffffffffffffff; do
			rm -rf "$STATE/sessions"
			fence bash -c "$T_VICTIMS/ring_attack set $word $value; { : >~/secret-0; }; bash -c ': >~/secret-1'; cat file"
			out_has hello
			said=$(cat "$S/err")
			[ "$(cat "$STATE"/sessions/*/ledger.jsonl | grep '"verdict":"deny"' | grep -c 'secret-[01]')" = 2 ] ||
				[[ $said == *"was tampered with"* ]] || fail "word $word = $value: a denial is in no ledger"
		done
	done
}

# fuzzed SECONDS SEED: an even seed writes without rest, an odd one seldom.
fuzzed() {
	local seed=$2
	rm -rf "$STATE/sessions" over made-* count-*
	cat >work.sh <<-'EOF2'
		i=0
		until [ -e over ]; do
			{ : >~/secret-$i; } 2>/dev/null && exit 90
			read -r line <file || exit 91
			: >made-$i || exit 92
			sleep 0.01 || exit 93
			i=$((i + 1))
		done
		echo $i >$1
	EOF2
	fence bash -c "bash work.sh count-1 & one=\$!
		bash work.sh count-2 &
		$T_VICTIMS/ring_attack fuzz $1 $seed; : >over
		wait \$! && wait \$one"
	[ "$RC" = 0 ] || fail "seed $seed: status $RC"
	[ "$(cat count-1)" -gt 5 ] && [ "$(cat count-2)" -gt 5 ] || fail "seed $seed: hooked processes were held up"
	pale log --all --json >"$S/records" || fail "seed $seed: the log cannot be read"
	python3 - "$S/records" "$(cat count-1)" "$(cat count-2)" <<-'EOF2' >"$S/missing" || fail "seed $seed"
		import json, sys
		records = [json.loads(line) for line in open(sys.argv[1])]
		have = {}
		for r in records:
		    if r["op"] in ("read", "write"):
		        name = (r["op"], r["verdict"], r["target"].rpartition("/")[2])
		        have[name] = have.get(name, 0) + r["count"]
		want = {}
		for n in map(int, sys.argv[2:]):
		    for i in range(n):
		        for name in (("write", "deny", "secret-%d" % i), ("write", "allow", "made-%d" % i)):
		            want[name] = want.get(name, 0) + 1
		print(sum(max(0, n - have.get(name, 0)) for name, n in want.items()))
	EOF2
	ID=$(basename "$STATE"/sessions/*)
	[ "$(cat "$S/missing")" = 0 ] || [ "$T_LEVEL" = strict ] || marked
	[ "$T_LEVEL" = full ] || [ "$(cat "$S/missing")" = 0 ] || fail "seed $seed: at strict $(cat "$S/missing") are missing"
}

t_fuzzed_without_rest() {
	fuzzed "${RING_FUZZ_S:-4}" $((RANDOM * 2))
}

t_fuzzed_seldom() {
	local i
	for i in 1 2 3; do
		fuzzed $((${RING_FUZZ_S:-6} / 3)) $((RANDOM * 2 + 1))
	done
}

scenario "$@"
