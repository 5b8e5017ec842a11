# levels: strict full
# A question about a file says what is done to it: another act is another question, another file none.
. "$T_LIB"

ask_out() {
	mkdir out
	printf '[session]\ntimeout = %s\n[files]\nask_write = out\n' "${1:-60s}" | policy
}

# The number of questions becomes N.
asked() {
	until_true 10 has_asked "$1" || fail "not $1 questions: $(pale pending)"
}

has_asked() {
	[ "$(pale pending --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')" = "$1" ]
}

# The id of the question whose `to` is TEXT.
id_to() {
	pale pending --json | python3 -c '
import json, sys
print("\n".join(c["id"] for c in json.load(sys.stdin) if c["to"] == sys.argv[1]))' "$1"
}

# Approves it.
yes_to() {
	local id
	id=$(id_to "$1")
	[ -n "$id" ] || fail "no card says '$1': $(pale pending)"
	run pale approve "$id"
	rc_is 0
}

# Of two questions the one that says NO is denied, and the one that says YES approved.
one_of_two() {
	asked 2
	run pale deny "$(id_to "$1")"
	yes_to "$2"
	bg_wait two
}

t_another_mode_is_another_question() {
	ask_out
	touch out/tool && chmod 600 out/tool
	bg two bash -c 'chmod 640 out/tool & a=$!; chmod 6777 out/tool; echo "6777: $?"; wait $a; echo "640: $?"'
	one_of_two 'mode 6777' 'mode 0640'
	out_has "6777: 1"
	out_has "640: 0"
	[ "$(stat -c %a out/tool)" = 640 ] || fail "another mode"
}

t_another_source_is_another_question() {
	ask_out
	echo a >a && echo b >b
	bg two bash -c 'mv -T a out/x & wait_a=$!; mv -T b out/x; echo "b: $?"; wait $wait_a; echo "a: $?"'
	one_of_two "from $W/b" "from $W/a"
	out_has "b: 1"
	[ "$(cat out/x)" = a ] || fail "another file"
}

t_a_late_yes_is_for_the_same_act() {
	ask_out 1s
	touch out/tool && chmod 600 out/tool
	bg late bash -c 'chmod 640 out/tool; until test -e go; do sleep 0.05; done
		chmod 6777 out/tool; echo "6777: $?"; chmod 640 out/tool; echo "640: $?"'
	asked 1
	sleep 2
	yes_to 'mode 0640'
	touch go
	bg_wait late
	out_has "6777: 1"
	out_has "640: 0"
	[ "$(stat -c %a out/tool)" = 640 ] || fail "another mode"
}

t_a_source_that_became_another_stays() {
	ask_out
	echo good >src && echo evil >other
	bg moved bash -c 'mv -T src out/x; echo "mv: $?"'
	asked 1
	mv other src
	yes_to "from $W/src"
	bg_wait moved
	out_has "mv: 1"
	missing out/x
	[ "$(cat src)" = evil ] || fail "it is gone"
	recorded rename deny
}

t_what_became_another_is_not_removed() {
	ask_out
	echo old >out/x && echo new >other
	bg removed bash -c 'rm -f out/x; echo "rm: $?"'
	asked 1
	mv other out/x
	yes_to ""
	bg_wait removed
	out_has "rm: 1"
	[ "$(cat out/x)" = new ] || fail "it is gone"
}

t_a_file_that_became_another_is_asked_about_anew() {
	ask_out
	echo old >out/x && echo new >other
	bg written bash -c 'echo hello >out/x; echo "write: $?"'
	asked 1
	mv other out/x
	yes_to emptied
	asked 1
	run pale deny "$(pending_id)"
	bg_wait written
	out_has "write: 1"
	[ "$(cat out/x)" = new ] || fail "it was written"
}

t_links_and_nodes_name_what_they_are() {
	ask_out
	echo a >a && mkdir out/d
	bg made bash -c 'ln -s /harmless out/s & ln a out/l & mkdir -m 700 out/n & mkfifo out/p &
		truncate -s 7 a & touch -d @5 out/d & python3 -c "open(\"out/new\", \"w\")" & wait'
	asked 6
	pale pending --json >cards
	for text in "target /harmless" "the file $W/a" "mode 0700" "a pipe, mode 0666" \
		"read 5.000000000, written 5.000000000" "a new file, mode 0666"; do
		grep -qF "\"$text\"" cards || fail "no card says '$text': $(grep '"to"' cards)"
	done
	pale pending --json | grep -o '"id": *"[0-9a-f]*"' | cut -d'"' -f4 | while read -r id; do pale deny "$id"; done
	bg_wait made
}

scenario "$@"
