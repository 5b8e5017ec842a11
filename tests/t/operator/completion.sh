# limit: 60
# pale completion: bash, zsh and fish, each asked for what follows; the candidates come from pale's own tables.
. "$T_LIB"

t_candidates() {
	run pale completion candidates run --le
	rc_is 0
	out_has "--level	"
	run pale completion candidates run --level f
	out_is full
	run pale completion candidates run --level=st
	out_is --level=strict
	# As bash cuts it.
	run pale completion candidates run --level = ho
	out_is hooks
	run pale completion candidates lint --preset sec
	out_is security-v0
	run pale completion candidates policy di
	out_is diff
	run pale completion candidates policy diff ''
	out_is :files
	run pale completion candidates run -w ''
	out_is :dirs
	run pale completion candidates run --level full -- ls ''
	out_is ":command 5"
	run pale completion candidates explain read ''
	out_is :files
	# What another word of the subcommand takes is not offered.
	run pale completion candidates session gc --
	out_has "--dry-run	"
	out_lacks "--now"
	out_lacks "--follow"
	run pale completion candidates run --limit me
	out_is memory=
	run pale completion candidates help exit
	out_is exit-codes
	run pale completion candidates --v
	out_has --version
	run pale completion candidates no-such-command ''
	rc_is 0
	out_is ""
	run pale completion candidates
	rc_is 2
	run pale completion tcsh
	rc_is 2
}

# Every subcommand and every option of the help, and nothing else.
t_all_of_them() {
	local sub
	pale completion candidates '' | cut -f1 | grep -vx -e help -e version | sort >"$S/offered"
	pale help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -vx -e help -e version | sort >"$S/told"
	diff "$S/offered" "$S/told" || fail "subcommands"
	for sub in $(cat "$S/told"); do
		pale completion candidates "$sub" - | cut -f1 | sort >"$S/offered.o"
		pale "$sub" --help | sed -nE 's/^  (-., |    )(--[a-z-]+).*/\2/p' | sort >"$S/told.o"
		diff "$S/offered.o" "$S/told.o" || fail "options of $sub"
	done
}

# What is offered for an option is taken by it.
t_values_are_taken() {
	local v
	for v in $(pale completion candidates lint --preset ''); do
		run pale lint --preset "$v"
		[ "$RC" -lt 2 ] || fail "preset $v"
	done
	for v in $(pale completion candidates explain --mode ''); do
		run pale explain --danger --mode "$v" read file
		rc_not 2 "mode $v"
	done
	for v in $(pale completion candidates log --op ''); do
		run pale log --op "$v"
		err_lacks unknown
	done
	for v in $(pale completion candidates import --from ''); do
		run pale import --from "$v" missing
		err_lacks "no format that is known"
	done
}

t_sessions() {
	fence true
	local id
	id=$(basename "$STATE"/sessions/*)
	run pale completion candidates session show "${id:0:4}"
	out_has "$id"
}

# What waits is offered with what it is, to who may answer it, as each shell wants it.
t_questions() {
	local id line
	printf '[commands]\nask = touch\n' | policy
	bg asks bash -c "touch \$'a\\tb\\e]0;x' c"
	id=$(pending_id)
	id=${id:0:8}
	for line in approve deny; do
		run pale completion candidates $line ''
		[ "$(cut -f1 "$S/out")" = "$id" ] || fail "$line: $(cat "$S/out")"
		[ "$(cut -f2 "$S/out" | cut -c1-14)" = "exec touch 'a\\" ] || fail "$line does not say what it is"
		! grep -q "$(printf '\033')" "$S/out" || fail "an escape sequence came out"
		[ "$(wc -l <"$S/out")" = 1 ] || fail "more than a line"
	done
	run pale completion candidates approve "${id:0:3}"
	[ "$(cut -f1 "$S/out")" = "$id" ] || fail "by its first letters"
	run pale completion candidates approve "x$id"
	out_is ""
	run in_bash pale deny ''
	out_is "$id"
	if command -v zsh >/dev/null; then
		run zsh -f -c 'compdef() { :; }; _describe() { print -l ${(P)4} }; eval "$(pale completion zsh)"
			words=(pale approve ""); CURRENT=3; _pale'
		out_has "$id:exec touch"
	fi
	if command -v fish >/dev/null; then
		run env XDG_CONFIG_HOME="$HOME/.config" fish --no-config -c 'pale completion fish | source
			complete -C "pale approve "'
		out_has "$id"
	fi
	fsh "pale completion candidates approve ''"
	out_is ""
	run pale approve "$id"
	bg_wait asks
	rc_is 0
}

t_grants() {
	local id
	printf '[commands]\nask = touch\n' | policy
	bg asks bash -c 'touch a; until [ -e stop ]; do sleep 0.05; done'
	run pale approve "$(pending_id)" --session --rule 'allow = touch a'
	rc_is 0
	run pale completion candidates revoke ''
	id=$(cut -f1 "$S/out")
	[ "$(cut -f2 "$S/out")" = "allow = touch a" ] || fail "the grant is not offered"
	run pale revoke "$id"
	rc_is 0
	: >stop
	bg_wait asks
}

# in_bash WORD...: what bash would offer for the last word.
in_bash() {
	bash --norc -c 'eval "$(pale completion bash)"
		COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pale; printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}

t_bash() {
	complete=$(bash --norc -c 'eval "$(pale completion bash)"; complete -p pale')
	[ "$complete" = "complete -F _pale pale" ] || fail "complete -p: $complete"
	run in_bash pale dena
	out_is ""
	run in_bash pale doc
	out_is doctor
	run in_bash pale run --level = f
	out_is full
	touch "a b.ini" a.c
	mkdir a.d
	in_bash pale lint a | LC_ALL=C sort >"$S/out"
	out_is "$(printf '%s\n' "a b.ini" a.c a.d | LC_ALL=C sort)"
	run in_bash pale trust a
	out_is a.d
	run in_bash pale run -- tru
	out_has true
}

# A program of that name in somebody's project is not started because a key was pressed.
t_another_pale_is_not_run() {
	need zsh
	printf '#!/bin/sh\ntouch ran\n' >pale && chmod 755 pale
	run in_bash ./pale doc
	out_is doctor
	zsh -f -c 'compdef() { : }; _describe() { : }; eval "$(pale completion zsh)"; words=(./pale doc); CURRENT=2; _pale'
	missing ran
}

# The functions of zsh that show things say what they are given.
t_zsh() {
	need zsh
	in_zsh() {
		zsh -f -c 'compdef() { print compdef $@ }; _describe() { print -l ${(P)4} }; _files() { print files $@ }
			_normal() { print normal $CURRENT $words }
			eval "$(pale completion zsh)"; words=("$@"); CURRENT=$#; _pale' zsh "$@"
	}
	run in_zsh pale doc
	out_is "compdef _pale pale
doctor:$(pale help | sed -n 's/^  doctor *//p')"
	run in_zsh pale trust ''
	out_has "files -/"
	run in_zsh pale run -p x -- ls -l
	out_has "normal 2 ls -l"
}

t_fish() {
	need fish
	in_fish() {
		XDG_CONFIG_HOME=$HOME/.config fish --no-config -c 'pale completion fish | source; complete -C $argv[1]' \
			"$1" 2>/dev/null | cut -f1
	}
	run in_fish 'pale doc'
	out_is doctor
	run in_fish 'pale run --level '
	out_has full
	run in_fish 'pale policy '
	out_has reload
	touch only.ini
	run in_fish 'pale lint on'
	out_is only.ini
	run in_fish 'pale run -- tru'
	out_has true
	run in_fish 'pale run -- pale doc'
	out_is doctor
}

scenario "$@"
