# limit: 60
# needs: root
# The seed's three network modes, with preset bridge and real servers (story/seed.sh has the rest).
. "$T_LIB"
. "$(dirname "$T_LIB")/netlab.sh"

# "Every agent process is confined to a dedicated `workspace/` subfolder. The bridge remains the trusted
# orchestrator in the root directory."
bridge() {
	B=$HOME/bridge
	mkdir -p "$B/workspace" "$B/src" "$B/logs"
	cd "$B" || exit 99
	echo "GH_TOKEN=$DECOY" >.env && chmod 600 .env
	echo "{}" >sessions.json
	echo "$DECOY" >src/bridge.ts
	cd workspace || exit 99
	OPTS=(--preset bridge)
}

# "STRICT: Only core developer domains (GitHub, Google, Wikipedia, NPM, PyPI). MERGE (Default): Core domains +
# User-provided WHITE_LIST_DOMAINS. REPLACE: User-provided domains only."
t_network() {
	lab
	bridge
	mode() {
		printf 'SANDBOX_NETWORK_MODE=%s\nWHITE_LIST_DOMAINS=own.example\n' "$1" >../.env
		chmod 600 ../.env
	}
	reach() {
		fence curl -sS -m 5 -k "$2"
		case $1 in
		yes) out_has good ;;
		no) rc_not 0 "$2" && out_lacks good ;;
		esac
	}
	mode MERGE
	reach yes http://own.example/hello
	reach yes https://registry.npmjs.org/hello
	reach no http://www.own.example/hello
	mode STRICT
	reach no http://own.example/hello
	reach yes https://registry.npmjs.org/hello
	mode REPLACE
	reach yes http://own.example/hello
	reach no https://registry.npmjs.org/hello
	only_the_good
}

scenario "$@"
