# levels: full hooks
# What people read, to the letter: places are written as ~, times, ids and hashes as <>.
. "$T_LIB"

# The output with what changes from run to run taken out.
plain() {
	cat "$S/out" "$S/err" | sed -E -e "s,$HOME,~,g" -e 's/session [a-z2-7]{6}/session <>/g' \
		-e 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}/<time>/g' -e 's/id=[0-9a-f]{8}/id=<>/g' \
		-e 's/pale explain [0-9a-f]{8}/pale explain <>/g' -e 's/^(ok: )[a-z2-7]{6}/\1<>/' -e 's/head [0-9a-f]+/head <>/' \
		-e 's/preset agent:[0-9]+/preset agent:N/g'
}

# golden: the text on stdin is what was said.
golden() {
	plain >"$S/plain"
	diff - "$S/plain" >"$S/diff" || fail "$(cat "$S/diff")"
}

t_denials() {
	printf '[files]\n# ours\ndeny = private\nmessage = ask Tess for it\nkeep = *.db\n[commands]\ndeny = touch\n' | policy
	echo x >private
	echo x >a.db
	fsh 'read x <private; read x <private; rm a.db; touch b; : >../c; true'
	golden <<-EOF2
		pale: denied read ~/work/private (policy.ini:3 [files] deny = private) id=<>; see: pale explain <>; ask Tess for it
		bash: line 1: private: Permission denied
		bash: line 1: private: Permission denied
		pale: denied delete ~/work/a.db (policy.ini:5 [files] keep = *.db) id=<>; see: pale explain <>
		rm: cannot remove 'a.db': Permission denied
		pale: denied exec touch b (policy.ini:7 [commands] deny = touch) id=<>; see: pale explain <>; \
do not retry, choose another way
		bash: line 1: /usr/bin/touch: Permission denied
		pale: denied write ~/c ([files] outside the workspace) id=<>; see: pale explain <>
		bash: line 1: ../c: Permission denied
	EOF2
}

t_findings() {
	printf '[files]\nwrit = /x\n[commands]\nallow = (a|b\n[session]\nmode = sideways\n' | policy
	fence true
	rc_is 125
	golden <<-EOF2
		~/.config/pale/policy.ini:2:1: error: unknown key \`writ\` in [files] [unknown-key]
		    try: did you mean \`write\`?
		~/.config/pale/policy.ini:6:8: error: invalid value \`sideways\`, expected none, read-only, \
workspace-write or danger [bad-value]
		pale: the policy has errors: nothing was started
	EOF2
}

t_verify() {
	fence true
	verifies
	# Above level hooks what ld.so reads is recorded too, folded as time has it.
	[ "$T_LEVEL" = hooks ] || sed -i 's/[0-9]* records/5 records/' "$S/out"
	golden <<-'EOF2'
		ok: <>: 5 records, head <>, not sealed
	EOF2
}

scenario "$@"
