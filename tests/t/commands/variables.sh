# levels: full strict hooks
# limit: 120
# Variables that change what a command does (policy/question/environ_targets.def): no allow covers it where the
# session set one otherwise than it began.
. "$T_LIB"

# stubs NAME...: programs of that name, first on PATH, that say that they ran.
stubs() {
	local name
	mkdir -p "$S/stubs"
	for name; do
		printf '#!/bin/sh\necho "%s ran"\n' "$name" >"$S/stubs/$name"
		chmod 755 "$S/stubs/$name"
	done
	PATH=$S/stubs:$PATH
}

t_variables() {
	stubs npm kubectl curl docker cargo
	policy <<-'END'
		preset = bridge
		[commands]
		default = deny
		allow = bash
		allow = sh
		allow = env
		allow = npm publish
		allow = kubectl get
		allow = curl https://example.org/
		allow = docker ps
		allow = cargo publish
	END
	export KUBECONFIG=$HOME/staging
	OPTS=(-w . -e KUBECONFIG)
	cat >same <<-END
		npm publish
		kubectl get pods
		curl https://example.org/
		docker ps
		cargo publish
		env A=1 FOO=2 npm publish
		npm_config_cache=/c npm_config_user_agent=x npm publish
		npm_config_userconfig=$HOME/.npmrc npm publish
		CARGO_HOME=$HOME/.cargo cargo publish
		MAKEFLAGS=-j2 GIT_DIR=.git npm publish
		KUBECONFIG=$HOME/staging kubectl get pods
		KUBECONFIG=/w/prod npm publish
	END
	cat >other <<-END
		npm_config_registry=http://127.0.0.1:9/ npm publish a
		NPM_CONFIG_USERCONFIG=$W/rc npm publish b
		HOME=$W npm publish c
		env npm_config_registry=http://127.0.0.1:9/ npm publish d
		KUBECONFIG=/w/prod kubectl get e
		env -u KUBECONFIG kubectl get f
		CURL_HOME=$W curl https://example.org/
		DOCKER_HOST=tcp://127.0.0.1:9 docker ps
		CARGO_REGISTRIES_X_INDEX=http://127.0.0.1:9/ cargo publish
	END
	fsh ". ./same"
	[ "$(grep -c " ran" "$S/out")" = 12 ] || fail "what is as it was"
	fsh ". ./other"
	# Nobody looks at level hooks.
	if [ "$T_LEVEL" = hooks ]; then
		[ "$(grep -c " ran" "$S/out")" = 9 ] || fail "what is not looked at"
	else
		out_lacks " ran"
		sed -n 's/.*that the session began with: \(.*\) changes what it does).*/\1/p' "$S/err" >"$S/names"
		file_is "$S/names" "npm_config_registry
NPM_CONFIG_USERCONFIG
HOME
npm_config_registry
KUBECONFIG
KUBECONFIG
CURL_HOME
DOCKER_HOST
CARGO_REGISTRIES_X_INDEX"
	fi
	# What a rule denies stays as it is, and its reason; so does what no allow decides.
	printf 'preset = bridge\n[commands]\ndefault = allow\ndeny = npm publish\n' | policy
	fsh "DOCKER_HOST=tcp://127.0.0.1:9 docker ps; npm_config_registry=http://127.0.0.1:9/ npm publish"
	out_is "docker ran"
	err_has "deny = npm publish)"
}

# What npm itself gives the scripts that it runs.
t_variables_of_npm() {
	need npm node
	mkdir p
	cd p
	printf '{"name":"a","version":"1.0.0","scripts":{"rel":"npm pack --silent"}}' >package.json
	printf '[commands]\ndefault = deny\nallow = bash\nallow = sh\nallow = node\nallow = npm run\nallow = npm pack\n' |
		policy
	fsh "npm run --silent rel"
	exists a-1.0.0.tgz
	rm a-1.0.0.tgz
	[ "$T_LEVEL" != hooks ] || return 0
	# From a file it reaches them as a variable, too, and nobody can tell that.
	echo "registry=http://127.0.0.1:9/" >.npmrc
	fsh "npm run --silent rel"
	err_has "npm_config_registry changes what it does"
	missing a-1.0.0.tgz
}

# A card names it, and so does the denial where nobody can be asked.
t_variables_are_asked() {
	[ "$T_LEVEL" != hooks ] || skip "nobody looks at level hooks"
	local id
	stubs docker
	printf '[session]\napprovals = ask\n[commands]\ndefault = ask\nallow = bash\nallow = sh\nallow = docker ps\n' | policy
	OPTS=(-n)
	fsh "docker ps; DOCKER_HOST=tcp://127.0.0.1:9 docker ps"
	out_is "docker ran"
	err_has "DOCKER_HOST changes what it does"
	OPTS=()
	bg b bash -c "DOCKER_HOST=tcp://127.0.0.1:9 docker ps"
	id=$(pending_id) || exit 1
	run pale pending
	out_has DOCKER_HOST
	out_has "covers only the environment that the session began with"
	run pale approve "$id" --yes
	bg_wait b
	out_is "docker ran"
}

scenario "$@"
