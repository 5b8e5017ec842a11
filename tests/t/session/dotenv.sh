# limit: 60
# The seed's two variables: from where they are read, who may loosen by them, and that they are shown.
. "$T_LIB"

# Judges by name alone; nothing is looked up or connected to.
reaches() {
	run pale explain "${WHERE[@]}" connect "$2:443"
	rc_is $([ "$1" = yes ] && echo 0 || echo 1)
}

t_in_the_workspace() {
	WHERE=()
	printf 'API_KEY=%s\nSANDBOX_NETWORK_MODE=REPLACE\nWHITE_LIST_DOMAINS=own.example\n' "$DECOY" >.env
	chmod 600 .env
	# An agent could have written it: it may only tighten.
	reaches no own.example
	reaches no github.com
	run pale trust
	rc_is 0
	reaches yes own.example
	reaches no github.com
	run pale policy show
	out_has "mode = replace	# $PWD/.env:2"
	out_has "allow = own.example	# user, $PWD/.env:3"
	out_lacks "$DECOY"
	# Pinned to the content.
	echo WHITE_LIST_DOMAINS=evil.example >.env
	reaches no evil.example
	reaches yes github.com
	run pale trust --revoke
	rc_is 0
}

t_beside_the_workspace() {
	mkdir -p bridge/workspace/src
	cd bridge/workspace
	WHERE=()
	printf 'export SANDBOX_NETWORK_MODE="STRICT"\r\nWHITE_LIST_DOMAINS=own.example\r\n' >../.env
	chmod 600 ../.env
	reaches no own.example
	reaches yes github.com
	reaches no static.crates.io
	# started above it
	cd ..
	WHERE=(-w workspace)
	reaches no static.crates.io
	printf 'WHITE_LIST_DOMAINS=own.example\n' >.env
	reaches yes own.example
	reaches yes static.crates.io
	# the operator's own file has the last word
	printf '[network]\nmode = strict\n' | policy
	reaches no own.example
	policy </dev/null
	# flags above all
	run pale explain -w workspace --preset review connect own.example
	rc_is 1
	OPTS=(-w workspace)
	fence true
	err_lacks "only tighten"
	# and the agent does not write it
	fsh "echo WHITE_LIST_DOMAINS=evil.example >'$PWD/.env'"
	rc_not 0
	reaches no evil.example
}

# An agent worked around what is a workspace now, and what it left beside it is its own word.
t_where_an_agent_worked() {
	mkdir -p bridge/workspace
	cd bridge
	WHERE=(-w workspace)
	printf '[environment]\npass = OPENAI_API_KEY\n' | policy
	printf 'WHITE_LIST_DOMAINS=own.example\nOPENAI_API_KEY=sk-own-own-own\n' >.env
	chmod 600 .env
	reaches yes own.example
	OPTS=(-w workspace)
	fsh 'echo $OPENAI_API_KEY'
	out_is sk-own-own-own
	reaches yes own.example
	# One that writes nothing could not have.
	OPTS=(--preset review -w .)
	fence true
	reaches yes own.example
	OPTS=()
	fsh 'printf "WHITE_LIST_DOMAINS=evil.example\nOPENAI_API_KEY=sk-evil-evil-evil\n" >.env'
	reaches no evil.example
	run pale run -w workspace -- bash -c 'echo "key=$OPENAI_API_KEY"'
	out_is key=
	err_has "\`OPENAI_API_KEY\` is not taken: an agent could have written this file"
	cd workspace
	WHERE=()
	reaches no evil.example
	run pale trust ..
	rc_is 0
	reaches yes evil.example
	# A list that has grown is rid of what is gone, and of nothing else.
	python3 -c 'import sys
open(sys.argv[1], "a").write("".join("\0/gone/%d/%s\0" % (i, "x" * 80) for i in range(4000)))' "$STATE/worked"
	mkdir other && cd other
	OPTS=()
	fence true
	[ "$(wc -c <"$STATE/worked")" -lt 4096 ] || fail "it grows for ever"
	grep -qF "$PWD" "$STATE/worked" && grep -qaF "$HOME/work/bridge" "$STATE/worked" || fail "one was lost"
}

t_where_everybody_writes() {
	mkdir -p "$S/common/work"
	chmod 777 "$S/common"
	cd "$S/common"
	WHERE=(-w work)
	printf 'WHITE_LIST_DOMAINS=own.example\n' >.env
	reaches no own.example
}

# Whoever looks at such a file takes what he looked at: another text could be there the next time.
t_read_once() {
	need strace
	policy <<<$'[environment]\npass = OWN_NAME'
	printf 'OWN_NAME=%s\nWHITE_LIST_DOMAINS=own.example\n' "$DECOY" >.env
	chmod 600 .env
	run pale trust
	rc_is 0
	run strace -f -qq -e trace=open,openat -o "$S/trace" pale env
	rc_is 0
	out_has OWN_NAME
	# once for the policy, once for the values
	[ "$(grep -cF "\"$PWD/.env\"" "$S/trace")" = 2 ] || fail "opened: $(grep -F .env "$S/trace")"
}

t_environment() {
	WHERE=()
	export SANDBOX_NETWORK_MODE=replace WHITE_LIST_DOMAINS="own.example, *.more.example"
	run pale policy show
	out_has "allow = own.example"
	out_has "allow = *.more.example"
	reaches yes own.example
	reaches yes a.more.example
	reaches no more.example
	reaches no github.com
	run pale policy show
	out_has "# environment:1"
	run pale run -- true
	err_has "environment, network replace"
	# inside, they are the agent's
	OPTS=()
	unset SANDBOX_NETWORK_MODE WHITE_LIST_DOMAINS
	fsh 'WHITE_LIST_DOMAINS=evil.example pale run -q -- pale explain connect evil.example'
	rc_is 1
	WHITE_LIST_DOMAINS="it's" run pale policy show
	rc_is 2
}

t_protected_branches() {
	git init -q . && git add file && git commit -q -m one && git checkout -q -b topic
	git branch develop && git branch release/1 && git branch other
	PRIMARY_BRANCH_PATTERNS="develop, release/*" fsh 'git checkout other
		git checkout develop; git checkout release/1; git checkout main; git rev-parse --abbrev-ref HEAD'
	out_is other
	denied exec "git checkout develop" "environment:1 [git] protect = develop"
	denied exec "git checkout release/1" "release/*"
	denied exec "git checkout main"
	printf 'PRIMARY_BRANCH_PATTERNS=develop|next\n' >.env
	chmod 600 .env
	fsh 'git push ../x HEAD:next'
	denied exec "git push ../x HEAD:next" "[git] protect = next"
}

# The kernel passes no variable on that has 128 KiB with its name, and not many that are nearly that large.
t_too_large() {
	mkdir -p bridge/workspace
	cd bridge/workspace
	printf '[environment]\npass = BLOB*\n' | policy
	(umask 077 && printf 'A=1\nBLOB=%s\n' "$(head -c 131067 /dev/zero | tr '\0' x)" >../.env)
	fence true
	rc_is 125
	err_has ".env:2:1: error: \`BLOB\` is too long to be passed on: 128 KiB"
	printf 'BLOB=%s\n' "$(head -c 131066 /dev/zero | tr '\0' x)" >../.env
	fsh 'echo ${#BLOB}'
	rc_is 0
	out_is 131066
	for i in $(seq 60); do printf 'BLOB%02d=%s\n' $i "$(head -c 110000 /dev/zero | tr '\0' x)"; done >../.env
	fence true
	rc_is 126
	grep -qE "its environment \(644[0-9] KiB\) are more than the kernel passes on; see which .*: pale env$" "$S/err" ||
		fail "it is not said what is too large"
}

# What an agent writes there keeps nobody from starting, and gains nothing: one line, and the strict network.
t_an_agent_wrote_it() {
	local how words
	WHERE=()
	OPTS=()
	for how in SANDBOX_NETWORK_MODE=garbage 'SANDBOX_NETWORK_MODE="strict' 'SANDBOX_NETWORK_MODE=a b c' \
		'WHITE_LIST_DOMAINS=1.2.3.4:80' 'WHITE_LIST_DOMAINS=own.example, a/b' SESSION_EXPIRY_HOURS=never \
		$'::: no assignment\nSANDBOX_NETWORK_MODE=REPLACE' $'SANDBOX_NETWORK_MODE=\\x00\1' \
		$'WHITE_LIST_DOMAINS=own.example\nPRIMARY_BRANCH_PATTERNS='"'x"; do
		rm -f .env
		T_HOW=$how fsh 'printf "%s\n" "$T_HOW" >.env; chmod 600 .env'
		rc_is 0
		run pale run -- touch ran
		rc_is 0 "$how"
		err_has "$W/.env:"
		err_has "warning: "
		err_has "SANDBOX_NETWORK_MODE counts as STRICT, and the rest of the file is ignored"
		[ "$(grep -c "counts as STRICT" "$S/err")" = 1 ] || fail "$how: not one line"
		rm ran
		reaches yes github.com
		reaches no static.crates.io
		reaches no own.example
	done
	# More mistakes than anybody reads.
	python3 -c 'print("WHITE_LIST_DOMAINS=" + "a/b " * 5000 + "\nSANDBOX_NETWORK_MODE=x")' >.env
	run pale run -q -- true
	rc_is 0
	# Its mode and owner are none of our business: it may only tighten.
	echo SANDBOX_NETWORK_MODE=STRICT >.env
	for how in 'chmod 666 .env' 'chmod 777 .env' 'chmod 200 .env' 'rm .env; ln -s /dev/zero .env' 'rm .env; mkdir .env' \
		'rmdir .env; ln -s .env .env' 'rm .env; mkfifo .env'; do
		fsh "$how"
		rc_is 0 "$how"
		run timeout 20 pale run -q -- true
		rc_is 0 "$how"
	done
}

t_bad() {
	WHERE=()
	mkdir -p fresh/workspace && cd fresh/workspace
	printf 'A=b\nSANDBOX_NETWORK_MODE=loose\n' >../.env
	chmod 600 ../.env
	run pale policy show
	rc_is 2
	err_has ".env:2:22"
	fence true
	rc_is 125
	cd ../..
	printf 'A=b\nB=c\nWHITE_LIST_DOMAINS=a.example, *.co.uk\n' >.env
	run pale lint
	rc_is 1
	out_has ".env:3:31"
	out_has public-suffix
	# What cannot be read may have said STRICT.
	printf 'SANDBOX_NETWORK_MODE=STRICT\n' >.env
	chmod 000 .env
	run pale run -- true
	rc_is 0
	err_has ".env: warning: cannot be read, so its policy settings are ignored: Permission denied"
	mkdir -p "$HOME/fresh/workspace"
	mv .env "$HOME/fresh"
	(cd "$HOME/fresh/workspace" && run pale run -q -- true && rc_is 125) || exit
	err_has "nothing was started"
	truncate -s 9M .env
	run pale run -- true
	err_has "are ignored: it is larger than 8 MiB"
	rm .env
	mkfifo .env
	run timeout 10 pale run -q -- true
	rc_is 0
	err_is_empty
	rm .env
	# What says nothing of us is nobody's business, whatever it looks like.
	printf '::: no assignment\n' >.env
	fence true
	rc_is 0
}

scenario "$@"
