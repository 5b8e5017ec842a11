# limit: 120
# levels: full strict
# nightly: hooks
# [files] home: an entry of the home that no rule opens is not there for the session.
. "$T_LIB"

# What a program sees without the hooks; at level hooks nothing goes without them.
is_static() {
	[ "$T_LEVEL" != hooks ]
}

# gone PATH: as if it were not there, recorded, and nothing is said.
gone() {
	fsh "cat $1"
	rc_not 0 "cat $1"
	no_decoy
	err_has "$1: No such file or directory"
	err_lacks "pale: denied"
	recorded read deny "\"target\":\"$1\"" "home = "
	! is_static || fence "$T_VICTIMS/raw-static" "$1"
	no_decoy
	err_has "No such file or directory"
	err_lacks "pale: denied"
}

t_unknown_is_not_there() {
	mkdir -p ~/.newtool/sub ~/.config/newtool ~/.local/share/newtool ~/notes
	echo "$DECOY" | tee ~/.newrc ~/.newtool/sub/key ~/.config/newtool/token ~/.local/share/newtool/x >/dev/null
	echo hello >~/notes/x
	for path in .newrc .newtool/sub/key .config/newtool/token .local/share/newtool/x; do
		gone "$HOME/$path"
	done
	# by a link, from elsewhere, by its directory
	ln -s ~/.newtool/sub/key link
	fsh 'cat link ../.newrc; cd ~/.newtool && cat sub/key
		ls ~/.newtool; find ~/.newtool; python3 -c "import os; os.listdir(os.environ[\"HOME\"] + \"/.newtool\")"'
	rc_not 0
	no_decoy
	err_lacks "pale: denied"
	# the rest of the home stays readable, and its names
	fsh 'cat ~/notes/x; ls -a ~'
	rc_is 0
	out_has hello
	out_has .newrc
	# nor is it written, and that is said
	fsh 'echo x >~/.newrc'
	rc_not 0
	denied write "$HOME/.newrc"
	fsh 'mkdir ~/.other'
	denied mkdir "$HOME/.other"
	file_is ~/.newrc "$DECOY"
}

t_a_line_opens_it() {
	mkdir -p ~/.newtool/sub ~/.cachetool ~/.laterrc.d
	echo yes | tee ~/.newtool/sub/key ~/.laterrc.d/x >/dev/null
	printf '[files]\nread = ~/.newtool\nwrite = ~/.cachetool\nreadonly = ~/.laterrc.d\n' | policy
	fsh 'cat ~/.newtool/sub/key ~/.laterrc.d/x && echo x >~/.cachetool/x && cat ~/.cachetool/x'
	rc_is 0
	not_denied
	! is_static || fence "$T_VICTIMS/raw-static" "$HOME/.newtool/sub/key"
	rc_is 0
	fsh 'echo x >~/.laterrc.d/x'
	denied write "$HOME/.laterrc.d/x" "policy.ini:4 [files] readonly = ~/.laterrc.d"
	# what is denied inside stays so
	printf '[files]\nread = ~/.newtool\ndeny = ~/.newtool/sub\n' | policy
	fsh 'cat ~/.newtool/sub/key'
	denied read "$HOME/.newtool/sub/key"
	# and a project that nobody trusts opens nothing
	printf '' | policy
	mkdir -p .pale
	printf '[files]\nread = ~/.newtool\n' >.pale/policy.ini
	fsh 'cat ~/.newtool/sub/key'
	rc_not 0
}

# The floor grants what is open; what comes later is not, for code that goes past hooks and supervisor either.
t_stored_later() {
	local pid
	pale run -q -- bash -c 'touch ready; for i in $(seq 200); do [ ! -e go ] || break; sleep 0.05; done
		cat ~/.newsecret ~/.config/newtool/token; for raw; do "$raw" ~/.newsecret; "$raw" ~/.config/newtool/token; done' \
		x $(! is_static || echo "$T_VICTIMS/raw" "$T_VICTIMS/raw-static") >"$S/out" 2>"$S/err" &
	pid=$!
	until_true 10 test -e ready || fail "it did not start"
	mkdir -p ~/.config/newtool
	echo "$DECOY" | tee ~/.newsecret ~/.config/newtool/token >/dev/null
	touch go
	wait $pid
	no_decoy
	err_has "No such file or directory"
}

t_closed_and_open() {
	mkdir -p ~/notes ~/src
	echo "$DECOY" | tee ~/notes/x ~/.newrc >/dev/null
	echo 'x=1' >~/.bashrc
	printf '[files]\nhome = closed\nread = ~/src\n' | policy
	gone "$HOME/notes/x"
	gone "$HOME/.newrc"
	echo fine >~/src/x
	fsh 'cat file ~/.bashrc ~/src/x; ls ~ >/dev/null; echo x >made; git init -q .'
	rc_is 0
	not_denied
	printf '[files]\nhome = open\n' | policy
	fsh 'cat ~/notes/x ~/.newrc'
	rc_is 0
	out_has "$DECOY"
	fsh 'cat ~/.ssh/id_rsa'
	denied read "$HOME/.ssh/id_rsa"
	# a project tightens, and does not open
	mkdir -p .pale
	printf '[files]\nhome = closed\n' >.pale/policy.ini
	gone "$HOME/notes/x"
	printf '[files]\nhome = known\n' | policy
	printf '[files]\nhome = open\n' >.pale/policy.ini
	gone "$HOME/.newrc"
	rm -r .pale
	# ci has it closed, bridge keeps what it had
	: | policy
	OPTS=(--preset ci)
	fsh "cat $HOME/notes/x"
	rc_not 0
	no_decoy
	run pale explain --preset bridge read ~/.newrc
	rc_is 0
}

t_the_workspace_below_a_dot() {
	mkdir -p ~/.dotted/work ~/.dotted/other
	echo "$DECOY" >~/.dotted/other/x
	cd ~/.dotted/work || exit 99
	echo fine >file
	fsh 'cat file && echo x >made && mkdir d && git init -q . && git status >/dev/null'
	rc_is 0
	not_denied
	gone "$HOME/.dotted/other/x"
}

# --- the table ----------------------------------------------------------------------------------------------

# Rows of the table as "KIND PATH", those of a kind.
rows() {
	sed -nE "s|^($1) = ~/(.*)|\1 \2|p" "$T_BASE/t/home.ini"
}

t_each_row() {
	local kind path n=0
	rows '[a-z]+' | sed 's/\*/x/g' >"$S/rows"
	[ "$(wc -l <"$S/rows")" -gt 300 ] || fail "the table is short"
	while read -r kind path; do
		case $kind in
		readonly) echo "read $HOME/$path 0" && echo "write $HOME/$path 1" && echo "read $HOME/$path/x 0" ;;
		write) echo "read $HOME/$path 0" && echo "write $HOME/$path 0" ;;
		sensitive | deny) echo "read $HOME/$path 1" && echo "write $HOME/$path 1" ;;
		*) echo "? $kind $path" ;;
		esac
	done <"$S/rows" >"$S/want"
	for kind in read write; do
		pale explain --json $kind -- $(sed -n "s/^$kind \(.*\) [01]$/\1/p" "$S/want" | grep -v ' ') >"$S/$kind.json"
		python3 - "$kind" "$S/$kind.json" "$S/want" <<-'END' || fail "a row does not hold"
			import json, sys
			kind, got, want = sys.argv[1:]
			said = {j["target"]: j["verdict"] for j in json.load(open(got))}
			bad = 0
			for line in open(want):
			    op, rest = line.rstrip("\n").split(" ", 1)
			    path, deny = rest.rsplit(" ", 1)
			    if op == kind and " " not in path and (said.get(path) != "allow") != (deny == "1"):
			        print("FAIL:", op, path, said.get(path), "expected", deny)
			        bad = 1
			sys.exit(bad)
		END
	done
}

# each VERDICT OPERATION PATH...: what is said of each of them, below the home.
each() {
	local verdict=$1 op=$2
	shift 2
	pale explain --json "$op" -- "${@/#/$HOME/}" >"$S/each.json"
	python3 - "$verdict" $# "$S/each.json" <<-'END' || fail "not $verdict $op"
		import json, sys
		said = json.load(open(sys.argv[3]))
		bad = [j["target"] for j in said if (j["verdict"] == "allow") != (sys.argv[1] == "allow")]
		print(*bad, sep="\n")
		sys.exit(bool(bad) or len(said) != int(sys.argv[2]))
	END
}

# What lies inside a place that a row opens, and must not go with it.
t_inside_what_is_open() {
	local closed=(
		# credentials
		.conan2/source_credentials.json .conan2/.conan.db .luarocks/upload_config.lua .config/helm/repositories.yaml
		.sbt/.credentials .sbt/x.credentials .sbt/1.0/credentials.sbt .stack/upload/credentials.json .vscode/cli/token.json
		.opam/plugins/opam-publish/x.token .julia/servers/pkg.example.com/auth.toml
		.dotnet/corefx/cryptography/x509stores/my/x.pfx .vscode-server/.0123abcd.token .config/mise/age.txt
		.vscode-server/data/User/History/1a2b/x.env .vscode-server/data/User/globalStorage/x
		.jupyter/jupyter_notebook_config.json .jupyter/jupyter_server_config.py
		.jupyter/jupyter_notebook_config.py .ipython/profile_default/security/x.json
		.pub-cache/credentials.json .npm-global/etc/npmrc .sbt/1.0/sonatype.sbt .sbt/sonatype_credential
		# npm's globalconfig below managers of versions
		.nvm/versions/node/v22.1.0/etc/npmrc .fnm/node-versions/v22.1.0/installation/etc/npmrc .linuxbrew/etc/npmrc
		.local/share/fnm/node-versions/v22.1.0/installation/etc/npmrc .asdf/installs/nodejs/22.1.0/etc/npmrc
		.local/share/mise/installs/node/22.1.0/etc/npmrc .volta/tools/image/node/22.1.0/etc/npmrc
		.local/share/pnpm/nodejs/22.1.0/etc/npmrc
		.sbt/gpg/secring.asc .cache/deno/location_data/x/local_storage
		.emacs.d/oauth2.plstore .config/emacs/oauth2.plstore .emacs.d/url/cookies .tmux/resurrect/x
		# settings with credentials in them
		.config/pnpm/rc .config/pnpm/config.yaml .bunfig.toml .hgrc .config/hg/hgrc .wgetrc .curlrc .config/curlrc .condarc
		.conda/.condarc .ansible.cfg .config/Code/User/mcp.json .config/pip/pip.conf .pip/pip.conf .config/uv/uv.toml
		.subversion/servers .config/fish/fish_variables .config/Code/User/settings.json .config/zed/settings.json
		.config/zed/settings_backup.json
		# pieces of files
		.vim/undo/x .vim/undodir/x .vim/swap/x.swp .vim/backup/x .emacs.d/auto-save-list/.saves-1 .emacs.d/backups/x
		.config/emacs/auto-save-list/.saves-1 .config/emacs/backups/x
		# histories
		.ipython/profile_default/history.sqlite .ipython/profile_x/history.sqlite .julia/logs/repl_history.jl
		.emacs.d/history .emacs.d/eshell/history .config/emacs/eshell/history .local/share/nvim/shada/main.shada
		.local/state/nvim/shada/main.shada .cache/deno/deno_history.txt)
	local later=(
		.local/state/fnm_multishells/1_2/bin/node .terraform.d/plugin-cache/x .cache/bazelisk/x .julia/compiled/v1.11/x.so
		.cache/typescript/5.8/x .cache/torch/hub/checkpoints/x.pth .cache/coursier/jvm/x/bin/java .cache/coursier/arc/x
		.cache/huggingface/hub/x .gradle/init.d/x.init.gradle .config/fish/conf.d/x.fish .config/zed/tasks.json
		.pub-cache/bin/x .pub-cache/global_packages/x/bin/x.snapshot .tmux/plugins/x
		# settings in a cache
		.ccache/ccache.conf .cache/ccache/ccache.conf)
	local cache=(
		.cache/bazel/x .cache/uv/x .cache/coursier/v1/x.jar .cache/deno/npm/x .bun/install/cache/x .yarn/berry/cache/x.zip
		.ccache/0/x .cache/ccache/0/x .nvm/.cache/x .cache/Homebrew/x
		.pub-cache/hosted/pub.dev/x/lib/x.dart .pub-cache/git/cache/x .pub-cache/_temp/x)
	each deny read "${closed[@]}"
	each deny write "${closed[@]}" "${later[@]}"
	each allow read "${later[@]}" "${cache[@]}"
	each allow write "${cache[@]}"
	# the hidden files are so on disk, too
	mkdir -p ~/.ipython/profile_default ~/.vscode-server ~/.sbt ~/.julia/servers/x ~/.cache/deno ~/.julia/compiled \
		~/.nvm/versions/node/v22.1.0/etc ~/.linuxbrew/etc
	echo "$DECOY" | tee ~/.ipython/profile_default/history.sqlite ~/.vscode-server/.0123abcd.token ~/.sbt/x.credentials \
		~/.julia/servers/x/auth.toml ~/.cache/deno/deno_history.txt ~/.wgetrc ~/.linuxbrew/etc/npmrc \
		~/.nvm/versions/node/v22.1.0/etc/npmrc >/dev/null
	for path in .ipython/profile_default/history.sqlite .vscode-server/.0123abcd.token .sbt/x.credentials \
		.julia/servers/x/auth.toml .cache/deno/deno_history.txt .wgetrc .linuxbrew/etc/npmrc \
		.nvm/versions/node/v22.1.0/etc/npmrc; do
		fsh "cat ~/$path"
		denied read "$HOME/$path" "(preset home:"
		no_decoy
		! is_static || fence "$T_VICTIMS/raw-static" "$HOME/$path"
		no_decoy
	done
	fsh 'echo x >~/.julia/compiled/x'
	denied write "$HOME/.julia/compiled/x" "(preset home:"
	# and the line that is told opens a file of settings
	run pale explain read ~/.wgetrc
	out_has 'read = ~/.wgetrc'
	printf '[files]\nread = ~/.wgetrc\n' | policy
	fsh 'cat ~/.wgetrc'
	rc_is 0
	out_has "$DECOY"
}

# What lies in a cache and runs later is in the list of pale-guarantees(7); that is each cache but these.
t_what_runs_later_is_told() {
	local path row data=(
		.cache/fontconfig .cache/clangd .cargo/.package-cache .cargo/.package-cache-mutate
		.cargo/.global-cache .cache/golangci-lint .cache/staticcheck .cache/gopls '.config/configstore/update-notifier-*'
		.local/state/pnpm .cache/pypoetry/cache .cache/hatch .cache/matplotlib .cache/huggingface/{datasets,assets,xet}
		.pub-cache/{hosted-hashes,log,_temp,active_roots})
	sed -n '/^\.Em Files that run later/,/XDG_CACHE_HOME/p' "$T_BASE/t/escapes/pale-guarantees.7" |
		grep -oE '~/[^ ,]+' >"$S/told"
	rows write | sed 's/^write //' >"$S/caches"
	while read -r row; do
		path=$row
		while [ "$path" != . ] && ! grep -qxF -e "~/$path" "$S/told"; do path=$(dirname "$path"); done
		[ "$path" != . ] || echo "$row"
	done < <(grep -vxF "$(printf '%s\n' "${data[@]}")" "$S/caches") >"$S/out"
	[ ! -s "$S/out" ] || fail "not told: $(cat "$S/out")"
	while read -r path; do
		grep -qE "^${path//./\\.}(/|$)" "$S/caches" || fail "told, and no cache: $path"
	done < <(sed 's|^~/||' "$S/told")
}

# Settings in a cache, which otherwise is the session's: not written, and named where a line of one's own opens them.
t_settings_in_a_cache() {
	mkdir ~/.ccache
	fsh 'mkdir ~/.ccache/0 && echo x >~/.ccache/0/x && echo x >~/.ccache/y && mv ~/.ccache/y ~/.ccache/0'
	rc_is 0
	for how in 'echo x >~/.ccache/ccache.conf' 'echo x >~/.ccache/z; mv ~/.ccache/z ~/.ccache/ccache.conf' \
		'ln ~/.ccache/0/x ~/.ccache/ccache.conf' 'ln -s 0/x ~/.ccache/ccache.conf' \
		'mkdir -p ~/.cache/ccache; echo x >~/.cache/ccache/ccache.conf'; do
		fsh "$how"
		rc_not 0
		err_has "(preset home:"
		missing ~/.ccache/ccache.conf
		missing ~/.cache/ccache/ccache.conf
	done
	printf '[files]\nwrite = ~/.ccache/ccache.conf\n' | policy
	run pale run -- sh -c 'echo max_size = 1G >~/.ccache/ccache.conf'
	rc_is 0
	err_has "changed, runs later: ~/.ccache/ccache.conf (the next ccache)"
}

# HOME is another directory than passwd(5) has, as in each of these tests: what is held back is so in both.
t_the_home_of_the_user() {
	local home
	home=$(realpath "$(getent passwd "$(id -u)" | cut -d: -f6)")
	[ "$home" != "$HOME" ] || fail "no other home"
	pale explain --json read "$home/.ssh/id_rsa" \
		"$home/.aws/credentials" "$home/.m2/settings.xml" "$home/.gitconfig" >"$S/each.json"
	python3 - "$S/each.json" <<-'END' || fail "it is open"
		import json, sys
		said = [j["verdict"] for j in json.load(open(sys.argv[1]))]
		sys.exit(said != ["deny", "deny", "deny", "allow"])
	END
	# a line of one's own is about HOME alone, and closes nothing there
	printf '[files]\ndeny = ~/own\n' | policy
	run pale explain read "$home/own"
	rc_is 0
}

# An editor starts what a .devcontainer.json says, as it does with what lies in .devcontainer.
t_devcontainer() {
	mkdir sub
	fsh 'echo x >.devcontainer.json'
	denied write "$W/.devcontainer.json" "readonly = .devcontainer.json"
	fsh 'mkdir .devcontainer'
	denied mkdir "$W/.devcontainer"
	fsh 'echo x >sub/.devcontainer.json'
	rc_is 0
}

# Each block says who says so.
t_each_row_has_a_source() {
	awk '
		/^#.*: [^ ]/ { tool = 1; next }
		/^$/ { tool = 0; next }
		/^[a-z]+ = / && !tool && !/^home/ { print NR ": " $0; bad = 1 }
		END { exit bad }' "$T_BASE/t/home.ini" || fail "a row without a tool"
	[ "$(grep -cE '^# [^ ].*: ' "$T_BASE/t/home.ini")" -ge 60 ] || fail "few tools"
}

# Some of each kind with the files there.
t_rows_on_disk() {
	mkdir -p ~/.rustup/toolchains/x/bin \
		~/.cargo/bin ~/.config/nvim ~/.nvm ~/.gradle/init.d ~/.local/share/pnpm/store ~/.m2 ~/.fly ~/.kaggle \
		~/.cache/huggingface/hub ~/.yarn/releases ~/.nuget/NuGet ~/.nuget/packages ~/.cache/pre-commit ~/.npm/_cacache
	printf '#!/bin/sh\necho tool\n' | tee ~/.cargo/bin/tool >~/.local/share/pnpm/ls
	chmod +x ~/.cargo/bin/tool
	echo fine | tee ~/.config/nvim/init.lua ~/.nvm/nvm.sh ~/.rustup/toolchains/x/bin/rustc ~/.gitconfig >/dev/null
	echo "$DECOY" | tee ~/.m2/settings.xml ~/.m2/settings-security.xml ~/.fly/config.yml ~/.kaggle/kaggle.json \
		~/.cache/huggingface/token ~/.nuget/NuGet/NuGet.Config ~/.gradle/gradle.properties >/dev/null
	fsh 'cat ~/.config/nvim/init.lua ~/.nvm/nvm.sh ~/.rustup/toolchains/x/bin/rustc; ~/.cargo/bin/tool'
	rc_is 0
	not_denied
	for path in .m2/settings.xml .m2/settings-security.xml .fly/config.yml .kaggle/kaggle.json .cache/huggingface/token \
		.nuget/NuGet/NuGet.Config .gradle/gradle.properties; do
		fsh "cat ~/$path"
		denied read "$HOME/$path" "(preset home:"
		no_decoy
	done
	for path in .local/share/pnpm/ls \
		.gradle/init.d/e.gradle .gradle/init.gradle .yarn/releases/yarn.cjs .cache/pre-commit/x .cargo/bin/tool \
		.cargo/config.toml .cache/huggingface/hub/x .config/nvim/plugin.lua .nuget/NuGet/x; do
		fsh "echo evil >~/$path"
		denied write "$HOME/$path" "(preset home:"
	done
	fsh 'for d in .gradle/caches .nuget/packages .local/share/pnpm/store .npm/_cacache .cache/pip .cargo/registry; do
		mkdir -p ~/$d && echo x >~/$d/x && rm ~/$d/x || exit 1; done'
	rc_is 0
	not_denied
}

# --- what is said of it -------------------------------------------------------------------------------------

t_explained() {
	run pale explain read ~/.newrc
	rc_not 0
	out_has "preset agent:"
	out_has "[files] home = known"
	out_has "[files]"
	out_has "read = $HOME/.newrc"
	run pale explain read ~/.cargo/bin/cargo
	rc_is 0
	out_has "readonly = ~/.cargo/bin"
	out_has "cargo: https://doc.rust-lang.org/cargo/guide/cargo-home.html"
	run pale explain write ~/.gradle/init.d/x
	rc_not 0
	out_has "gradle: https://docs.gradle.org/"
	printf '[files]\nhome = closed\n' | policy
	run pale explain read ~/notes/x
	out_has "policy.ini:2"
	out_has "home = closed"
}

t_learnt() {
	mkdir -p ~/.newtool
	echo x >~/.newtool/data
	fsh 'cat ~/.newtool/data'
	rc_not 0
	run pale learn
	out_has "read = ~/.newtool/data"
}

t_linted() {
	printf '[files]\nread = ~\n' | policy
	run pale lint
	out_has "too-broad"
	printf '[files]\nread = ~/.*\n' | policy
	run pale lint
	out_has "too-broad"
	printf '[files]\nhome = closed\nread = ~/notes\n' | policy
	run pale lint
	rc_is 0
	out_lacks warning
	printf '[files]\nhome = mine\n' | policy
	run pale lint
	rc_not 0
	grep -q "known, closed or open" "$S/out" "$S/err" || fail "the words are not told"
}

# A session says once more what it was: nothing of it was printed.
t_quiet_but_shown() {
	echo x >~/.newrc
	fsh 'cat ~/.newrc'
	run pale log
	out_has "$HOME/.newrc"
}

scenario "$@"
