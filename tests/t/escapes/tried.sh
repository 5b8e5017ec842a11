# retry: timeouts
# levels: full hooks
# limit: 120
# Ways out that were tried, each with what must still be true afterwards: on disk, in the remote
# repository, at the listener.  A denial's words are other scenarios' business.
. "$T_LIB"

# --- git: the protected branch of the remote stays where it is ----------------------------------------

# A remote that the agent can reach, a branch of its own, and the operator's leave to push.
remote() {
	R=/tmp/pale-escapes.$$.git
	trap 'rm -rf "$R"' EXIT
	printf '[commands]\nallow = git push\nallow = git send-pack\n' | policy
	git init -q --bare -b main "$R" && git init -q -b main repo && cd repo || exit 99
	git commit -q --allow-empty -m 1
	git remote add origin "$R"
	git push -q origin main
	git checkout -q -b feature
	git commit -q --allow-empty -m 2
	MAIN=$(git --git-dir="$R" rev-parse main)
	export R T_PASS=R
}

main_stays() {
	[ "$(git --git-dir="$R" rev-parse main)" = "$MAIN" ] || fail "main was moved by: $1"
}

# One attempt a line; each is a shell's.
attempts() {
	local line more
	while IFS= read -r line; do
		# a backslash at the end continues it
		while [[ $line == *\\ ]] && IFS= read -r more; do line=${line%\\}$more; done
		[ -n "$line" ] || continue
		fsh "$line"
		main_stays "$line"
	done
}

t_git_spelled_out() {
	remote
	attempts <<-'END'
		git push origin feature:main
		git push $R +feature:refs/heads/main
		git push --mir origin
		git push origin 'refs/heads/fea*:refs/heads/ma*'
		git -c remote.origin.push=feature:main push origin
		git -c alias.p='push origin feature:main' p
		git -c alias.p='!git push origin feature:main' p
		git config alias.p 'push origin feature:main'; git p
		GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0='push origin feature:main' git p
		git send-pack $R feature:main
		git send-pack --stateless-rpc --no-stateless-rpc $R feature:main
		git send-pack --stateless-rpc --no-stateless $R feature:main
		echo feature:main | git send-pack --stdin $R
		$(git --exec-path)/git-push origin feature:main
		cp $(command -v git) ./other; ./other push origin feature:main
		exec -a git-push git origin feature:main
		env -i PATH=$PATH git push origin feature:main
	END
}

t_git_configured() {
	remote
	attempts <<-'END'
		GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.push GIT_CONFIG_VALUE_0=feature:main git push origin
		GIT_CONFIG_PARAMETERS="'remote.origin.push'='feature:main'" git push
		git config remote.origin.push feature:main; git push origin; git config --unset remote.origin.push
		git config Remote.origin.PUSH feature:main; git push; git config --unset remote.origin.push
		printf '[remote "origin"] push = feature:main\n' >>.git/config; git push; git config --unset remote.origin.push
		git config remote.origin.mirror true; git push origin; git config --unset remote.origin.mirror
		git branch -f main feature; git config push.default matching; git push origin; git config --unset push.default
		git config push.default upstream; git config branch.feature.remote origin; \
		    git config branch.feature.merge refs/heads/main; git push; \
		    git config --unset push.default; git config --unset branch.feature.merge
		printf '[remote "origin"]\npush = feature:main\n' >inc; git config include.path ../inc; git push; \
		    git config --unset include.path
		printf '[remote "origin"]\npush = feature:main\n' >inc; GIT_CONFIG_GLOBAL=$PWD/inc git push
		printf '[remote "origin"]\npush = feature:main\n' >inc; GIT_CONFIG_SYSTEM=$PWD/inc git push
		printf '[remote "origin"]\npush = feature:main\n' >.gitconfig; HOME=$PWD git push
		mkdir -p git; printf '[remote "origin"]\npush = feature:main\n' >git/config; XDG_CONFIG_HOME=$PWD git push
		git worktree add -q ../side; git config extensions.worktreeConfig true; cd ../side; \
		    git config --worktree remote.origin.push side:main; git push
	END
	rm -rf ../side .git/worktrees .git/config.worktree
	git config --unset extensions.worktreeConfig
	attempts <<-'END'
		mkdir -p .git/remotes; printf 'URL: %s\nPush: feature:main\n' $R >.git/remotes/old; git push old; rm -r .git/remotes
		mkdir -p .git/branches; echo "$R#main" >.git/branches/old; git push old; rm -r .git/branches
	END
	if [ "$T_LEVEL" = hooks ]; then
		fsh 'git push || git push origin feature'
		denied exec "git push" "or a branch that pale cannot determine"
		[ "$(git rev-parse HEAD)" = "$(git --git-dir="$R" rev-parse feature)" ] || fail "one that says where did not arrive"
		return
	fi
	# What names no ref and is led nowhere else still goes.
	fsh 'git config push.autoSetupRemote true; git push && git commit -q --allow-empty -m 3 && git push'
	[ "$(git rev-parse HEAD)" = "$(git --git-dir="$R" rev-parse feature)" ] || fail "an ordinary push did not arrive"
}

# --- publishing: asked in every spelling --------------------------------------------------------------

t_publishing_is_asked() {
	local line name
	# Programs that the fence can see into, whatever this machine has under these names.
	mkdir bin
	for name in npm npx yarn twine docker; do
		printf '#!/bin/sh\n' >bin/$name && chmod +x bin/$name
	done
	PATH=$PWD/bin:$PATH
	while IFS= read -r line; do
		# shellcheck disable=SC2086
		run pale explain exec $line
		rc_is 3 "$line"
	done <<-'END'
		npm publish
		npm --silent publ
		npx npm publish
		yarn npm publish
		twine upload x
		python3 -m twine upload x
		docker image push x
	END
}

# --- libc: what opens, makes and starts things behind the hooks of open and exec ----------------------

# What a tree and its file are like, to the last attribute.
likeness() {
	picture "$HOME/elsewhere"
	python3 -c 'import os, sys; p = sys.argv[1]; print(os.stat(p), os.listxattr(p))' "$HOME/elsewhere/file"
}

# One way of the victim: no secret comes out, and nothing outside is changed.
way() {
	local before after
	mkdir -p "$HOME/elsewhere/sub"
	before=$(likeness)
	fence "$T_VICTIMS/esc_libc" "$1" "$HOME/.ssh/id_rsa" "$HOME/elsewhere/file" "$HOME/elsewhere/sub"
	rc_is 0 "$1"
	out_has tried
	no_decoy
	after=$(likeness)
	[ "$before" = "$after" ] || fail "changed: $(diff <(echo "$before") <(echo "$after"))"
}

t_temporary_files() {
	way temp
	echo one >"$HOME/elsewhere/file"
	fsh 'sed -i s/one/two/ ~/elsewhere/file; mktemp ~/elsewhere/XXXXXX'
	[ "$(ls "$HOME/elsewhere")" = "$(printf 'file\nsub')" ] || fail "left behind: $(ls "$HOME/elsewhere")"
	fsh 'mktemp XXXXXX && mktemp -d XXXXXX && sed -i s/hello/bye/ file && cat file'
	rc_is 0
	out_has "bye from"
}

t_tables() {
	way tables
}

t_old_names() {
	way old_names
}

# Modes, owners, times and attributes are judged above level hooks.
t_times() {
	[ "$T_LEVEL" != hooks ] || skip "at level hooks nobody judges it"
	way times
	fsh 'touch -d 2001-01-01 ~/elsewhere/file'
	[ "$(date -r "$HOME/elsewhere/file" +%Y)" != 2001 ] || fail "touched"
	fsh 'touch -d 2001-01-01 file && cp -p file copy && date -r copy +%Y'
	out_is 2001
}

t_rights_by_descriptor() {
	[ "$T_LEVEL" != hooks ] || skip "at level hooks nobody judges it"
	way rights
}

t_link_by_descriptor() {
	way link_by_fd
}

t_bind() {
	way bind
}

t_wordexp() {
	way wordexp
}

t_spawn_actions() {
	way spawn
}

t_mounts() {
	way mount
}

# The line of a denial is written to a stderr, not into a file that happens to be descriptor 2.
t_stderr_is_a_file() {
	way stderr
	[ ! -s precious ] || fail "written into a file of the program's: $(cat precious)"
	fsh 'cat ~/.ssh/id_rsa 2>log; cat log'
	out_has "pale: denied read"
	fsh 'exec 2>>log2; exec 3<~/.ssh/id_rsa; cat log2'
	out_has "pale: denied read"
}

# A denial, a path with .. and a plain call each fit on the stack of a signal.
t_small_signal_stack() {
	fence "$T_VICTIMS/esc_signal" "$HOME/.ssh/id_rsa"
	rc_is 0
	out_is "$(printf '%d 0 0\n' 0 1 2 3 4 5)"
	exists "$HOME/.ssh/id_rsa"
}

# The launcher holds the operator's whole environment, the helper the ledger.
t_launcher_is_closed() {
	fsh 'cat /proc/$PPID/environ >/dev/null 2>&1 && echo readable'
	out_lacks readable
	fsh 'for p in /proc/[0-9]*; do read -r comm <$p/comm && [ "$comm" = pale-helper ] &&
		cat $p/environ $p/maps >/dev/null 2>&1 && echo readable; done 2>/dev/null; echo looked'
	out_has looked
	out_lacks readable
}

# --- what a script starts ------------------------------------------------------------------------------

t_interpreters_are_commands() {
	remote
	printf '#!/usr/sbin/chroot\n' >stop
	printf '#!/usr/bin/git push\n' >origin
	printf '#!%s/origin\n' "$PWD" >again
	printf '#!/bin/sh\necho fine\n' >fine
	chmod +x stop origin again fine
	need python3
	fsh './stop now'
	rc_not 0
	denied exec "/usr/sbin/chroot"
	fence python3 -c 'import os; os.execv("origin", ["x", "feature:main"])'
	denied exec "/usr/bin/git push origin feature:main" "protected branch"
	main_stays "git as an interpreter"
	fsh ./fine
	out_is fine
	fsh "printf '[commands]\ndeny = sh\n' >t.ini; pale run -q -p t.ini -- bash -c ./fine"
	out_lacks fine
	denied exec "/bin/sh ./fine"
}

scenario "$@"
