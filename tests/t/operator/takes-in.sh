# levels: full
# A policy that takes in other files, by `include` and `extends`: what counts, and what is refused to the letter.
. "$T_LIB"

# file NAME: stdin, which a policy may be.
file() {
	cat >"$1"
	chmod 600 "$1"
}

hash_of() {
	sha256sum <"$1" | cut -d' ' -f1
}

project() {
	mkdir -p .pale
	file .pale/policy.ini
}

# said TEXT: what lint said, without the scratch home.
said() {
	cat "$S/out" "$S/err" | sed -e "s,$HOME,~,g" >"$S/plain"
	diff - "$S/plain" >"$S/diff" || fail "$(cat "$S/diff")"
}

# A line that cannot be: refused LINE, then the findings on stdin.
refused() {
	printf '%s\n[files]\nwrite = ~/elsewhere\n' "$1" | policy
	run pale lint
	rc_is 1
	said
	fence touch made
	rc_is 125
	missing made
}

t_a_base_yields_and_an_included_file_does_not() {
	file ~/base.ini <<<$'preset = review\n[session]\nmode = read-only\ntimeout = 7s\n[files]\ndeny = a\ndeny = b'
	file ~/more.ini <<<$'[files]\ndeny = c'
	printf 'preset = agent\nextends = ../../base.ini sha256:%s\ninclude = ~/more.ini sha256:%s\n%s\n' \
		"$(hash_of ~/base.ini)" "$(hash_of ~/more.ini)" \
		$'[session]\nmode = workspace-write\n[files]\nwrite = a\nwrite = c' | policy
	mkdir a b c
	fsh 'touch a/x; touch b/x; touch c/x; touch ~/more.ini ~/base.ini; :>>~/base.ini'
	exists a/x
	missing b/x
	missing c/x
	denied write "$HOME/work/b" "base.ini:7 [files] deny = b"
	denied write "$HOME/work/c" "more.ini:2 [files] deny = c"
	denied write "$HOME/base.ini" "it belongs to pale"
	run pale explain write b
	out_has "rule   $HOME/base.ini:7  [files] deny = b"
	run pale policy show
	out_has "preset agent"
	out_has "timeout = 7s"
	out_has "mode = workspace-write"
	out_has "deny = b	# user, $HOME/base.ini:7"
	# Lint finds twins across files; that a base yields is no finding.
	run pale lint
	rc_is 1
	said <<-EOF2
		~/.config/pale/policy.ini:8:9: warning: never decides: \`deny\` at ~/more.ini:2 is as specific and stricter [tied]
		    try: delete one of the two
		pale: 1 finding (0 errors)
	EOF2
	run pale log
	recorded session/start '.*' "policy=$HOME/base.ini sha256=$(hash_of ~/base.ini)"
}

t_a_base_of_a_base() {
	file ~/low.ini <<<$'[files]\nwrite = ~/elsewhere'
	file ~/high.ini <<<"include = low.ini sha256:$(hash_of ~/low.ini)"
	printf 'extends = ~/high.ini sha256:%s\n' "$(hash_of ~/high.ini)" | policy
	fsh 'touch ~/elsewhere/x'
	exists ~/elsewhere/x
	printf '[files]\ndeny = ~/elsewhere\n' | cat ~/.config/pale/policy.ini - >both
	policy <both
	fsh 'touch ~/elsewhere/y'
	missing ~/elsewhere/y
}

t_without_its_hash() {
	file ~/base.ini <<<$'[files]\ndeny = a'
	refused 'extends = ~/base.ini' <<-EOF2
		~/.config/pale/policy.ini:1:11: error: \`extends\` needs the hash of what it takes in [unpinned]
		    try: read that file; if it is right: extends = ~/base.ini sha256:$(hash_of ~/base.ini)
		pale: 1 finding (1 error)
	EOF2
	refused 'extends = ~/base.ini sha256:0123' <<-'EOF2'
		~/.config/pale/policy.ini:1:11: error: `extends` is PATH sha256: and 64 digits, as sha256sum prints them [bad-value]
		pale: 1 finding (1 error)
	EOF2
}

t_by_another_hash() {
	local zeros
	zeros=$(printf %064d 0)
	file ~/base.ini <<<$'[files]\ndeny = a'
	refused "include = ~/base.ini sha256:$zeros" <<-EOF2
		~/.config/pale/policy.ini:1:11: error: ~/base.ini has sha256:$(hash_of ~/base.ini), not sha256:$zeros [other-hash]
		    try: read that file; if it is right: include = ~/base.ini sha256:$(hash_of ~/base.ini)
		pale: 1 finding (1 error)
	EOF2
}

t_no_file_to_take_in() {
	local none
	none="sha256:$(printf %064d 0)"
	refused "include = ~/none.ini $none" <<-'EOF2'
		~/.config/pale/policy.ini:1:11: error: ~/none.ini: there is no such file [take-in]
		pale: 1 finding (1 error)
	EOF2
	refused "include = ~/elsewhere $none" <<-'EOF2'
		~/.config/pale/policy.ini:1:11: error: ~/elsewhere: is not a regular file [policy-file]
		pale: 1 finding (1 error)
	EOF2
	mkfifo -m 600 ~/pipe
	refused "include = ~/pipe $none" <<-'EOF2'
		~/.config/pale/policy.ini:1:11: error: ~/pipe: is not a regular file [policy-file]
		pale: 1 finding (1 error)
	EOF2
	file ~/closed.ini <<<'[files]'
	chmod 0 ~/closed.ini
	refused "include = ~/closed.ini $none" <<-'EOF2'
		~/.config/pale/policy.ini:1:11: error: ~/closed.ini: Permission denied [policy-file]
		pale: 1 finding (1 error)
	EOF2
	file ~/open.ini <<<'[files]'
	chmod 666 ~/open.ini
	refused "include = ~/open.ini sha256:$(hash_of ~/open.ini)" <<-'EOF2'
		~/.config/pale/policy.ini:1:11: error: ~/open.ini: may be written by others [policy-mode]
		    try: chmod go-w
		pale: 1 finding (1 error)
	EOF2
	file ~/bad.ini <<<$'[files]\nwrit = /x'
	refused "include = ~/bad.ini sha256:$(hash_of ~/bad.ini)" <<-'EOF2'
		~/bad.ini:2:1: error: unknown key `writ` in [files] [unknown-key]
		    try: did you mean `write`?
		~/.config/pale/policy.ini:1:11: error: the file that this line takes in has errors [take-errors]
		pale: 2 findings (2 errors)
	EOF2
}

t_in_a_circle_or_too_deep() {
	local zeros i
	zeros=$(printf %064d 0)
	file ~/loop.ini <<<"include = .config/pale/policy.ini sha256:$zeros"
	refused "include = ~/loop.ini sha256:$(hash_of ~/loop.ini)" <<-'EOF2'
		~/loop.ini:1:11: error: ~/.config/pale/policy.ini is this file, or one that takes it in [take-in]
		pale: 1 finding (1 error)
	EOF2
	file ~/5.ini <<<'[files]'
	for i in 4 3 2 1; do
		file ~/$i.ini <<<"include = $((i + 1)).ini sha256:$(hash_of ~/$((i + 1)).ini)"
	done
	refused "include = ~/1.ini sha256:$(hash_of ~/1.ini)" <<-'EOF2'
		~/4.ini:1:11: error: ~/5.ini is too deep: four files below each other may be taken in [take-in]
		pale: 1 finding (1 error)
	EOF2
	printf 'include = ~/2.ini sha256:%s\n' "$(hash_of ~/2.ini)" | policy
	fence true
	rc_is 0
	for i in $(seq 33); do
		echo "include = ~/5.ini sha256:$(hash_of ~/5.ini)"
	done | policy
	run pale lint
	rc_is 1
	out_has "policy.ini:33:11: error: $HOME/5.ini is one too many: 32 files may be taken in"
}

t_below_a_section_it_is_no_word() {
	file ~/base.ini <<<'[files]'
	printf '[files]\ninclude = ~/base.ini sha256:%s\n' "$(hash_of ~/base.ini)" | policy
	run pale lint
	rc_is 1
	out_has 'policy.ini:2:1: error: unknown key `include` in [files]'
}

# The hash is the trust, but a project names files of its workspace alone.
t_a_project_takes_in_its_own() {
	mkdir rules
	file rules/base.ini <<<$'[files]\ndeny = a\nwrite = ~/elsewhere'
	project <<<"extends = ../rules/base.ini sha256:$(hash_of rules/base.ini)"
	fsh 'touch a ~/elsewhere/x; echo >>rules/base.ini'
	missing a
	missing ~/elsewhere/x
	denied write "$W/rules/base.ini" "it belongs to pale"
	run pale trust
	rc_is 0
	out_has "$W/rules/base.ini, which it takes in, says:"
	out_has "deny = a"
	out_has "  $W/rules/base.ini line 3: [files] write = ~/elsewhere"
	fsh 'touch a ~/elsewhere/x'
	missing a
	exists ~/elsewhere/x
	echo '# more' >>rules/base.ini
	fence true
	rc_is 125
	err_has ".pale/policy.ini:1:11: error: $W/rules/base.ini has sha256:"
}

t_a_project_takes_in_no_other() {
	local why='is not in the workspace, or is reached by a symbolic link'
	file ~/base.ini <<<$'[files]\nwrite = ~/elsewhere'
	project <<<"include = ~/base.ini sha256:$(hash_of ~/base.ini)"
	fence true
	rc_is 125
	err_has "policy.ini:1:11: error: $HOME/base.ini $why"
	project <<<'include = ../../.ssh/id_rsa'
	fence true
	rc_is 125
	err_has "$HOME/.ssh/id_rsa $why"
	err_lacks "sha256"
	ln -s ~/base.ini link.ini
	project <<<"include = ../link.ini sha256:$(hash_of ~/base.ini)"
	run pale trust
	rc_not 0
	fence true
	rc_is 125
	err_has "$W/link.ini $why"
}

t_an_edit_that_takes_in() {
	file ~/base.ini <<<$'[files]\ndeny = a'
	printf 'preset = agent\n' | policy
	printf '#!/bin/sh\necho "extends = ~/base.ini" >>"$1"\n' >"$S/ed"
	chmod +x "$S/ed"
	RC=0
	EDITOR=$S/ed pale policy edit >"$S/out" 2>"$S/err" <<<x || RC=$?
	err_has 'needs the hash of what it takes in'
	printf 'preset = agent\n' | cmp - ~/.config/pale/policy.ini || fail "saved"
	printf '#!/bin/sh\necho "extends = ~/base.ini sha256:%s" >>"$1"\n' "$(hash_of ~/base.ini)" >"$S/ed"
	EDITOR=$S/ed pale policy edit >"$S/out" 2>"$S/err" </dev/null || fail "$(cat "$S/err")"
	fsh 'touch a'
	missing a
}

# A base has changed: the editor's text is judged, not what stood there before, and each finding is said once.
t_an_edit_repairs_it() {
	file ~/base.ini <<<$'[files]\ndeny = a'
	printf 'extends = ~/base.ini sha256:%s\n' "$(hash_of ~/base.ini)" | policy
	echo 'deny = b' >>~/base.ini
	printf '#!/bin/sh\nsed -i "s/sha256:.*/sha256:%s/" "$1"\n' "$(hash_of ~/base.ini)" >"$S/ed"
	chmod +x "$S/ed"
	run pale lint
	rc_is 1
	[ "$(cat "$S/out" "$S/err" | grep -c other-hash)" = 1 ] || fail "it is not said once"
	EDITOR=$S/ed run pale policy edit </dev/null
	rc_is 0
	run pale lint
	rc_is 0
	# Another file's wrong hash is nothing to a file that is linted alone.
	project <<<"extends = nosuch.ini sha256:$(hash_of ~/base.ini)"
	run pale lint ~/.config/pale/policy.ini
	rc_is 0
	rm -r .pale
	echo 'deny = c' >>~/base.ini
	run pale init --force
	rc_is 0
	grep -q extends ~/.config/pale/policy.ini && fail "the old one stays"
	run pale lint
	rc_is 0
}

scenario "$@"
