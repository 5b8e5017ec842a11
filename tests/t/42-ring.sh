# levels: full strict
# limit: 300
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
		beside "$T_VICTIMS/ring" "$attack"
		[ "$RC" = 0 ] || fail "$attack: status $RC"
		n=$((n + 1))
	done < <("$T_VICTIMS/ring" list | sed -n "s/^$1 //p")
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
	run bash -c 'ulimit -f 100; exec pale run -q -- true'
	rc_is 125
	err_has "the limit on a file's size (ulimit -f) leaves no room for"
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

scenario "$@"
