# limit: 60
# The servers that the scenarios of the gate use are what they say: proved with bare git, without pale.
. "$T_LIB"
. "$(dirname "$T_LIB")/git-servers.sh"

# Clone, push, fetch, a refused ref, and what the hook said.
proved() {
	local url=$1
	git clone -q "$url" one 2>"$S/err" || fail "clone $url"
	git -C one checkout -q -B main && echo 1 >one/file && git -C one add file && git -C one commit -q -m one
	run git -C one push -q origin main
	rc_is 0 "push to $url"
	git clone -q "$url" two && file_is two/file 1
	git -C two commit -q --allow-empty -m two && git -C two push -q origin main:topic -o ci.skip || fail "push a branch"
	git -C one fetch -q && [ "$(git -C one rev-parse origin/topic)" = "$(git -C two rev-parse main)" ] || fail "fetch"
	run git -C one push origin main:locked
	rc_is 1
	err_has "remote: locked: ask the release team"
	err_has "! [remote rejected] main -> locked"
	run git -C one ls-remote origin
	out_lacks locked
	out_has refs/heads/topic
}

t_http() {
	serve_http
	upstream project
	proved "$HTTP_URL/project.git"
	wrong_password "$HTTP_URL"
	run git ls-remote "$HTTP_URL/missing.git"
	rc_is 128
	err_has "not found"
}

t_https() {
	serve_https
	upstream project
	proved "$HTTPS_URL/project.git"
	wrong_password "$HTTPS_URL"
	run git -c "http.$HTTPS_URL.sslCAInfo=/etc/ssl/certs/ca-certificates.crt" ls-remote "$HTTPS_URL/project.git"
	rc_is 128
	err_has certificate
}

wrong_password() {
	local git="env GIT_TERMINAL_PROMPT=0 git -c credential.helper="
	run $git ls-remote "${1%%://*}://$FORGE_USER:wrong@${1#*://}/project.git"
	rc_is 128
	err_has "Authentication failed"
	run $git ls-remote "$1/project.git"
	rc_is 128
	err_has "could not read Username"
}

t_ssh() {
	serve_ssh
	upstream project
	proved "$SSH_URL/project.git"
	wrong_key "$SSH_URL/project.git"
	# It is git-shell: no shell, and no other program.
	run ssh -F "$FORGE/ssh_config" -p "$PORT" 127.0.0.1 id
	rc_is 128
	err_has "unrecognized command"
}

wrong_key() {
	ssh-keygen -q -t ed25519 -N '' -f "$S/other" || fail ssh-keygen
	sed "s|^IdentityFile .*|IdentityFile $S/other|" "$FORGE/ssh_config" >"$S/other_config"
	run git -c "core.sshCommand=ssh -F $S/other_config" ls-remote "$1"
	rc_is 128
	err_has "Permission denied (publickey"
}

t_gitolite() {
	serve_gitolite
	proved "$GITOLITE_URL/project.git"
	wrong_key "$GITOLITE_URL/project.git"
	run git -C one push origin main:release
	rc_is 1
	err_has "refs/heads/release project"
	err_has "DENIED"
	run git ls-remote "$GITOLITE_URL/missing.git"
	rc_is 128
	err_has "DENIED"
}

t_daemon() {
	serve_daemon
	upstream project
	proved "$DAEMON_URL/project.git"
	run git ls-remote "$DAEMON_URL/missing.git"
	rc_is 128
	err_has "remote error"
}

# All of them beside one another, and none of them is left.
t_beside() {
	local began=${EPOCHREALTIME/./} pids pid
	serve_http
	serve_https
	serve_ssh
	serve_daemon
	[ $((${EPOCHREALTIME/./} - began)) -lt $((2000000 * ${SLOW:-1})) ] || fail "they take long to start"
	upstream project
	proved "$HTTPS_URL/project.git"
	for url in "$HTTP_URL" "$SSH_URL" "$DAEMON_URL"; do
		[ "$(git ls-remote "$url/project.git")" = "$(git ls-remote "$HTTPS_URL/project.git")" ] || fail "$url differs"
	done
	pids=$(cat "$FORGE/pids")
	serve_end
	for pid in $pids; do
		missing "/proc/$pid"
	done
}

scenario "$@"
