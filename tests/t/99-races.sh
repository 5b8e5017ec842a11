# retry: timeouts
# levels: full strict
# limit: 900
# A second thread flips what is asked for while it is judged: the forbidden is never done.  RACES says how
# many tries of each kind.
. "$T_LIB"

TRIES=${RACES:-200000}
RACE=$T_VICTIMS/race

# Two directories, one of them forbidden, and two ports, one of them denied.
course() {
	GOOD=$W/good BAD=$HOME/.ssh
	mkdir "$GOOD" "$W/tools"
	echo fine >"$GOOD/f"
	cp "$BAD/id_rsa" "$BAD/f"
	cp "$HOME/elsewhere/file" "$HOME/elsewhere/f"
	cp "$T_VICTIMS/esctool" "$W/tools/"
	ln -s esctool "$W/tools/f"
	python3 -c '
import select, socket
s = [socket.create_server(("127.0.0.1", 0), backlog=4096) for _ in "ab"]
print(*[x.getsockname()[1] for x in s], flush=True)
while True:
    for x in select.select(s, [], [])[0]:
        x.accept()[0].close()
' >"$S/ports" &
	trap 'kill %1' EXIT
	until_true 10 test -s "$S/ports" || fail "no server"
	read -r PORT BAD_PORT <"$S/ports"
	policy <<-END
		[commands]
		deny = esctool wipe
		[network]
		deny = localhost:$BAD_PORT
	END
}

# lap KIND TRIES [COMMAND...]: one kind, inside what COMMAND starts.
lap() {
	local kind=$1 tries=$2 good=$GOOD bad=$BAD
	shift 2
	[ "$kind" != argv ] || good=$W/tools
	# What may be read, and not be written.
	[ "$kind" != how ] || bad=$HOME/elsewhere
	mkdir "$S/h/work/lap" && cd "$S/h/work/lap" || exit 99
	run "$@" "$RACE" "$kind" "$tries" "$good" "$bad" "$PORT" "$BAD_PORT"
	cd "$W" && rm -rf lap
	rc_is 0 "$kind"
	WON=$(sed -n 's/.* \([0-9]*\) won$/\1/p' "$S/out")
	ALLOWED=$(sed -n 's/.* \([0-9]*\) allowed,.*/\1/p' "$S/out")
}

kinds() {
	echo path openat2 symlink directory rename dirfd cwd how unlink address
}

# Without a fence the forbidden is done: both sides do meet.
t_bare_it_is_won() {
	local kind
	course
	for kind in $(kinds) argv; do
		lap "$kind" $([ "$kind" = argv ] && echo 300 || echo 30000)
		[ "$WON" -gt 0 ] || fail "the race of $kind is none"
		cp "$BAD/id_rsa" "$BAD/f"
	done
}

fenced() {
	lap "$1" "$2" pale run -q -w "$W" --
	[ "$WON" = 0 ] || fail "won: $1"
	[ "$ALLOWED" -gt 0 ] || fail "nothing was allowed: $1"
	file_is "$BAD/f" "$DECOY .ssh/id_rsa"
}

t_nothing_is_won() {
	local kind
	course
	for kind in $(kinds); do
		fenced "$kind" "$TRIES"
	done
}

# A pattern that no directory bounds is beyond the floor: nothing is won all the same.
t_what_the_floor_cannot_hold_is_not_won() {
	local kind
	course
	BAD=$W/dark
	mkdir "$BAD"
	echo "$DECOY .ssh/id_rsa" >"$BAD/f"
	printf '[files]\ndeny = **/dark\n' | policy
	for kind in path symlink directory rename dirfd cwd; do
		fenced "$kind" "$TRIES"
	done
}

# Kept from being read, and made by the operator after the floor was planned.
t_what_appeared_later_is_not_won() {
	course
	BAD=$HOME/elsewhere/late
	printf '[files]\ndeny = ~/elsewhere/late\n' | policy
	(
		until_true 10 test -e "$W/lap/started" && mkdir "$BAD" && echo "$DECOY .ssh/id_rsa" >"$BAD/f" &&
			touch "$W/made"
	) &
	# shellcheck disable=SC2016 # for the shell inside
	lap path "$TRIES" pale run -q -w "$W" -- sh -c 'touch started
		until [ -e ../made ]; do sleep 0.02; done
		exec "$@"' sh
	[ "$WON" = 0 ] || fail "won: what appeared later"
	[ "$ALLOWED" -gt 0 ] || fail "nothing was allowed"
}

# What runs is what was judged, to the word: at `strict`, which looks again when the program is there.
# A program with hooks, which libc's functions and not the kernel are told another path meanwhile: what passes
# the gate is what was judged, in places that no floor tells apart as well.
t_words_of_a_path() {
	local name
	mkdir d
	echo good >d/good
	echo bad >d/locked
	printf '[files]\nreadonly = d/locked\ndeny = d/late\n' | policy
	(sleep 0.5; echo "$DECOY" >d/late) &
	for name in "$W/d" d; do
		fsh 'sleep 1; "$1/words" write "$2" "$3/good" "$3/locked"; "$1/words" unlink "$2" "$3/good" "$3/locked"; echo good >d/good
			"$1/words" read "$2" "$3/good" "$3/late"' sh "$T_VICTIMS" $((TRIES / 4)) "$name"
		rc_is 0
		out_is "write: 0
unlink: 0
read: 0"
		file_is d/locked bad
		rm -f d/late
		(sleep 0.5; echo "$DECOY" >d/late) &
	done
	wait
}

# What the operator moves to a denied name takes the floor's grant along.
t_what_was_moved_is_not_won() {
	course
	mkdir -p ~/notes ~/cfg/gh && mv ~/.config ~/.config.old
	(sleep 1 && mv ~/notes ~/.secrets && mv ~/cfg ~/.config && cp ~/.ssh/f ~/.secrets/f && cp ~/.ssh/f ~/.config/gh/f && touch "$S/moved") &
	for BAD in ~/.secrets ~/.config/gh; do
		lap path "$TRIES" pale run -q -- bash -c 'for i in {1..40}; do busybox cat /etc/passwd >/dev/null; done; sleep 2; exec "$@"' sh
		[ "$WON" = 0 ] || fail "$BAD was read $WON times"
	done
	exists "$S/moved"
}

t_words_of_a_command() {
	[ "$T_LEVEL" = strict ] || skip "the documented exception of level full"
	course
	fenced argv $((TRIES / 100))
}

scenario "$@"
