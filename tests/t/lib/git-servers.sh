# Real git servers on loopback, of the test's own, run by the test's own user: sourced after lib.sh.
#
#   upstream NAME [OPTION...]   a bare repository that all of them serve but gitolite; OPTIONs are git init's
#   serve_http, serve_https     git http-backend behind lighttpd, with a password; https by a CA of the test's own
#   serve_ssh                   sshd and git-shell, with keys of the test's own
#   serve_daemon                git-daemon
#   serve_gitolite              gitolite3 behind a sshd: `release` is protected, a hook refuses `locked`
#   serve_cutting URL           in front of an HTTP_URL: loses the connection of the next push where `before` or `after`
#                               (it reached the server) stands in $FORGE/cut; sets CUTTING_URL
#   serve_end                   ends them, by pid; they end with the test, too
#
# Each sets its URL: HTTP_URL, HTTPS_URL, SSH_URL, DAEMON_URL, GITOLITE_URL; a repository is URL/NAME.git.  Where a
# package is missing the test is skipped.  The operator (~) can use each of them: ~/.git-credentials has the password
# FORGE_SECRET, ~/.ssh/id_forge is the key, ~/.gitconfig names the CA and ssh's configuration.  What git
# shows of a password is never equal for two tests.

FORGE=$T_SCRATCH/forge
FORGE_USER=tess
FORGE_SECRET=sentinel-$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
FORGE_PATH=$PATH:/usr/sbin:/sbin

# serve_needs PROGRAM PACKAGE: sets PROGRAM to its path, or skips.
serve_needs() {
	PROGRAM=$(PATH=$FORGE_PATH command -v "$1") || skip "$1 is not installed (package $2)"
}

# Ports that are free now; two tests run side by side.
serve_port() {
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

serve_begin() {
	[ -d "$FORGE" ] || mkdir -m 700 "$FORGE" "$FORGE/git"
	PORT=$(serve_port)
}

# It ends with the test: sshd writes its title over its environment, and so over the mark that the runner looks for.
serve_run() {
	exec setpriv --pdeathsig TERM "$@"
}

# serve_wait PORT LOG: until something listens there.
serve_wait() {
	echo $! >>"$FORGE/pids"
	until_true 10 bash -c "exec 3<>/dev/tcp/127.0.0.1/$1" || fail "no server: $(cat "$2")"
}

serve_end() {
	local pid
	[ -e "$FORGE/pids" ] || return 0
	while read -r pid; do
		kill "$pid" && wait "$pid"
	done <"$FORGE/pids" 2>/dev/null
	rm "$FORGE/pids"
}

# --- what they serve ----------------------------------------------------------------------------------

# An update hook that refuses a branch `locked`, a session's too, and says more than a line about it.
upstream() {
	local name=$1
	shift
	mkdir -p -m 700 "$FORGE/git"
	git init -q --bare "$@" "$FORGE/git/$name.git" || fail "upstream $name"
	upstream_settings "$FORGE/git/$name.git"
}

upstream_settings() {
	git -C "$1" config http.receivepack true
	git -C "$1" config receive.advertisePushOptions true
	git -C "$1" config uploadpack.allowFilter true
	git -C "$1" config uploadpack.allowAnySHA1InWant true
	git -C "$1" config gc.auto 0
	upstream_hook "$1/hooks/update" '"$1"'
}

# upstream_hook FILE REF
upstream_hook() {
	cat >"$1" <<-END
		#!/bin/sh
		case $2 in
		refs/heads/locked | refs/heads/session/*/locked) echo "locked: ask the release team" >&2 && exit 1 ;;
		esac
	END
	chmod 755 "$1"
}

# --- http and https -----------------------------------------------------------------------------------

# serve_web NAME PORT LINE...
serve_web() {
	local name=$1 port=$2
	shift 2
	serve_needs lighttpd lighttpd
	mkdir -p "$FORGE/uploads"
	echo "$FORGE_USER:$FORGE_SECRET" >"$FORGE/passwords"
	cat >"$FORGE/$name.conf" <<-END
		server.document-root = "$FORGE/git"
		server.bind = "127.0.0.1"
		server.port = $port
		server.upload-dirs = ( "$FORGE/uploads" )
		server.errorlog = "$FORGE/$name.error.log"
		server.modules = ( "mod_auth", "mod_authn_file", "mod_cgi", "mod_alias", "mod_setenv", "mod_accesslog" )
		accesslog.filename = "$FORGE/$name.log"
		auth.backend = "plain"
		auth.backend.plain.userfile = "$FORGE/passwords"
		auth.require = ( "/" => ( "method" => "basic", "realm" => "git", "require" => "valid-user" ) )
		alias.url = ( "/" => "$(git --exec-path)/git-http-backend/" )
		cgi.assign = ( "" => "" )
		setenv.add-environment = ( "GIT_PROJECT_ROOT" => "$FORGE/git", "GIT_HTTP_EXPORT_ALL" => "1" )
		$(printf '%s\n' "$@")
	END
	serve_run "$PROGRAM" -D -f "$FORGE/$name.conf" >"$FORGE/$name.out" 2>&1 </dev/null &
	serve_wait "$port" "$FORGE/$name.out"
}

# What the operator's git takes for a server: serve_password URL
serve_password() {
	git config --global credential.helper store
	(umask 077 && echo "${1%%://*}://$FORGE_USER:$FORGE_SECRET@${1#*://}" >>"$HOME/.git-credentials")
}

serve_http() {
	serve_begin
	serve_web http "$PORT"
	HTTP_URL=http://127.0.0.1:$PORT
	serve_password "$HTTP_URL"
}

serve_https() {
	serve_begin
	[ -e /usr/lib/lighttpd/mod_openssl.so ] || skip "lighttpd has no TLS here (package lighttpd-mod-openssl)"
	serve_certificate
	serve_web https "$PORT" 'server.modules += ( "mod_openssl" )' 'ssl.engine = "enable"' \
		"ssl.pemfile = \"$FORGE/site.pem\""
	HTTPS_URL=https://127.0.0.1:$PORT
	serve_password "$HTTPS_URL"
	git config --global "http.$HTTPS_URL.sslCAInfo" "$FORGE/ca.pem"
}

# A CA, and what it says of 127.0.0.1.
serve_certificate() {
	local key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
	(
		cd "$FORGE" || exit 1
		# shellcheck disable=SC2086 # words
		openssl req -x509 $key -days 2 -subj "/CN=the test's CA" -keyout ca.key -out ca.pem &&
			openssl req $key -subj /CN=localhost -keyout site.key -out site.csr &&
			echo subjectAltName=IP:127.0.0.1,DNS:localhost >site.names &&
			openssl x509 -req -in site.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile site.names -out site.crt &&
			cat site.key site.crt >site.pem
	) >"$FORGE/openssl.log" 2>&1 || fail "openssl: $(cat "$FORGE/openssl.log")"
}

# --- ssh ----------------------------------------------------------------------------------------------

# serve_sshd NAME COMMAND: one at PORT, which runs COMMAND for the operator's key and for no other.
serve_sshd() {
	local name=$1
	serve_needs sshd openssh-server
	serve_keys
	echo "restrict,command=\"$2\" $(cat "$HOME/.ssh/id_forge.pub")" >"$FORGE/$name.authorized"
	cat >"$FORGE/$name.sshd" <<-END
		ListenAddress 127.0.0.1
		Port $PORT
		HostKey $FORGE/host_key
		AuthorizedKeysFile $FORGE/$name.authorized
		AcceptEnv GIT_PROTOCOL
		PasswordAuthentication no
		KbdInteractiveAuthentication no
		StrictModes no
		UsePAM no
		PidFile none
	END
	printf '[127.0.0.1]:%s %s\n' "$PORT" "$(cut -d' ' -f1,2 "$FORGE/host_key.pub")" >>"$FORGE/known_hosts"
	serve_run "$PROGRAM" -D -e -f "$FORGE/$name.sshd" >"$FORGE/$name.sshd.log" 2>&1 </dev/null &
	serve_wait "$PORT" "$FORGE/$name.sshd.log"
}

# ssh asks the user database for a home, so git is told of the configuration in this one.
serve_keys() {
	[ ! -e "$FORGE/host_key" ] || return 0
	ssh-keygen -q -t ed25519 -N '' -C host -f "$FORGE/host_key" &&
		ssh-keygen -q -t ed25519 -N '' -C forge -f "$HOME/.ssh/id_forge" || fail "ssh-keygen"
	cat >"$FORGE/ssh_config" <<-END
		UserKnownHostsFile $FORGE/known_hosts
		GlobalKnownHostsFile /dev/null
		StrictHostKeyChecking yes
		IdentityFile $HOME/.ssh/id_forge
		IdentitiesOnly yes
	END
	git config --global core.sshCommand "ssh -F $FORGE/ssh_config"
}

serve_ssh() {
	serve_begin
	serve_sshd ssh 'git-shell -c \"$SSH_ORIGINAL_COMMAND\"'
	SSH_URL=ssh://$(id -un)@127.0.0.1:$PORT$FORGE/git
}

# --- gitolite -----------------------------------------------------------------------------------------

serve_gitolite() {
	local home=$FORGE/gitolite
	serve_begin
	serve_needs gitolite gitolite3
	serve_keys
	mkdir -p "$home/.gitolite/conf" "$home/.gitolite/logs"
	cp "$HOME/.ssh/id_forge.pub" "$FORGE/$FORGE_USER.pub"
	(
		export HOME=$home && cd "$home" || exit 1
		git config --global init.defaultBranch main
		cat >.gitolite.rc <<-'END'
			%RC = (UMASK => 0077, ROLES => { READERS => 1, WRITERS => 1 }, ENABLE => []);
			1;
		END
		gitolite setup -pk "$FORGE/$FORGE_USER.pub" || exit 1
		printf 'repo project\n\t-   refs/heads/(session/[^/]*/)?release$ = %s\n\tRW+ = %s\n' $FORGE_USER $FORGE_USER \
			>.gitolite/conf/gitolite.conf
		gitolite compile || exit 1
		git -C repositories/project.git config receive.advertisePushOptions true
		cat >repositories/project.git/hooks/pre-receive <<-'END'
			#!/bin/sh
			! grep -qE ' refs/heads/(session/.*/)?locked$' || { echo "locked: ask the release team" >&2; exit 1; }
		END
		chmod 755 repositories/project.git/hooks/pre-receive
	) >"$FORGE/gitolite.log" 2>&1 || fail "gitolite: $(cat "$FORGE/gitolite.log")"
	serve_sshd gitolite "env HOME=$home /usr/share/gitolite3/gitolite-shell $FORGE_USER"
	GITOLITE_URL=ssh://$(id -un)@127.0.0.1:$PORT
}

# --- git-daemon ---------------------------------------------------------------------------------------

serve_daemon() {
	serve_begin
	[ -x "$(git --exec-path)/git-daemon" ] || skip "git-daemon is not installed (package git)"
	serve_run "$(git --exec-path)/git-daemon" --reuseaddr --listen=127.0.0.1 --port="$PORT" \
		--base-path="$FORGE/git" --export-all --enable=receive-pack "$FORGE/git" >"$FORGE/daemon.log" 2>&1 </dev/null &
	serve_wait "$PORT" "$FORGE/daemon.log"
	DAEMON_URL=git://127.0.0.1:$PORT
}

# --- a network that fails -----------------------------------------------------------------------------

serve_cutting() {
	serve_begin
	serve_run python3 - "$PORT" "${1##*:}" "$FORGE/cut" >"$FORGE/cutting.log" 2>&1 <<-'END' &
		import os, select, socket, sys, threading
		port, server, cut = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
		def when(data):
		    if b"POST " not in data or b"git-receive-pack HTTP" not in data or not os.path.exists(cut):
		        return None
		    said = open(cut).read().strip()
		    os.remove(cut)
		    return said
		def carry(client):
		    upstream = socket.create_connection(("127.0.0.1", server))
		    mode = None
		    while True:
		        for s in select.select([client, upstream], [], [])[0]:
		            data = s.recv(65536)
		            if s is client:
		                mode = mode or when(data)
		            if not data or mode == "before" or mode == "after" and s is upstream:
		                return client.close(), upstream.close()
		            (upstream if s is client else client).sendall(data)
		listener = socket.create_server(("127.0.0.1", port))
		while True:
		    threading.Thread(target=carry, args=(listener.accept()[0],), daemon=True).start()
	END
	serve_wait "$PORT" "$FORGE/cutting.log"
	CUTTING_URL=http://127.0.0.1:$PORT
	serve_password "$CUTTING_URL"
}
