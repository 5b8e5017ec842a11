# levels: full strict
# limit: 200
# The advice of a denial works: what `pale explain ID` says to change is done as printed, and the deed goes through.
. "$T_LIB"

# What the deeds are done to.
victims() {
	OPTS=(-n)
	git init -q . && git add file && git commit -q -m one && git checkout -q -b topic
	git init -q --bare bare
	git init -q --bare ~/far.git
	mkdir -p ~/d .husky && echo x >~/d/f && echo from >from
}

# Sets CHANGE to what the denial on the screen says to change, by its own word where to look.
advised() {
	local see
	see=$(grep -o 'see: pale explain [0-9a-f]*' "$S/err" "$S/out" | head -n 1)
	[ -n "$see" ] || fail "no word where to look: $1"
	run ${see#*see: }
	CHANGE=$(sed -n '/^change /,$p' "$S/out" | sed 's/^change //; s/^       //')
}

# Does it: lines of a policy, a setting in a sentence, a line to remove, an option.
follow() {
	local key
	case $CHANGE in
	\[*)
		[[ $CHANGE != *"mode = "* ]] || sed -i "/^mode = /d" "$POLICY"
		printf '%s\n' "$CHANGE" >>"$POLICY" ;;
	*"set ["*)
		CHANGE="set [${CHANGE##*set [}"
		# the key may be there with another value
		key=${CHANGE#*] } && sed -i "/^${key%% *} = /d" "$POLICY"
		sed -n 's/^set \(\[[a-z]*\]\) \([a-z_]* = [^ ,]*\).*/\1\n\2/p' <<<"$CHANGE" >>"$POLICY" ;;
	"remove or change "*)
		CHANGE=${CHANGE#remove or change }
		sed -i "${CHANGE##*:}d" "${CHANGE%:*}" ;;
	"run with --"*)
		CHANGE=${CHANGE#run with }
		OPTS+=("${CHANGE%%:*}") ;;
	*) fail "not advice that can be followed: $CHANGE" ;;
	esac
}

# Each row: a policy | a deed | what shows that it was done.  Where one rule opens the way to the next, up to three.
ROWS=('|echo x >~/d/f|grep -qx x ~/d/f'
	'|cat ~/elsewhere/../.ssh/id_rsa >got|grep -q id_rsa got'
	'|echo x >.husky/pre-commit|test -s .husky/pre-commit'
	'|echo x >~/.bashrc|test -s ~/.bashrc'
	'|mv ~/d ~/e|test -e ~/e/f'
	'|git checkout -q main|git symbolic-ref HEAD | grep -q main'
	'|git branch -f main topic~0 && touch done|test -e done'
	'|git push -q ./bare topic 2>&1 && touch done|test -e done'
	'|mount -V >/dev/null && touch done|test -e done'
	'[commands]\ndeny = date|date >got|test -s got'
	'[commands]\nask = date -u|date -u >got|test -s got'
	'[files]\ndeny = from|cat from >got|grep -q from got'
	'[files]\nreadonly = from|echo x >from|grep -q x from'
	'[session]\nmode = read-only\n[commands]\nread_only = rules|echo x >new|test -s new'
	'[files]\npaths = relative|cat $PWD/from >got|grep -q from got'
	'|git worktree add -q -B w ../wt2|test -e ../wt2/file'
	'|git -C ~/far.git hash-object -w --stdin <file >got|test -s got'
	'|getent -s dns hosts advice.invalid; grep -c . /dev/null; touch done|test -e done')

t_by_the_denial() {
	local row rules deed shows i
	POLICY=$HOME/.config/pale/policy.ini
	victims
	cp -a "$HOME" "$S/kept"
	for row in "${ROWS[@]}"; do
		IFS='|' read -r rules deed shows <<<"$row"
		cd / && rm -rf "$HOME" && cp -a "$S/kept" "$HOME" && cd "$W"
		OPTS=(-n)
		printf "$rules\n" | policy
		fsh "$deed"
		for i in 1 2 3; do
			grep -q '^pale: denied' "$S/err" "$S/out" || break
			advised "$deed"
			follow
			fsh "$deed"
		done
		[ $i -gt 1 ] || fail "nothing was denied: $deed"
		not_denied "$deed"
		bash -c "$shows" || fail "it was not done: $deed"
	done
}

# The name of the mirror is allowed, and its address is not public.
t_an_address() {
	local addr
	POLICY=$HOME/.config/pale/policy.ini
	for addr in 10.1.2.3 fd00::5; do
		printf '[network]\nallow = mirror.corp\n' | policy
		run pale explain connect mirror.corp:443 $addr
		rc_is $([ $addr = 10.1.2.3 ] && echo 3 || echo 1)
		CHANGE=$(sed -n '/^change /,$p' "$S/out" | sed 's/^change //; s/^       //')
		out_has "allow = "
		out_lacks ADDRESS
		follow
		run pale explain connect mirror.corp:443 $addr
		rc_is 0 "$CHANGE"
	done
}

# What a network or another user would be needed for: a policy | what is asked of explain.
ASKED=('[network]\nmode = off|exec git fetch x' '[network]\nmode = off|connect example.com:443'
	'[network]\nmode = off|resolve example.com' '[network]\nmode = strict|connect example.com:443'
	'preset = ci|connect example.com:443' 'preset = ci|exec npm publish' 'preset = ci|exec git checkout main'
	'preset = review|write file' 'preset = bridge|connect example.com:443' 'preset = security-v0|exec make'
	'[network]\ndeny = example.com|connect example.com:443' '|connect 10.1.2.3:5432' '|connect [fd00::1]:5432'
	'|read /etc/shadow' '|exec sudo x' '|unix /run/docker.sock' '|bind 0.0.0.0:80' '|bind 3456'
	'|read ../.env' '|exec gh auth token'
	'|write .git/hooks/pre-commit' '|write ../far.git/objects/7a/b' '|link ../far.git/refs/heads/a.lock'
	'|connect udp:192.168.1.1:99' '|exec git push x topic')

t_by_explain() {
	local row rules i
	POLICY=$HOME/.config/pale/policy.ini
	victims
	for row in "${ASKED[@]}"; do
		IFS='|' read -r rules row <<<"$row"
		OPTS=()
		printf "$rules\n" | policy
		for i in 1 2 3 4; do
			run pale explain ${OPTS[@]+"${OPTS[@]}"} $row
			[ "$RC" != 0 ] || break
			CHANGE=$(sed -n '/^change /,$p' "$S/out" | sed 's/^change //; s/^       //')
			follow
		done
		rc_is 0 "$rules: $row"
		[ $i -gt 1 ] || fail "nothing was denied: $rules: $row"
	done
}

# What is allowed, and how to close it.
t_to_close() {
	POLICY=$HOME/.config/pale/policy.ini
	victims
	for row in "unix /tmp/x" "write file" "exec date" "connect github.com:443"; do
		printf '\n' | policy
		run pale explain $row
		rc_is 0 "$row"
		CHANGE=$(sed -n '/^change /,$p' "$S/out" | sed 's/^change //; s/^       //')
		follow
		run pale lint
		rc_is 0 "$row: $CHANGE"
		run pale explain $row
		rc_is 1 "$row: $CHANGE"
	done
}

# A lock has the advice of what it locks.
t_a_lock() {
	victims
	run pale explain write ~/.gitconfig.lock
	rc_is 1
	out_has "change write the file yourself, outside the session"
	run pale explain write ~/d/Cargo.lock
	out_has "write = $HOME/d/Cargo.lock"
}

# A port alone is one, as in the policy.
t_a_port() {
	victims
	run pale explain bind 3456
	out_has "bind = 3456"
}

# A key of git's configuration: the operator sets it by the words of the denial.
t_a_key() {
	local words
	victims
	fsh 'git config core.pager less'
	words=$(grep -o 'the operator may set it: [^)]*' "$S/err" | head -n 1)
	words=${words#*: }
	run ${words/VALUE/less}
	rc_is 0
	[ "$(git config core.pager)" = less ] || fail "not set by: $words"
	fsh 'git config core.pager more'
	advised key
	[ "$CHANGE" = "write the file yourself, outside the session" ] || fail "$CHANGE"
	fsh 'echo x >.git/hooks/post-commit'
	advised hook
	[ "$CHANGE" = "write the file yourself, outside the session" ] || fail "$CHANGE"
}

# A signature by an SSH key: the denial names the manual, and what stands there works.
t_a_signature() {
	local key
	need ssh-agent ssh-keygen
	victims
	ssh-keygen -q -t ed25519 -N "" -f ~/.ssh/id_ed25519
	fsh 'git -c gpg.format=ssh -c user.signingkey=$HOME/.ssh/id_ed25519.pub commit -q -S --allow-empty -m x'
	denied read ~/.ssh/id_ed25519.pub "and signatures see: man pale-agents"
	eval "$(ssh-agent -s -a "$S/agent")" && ssh-add -q ~/.ssh/id_ed25519
	printf '[environment]\npass = SSH_AUTH_SOCK\n[network]\nunix = %s\n' "$S/agent" | policy
	for key in "$(echo ~/.local/share/pale/*)/config/ssh/id_ed25519.pub" "key::$(cat ~/.ssh/id_ed25519.pub)"; do
		fence git -c gpg.format=ssh -c user.signingkey="$key" commit -q -S --allow-empty -m "$key"
		rc_is 0 "$key"
		git cat-file commit HEAD | grep -q "BEGIN SSH SIGNATURE" || fail "not signed by $key"
	done
	kill "$SSH_AGENT_PID"
}

scenario "$@"
