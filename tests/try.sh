#!/bin/bash
# The first day, shown and checked: tests/try.sh BUILD_DIR
#
# In a scratch home and workspace, as an ordinary user: what is allowed, what is denied and why,
# what is asked and approved from a second process, and the ledger of it all.  Ends 0 when every
# step went as it should.

if [ "${1:-}" != --inside ]; then
	cd "$(dirname "$0")/.." || exit 2
	B=$(realpath "${1:?usage: tests/try.sh BUILD_DIR}") || exit 2
	. tests/stage.sh
	stage_make || exit 2
	trap stage_remove EXIT
	trap 'exit 130' INT TERM
	stage_install "$B" || exit 2
	mkdir "$T_BASE/t" && cp tests/lib.sh tests/try.sh "$T_BASE/t/" && chmod -R a+rX "$T_BASE/t" "$T_STAGE"
	paint=
	[ -t 1 ] && [ -z "${NO_COLOR:-}" ] && paint=1
	mkdir "$T_BASE/s/try" && { [ "$(id -u)" != 0 ] || chown $T_USER: "$T_BASE/s/try"; }
	as_user "$T_BASE/s/try" PAINT="$paint" bash "$T_BASE/t/try.sh" --inside </dev/null
	exit
fi

. "$T_LIB"
sandbox
bold=${PAINT:+$'\033[1m'} dim=${PAINT:+$'\033[2m'} green=${PAINT:+$'\033[32m'}
red=${PAINT:+$'\033[31m'} off=${PAINT:+$'\033[0m'}
wrong=0

heading() {
	printf '\n%s%s%s\n' "$bold" "$1" "$off"
}

# What stands in the scratch home is shown with ~, as a person would say it.
show() {
	sed -e "s,$HOME,~,g" -e 's/^/    /' "$@"
}

# Runs a command line of the operator's and shows it with all that it says.
shown() {
	printf '%s  $ %s%s\n' "$dim" "$*" "$off" | sed "s,$HOME,~,g"
	RC=0
	bash -c "$*" >"$S/out" 2>"$S/err" </dev/null || RC=$?
	show "$S/out" "$S/err"
}

# expect WHAT COMMAND...: the command must succeed.
expect() {
	local what=$1
	shift
	if ("$@") >/dev/null 2>&1; then
		printf '  %sok%s  %s\n' "$green" "$off" "$what"
	else
		printf '  %sNOT OK%s  %s\n' "$red" "$off" "$what"
		wrong=1
	fi
}

says() {
	grep -q -e "$1" "$S/out" "$S/err"
}

not() {
	! "$@"
}

refs_of_remote() {
	git -C "$HOME/remote.git" for-each-ref
}

remote_is_empty() {
	[ -z "$(refs_of_remote)" ]
}

lists() {
	local text
	for text; do
		grep -qF -e "$text" "$S/out" || return 1
	done
}

verifies_now() {
	pale log verify
}

# --- the day ----------------------------------------------------------------------------------------

git init -q --bare ~/remote.git
git init -q . && git add file && git commit -q -m "first" && git remote add origin ~/remote.git
printf '[commands]\nask = touch published\n' | policy

heading "A workspace file is read: allowed"
shown "pale run -- bash -c 'cat file'"
expect "the file came out" says "hello from the workspace"
expect "nothing was denied" not says "pale: denied"

heading "The key in ~/.ssh is read: denied"
shown "pale run -q -- bash -c 'cat ~/.ssh/id_rsa'"
expect "not one byte of it came out" not says "$DECOY"
expect "the reason was said" says "pale: denied read .*sensitive = ~/.ssh"

heading "The same by a program that dropped the hooks: the kernel carries the question"
shown "pale run -q -- env -i /bin/cat $HOME/.ssh/id_rsa"
expect "not one byte of it came out" not says "$DECOY"
expect "the reason was said" says "pale: denied read .*sensitive = ~/.ssh"

heading "A file outside the workspace is written: denied"
shown "pale run -q -- bash -c 'echo mine > ../outside'"
expect "no file was made" missing ~/outside
expect "the reason was said" says "pale: denied write .*outside the workspace"

heading "A file elsewhere is removed: denied"
shown "pale run -q -- bash -c 'rm -f ~/elsewhere/file'"
expect "it is still there" exists ~/elsewhere/file
expect "the reason was said" says "pale: denied delete .*elsewhere/file"

heading "The trunk is pushed: denied"
shown "pale run -q -- bash -c 'git push origin main'"
expect "the remote has not changed" remote_is_empty
expect "the reason was said" says "pale: denied exec git push origin main"

heading "A host that no rule names is called: denied"
shown "pale run -q -- bash -c 'curl -sS https://example.org'"
expect "nothing was sent" not says "Example Domain"
expect "the reason was said" says "pale: denied [a-z]* example.org"

heading "A command that is asked: it waits, a second process approves, it runs"
printf '%s  $ pale run -q -- bash -c %s &%s\n' "$dim" "'touch published && ls published'" "$off"
bg asked bash -c 'touch published && ls published'
id=$(pending_id) || wrong=1
expect "it waits" missing published
shown "pale pending"
expect "the question shows the command" says published
shown "pale approve $id"
bg_wait asked
show "$S/err" "$S/out"
expect "it ran after the approval" exists published

heading "The ledger"
shown "pale log --verdict deny"
expect "every denial is listed" lists .ssh/id_rsa outside elsewhere/file "git push origin main" example.org
pale log >"$S/out"
expect "so is what was allowed, asked and answered" lists \
	"cat file" approval/request approval/decision "touch published"
shown "pale log verify"
expect "its chain is whole" verifies_now

heading "What a session came to"
shown "pale session show"
expect "who was hooked and who was not is counted" says "hooked"

if [ $wrong = 0 ]; then
	printf '\n%sEverything happened as it should.%s\n' "$green" "$off"
else
	printf '\n%sSomething did not happen as it should.%s\n' "$red" "$off"
fi
exit $wrong
