# nightly: hooks
# The first day: what an agent may do, what it may not, what is asked, and that all is written down.
. "$T_LIB"

t_allowed() {
	fence cat file
	rc_is 0
	out_is "hello from the workspace"
	err_is_empty
	recorded exec allow "cat file"
	recorded read allow "\"$W/file\""
	verifies
}

t_write_inside() {
	fsh 'echo new > made; mkdir d; mv made d/moved; rm file; ln -s d link'
	rc_is 0
	err_is_empty
	file_is d/moved new
	missing file
	recorded write allow "\"$W/made\""
	recorded 'mkdir' allow "\"$W/d\""
	recorded rename allow "$W/d/moved"
	recorded delete allow "\"$W/file\""
	recorded symlink allow "\"$W/link\""
}

t_ssh_key() {
	fence cat ~/.ssh/id_rsa
	rc_is 1
	no_decoy
	err_has "Permission denied"
	denied read "$HOME/.ssh/id_rsa" "[files] sensitive = ~/.ssh"
	recorded read deny "\"$HOME/.ssh/id_rsa\"" '"via":"hook"'
}

t_write_outside() {
	fsh 'echo gone > ../outside'
	rc_is 1
	denied write "$HOME/outside" "outside the workspace"
	missing ../outside
	fsh 'echo gone > ../outside-file'
	rc_is 1
	file_is ~/outside-file "$DECOY outside-file"
	recorded write deny "\"$HOME/outside-file\""
}

t_remove_elsewhere() {
	fence rm -f ~/elsewhere/file
	rc_is 1
	denied delete "$HOME/elsewhere/file"
	exists ~/elsewhere/file
	fence rm -rf ~/elsewhere
	rc_not 0
	exists ~/elsewhere/file
	recorded delete deny "$HOME/elsewhere"
}

# A remote that is there and would take it.
repository() {
	git init -q --bare ~/remote.git
	git init -q .
	git add file
	git commit -q -m one
	git remote add origin ~/remote.git
}

t_push_to_trunk() {
	local how
	repository
	for how in "git push origin main" "git push -q origin HEAD:main" "git push origin +main" "git push --all origin" \
		"git -C . push origin HEAD:refs/heads/main" "git push origin main:main" "git push --mirror origin"; do
		# shellcheck disable=SC2086
		fence $how
		rc_not 0 "$how"
		grep -q '^pale: denied exec' "$S/err" || grep -q '^pale: .*denied' "$S/err" || fail "no reason for: $how"
	done
	[ -z "$(git -C ~/remote.git for-each-ref)" ] || fail "the remote has changed"
	fsh 'git push origin main'
	rc_not 0
	denied exec "git push origin main"
	recorded exec deny "git push origin main"
}

# One who listens, and what was heard.
listener() {
	python3 -c '
import socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(4)
print(s.getsockname()[1], flush=True)
while True:
    s.accept()
    print("heard", flush=True)' >"$S/heard" &
	LISTENER=$!
	until_true 5 test -s "$S/heard" || fail "the listener does not start"
	PORT=$(head -1 "$S/heard")
}

t_curl() {
	need curl
	fence curl -sS -m 5 https://example.org/
	rc_not 0
	grep -qE '^pale: denied (resolve|connect) example.org' "$S/err" || fail "no reason"
	recorded 'resolve|connect' deny example.org
	out_is ""
}

t_nothing_is_sent() {
	need curl
	listener
	policy <<-EOF2
		[network]
		deny = localhost:$PORT
	EOF2
	fence curl -sS -m 5 "http://127.0.0.1:$PORT/"
	rc_not 0
	denied connect "127.0.0.1:$PORT"
	fence curl -sS -m 5 "http://localhost:$PORT/"
	rc_not 0
	fsh "echo secret > /dev/tcp/127.0.0.1/$PORT"
	rc_not 0
	fence python3 -c "import socket; socket.create_connection(('127.0.0.1', $PORT))"
	rc_not 0
	[ "$(wc -l <"$S/heard")" = 1 ] || fail "the listener heard something"
	kill $LISTENER
}

t_local_server() {
	need curl
	listener
	printf '[network]\nallow = localhost:%s\n' "$PORT" | policy
	fence python3 -c "import socket; socket.create_connection(('127.0.0.1', $PORT)).close(); print('open')"
	rc_is 0
	out_is open
	until_true 5 grep -q heard "$S/heard" || fail "nothing arrived"
	recorded connect allow ":$PORT"
	kill $LISTENER
}

t_asked_and_approved() {
	local id
	repository
	printf '[commands]\nask = touch\n' | policy
	# The command the operator types is his own word; what it starts is the agent's.
	fence touch by-operator
	rc_is 0
	exists by-operator
	bg asked bash -c 'touch asked-for && echo done'
	id=$(pending_id) || exit 1
	missing asked-for
	kill -0 $BG || fail "it did not wait"
	pale pending >"$S/pending"
	grep -q 'touch' "$S/pending" || fail "pale pending does not show the command"
	grep -q 'asked-for' "$S/pending" || fail "pale pending does not show the argument"
	# shellcheck disable=SC2086
	run pale approve "$id"
	rc_is 0
	bg_wait asked
	rc_is 0
	out_is "done"
	exists asked-for
	recorded approval/request '[a-z]*' "touch asked-for"
	recorded approval/decision '[a-z]*' "touch asked-for"
	recorded exec allow "touch asked-for"
	verifies
}

t_asked_and_denied() {
	local id
	printf '[commands]\nask = touch asked-for\n' | policy
	bg asked bash -c 'touch asked-for; echo "status $?"'
	id=$(pending_id) || exit 1
	run pale deny "$id" --reason "not today"
	rc_is 0
	bg_wait asked
	rc_is 0
	out_is "status 126"
	denied exec "touch asked-for"
	err_has "not today"
	missing asked-for
	recorded approval/decision '[a-z]*' "not today"
	verifies
}

t_log_lists_all() {
	fsh 'cat file; cat ~/.ssh/id_rsa; echo x > ../outside; rm -f ~/elsewhere/file'
	run pale log
	rc_is 0
	out_has "cat file"
	out_has ".ssh/id_rsa"
	out_has "outside"
	out_has "elsewhere/file"
	run pale log --verdict deny
	rc_is 0
	out_lacks "cat file"
	out_has ".ssh/id_rsa"
	run pale log --op delete
	out_has "elsewhere/file"
	out_lacks ".ssh/id_rsa"
	run pale log --path "$HOME/.ssh" --json
	rc_is 0
	[ "$(wc -l <"$S/out")" -ge 1 ] || fail "--path finds nothing"
	while read -r line; do
		python3 -m json.tool <<<"$line" >/dev/null || fail "not JSON: $line"
		grep -qF .ssh <<<"$line" || fail "--path lets through: $line"
	done <"$S/out"
	verifies
}

t_explain_by_id() {
	local id
	fence cat ~/.ssh/id_rsa
	id=$(sed -n 's/.*see: pale explain \([0-9a-f]*\).*/\1/p' "$S/err" | head -1)
	[ -n "$id" ] || fail "no id"
	run pale explain "$id"
	rc_is 1
	out_has "$HOME/.ssh/id_rsa"
	out_has "sensitive = ~/.ssh"
}

scenario "$@"
