# limit: 60
# What an agent is given of the operator's environment: standard names, what rules and -e name, and nothing else.
. "$T_LIB"

# These are about what pale does by itself.
pale() {
	"$T_STAGE/bin/pale" "$@"
}

# gets [OPTIONS...]: the names that a command gets, with values.
gets() {
	run pale run "$@" -- env
	rc_is 0
}

t_built_from_nothing() {
	export FOO=1 MY_SECRET=geheim AWS_SECRET_ACCESS_KEY=geheim SSH_AUTH_SOCK=/x NODE_OPTIONS=--trace-warnings \
		BASH_ENV=/x LC_SECRET=geheim DISPLAY=:9 GIT_SSH_COMMAND=x EDITOR=vim CARGO_HOME=/c LC_TIME=C \
		http_proxy=ana:geheim@proxy:3128 https_proxy=http://proxy:3128 CFLAGS="-O2 -DAPI_TOKEN=geheim" \
		GOPROXY=https://geheim@proxy/
	gets
	out_has "PATH="
	out_has "HOME=$HOME"
	out_has "TERM="
	out_has "EDITOR=vim"
	out_has "CARGO_HOME=/c"
	out_has "LC_TIME=C"
	out_has "https_proxy=http://proxy:3128"
	out_has "PALE_SESSION_DIR="
	out_lacks geheim
	out_lacks FOO=
	out_lacks T_LIB=
	out_lacks SSH_AUTH_SOCK
	out_lacks NODE_OPTIONS
	out_lacks BASH_ENV
	out_lacks DISPLAY
	out_lacks GIT_SSH_COMMAND=x
	out_lacks PALE_PROMPT
}

t_what_others_preload_is_not_taken_along() {
	run env LD_PRELOAD=libutil.so.1 "$T_STAGE/bin/pale" run -q -- env
	rc_is 0
	out_has "LD_PRELOAD=$T_STAGE"
	out_lacks libutil
}

t_secrets_of_the_list() {
	export GH_TOKEN=fromenvironment OPENAI_API_KEY=fromenvironment2 ANTHROPIC_API_KEY=
	mkdir ws &&
		printf 'export GH_TOKEN="fromfile"\r\nOPENAI_API_KEY=\nANTHROPIC_API_KEY='"'from file'"'\nOTHER=x\nPATH=/evil\n' >.env
	run pale run -q -w ws -- env
	rc_is 0
	# The environment goes first, the file fills, and what it leaves empty is withheld.
	out_has GH_TOKEN=fromenvironment
	out_lacks OPENAI_API_KEY
	out_has "ANTHROPIC_API_KEY=from file"
	out_lacks OTHER
	out_lacks /evil
}

t_the_file_beside_a_workspace() {
	mkdir workspace && printf 'GCLOUD_PROJECT=p1\n' >.env
	cd workspace
	gets
	out_has GCLOUD_PROJECT=p1
}

t_a_file_that_the_agent_may_write_only_takes() {
	export GH_TOKEN=mine
	printf 'GH_TOKEN=\nOPENAI_API_KEY=planted\n' >.env
	gets
	out_lacks GH_TOKEN
	out_lacks planted
	err_has ".env:2"
	err_has "an agent could have written this file"
	# It cannot keep its owner from starting either.
	printf 'GH_TOKEN\n' >.env
	gets
	out_has GH_TOKEN=mine
	err_has ".env:1"
}

t_bad_files_are_named() {
	mkdir workspace && cd workspace
	printf 'A=1\nGH_TOKEN="open\n' >../.env
	run pale run -q -- true
	rc_is 125
	err_has ".env:"
	err_has ".env:2:10: error: a quote that is not closed"
	printf 'GH_TOKEN=a\0b\n' >../.env
	run pale run -q -- true
	rc_is 125
	err_has ".env:1"
	{ printf 'A=1\nGH_TOKEN=' && head -c 140000 /dev/zero | tr '\0' x && echo; } >../.env
	run pale run -q -- true
	rc_is 125
	err_has ".env:2"
	err_has "too long"
	printf 'GH_TOKEN="two\nlines"\n' >../.env
	run pale run -q -- true
	rc_is 125
	err_has ".env:1:10: error: a quote that is not closed in its line"
	printf 'GH_TOKEN="two\\nlines"\n' >../.env
	gets
	out_has "GH_TOKEN=two"
	# Of two the last, as for who else reads it; but one that is taken away stays so.
	printf 'GH_TOKEN=a\nGH_TOKEN=b\n' >../.env
	gets
	out_has "GH_TOKEN=b"
	printf 'GH_TOKEN=\nGH_TOKEN=b\n' >../.env
	gets
	out_lacks GH_TOKEN
	rm ../.env && mkfifo ../.env
	run timeout 20 "$T_STAGE/bin/pale" run -q -- true
	rc_is 0
}

t_rules() {
	policy <<-'END'
		[environment]
		pass = FOO
		pass = APP_*
		deny = EDITOR
		deny = GH_*
		set = ADDED=one two
	END
	export FOO=1 APP_PORT=2 APP_TOKEN=geheim EDITOR=vim GH_TOKEN=geheim
	gets
	out_has FOO=1
	out_has APP_PORT=2
	out_has "ADDED=one two"
	out_lacks geheim
	out_lacks EDITOR
	# What a rule denies no option gives.
	gets -e GH_TOKEN -e EDITOR=emacs -e ADDED=three
	out_lacks geheim
	out_lacks EDITOR
	out_has ADDED=three
}

t_too_broad() {
	printf '[environment]\npass = *\n' | policy
	run pale lint
	rc_is 1
	out_has too-broad
	export MY_SECRET=geheim NODE_OPTIONS=--x FOO=1
	gets
	out_has FOO=1
	out_lacks geheim
	out_lacks NODE_OPTIONS
}

t_options() {
	export FOO=1 MY_TOKEN=geheim BAR_ONE=2
	gets -e FOO -e MY_TOKEN -e 'BAR_*' -e NEW=3 -e NOSUCH
	out_has FOO=1
	out_has MY_TOKEN=geheim
	out_has BAR_ONE=2
	out_has NEW=3
	out_lacks NOSUCH
	local bad
	for bad in LD_PRELOAD LD_PRELOAD=/x PALE_SESSION_DIR=/x LD_AUDIT=x 1A=x A-B=x =x ''; do
		run pale run -q -e "$bad" -- true
		rc_is 125 "-e $bad"
	done
}

# The agent's secrets are kept out of the ledger, wherever they came from.
t_the_ledger_masks_what_the_file_gave() {
	mkdir workspace && printf 'GCLOUD_PROJECT=geheim-aus-datei\n' >.env
	cd workspace
	run pale run -q -- bash -c '/bin/true "x$GCLOUD_PROJECT"'
	rc_is 0
	ledgers | grep -q '/bin/true x\*\*\*' || fail "not masked: $(ledgers | grep /bin/true)"
}

t_nested() {
	export FOO=1 BAR=2
	run pale run -q -e FOO -- bash -c '
		export MINE=3
		pale run -q -- env | grep -E "^(FOO|BAR|MINE)=" | sort
		pale run -q --preset review -e NEW=4 -- env | grep -E "^(FOO|BAR|MINE|NEW)=" | sort
		pale run -q -e JOINED=5 -- env | grep ^JOINED=
		pale run -q -e LD_PRELOAD=/x -- true; echo "status $?"'
	out_is "FOO=1
MINE=3
FOO=1
MINE=3
NEW=4
JOINED=5
status 125"
}

# Seed 003: what a controller holds does not reach the agent; the keys of its models do.
t_credentials_of_a_controller() {
	local name
	for name in GITHUB_TOKEN RUNNER_TOKEN JWT_SECRET OPENCODE_SERVER_PASSWORD OP_SERVICE_ACCOUNT_TOKEN DO_WS_URL; do
		export $name=geheim
	done
	export ANTHROPIC_API_KEY=a OPENAI_API_KEY=o GOOGLE_API_KEY=g
	gets
	out_lacks geheim
	out_has ANTHROPIC_API_KEY=a
	out_has OPENAI_API_KEY=o
	out_has GOOGLE_API_KEY=g
	# Nor is it found in what `pale run` and the processes above it have.
	fsh 'cat /proc/[0-9]*/environ | tr "\0" "\n" | grep -a geheim; true'
	out_is ""
}

t_pale_env() {
	export MY_SECRET=geheim1 GH_TOKEN=geheim2 FOO=geheim3 EDITOR=vim CFLAGS=-O2
	run pale env
	rc_is 0
	out_has "EDITOR=vim"
	out_has "CFLAGS=-O2"
	# What pale itself sets is no secret.
	run pale env --agent claude
	out_has "IS_SANDBOX=1	# set by agent claude:"
	run pale env
	out_has "GH_TOKEN=**** (7 bytes)"
	out_has "passed by rule preset agent:"
	out_lacks geheim
	out_lacks MY_SECRET
	run pale env --all -e FOO -- bash
	rc_is 0
	out_has "MY_SECRET=****"
	out_has "its name says that it is a secret"
	out_has "asked for with -e"
	out_lacks geheim
	run pale env --json --all
	rc_is 0
	python3 - "$S/out" <<-'END' || fail "the JSON"
		import json, sys
		e = {x["name"]: x for x in json.load(open(sys.argv[1]))}
		assert e["EDITOR"]["value"] == "vim" and e["EDITOR"]["given"]
		assert e["GH_TOKEN"]["value"] == "****" and e["GH_TOKEN"]["length"] == 7 and "agent:" in e["GH_TOKEN"]["where"]
		assert not e["MY_SECRET"]["given"] and "geheim" not in open(sys.argv[1]).read()
	END
	run pale env --nosuch
	rc_is 2
}

scenario "$@"
