# Real agents from npm, driven by a scripted model: sourced after lib.sh by tests/t/work/agent.sh and
# by tests/agents/agents.sh.
#
# agent_need NAME installs the pinned package once, below the user's real home, or skips.
# play bare|fenced NAME STEPS runs one session; what came back is in $S/heard, one JSON line a step.

A=${A:-$(dirname "${BASH_SOURCE[0]}")}
CACHE=${PALE_AGENTS:-$(getent passwd "$(id -u)" | cut -d: -f6)/.cache/pale-agents}

declare -A PACKAGE=(
	[qwen]=@qwen-code/qwen-code@0.15.10
	[gemini]=@google/gemini-cli@0.61.0
	[opencode]=opencode-ai@1.18.33
	[claude]=@anthropic-ai/claude-code@2.1.330
	[codex]=@openai/codex@0.169.0
	[cline]=cline@3.0.65
	[pi]=@mariozechner/pi-coding-agent@0.73.1
	[copilot]=@github/copilot@1.0.102
	[droid]=droid@0.215.0
	[continue]=@continuedev/cli@1.5.47
	[kilo]=@kilocode/cli@7.7.7
)

# Where the program is called otherwise.
declare -A PROGRAM=(
	[continue]=cn
)

agent_dir() {
	local p=${PACKAGE[$1]}
	echo "$CACHE/$1-${p##*@}"
}

agent_program() {
	echo "$(agent_dir "$1")/node_modules/.bin/${PROGRAM[$1]:-$1}"
}

# The system's certificates, which node does not read by itself.
agent_npm() {
	local certs=/etc/ssl/certs/ca-certificates.crt
	[ ! -r $certs ] || export NODE_EXTRA_CA_CERTS=$certs
	HOME=$CACHE npm_config_fetch_retries=0 timeout 120 npm install --no-audit --no-fund --prefix "$@"
}

agent_install() {
	local dir temp
	dir=$(agent_dir "$1")
	[ ! -x "$(agent_program "$1")" ] || return 0
	mkdir -p "$CACHE" || return 1
	temp=$(mktemp -d "$CACHE/new.XXXXXX") || return 1
	if agent_npm "$temp" "${PACKAGE[$1]}" >"$S/npm.log" 2>&1 && { rm -rf "$dir" && mv -T "$temp" "$dir"; }; then
		return 0
	fi
	rm -rf "$temp"
	return 1
}

agent_need() {
	need node npm python3 git curl
	agent_install "$1" ||
		skip "${PACKAGE[$1]} cannot be installed: $(grep -m1 'npm error [a-z]' "$S/npm.log" | cut -c1-120)"
}

# The same, but for what `make agents` has installed already.
agent_have() {
	[ "$T_LEVEL" != hooks ] || skip "level hooks refuses what is static"
	[ -x "$(agent_program "$1")" ] || skip "${PACKAGE[$1]} is not installed here: make agents"
	agent_need "$1"
}

# --- one function an agent: configuration in $HOME, the command line in CMD; $1 = port of the model ---

with_qwen() {
	mkdir -p ~/.qwen
	echo '{"security": {"auth": {"selectedType": "openai"}}, "usageStatisticsEnabled": false}' >~/.qwen/settings.json
	export OPENAI_API_KEY=fake OPENAI_MODEL=fake T_PASS=OPENAI_MODEL
	CMD=("$(agent_program qwen)" --auth-type openai --openai-base-url "http://127.0.0.1:$1/v1" --yolo -p go)
}

with_gemini() {
	mkdir -p ~/.gemini
	echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}}' \
		>~/.gemini/settings.json
	export GEMINI_API_KEY=fake GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:$1 T_PASS=GOOGLE_GEMINI_BASE_URL
	CMD=("$(agent_program gemini)" --yolo --skip-trust -m gemini-2.5-flash -p go)
}

# kin CONFIG: of opencode and its kin
kin() {
	mkdir -p "${1%/*}"
	cat >"$1" <<-END
		{"provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "models": {"fake": {}},
		  "options": {"baseURL": "http://127.0.0.1:$2/v1", "apiKey": "fake"}}},
		 "model": "fake/fake", "small_model": "fake/fake", "share": "disabled", "autoupdate": false,
		 "permission": {"edit": "allow", "bash": "allow", "external_directory": "allow", "read": "allow"}}
	END
}

with_opencode() {
	kin ~/.config/opencode/opencode.json "$1"
	export OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1 \
		OPENCODE_DISABLE_DEFAULT_PLUGINS=1 T_PASS=OPENCODE_*
	CMD=("$(agent_program opencode)" run go)
}

with_kilo() {
	kin ~/.config/kilo/kilo.json "$1"
	export KILO_DISABLE_MODELS_FETCH=1 KILO_DISABLE_DEFAULT_PLUGINS=1 KILO_DISABLE_SESSION_INGEST=1 \
		KILO_DISABLE_LSP_DOWNLOAD=1
	CMD=("$(agent_program kilo)" run --auto go)
}

with_claude() {
	export ANTHROPIC_BASE_URL=http://127.0.0.1:$1 ANTHROPIC_API_KEY=fake CLAUDE_CONFIG_DIR=$HOME/.claude \
		CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 \
		T_PASS="ANTHROPIC_BASE_URL CLAUDE_* DISABLE_AUTOUPDATER"
	CMD=("$(agent_program claude)" -p go --dangerously-skip-permissions --output-format stream-json --verbose)
}

with_codex() {
	mkdir -p ~/.codex
	cat >~/.codex/config.toml <<-END
		model = "gpt-5.5"
		model_provider = "fake"
		check_for_update_on_startup = false
		[analytics]
		enabled = false
		[model_providers.fake]
		name = "fake"
		base_url = "http://127.0.0.1:$1/v1"
		env_key = "FAKE_KEY"
		wire_api = "responses"
	END
	export FAKE_KEY=fake T_PASS=FAKE_KEY
	CMD=("$(agent_program codex)" exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox go)
}

with_cline() {
	mkdir -p ~/.cline/data/settings
	cat >~/.cline/data/settings/providers.json <<-END
		{"version": 1, "lastUsedProvider": "openai-compatible", "providers": {"openai-compatible": {
		  "settings": {"provider": "openai-compatible", "apiKey": "fake", "model": "fake",
		    "baseUrl": "http://127.0.0.1:$1/v1"},
		  "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}}}
	END
	CMD=("$(agent_program cline)" -P openai-compatible -m fake "go on")
}

with_pi() {
	mkdir -p ~/.pi/agent
	cat >~/.pi/agent/models.json <<-END
		{"providers": {"fake": {"baseUrl": "http://127.0.0.1:$1/v1", "api": "openai-completions", "apiKey": "fake",
		  "models": [{"id": "fake", "name": "fake", "reasoning": false, "input": ["text"],
		    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
		    "contextWindow": 128000, "maxTokens": 4096}]}}}
	END
	export PI_OFFLINE=1
	CMD=("$(agent_program pi)" --provider fake --model fake -p go)
}

with_copilot() {
	export COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:$1/v1 COPILOT_MODEL=fake COPILOT_OFFLINE=true
	CMD=("$(agent_program copilot)" -p go --allow-all-tools --allow-all-paths)
}

with_droid() {
	mkdir -p ~/.factory
	cat >~/.factory/settings.json <<-END
		{"customModels": [{"model": "fake", "displayName": "fake", "baseUrl": "http://127.0.0.1:$1/v1", "apiKey": "fake",
		  "provider": "generic-chat-completion-api", "maxOutputTokens": 4096}]}
	END
	export FACTORY_AIRGAP_ENABLED=1
	CMD=("$(agent_program droid)" exec --skip-permissions-unsafe -m custom:fake go)
}

with_continue() {
	mkdir -p ~/.continue
	cat >~/.continue/config.yaml <<-END
		name: fake
		version: 0.0.1
		schema: v1
		models:
		  - name: fake
		    provider: openai
		    model: fake
		    apiKey: fake
		    apiBase: http://127.0.0.1:$1/v1
		    roles: [chat]
		    capabilities: [tool_use]
	END
	CMD=("$(agent_program continue)" --config "$HOME/.continue/config.yaml" --auto -p go)
}

# --- a session --------------------------------------------------------------------------------------

# serve NAME PROGRAM ARG...: starts it in the background and leaves what it wrote to its port file in PORTS.
serve() {
	local port_file=$S/$1.port
	rm -f "$port_file"
	"${@:2}" >"$S/$1.server" 2>&1 &
	SERVERS+=($!)
	until_true 10 test -s "$port_file" || fail "$1 did not start: $(cat "$S/$1.server")"
	read -r -a PORTS <"$port_file"
}

SERVERS=()
servers_end() {
	[ ${#SERVERS[@]} = 0 ] || kill "${SERVERS[@]}" 2>/dev/null
	SERVERS=()
}

# Of this machine the model alone, and nothing where a browser is debugged.  RULES: lines of more sections.
local_ports() {
	printf '[session]\napprovals = never\n[network]\nallow = localhost:%s\ndeny = localhost:9222-9229\n%s\n' "$1" \
		"${RULES:-}" | policy
}

# play bare|fenced AGENT STEPS_FILE
play() {
	rm -f "$S/heard"
	serve model python3 "$A/model.py" "$2" "$3" "$S/heard" "$S/model.port"
	"with_$2" "${PORTS[0]}"
	${AFTER:+"$AFTER" "$2"}
	local_ports "${PORTS[0]}"
	case $1 in
	bare) run timeout -k 5 "${LIMIT:-120}" "${CMD[@]}" ;;
	fenced) run timeout -k 5 "${LIMIT:-120}" pale run -q ${OPTS[@]+"${OPTS[@]}"} -- "${CMD[@]}" ;;
	esac
	servers_end
}

# heard KIND [WORD]: what the model was told by the steps of that kind whose words hold WORD.
heard() {
	[ ! -e "$S/heard" ] || python3 - "$S/heard" "$@" <<-'END'
		import json, sys
		for line in open(sys.argv[1]):
		    r = json.loads(line)
		    if r.get("kind") == sys.argv[2] and all(w in " ".join(r["words"]) for w in sys.argv[3:]):
		        print(r["result"])
	END
}

all_steps() {
	[ "$(steps_heard)" = "$(wc -l <"$S/steps")" ] || fail "the agent came back from $(steps_heard) steps"
}

steps_heard() {
	[ -e "$S/heard" ] || { echo 0 && return; }
	grep -c '"step"' "$S/heard"
}
