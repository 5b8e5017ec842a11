# limit: 60
# What a session changed that runs later is told at its end.
. "$T_LIB"

# With the last lines, which -q leaves out.
loud() {
	run pale run ${OPTS[@]+"${OPTS[@]}"} -- bash -c "$1"
	rc_is 0
	grep '^pale: changed, runs later: ' "$S/err" >"$S/told"
}

told() {
	grep -qxF "pale: changed, runs later: $1" "$S/told" || fail "not told: $1"
}

told_only() {
	local n=$#
	while [ $# != 0 ]; do
		told "$1"
		shift
	done
	[ "$(wc -l <"$S/told")" = "$n" ] || fail "told: $(cat "$S/told")"
}

t_what_runs_later() {
	mkdir -p .git/hooks src .github/workflows
	loud 'echo x >Makefile; echo x >src/conftest.py; echo x >README.md; echo x >src/main.c
		echo x >.github/workflows/a.yml; echo x >CLAUDE.md; echo x >"Dockerfile.a
b"; mkdir -p unit && echo x >unit/x.service
	echo x >.git/hooks/x.sample; mkdir -p sub; echo "gitdir: ../evil" >sub/.git'
	told_only 'Makefile (make)' 'src/conftest.py (python)' '.github/workflows/a.yml (continuous integration)' \
		'CLAUDE.md (the next agent)' 'Dockerfile.a\x0ab (a container)' 'unit/x.service (systemd or the desktop)' \
		'sub/.git (git)'
	run pale session show
	out_has 'runs later'
	out_has "$W/Makefile (make)"
	run pale session show --json
	python3 -c 'import json,sys; d=json.load(open(sys.argv[1]))["runs_later"]
assert d[sys.argv[2]+"/CLAUDE.md"]=="the next agent", d
assert not any("README" in k for k in d)' "$S/out" "$W" || fail "not in --json"
}

# Of each runner files that it runs or obeys; those of the last row are an agent's.
t_names() {
	sed 's/^\t*//' >names <<-'END'
		a build: .mvn/jvm.config .mvn/extensions.xml gradle/wrapper/gradle-wrapper.properties project/plugins.sbt
		a build: rust-toolchain.toml
		npm: .yarn/releases/yarn-4.cjs .yarn/plugins/x.cjs .yarn/plugins/@yarnpkg/x.cjs
		node: .prettierrc.js .prettierrc.cjs .mocharc.js .releaserc.js commitlint.config.js
		node: svelte.config.js astro.config.mjs cypress.config.ts
		python: .pylintrc
		R: .Rprofile
		ruby: .irbrc
		a debugger: .gdbinit .lldbinit
		ansible: ansible.cfg
		direnv or mise: mise.local.toml .mise/config.toml
		an editor: sub/.devcontainer.json .run/x.run.xml .fleet/run.json .theia/tasks.json
		the next agent: .opencode/plugins/x.ts .opencode/tool/x.ts .claude/plugins/x.json .pi/extensions/x.ts
		the next agent: .kiro/hooks/x.kiro.hook .github/hooks/x.json .gemini/commands/x.toml .factory/droids/x.md
		the next agent: .copilot/mcp-config.json
	END
	loud 'while IFS=: read -r _ files; do
			for f in $files; do mkdir -p "$(dirname "$f")" && echo x >"$f"; done
		done <names'
	told '.mvn/jvm.config (a build)'
	run pale session show --json
	python3 - "$S/out" "$W" names <<-'END' || fail "not all are told"
		import json, sys
		told = json.load(open(sys.argv[1]))["runs_later"]
		want = {f: line.split(":")[0] for line in open(sys.argv[3]) for f in line.split(":")[1].split()}
		bad = {f: told.get(sys.argv[2] + "/" + f) for f in want if told.get(sys.argv[2] + "/" + f) != want[f]}
		print(bad)
		sys.exit(bool(bad) or len(want) < 30)
	END
}

# What the session closed hides nothing: the directory is told.
t_closed_directories_are_told() {
	mkdir shut before
	chmod 311 before
	loud 'echo x >shut/Makefile; chmod 311 shut'
	told_only 'shut (closed meanwhile, its files are not known)'
	chmod 755 shut
	loud 'echo x >Makefile; chmod 311 .'
	told_only '. (closed meanwhile, its files are not known)'
	chmod 755 .
}

# What an agent's next start obeys lies in the home, and is told with it; plugins are asked for.
t_what_the_next_agent_runs() {
	mkdir -p ~/.codex/prompts ~/.config/opencode/plugin ~/.claude/hooks
	echo old | tee ~/.codex/AGENTS.md ~/.claude/settings.json >/dev/null
	OPTS=(--agent codex)
	loud 'echo x >~/.codex/config.toml; mkdir -p ~/.codex/sessions; echo x >~/.codex/sessions/x'
	told_only '~/.codex/config.toml (the next codex)'
	OPTS=(--agent opencode --keep-home)
	loud 'echo x >~/.config/opencode/opencode.json'
	told '~/.config/opencode/opencode.json (the next opencode)'
	OPTS=(--agent opencode --keep-home --no-prompt)
	fsh 'echo x >~/.config/opencode/plugin/x.js'
	denied write "$HOME/.config/opencode/plugin/x.js" "ask_write = ~/.config/opencode/plugin/*"
	missing ~/.config/opencode/plugin/x.js
	OPTS=(--agent claude --no-prompt)
	fsh 'echo x >~/.claude/hooks/x; mkdir -p ~/.claude/skills && echo x >~/.claude/settings.json'
	denied write "$HOME/.claude/hooks/x"
	rc_is 0
}

# Where its state lies everything is the agent's own.
t_state_is_not_told() {
	loud 'mkdir -p "$XDG_CACHE_HOME/x" && echo x >"$XDG_CACHE_HOME/x/Makefile" && echo x >Makefile'
	told_only 'Makefile (make)'
	run pale session show
	out_lacks /cache/x
	OPTS=(--preset bridge)
	mkdir workspace
	loud 'mkdir -p "$XDG_CONFIG_HOME/x" && echo x >"$XDG_CONFIG_HOME/x/package.json"'
	[ ! -s "$S/told" ] || fail "told: $(cat "$S/told")"
}

# Only the workspace's own: what is called like it deeper down is a directory as any other.
t_state_of_others_is_told() {
	loud 'for d in sub/.pale/data sub/.opencode/tmp; do mkdir -p $d/x && echo x >$d/x/Makefile; done'
	told_only 'sub/.pale/data/x/Makefile (make)' 'sub/.opencode/tmp/x/Makefile (make)'
	run pale session show
	out_has "$W/sub/.pale/data/x/Makefile (make)"
	out_has "$W/sub/.opencode/tmp/x/Makefile (make)"
}

t_unchanged_is_not_told() {
	echo x >Makefile
	echo x >CLAUDE.md
	# on the other side of a tick of the file system's clock
	until_true 20 newer CLAUDE.md
	loud 'cat Makefile CLAUDE.md >/dev/null; echo y >file'
	told_only
	loud 'touch -d 2000-01-01 Makefile'
	told_only 'Makefile (make)'
	run pale run -q -- bash -c 'echo z >Makefile'
	err_is_empty
}

newer() {
	: >"$S/now" && [ "$S/now" -nt "$1" ]
}

t_files_of_a_package() {
	echo '{"name":"x"}' | tee package.json >other.json
	mkdir -p node_modules/x
	loud 'cat package.json; mkdir p; echo x | tee p/package.json node_modules/x/package.json >other.json'
	told_only 'p/package.json (npm)'
	loud 'echo "{ broken" >package.json'
	told_only 'package.json (npm)'
}

t_programs_are_counted() {
	loud 'mkdir -p node_modules/.bin node_modules/x
		for i in 1 2 3; do echo x >node_modules/.bin/$i; chmod +x node_modules/.bin/$i; done
		echo x >node_modules/x/Makefile'
	told_only 'node_modules/.bin (3 programs)'
}

t_many() {
	loud 'for i in $(seq 30); do mkdir d$i; echo x >d$i/Makefile; done'
	[ "$(grep -c '(make)' "$S/told")" = 20 ] || fail "not 20 lines"
	told '10 more'
}

scenario "$@"
