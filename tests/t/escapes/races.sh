# retry: timeouts
# levels: full strict
# limit: 900
# A second thread flips what is asked for while it is judged: the forbidden is never done.  RACES says how
# many tries of each kind.
. "$T_LIB"

TRIES=${RACES:-4000}
EXECS=$((TRIES / 250))
[ $EXECS -ge 100 ] || EXECS=100
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
		allow = localhost:$PORT
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
		fsh 'sleep 1; "$1/words" write "$2" \
			"$3/good" "$3/locked"; "$1/words" unlink "$2" "$3/good" "$3/locked"; echo good >d/good
			"$1/words" read "$2" "$3/good" "$3/late"' sh "$T_VICTIMS" "$TRIES" "$name"
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

# One thread, and its working directory or descriptor is turned by a process that shares it, or by a signal's handler.
t_directories_that_turn() {
	mkdir good bad
	echo base >bad/file
	[ "$T_LEVEL" != full ] || {
		run "$T_VICTIMS/shared" good bad 20000
		grep -q ': 1' "$S/out" || fail "bare, nothing turns"
		rm -r good bad && mkdir good bad && echo base >bad/file
	}
	printf '[files]\nreadonly = bad\nkeep = bad/file\n' | policy
	fence "$T_VICTIMS/shared" good bad $((TRIES / 5))
	rc_is 0
	[ "$(grep -c ': 0 0$' "$S/out")" = 8 ] || fail "won"
	file_is bad/file base
	[ "$(ls bad)" = file ] || fail "bad has $(ls bad)"
}

# What the operator moves to a denied name takes the floor's grant along.
t_what_was_moved_is_not_won() {
	course
	mkdir -p ~/notes ~/cfg/gh && mv ~/.config ~/.config.old
	(sleep 1 && mv ~/notes ~/.secrets &&
		mv ~/cfg ~/.config && cp ~/.ssh/f ~/.secrets/f && cp ~/.ssh/f ~/.config/gh/f && touch "$S/moved") &
	for BAD in ~/.secrets ~/.config/gh; do
		lap path "$TRIES" pale run -q -- bash -c 'for i in {1..40}; do busybox cat /etc/passwd >/dev/null; done
			sleep 2; exec "$@"' sh
		[ "$WON" = 0 ] || fail "$BAD was read $WON times"
	done
	exists "$S/moved"
}

t_words_of_a_command() {
	course
	fenced argv $((EXECS * 10))
}

CHANGED="it changed after pale judged it"

# exec_course RULE...: copies of the one who races, and what may be done with them.
exec_course() {
	local name
	printf '%s\n' 'preset = agent' '[commands]' 'deny = wiper' 'deny = show1 wipe' 'allow = git push' "$@" \
		'[git]' 'protect = main' | policy
	for name in show1 wiper git; do cp "$T_VICTIMS/exec_race-static" $name; done
	/usr/bin/git init -q -b feature . &&
		/usr/bin/git init -q -b feature good && /usr/bin/git init -q -b main evil || fail "no repositories"
}

# exec_lap BUILD WHAT WHO TRIES [COMMAND...]
exec_lap() {
	local build=$1 what=$2 who=$3 tries=$4
	shift 4
	run "$@" "$T_VICTIMS/exec_race$build" "$what" "$who" "$tries"
	rc_is 0 "$what $who"
	WON=$(sed -n 's/.* \([0-9]*\) won$/\1/p' "$S/out")
	ALLOWED=$(sed -n 's/.* \([0-9]*\) allowed,.*/\1/p' "$S/out")
}

exec_kinds() {
	local what who
	for what in argv path env link; do
		for who in vfork clone leader thread again shared writev; do echo $what $who; done
	done
	# Threads share the directory.
	echo cwd leader
	echo cwd thread
}

# An exec whose path, words, environment, link or directory somebody changes while it is judged.
t_what_runs_is_what_was_judged() {
	local what who build all=0
	exec_course
	while read -r what who; do
		for build in "" -static; do
			exec_lap "$build" $what $who $EXECS pale run -q --
			[ "$WON" = 0 ] || fail "won: $what $who"
			all=$((all + ALLOWED))
		done
	done < <(exec_kinds)
	[ $all -gt 500 ] || fail "little was allowed: $all"
	recorded exec deny "$CHANGED"
}

# Without a fence the forbidden is done.
t_bare_what_runs_is_what_comes() {
	local what who all=0
	exec_course
	while read -r what who; do
		exec_lap -static $what $who 100
		[ "$WON" -eq 0 ] || all=$((all + 1))
	done < <(exec_kinds)
	[ $all -ge 25 ] || fail "few races are any: $all"
}

# An exec that a grant of the session allows, once that somebody has answered.
t_what_was_approved_is_what_runs() {
	local who
	exec_course 'ask = show1 show'
	for who in vfork leader thread again shared; do
		bg asked "$T_VICTIMS/exec_race-static" argv $who $EXECS
		id=$(pending_id 60) || fail "$who: not asked: $(cat "$S/asked.out")"
		pale approve "$id" --yes --session >/dev/null || fail "cannot approve"
		bg_wait asked
		rc_is 0
		out_has ' 0 won'
		! grep -q ' 0 allowed' "$S/out" || fail "nothing was allowed"
	done
	recorded exec deny "$CHANGED"
}

# While the card waits there is all the time in the world.
t_what_changes_while_a_card_waits() {
	exec_course 'ask = show1 show'
	cat >slow.py <<-'END'
		import ctypes, os, threading, time
		word = ctypes.create_string_buffer(b"show")
		argv = (ctypes.c_char_p * 3)(b"show1", ctypes.cast(word, ctypes.c_char_p), None)
		def change():
		    while not os.path.exists("go"): time.sleep(0.01)
		    ctypes.memmove(word, b"wipe", 4)
		    open("changed", "w").close()
		threading.Thread(target=change, daemon=True).start()
		ctypes.CDLL(None).execve(b"./show1", argv, (ctypes.c_char_p * 1)(None))
		print("refused")
	END
	bg asked python3 -B slow.py
	id=$(pending_id 60)
	touch go
	until_true 10 test -e changed || fail "nobody changes it"
	pale approve "$id" --yes >/dev/null || fail "cannot approve"
	bg_wait asked
	rc_is 137
	missing wipe
	recorded exec deny "$CHANGED" show1
	verifies
}

# A child of a program that nobody has looked at yet, which was killed or went by itself before it called.
t_no_child_of_what_was_changed_comes_through() {
	cat >early.c <<-'END'
		#include <fcntl.h>
		#include <string.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			int evil = argc > 1 && strcmp(argv[1], "wipe") == 0;
			if (fork() > 0)
				return 0;
			usleep(evil ? 1000 : 0);
			if (fork() > 0)
				return 0;
			close(open(evil ? "wipe" : "shown", O_WRONLY | O_CREAT, 0644));
		}
	END
	gcc -O1 -static -w -o early early.c || fail "does not compile"
	exec_course
	cp early show1
	exec_lap -static argv vfork $((EXECS * 5)) pale run -q --
	missing wipe
	exists shown
	exec_lap -static argv again $((EXECS * 5)) pale run -q -- setarch -R
	missing wipe
}

# It is told, where it was to be said.
t_a_change_is_told() {
	local i
	exec_course
	for i in {1..10}; do
		exec_lap -static argv vfork 400 pale run --
		grep -q "denied exec show1 [a-z]* ($CHANGED: [a-z ]*)" "$S/err" && return 0
	done
	fail "no change was told"
}

# What a program makes of its own words afterwards is its own affair, and its children's.
t_words_of_its_own() {
	need perl
	cat >own.pl <<-'END'
		$0 = "another name altogether, and a longer one than before " x 3;
		for (1 .. 20) { if (!fork) { open my $f, ">", "made$_"; system "true"; exit 0 } }
		1 while wait > 0;
	END
	policy </dev/null
	# A static program that never calls, so that all are looked at.
	run pale run -q -- sh -c 'busybox sleep 2 & setarch -R perl own.pl; perl own.pl; ls made* | wc -l; wait'
	rc_is 0
	out_is 20
	not_recorded exec deny "$CHANGED"
}

scenario "$@"
