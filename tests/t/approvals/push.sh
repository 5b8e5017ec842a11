# nightly: strict
# limit: 240
# A question about a push has where it goes, a yes is for that alone, and so is what is granted beyond it.
. "$T_LIB"

# Repositories to push to, and one with a branch `topic` that pushes to the first.
repo() {
	policy <<-EOF2
		[session]
		timeout = 60s
		[commands]
		ask = git push
	EOF2
	OPTS=(-w "$W")
	git init -q --bare good.git && git init -q --bare evil.git
	git init -q r && cd r && git commit -q --allow-empty -m one && git checkout -q -b topic
	git remote add origin "$W/good.git"
	cp .git/config "$S/config"
}

# Of the question that waits: a member, or its digest.
of_card() {
	pale pending --json | python3 -c "import json, sys
sys.path.insert(0, '${T_LIB%/*}/helper')
from carddigest import card_digest
card = json.load(sys.stdin)[0]
print(card_digest(card) if '$1' == 'digest' else card.get('$1', ''))"
}

# says MEMBER PATTERN COMMAND...: what the card of its question says there, which is denied then.
says() {
	local id member=$1 want=$2 said
	shift 2
	# What is launched is the operator's own; what that starts is asked about.
	bg push bash -c '"$@"; true' x "$@"
	id=$(pending_id) || fail "not asked: $*: $(cat "$S/push.err")"
	said=$(of_card "$member")
	[ -z "$said" ] || grep -qF "$(printf '%-9s %s' "$member" "$said")" <<<"$(pale pending)" || fail "not shown: $said"
	[[ $said != "host "* ]] || grep -qF "opens     that host, for this push alone" <<<"$(pale pending)" ||
		fail "not told what a yes opens"
	pale deny "$id" >/dev/null || fail "deny"
	bg_wait push
	# shellcheck disable=SC2053 # it is a pattern
	[[ $said == $want ]] || fail "$*: its card says $member: $said"
}

goes() {
	says to "$@"
}

sends() {
	says sends "$@"
}

# has CONFIGURATION: on top of what the repository began with.
has() {
	{ cat "$S/config" && printf '%b\n' "$@"; } >.git/config
}

# Pushed nothing, to any of them.
nothing_pushed() {
	[ -z "$(git -C "$W/good.git" for-each-ref)$(git -C "$W/evil.git" for-each-ref)" ] || fail "something was pushed"
}

pushed_to() {
	[ -n "$(git -C "$W/$1.git" for-each-ref)" ] || fail "nothing was pushed to $1.git"
}

P="git push origin topic:topic"

t_the_card_says_where() {
	repo
	goes "this machine: $W/good.git" $P
	# As git itself has it.
	has '[remote "o"]\nurl = https://example.org/a\npushurl = git@h.example:b\npushurl = ssh://u@h2.example:22/c'
	goes "host h.example: git@h.example:b, and host h2.example: ssh://u@h2.example:22/c" git push o topic:topic
	[ "$(git remote get-url --push --all o | tr '\n' ' ')" = "git@h.example:b ssh://u@h2.example:22/c " ] ||
		fail "git has others"
	has '[remote "o"]\nurl = gh:a\nurl = https://example.org/b
[url "https://gh.example/"]\ninsteadOf = gh:\n[url "https://other.example/"]\ninsteadOf = g'
	goes "host gh.example: https://gh.example/a, and host example.org: https://example.org/b" git push o topic:topic
	[ "$(git remote get-url --push --all o | tr '\n' ' ')" = "https://gh.example/a https://example.org/b " ] ||
		fail "git has others"
	has '[remote "o"]\nurl = gh:a\nurl = https://example.org/b\n[url "ssh://gh.example/"]\npushInsteadOf = gh:'
	goes "host gh.example: ssh://gh.example/a" git push o topic:topic
	[ "$(git remote get-url --push --all o)" = "ssh://gh.example/a" ] || fail "git has others"
	goes "host gh.example: ssh://gh.example/b" git push gh:b topic:topic
	# Which remote.
	has '[remote "o"]\nurl = https://o.example/a\n[remote "p"]\nurl = https://p.example/a'
	goes "host p.example: https://p.example/a" git push --repo=p
	goes "host o.example: https://o.example/a" git push --repo p o topic:topic
	goes "host o.example: https://o.example/a" git -C "$W" --git-dir=r/.git push --recurse-submodules no o topic:topic
	goes "not known: no remote is named" git push
	has '[remote "o"]\nurl = https://o.example/a\n[branch "topic"]\nremote = o'
	goes "host o.example: https://o.example/a" git push
	has '[remote "o"]\nurl = https://o.example/a\n[branch "topic"]\nremote = origin\n[remote]\npushDefault = o'
	goes "host o.example: https://o.example/a" git push
	has '[remote "o"]\nurl = https://o.example/a\n[branch "topic"]\npushRemote = o\n[remote]\npushDefault = origin'
	goes "host o.example: https://o.example/a" git push
	git worktree add -q "$W/wt" -b two
	cd "$W/wt" || exit 99
	goes "host o.example: https://o.example/a" git push o two:two
	printf '[url "https://home.example/"]\ninsteadOf = hm:\n' >>"$HOME/.gitconfig"
	goes "host home.example: https://home.example/z" git push hm:z two:two
	nothing_pushed
}

# A server of the operator's own, at a port of this machine that no rule names: to the push alone.
t_a_port_of_this_machine() {
	local port id server
	repo
	python3 "${T_LIB%/*}/helper/githttp.py" "$W" "$S/port" 2>"$S/server" &
	server=$!
	until_true 10 test -s "$S/port" || fail "no server: $(cat "$S/server")"
	port=$(cat "$S/port")
	git -C "$W/good.git" config http.receivepack true
	bg push bash -c "git push -q http://127.0.0.1:$port/good.git topic:topic
		echo pushed \$?; (echo >/dev/tcp/127.0.0.1/$port) && echo reached; true"
	id=$(pending_id) || exit 1
	run pale approve "$id"
	# What is no part of it is asked.
	id=$(pending_id) || fail "not asked: $(cat "$S/push.out" "$S/push.err")"
	run pale deny "$id"
	bg_wait push
	kill $server
	out_is "pushed 0"
	pushed_to good
}

t_names_that_mislead() {
	repo
	goes "host evil.example: https://***@evil.example/x \
(masked, #*)" git push https://good.example@evil.example/x topic:topic
	goes "host evil.example: https://good.example:***@evil.example/x \
(masked, #*)" git push https://good.example:x@evil.example/x topic:topic
	goes "host good.example: https://good.example/@evil.example" git push https://good.example/@evil.example topic:topic
	goes "this machine: './host good.example: x'" git push "./host good.example: x" topic:topic
	goes "host evil: evil:good.example/x" git push evil:good.example/x topic:topic
	for url in https://a@b@c/x 'https://a\@b/x' ssh://good.example%2f@evil.example/x ext::sh odd://h/x HTTPS://h/x -x:y \
		'[h:22]:x' ssh://-oProxyCommand=x/y; do
		goes "not known: *" git push -- "$url" topic:topic
	done
}

# Where nobody can tell, that is said, and a yes is for once.
t_not_known() {
	local row id
	repo
	goes "not known: an option configures git or names a program" git -c "url.x.insteadOf=$W" push origin topic:topic
	goes "not known: an option configures git or names a program" git push --repo=x --no-repo
	for row in GIT_DIR="$W/r/.git" GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_KEY_1=Core.sshCommand \
		"GIT_CONFIG_PARAMETERS='a.b=c'" HOME=/ GIT_CONFIG_NOSYSTEM=0 GIT_CONFIG_SYSTEM=/x GIT_COMMON_DIR="$W/r/.git"; do
		goes "not known: an environment variable selects the repository or the configuration" \
			bash -c "export '${row//\'/\'\\\'\'}'; $P"
	done
	for row in GIT_SSH GIT_SSH_COMMAND \
		GIT_PROXY_COMMAND GIT_SSL_NO_VERIFY GIT_SSL_CAINFO GIT_EXEC_PATH http_proxy HTTP_PROXY \
		https_proxy HTTPS_PROXY all_proxy ALL_PROXY; do
		goes "not known: an environment variable names a program or proxy that git uses" bash -c "export $row=/x; $P"
	done
	# The operator's own, as the session began with it.
	OPTS=(-w "$W" -e https_proxy=http://proxy.example:1 -e GIT_SSH_COMMAND=x)
	goes "this machine: *" $P
	goes "this machine: *" bash -c "unset https_proxy; $P"
	goes "not known: an environment variable names a program or proxy that git uses" bash -c \
		"export https_proxy=http://proxy.example:2; $P"
	OPTS=(-w "$W")
	goes "not known: an environment variable selects the repository or the configuration" \
		bash -c "export XDG_CONFIG_HOME=$W/x; $P"
	goes "this machine: *" bash -c "unset XDG_CONFIG_HOME; $P"
	goes "not known: an option configures git or names a program" git -c core.sshCommand=x push origin topic:topic
	goes "not known: another program starts git*" env $P
	for row in '[include]\npath = /x' '[includeIf "gitdir:/"]\npath = x' \
		'[remote "origin"]\nurl =' '[remote "origin"]\nvcs = x' '[remotes]\nx = origin' \
		"[url \"a\"]\ninsteadOf = $W\n[url \"b\"]\ninsteadOf = $W" '[remote "origin"' '[remote "origin"]\nurl = a\\nb'; do
		has "$row"
		goes "not known: *" $P
	done
	has ""
	: >.git/config.worktree
	goes "not known: *" $P
	rm .git/config.worktree && mkdir -p .git/remotes && : >.git/remotes/x
	goes "not known: *" $P
	bg push bash -c "$P; git push -q origin topic:topic"
	id=$(pending_id) || exit 1
	pale pending | grep -q "where it goes is not known: allow it once" || fail "more than once is offered"
	run pale approve "$id" --session
	rc_not 0
	run pale approve "$id" --session --yes --rule "allow = git push origin topic:topic"
	rc_not 0
	run pale approve "$id"
	rc_is 0
	id=$(pending_id) || exit 1
	run pale deny "$id"
	bg_wait push
	pushed_to good
}

# The agent leads it elsewhere while the question waits.
t_changed_while_it_waits() {
	local how id
	repo
	git branch other
	has '[branch "topic"]\nremote = origin\n[remote "evil"]\nurl = '"$W/evil.git"
	cp .git/config "$S/config"
	for how in "git remote set-url origin $W/evil.git" \
		"git config remote.origin.pushurl $W/evil.git" "git config remote.pushDefault evil" \
		"git config branch.topic.pushRemote evil" "git remote set-url --add origin $W/evil.git" "git checkout -q other" \
		"mkdir .git/remotes; echo URL: $W/evil.git >.git/remotes/origin"; do
		cp "$S/config" .git/config && git checkout -q topic && rm -rf .git/remotes go
		bg push bash -c "{
				until test -e go; do sleep 0.05; done
				$how; echo \"changed \$?\"; : >gone
			} & git push; echo \"status \$?\"; wait"
		id=$(pending_id) || exit 1
		: >go
		until_true 20 test -e gone || fail "not changed: $how"
		rm gone
		run pale approve "$id"
		rc_is 0
		bg_wait push
		out_has "changed 0"
		out_has "status 126"
		denied exec "git push" "the destination or the program changed while the question waited"
		nothing_pushed
	done
	recorded exec deny "git push"
	# The same again, and nothing changes.
	cp "$S/config" .git/config && git checkout -q topic && rm -rf .git/remotes
	bg push bash -c "$P"
	id=$(pending_id) || exit 1
	run pale approve "$id"
	bg_wait push
	rc_is 0
	pushed_to good
	verifies
}

t_a_grant_is_for_one_destination() {
	local id
	repo
	bg push bash -c "$P && git commit -q --allow-empty -m two && $P && git remote set-url origin $W/evil.git && $P"
	id=$(pending_id) || exit 1
	run pale approve "$id" --always --yes
	rc_is 0
	# The second was not asked about; the third is.
	id=$(pending_id) || exit 1
	[ "$(of_card to)" = "this machine: $W/evil.git" ] || fail "$(of_card to)"
	pushed_to good
	[ "$(git rev-parse topic)" = "$(git -C "$W/good.git" rev-parse topic)" ] || fail "the grant does not hold"
	run pale deny "$id"
	bg_wait push
	rc_is 126
	run pale grants
	out_has "this machine: $W/good.git"
	[ -z "$(git -C "$W/evil.git" for-each-ref)" ] || fail "it was pushed elsewhere"
}

# A yes alone does not open a directory: the card says what does, before it is given in vain.
t_the_card_says_what_else_is_needed() {
	local far=$HOME/far.git
	repo
	git init -q --bare "$far"
	says needs "\[files] write = $far: without it the push fails*" git push "$far" topic:topic
	printf '[files]\nwrite = %s\n[commands]\nask = git push\n' "$far" | policy
	says "needs" "" git push "$far" topic:topic
	bg push bash -c "git push -q $far topic:topic; true"
	id=$(pending_id) || fail "not asked"
	run pale approve "$id"
	bg_wait push
	err_is_empty
	[ -n "$(git -C "$far" for-each-ref)" ] || fail "nothing was pushed"
}

T=refs/remotes/origin/topic

t_the_card_says_what_is_sent() {
	local one two three i
	repo
	one=$(git rev-parse topic)
	sends "$one, not counted: the repository has no $T" $P
	git update-ref $T topic
	sends "$one onto $T, which is here $one; commits: 0; it takes none away" $P
	git commit -q --allow-empty -m two && git commit -q --allow-empty -m three
	three=$(git rev-parse topic)
	for i in "git push origin topic" "git push -u origin HEAD" "git push origin HEAD:topic" \
		"git push --force-with-lease origin +refs/heads/topic:topic"; do
		sends "$three onto $T, which is here $one; commits: 2; it takes none away" $i
	done
	git config branch.topic.remote origin
	sends "$three onto $T, which is here $one; commits: 2; it takes none away" git push
	cp "$S/config" .git/config
	sends "$three, not counted: the repository has no refs/remotes/origin/other" git push origin topic:other
	# Both ends in packed-refs, and what the branch has twice.
	git checkout -q -b side topic~1 && git commit -q --allow-empty -m side && git checkout -q topic
	git merge -q -m merge side && two=$(git rev-parse topic)
	git pack-refs --all
	sends "$two onto $T, which is here $one; commits: 4; it takes none away" $P
	# A branch that went back, and one that was written anew.
	git update-ref $T topic && git reset -q --hard $three
	sends "$three onto $T, which is here $two; commits: 0, and others are lost to it: it rewinds" git push -f origin topic
	git commit -q --amend --allow-empty -m amended
	sends "* onto $T, which is here $two; commits: 1, and others are lost to it: it rewinds" git push origin +topic:topic
	# What is no one branch.
	for i in "--tags origin topic" "-d origin topic" "origin :topic" "origin topic side" "origin topic~1:topic" \
		"origin $one:topic" "--follow-tags origin topic"; do
		sends "what is not counted: the push is not of exactly one branch that exists here" git push $i
	done
	nothing_pushed
}

# The repository is the agent's: what it says of itself is not believed, and runs nothing.
t_what_is_sent_is_hashed() {
	local one two lie
	repo
	git commit -q --allow-empty -m two &&
		git commit -q --allow-empty -m three && two=$(git rev-parse topic) && one=$(git rev-parse topic~2)
	git update-ref $T topic~2
	# Replaced, grafted, another commit under its name, and one that is missing, for which git would ask elsewhere.
	git replace topic topic~2
	echo "$two $one" >.git/info/grafts
	sends "$two onto $T, which is here $one; commits: 2; it takes none away" $P
	rm .git/info/grafts && git replace -d topic >/dev/null
	lie=$(git rev-parse topic~1)
	chmod -R u+w .git/objects
	cp ".git/objects/${one:0:2}/${one:2}" "$S/kept"
	cp "$S/kept" ".git/objects/${lie:0:2}/${lie:2}"
	sends "$two onto $T, which is here $one; not counted: *" $P
	printf '[core]\nrepositoryformatversion = 1\nfsmonitor = touch %s/ran\nsshCommand = touch %s/ran
		[extensions]\npartialClone = origin\n[remote "origin"]
		promisor = true\nuploadpack = touch %s/ran;\n[pager]\ncat-file = touch %s/ran\n' "$W" "$W" "$W" "$W" >>.git/config
	rm ".git/objects/${lie:0:2}/${lie:2}"
	sends "$two onto $T, which is here $one; not counted: *" $P
	[ ! -e "$W/ran" ] || fail "the repository ran something"
	nothing_pushed
}

t_another_commit_while_it_waits() {
	local id digest
	repo
	git update-ref $T topic && git commit -q --allow-empty -m two
	bg push bash -c "{
			until test -e go; do sleep 0.05; done
			git commit -q --allow-empty -m three; : >gone
		} & $P; echo \"status \$?\"; wait"
	id=$(pending_id) || exit 1
	digest=$(of_card digest)
	: >go
	until_true 20 test -e gone || fail "not changed"
	run pale approve "$id"
	bg_wait push
	out_has "status 126"
	denied exec "git push" "the destination or the program changed while the question waited"
	nothing_pushed
	bg push bash -c "$P; true"
	id=$(pending_id) || exit 1
	[ "$digest" != "$(of_card digest)" ] || fail "one digest"
	run pale approve "$id"
	bg_wait push
	pushed_to good
	recorded approval/request ask \
		"sends=$(git rev-parse topic) onto $T, which is here $(git rev-parse topic~2); commits: 2;"
}

# Two that differ in a password alone are two questions, with two digests; it is in no record.
t_what_is_hidden_counts() {
	local id url first second
	repo
	for url in https://secretname@h.example/x https://u:secretword@h.example/x; do
		has "[remote \"o\"]\nurl = $url"
		bg push bash -c "git push o topic:topic; true"
		id=$(pending_id) || exit 1
		first=$(of_card to) second=$(of_card digest)
		! pale pending | grep -q secret || fail "shown: $url"
		run pale deny "$id"
		bg_wait push
		has "[remote \"o\"]\nurl = ${url/secret/secrets}"
		bg push bash -c "git push o topic:topic; true"
		id=$(pending_id) || exit 1
		[ "$first" != "$(of_card to)" ] || fail "the two cannot be told apart"
		[ "$second" != "$(of_card digest)" ] || fail "one digest"
		run pale deny "$id"
		bg_wait push
	done
	recorded approval/request ask "to=host h.example: https://***@h.example/x"
	! ledgers | grep -qE "secrets?(name|word)" || fail "it is in the ledger"
}

# A filter of the session's own answers before the supervisor is asked: `git -C A` would stay where it is.
FILTER='
import ctypes, os, struct, sys
nr = {"x86_64": 80, "aarch64": 49}[os.uname().machine]
ops = [(0x20, 0, 0, 0), (0x15, 0, 1, nr), (0x06, 0, 0, 0x00050000), (0x06, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *op) for op in ops))
prog = struct.pack("HxxxxxxQ", len(ops), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, prog) == 0, ctypes.get_errno()
os.execvp(sys.argv[1], sys.argv[1:])'

t_behind_a_filter_of_its_own() {
	git init -q --bare evil.git
	git init -q -b topic A && git -C A commit -q --allow-empty -m one
	git init -q -b main B && git -C B commit -q --allow-empty -m two
	git -C A remote add origin "$W/evil.git" && git -C B remote add origin "$W/evil.git"
	printf '[commands]\nallow = git push\nask = deploytool\n[git]\nprotect = main\n' | policy
	printf '#!/bin/sh\necho deployed\n' >deploytool && chmod 755 deploytool
	OPTS=(-w "$W")
	fsh 'cd B && exec python3 -c "$1" git -C ../A push -q origin HEAD' - "$FILTER"
	rc_not 0
	denied exec git "a filter of system calls of its own"
	[ -z "$(git -C evil.git for-each-ref)" ] || fail "something was pushed"
	fsh 'exec python3 -c "$1" ./deploytool' - "$FILTER"
	denied exec ./deploytool "a filter of system calls of its own"
	# Whatever else it does is its own affair.
	fsh 'exec python3 -c "$1" sh -c "true && ls"' - "$FILTER"
	rc_is 0
	fsh 'git -C A push -q origin HEAD'
	rc_is 0
}

# Who shares the working directory of a process (CLONE_FS) could move it after the exec was judged there.
SHARED='
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None, use_errno=True)
nr = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
fs = 0x200 if sys.argv[1] == "shared" else 0
pid = libc.syscall(nr, fs | signal.SIGCHLD, 0, 0, 0, 0)
assert pid >= 0, ctypes.get_errno()
if pid == 0:
    if sys.argv[2] == "hidden": libc.prctl(4, 0, 0, 0, 0)
    for fd in range(3): os.close(fd)
    time.sleep(3)
    os._exit(0)
time.sleep(0.3)
os.execvp(sys.argv[3], sys.argv[3:])'

t_in_a_shared_working_directory() {
	local how
	git init -q --bare evil.git
	git init -q -b topic A && git -C A commit -q --allow-empty -m one && git -C A remote add origin "$W/evil.git"
	printf '[commands]\nallow = git push\n[git]\nprotect = main\n' | policy
	OPTS=(-w "$W")
	for how in seen hidden; do
		fsh 'cd A && exec python3 -c "$1" shared $2 git push -q origin HEAD' - "$SHARED" $how
		rc_not 0 "$how"
		denied exec git "another process shares its working directory"
		[ -z "$(git -C evil.git for-each-ref)" ] || fail "something was pushed"
	done
	fsh 'cd A && python3 -c "$1" shared seen true; sleep 3
		exec python3 -c "$1" apart seen git push -q origin HEAD' - "$SHARED"
	rc_is 0
	[ -n "$(git -C evil.git for-each-ref)" ] || fail "nothing was pushed"
}

scenario "$@"
