# levels: full strict
# limit: 240
# The whole way: the git of a session, git-remote-pale, the gate, the question, the courier and a real server.
. "$T_LIB"
. "$(dirname "$T_LIB")/git-servers.sh"
. "$(dirname "$T_LIB")/sentinel-lib.sh"

# A server that wants a password, and a clone of its repository on branch `topic`.
project() {
	serve_http
	upstream project
	URL=$HTTP_URL/project.git
	cd "$W" || exit
	git clone -q "$URL" r 2>/dev/null
	cd r || exit
	git checkout -q -B main && echo 1 >file && git add file && git commit -q -m one && git push -q origin main
	git checkout -q -b topic
	printf '[commands]\nask = git push\n' | policy
}

# answers WORD: the next question, with `pale approve` or `pale deny`.
answers() {
	ID=$(pending_id) || fail "not asked: $(cat "$S"/*.err)"
	CARD=$(pale pending)
	pale "$1" "$ID" >/dev/null || fail "$1"
}

at_server() {
	git -C "$FORGE/git/project.git" rev-parse -q --verify "refs/heads/$1"
}

t_fetched_and_pushed() {
	project
	bg push bash -c 'echo $$ >pid; git remote -v && git fetch -q origin && git ls-remote origin main && echo 2 >>file &&
		git commit -q -a -m two && git push -u origin HEAD:topic'
	answers approve
	secret_watch "$FORGE_SECRET" "$(cat pid)"
	bg_wait push
	rc_is 0
	not_denied
	out_has "$URL (push)"
	out_has "refs/heads/main"
	grep -qF "$(git rev-parse topic), a new branch" <<<"$CARD" || fail "the card does not name the commit: $CARD"
	grep -qF "1 commit, 1 file, +1 -0 lines" <<<"$CARD" || fail "the card does not count: $CARD"
	[ "$(git -C "$FORGE/git/project.git" for-each-ref 'refs/heads/session/*/topic' | cut -c1-40)" = \
		"$(git rev-parse topic)" ] || fail "not pushed: $(cat "$S/err")"
	[ -z "$(at_server topic)" ] || fail "the branch has the agent's name at the server"
	[ "$(pale pending --json)" = "[]" ] || fail "asked twice"
	run pale log --op push
	out_has "the operator answered"
	secret_nowhere "$FORGE_SECRET" "$W" "$HOME/.local/state/pale/sessions" "$HOME/.local/share/pale"
}

t_denied_leaves_nothing() {
	project
	bg push bash -c 'echo 2 >>file; git commit -q -a -m two; git push origin HEAD:topic'
	ID=$(pending_id)
	pale deny --reason "not on a friday" "$ID" >/dev/null
	bg_wait push
	rc_is 1
	err_has "! [remote rejected] HEAD -> topic"
	err_has "not on a friday"
	[ -z "$(git -C "$FORGE/git/project.git" for-each-ref 'refs/heads/session')" ] || fail "it was pushed"
	run pale changes
	out_has denied
}

# A yes that comes when the agent's git is gone pushes by itself.
t_a_late_yes_pushes() {
	project
	bg push bash -c 'echo 2 >>file; git commit -q -a -m two; timeout 3 git push origin HEAD:topic; echo ended >ended
		while [ ! -e go ]; do sleep 0.1; done'
	ID=$(pending_id)
	until_true 20 test -e ended || fail "git did not end"
	pale approve "$ID" >/dev/null || fail "the question has ended with git"
	until_true 20 eval '[ -n "$(git -C "$FORGE/git/project.git" for-each-ref refs/heads/session)" ]' || fail "not pushed"
	touch go
	bg_wait push
	run pale changes
	out_has pushed
}

t_a_secret_is_refused_with_its_line() {
	project
	OPTS=(-e "DEPLOY_KEY=hunter2-sesame-47110815")
	fsh 'printf "a\nb\nkey = hunter2-sesame-47110815\n" >conf
		git add conf; git commit -q -m c; git push origin HEAD:topic'
	rc_is 1
	err_has "conf:3"
	err_has "remote rejected"
	[ "$(pale pending --json)" = "[]" ] || fail "it was asked about"
	[ -z "$(git -C "$FORGE/git/project.git" for-each-ref refs/heads/session)" ] || fail "it was pushed"
	run pale changes
	out_lacks session/
}

t_words_that_a_rule_denies() {
	project
	fsh 'git push origin topic:main; echo $?'
	err_has "protect = main"
	fsh 'git push origin HEAD:refs/tags/v1'
	rc_is 1
	err_has "remote rejected"
	fsh 'git push origin :main; git push origin --delete main'
	rc_not 0
	[ -n "$(at_server main)" ] || fail "main is gone"
}

# A remote that was not there when the session began, and one that the session gives the URL of a ghost.
t_only_what_stood_at_the_start() {
	project
	upstream other
	fsh "git remote add other $HTTP_URL/other.git; git fetch other"
	rc_not 0
	# In a repository of the session's own the words are asked about as well.
	printf '[session]\napprovals = never\n[commands]\nask = git push\n' | policy
	fsh "git clone -q $URL c && cd c && git log --oneline -1 && git checkout -q -b x && git push origin x"
	rc_not 0
	out_has one
	err_has "denied exec git push"
}

# git's own variables, with which an agent configures it for itself.
t_an_agent_that_configures_git() {
	project
	fsh 'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=color.ui GIT_CONFIG_VALUE_0=never git fetch origin &&
		git worktree add -q wt && cd wt && git fetch origin &&
		env -i PATH="$PATH" HOME="$HOME" GIT_CONFIG_SYSTEM="$GIT_CONFIG_SYSTEM" git fetch'
	rc_is 0
	not_denied
	fsh 'echo x >>"$GIT_CONFIG_SYSTEM"'
	rc_not 0
	# Without it there is neither a password nor the server.
	fsh 'GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 git fetch origin'
	rc_not 0
}

t_tokens_stay_outside() {
	project
	export GH_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789
	fsh 'echo "token: $GH_TOKEN"'
	out_is "token: "
	run pale env --all
	out_has "git reaches its remotes through the gate"
	printf '[environment]\npass = GH_TOKEN\n' | policy
	fsh 'echo "token: $GH_TOKEN"'
	out_has ghp_
	printf '[git]\nremote = none\n' | policy
	fsh 'echo "token: $GH_TOKEN ${GIT_CONFIG_SYSTEM:-unset}"'
	out_has "unset"
	out_has ghp_
}

# Looks into every process that it can name, by the hooks and by system calls of its own.
LOOK='
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for pid in filter(str.isdigit, os.listdir("/proc")):
    for fd in range(16):
        name = "/proc/%s/fd/%d" % (pid, fd)
        try:
            link = os.readlink(name)
        except OSError:
            link = ""
        raw = libc.syscall(257, -100, name.encode(), 0)
        if "memfd:pale-" in link or (raw >= 0 and "memfd:pale-" in os.readlink("/proc/self/fd/%d" % raw)):
            print("reached", name, link)
        if raw >= 0:
            os.close(raw)
print("looked")'

# What receives a push is started by `pale run` and has a filter, and still is no process of the session.
t_the_gate_is_outside() {
	project
	export GH_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789
	bg push bash -c "echo 2 >>file; git commit -q -a -m two; git push -q origin HEAD:topic &
		while [ ! -e asked ]; do sleep 0.1; done; python3 -c '$LOOK'; touch done; wait"
	ID=$(pending_id)
	ls -l /proc/[0-9]*/fd 2>/dev/null | grep -q "memfd:pale-" || fail "there is nothing to find"
	touch asked
	until_true 30 test -e done || fail "it does not end"
	pale deny "$ID" >/dev/null
	bg_wait push
	out_has looked
	out_lacks reached
}

# Sessions that begin at the same moment in one workspace do not fall over each other's files.
t_many_begin_at_once() {
	local i pids=()
	project
	for i in 1 2 3 4 5 6 7 8; do
		pale run -q -- git ls-remote -q origin main >"$S/$i.out" 2>"$S/$i.err" </dev/null &
		pids+=($!)
	done
	wait "${pids[@]}"
	for i in 1 2 3 4 5 6 7 8; do
		grep -q refs/heads/main "$S/$i.out" || fail "session $i: $(cat "$S/$i.err")"
	done
}

# A remote that a session has added gets no credentials in the next one, until the operator says so.
t_a_remote_of_an_earlier_session() {
	project
	upstream private
	fsh "git remote add more $HTTP_URL/private.git"
	rc_is 0
	run pale run -- bash -c 'GIT_TERMINAL_PROMPT=0 git fetch more; git fetch origin && echo fetched'
	out_has fetched
	err_has "note: the remote more ($HTTP_URL/private.git) was not there when the first session began here"
	err_lacks "note: the remote origin"
	grep -qF private.git "$FORGE/http.log" && fail "it was asked for: $(grep private.git "$FORGE/http.log")"
	eval "$(grep -o 'rm [^ ]*$' "$S/err")"
	fsh 'git fetch more && echo fetched'
	out_is fetched
}

t_a_clone_before_the_session() {
	project
	cd "$W" || exit
	run pale run -q --clone "$URL#main" -- sh -c 'pwd; git fetch && git log --oneline'
	rc_is 0
	out_has "$W/project"
	out_has one
	run pale run -q --clone "$URL" -- true
	rc_is 125
	err_has "already exists"
}

t_policy_of_pushes() {
	project
	printf '[git]\npush = allow\nbranch = agents/{branch}\n[commands]\nask = git push\n' | policy
	fsh 'echo 2 >>file; git commit -q -a -m two; git push origin HEAD:topic'
	rc_is 0
	err_lacks "waiting for approval"
	[ "$(at_server agents/topic)" = "$(git rev-parse topic)" ] || fail "not pushed: $(cat "$S/err")"
	printf '[git]\npush = deny\n' | policy
	fsh 'echo 3 >>file; git commit -q -a -m three; git push origin HEAD:topic'
	rc_is 1
	err_has "[git] push"
	printf '%s\n' '[git]' 'push = maybe' 'branch = {name}' 'remote = a b' 'fetch = refs/notes/*' '[changes]' \
		'max_files = 0' 'deny = /x' | policy
	run pale lint
	rc_is 1
	out_has 'invalid value `maybe`, expected allow, ask or deny'
	out_has "nothing else stands in braces"
	out_has "write the name of a remote"
	out_has "write refs/heads/*"
	out_has 'invalid value `0`, expected 1 to 100000'
	out_has "no pattern of paths in a repository"
}

scenario "$@"
