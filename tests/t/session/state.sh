# limit: 60
# nightly: hooks strict
# needs: tmpfs
# [session] state: the agent keeps its state in a directory of its own, and starts in the workspace.
. "$T_LIB"

state() {
	printf '[session]\nstate = %s\n' "${1:-.opencode}" | policy
}

# The seed's layout: a bridge with its .env, its sources and the agent's workspace/.
bridge() {
	mkdir -p bridge/workspace bridge/src
	cd bridge || exit 99
	printf 'GH_TOKEN=fromfile\n' >.env
	echo '{}' >sessions.json
}

t_redirected() {
	state
	bridge
	run pale run -q -w workspace -- bash -c 'pwd; env | grep -E "^(XDG_|GH_)" | grep -v RUNTIME | LC_ALL=C sort
		echo x >"$XDG_DATA_HOME/f"; mktemp >/dev/null && echo made'
	rc_is 0
	out_is "$W/bridge/workspace
GH_TOKEN=fromfile
XDG_CACHE_HOME=$W/bridge/workspace/.opencode/cache
XDG_CONFIG_HOME=$W/bridge/workspace/.opencode/config
XDG_DATA_HOME=$W/bridge/workspace/.opencode/data
XDG_STATE_HOME=$W/bridge/workspace/.opencode/state
made"
	file_is workspace/.opencode/data/f x
	[ "$(stat -c %a workspace/.opencode/data)" = 700 ] || fail "modes"
	# Again, with all of it there.
	run pale run -q -w workspace -- cat .opencode/data/f
	out_is x
}

t_git_sees_none_of_it_and_knows_its_owner() {
	need git
	state
	rm ~/.gitconfig
	mkdir -p ~/.config/git
	printf '[user]\n\tname = Xenia\n\temail = x@example.org\n' >~/.config/git/config
	git init -q .
	fsh 'echo x >"$XDG_DATA_HOME/f"; git status --porcelain; git config user.name'
	rc_is 0
	out_is "?? file
Xenia"
}

t_where_its_owner_stands() {
	state
	mkdir sub
	cd sub
	run pale run -q -w .. -- pwd
	out_is "$W/sub"
	# A relative program is the one that was meant.
	cd "$HOME"
	printf '#!/bin/sh\npwd\n' >prog && chmod 755 prog
	run pale run -q -w work -- ./prog
	out_is "$W"
}

t_home_is_kept_on_demand() {
	state
	run pale run -q --keep-home -- bash -c 'echo "${XDG_DATA_HOME-none}"'
	out_is none
	missing .opencode
	run pale run -q --mode read-only -- pwd
	missing .opencode
}

# By default it lies outside the workspace, where each workspace has its own, also for a nested run.
t_by_default() {
	need git
	git init -q .
	fsh 'printf "%s\n" "$XDG_CONFIG_HOME"; echo x >"$XDG_CACHE_HOME/f" && cat "$XDG_CACHE_HOME/f"; git status --porcelain
		pale run -q -n -- sh -c "echo y >\$XDG_DATA_HOME/f && mktemp >/dev/null && cat \$XDG_DATA_HOME/f"'
	rc_is 0
	out_is "$(echo ~/.local/share/pale/*)/config
x
?? file
y"
	missing .pale
	[ "$(find ~/.local/share/pale -type d -exec stat -c %a {} + | sort -u)" = 700 ] || fail "modes"
	mkdir sub
	(cd sub && run pale run -q -- sh -c "ls -d ~/.local/share/pale/*/*; cat ~/.local/share/pale/*/cache/f")
	out_lacks "$(dirname ~/.local/share/pale/*/cache/f)"
	err_has "No such file"
	[ "$(echo ~/.local/share/pale/* | wc -w)" = 2 ] || fail "one for both"
	[ "$(sort ~/.local/share/pale/*/workspace)" = "$(printf '%s\n%s/sub' "$W" "$W")" ] || fail "whose they are is not said"
	# Its owner's variable says where.
	XDG_DATA_HOME=$HOME/mine run pale run -q -- sh -c 'echo "$XDG_DATA_HOME"'
	out_is "$(echo ~/mine/pale/*)/data"
}

# Where no directory can be had there, it is in the workspace.
t_outside_is_not_to_be_had() {
	local own
	mkdir -m 500 ~/closed
	for own in "$W/data" "$HOME/closed" /proc "$HOME/a[b]"; do
		XDG_DATA_HOME=$own run pale run -q -- sh -c 'echo "$XDG_DATA_HOME"'
		rc_is 0 "$own"
		out_is "$W/.pale/data"
	done
	rm -rf .pale
	for own in pale pale/x; do
		rm -rf ~/.local/share/pale ~/target && mkdir -p ~/target ~/.local/share/pale
		run pale run -q -- true
		mv ~/.local/share/pale ~/x
		[ $own = pale ] && ln -s ~/target ~/.local/share/pale
		[ $own = pale ] || { mkdir -m 700 ~/.local/share/pale && ln -s ~/target ~/.local/share/pale/"$(ls ~/x)"; }
		rm -rf ~/x
		run pale run -q -- touch ran
		rc_is 125 "$own"
		err_has "is not a directory that you alone own"
		missing ran
		[ -z "$(ls -A ~/target)" ] || fail "something went through the link"
	done
}

t_none_is_a_word() {
	state none
	fence bash -c 'echo "${XDG_DATA_HOME-none}"'
	out_is none
	missing .pale
}

# The state lies beside the project's policy, which stays closed: to writing, to making, to moving it away with
# all that lies around it.
t_the_projects_policy_beside_it() {
	local how
	state .pale
	fsh 'echo "[files]" >.pale/policy.ini'
	rc_not 0
	missing .pale/policy.ini
	denied write "$W/.pale/policy.ini"
	mkdir other && echo '[files]' >other/policy.ini && ln -s "$W/other" away
	for how in 'mv .pale gone' 'rm -rf .pale; [ ! -e .pale ]' 'mv -T other .pale' 'ln -sfn other .pale; [ -L .pale ]' \
		'mv other/policy.ini .pale/' 'ln other/policy.ini .pale/policy.ini' 'ln -s ../other/policy.ini .pale/policy.ini' \
		'cp other/policy.ini .pale/' 'mkdir .pale/policy.ini' 'mkfifo .pale/policy.ini'; do
		fsh "$how"
		rc_not 0 "$how"
		[ -d .pale ] && [ ! -L .pale ] || fail "$how: .pale is not what it was"
		[ ! -e .pale/policy.ini ] && [ ! -L .pale/policy.ini ] || fail "$how: a policy came to be"
	done
	echo '[files]' >.pale/policy.ini
	fsh 'rm -f .pale/policy.ini; mv .pale/policy.ini x; echo >>.pale/policy.ini; truncate -s 0 .pale/policy.ini'
	file_is .pale/policy.ini '[files]'
}

# Its owner takes the directory away under a live agent (git clean -fdX): what comes to be there is none of the
# agent's links.
t_cleaned_away_under_an_agent() {
	local how
	state .pale
	for how in 'ln -s other .pale' 'ln -s other l; ln -P l .pale' 'ln -s other l; mv l .pale' 'mv -T other .pale' \
		'cp -a other .pale'; do
		rm -rf .pale ready go other l && mkdir other && echo '[files]' >other/policy.ini
		pale run -q -- bash -c "touch ready; until [ -e go ]; do sleep 0.02; done; $how; touch done" >"$S/live" 2>&1 &
		until_true 10 test -e ready || fail "no start: $(cat "$S/live")"
		rm -rf .pale
		touch go
		wait $!
		[ -e done ] || fail "$how was not tried"
		rm done
		[ ! -L .pale ] && [ ! -e .pale/policy.ini ] || fail "$how chose the project's policy"
	done
	# What it may make there is its state, as before.
	rm -rf .pale go ready
	pale run -q -- bash -c 'touch ready
		until [ -e go ]; do sleep 0.02; done; mkdir -p .pale/data && echo x >.pale/data/f' &
	until_true 10 test -e ready
	rm -rf .pale
	touch go
	wait $!
	file_is .pale/data/f x
}

# Nor after a policy that says otherwise than the one the session started with.
t_moved_there_under_an_agent() {
	local from
	for from in 'state = none' 'state = .x' 'mode = read-only'; do
		rm -rf ~/go other .pale && mkdir other && echo '[files]' >other/policy.ini
		printf '[session]\n%s\n' "$from" | policy
		pale run -q -- bash -c 'echo "ready ${PALE_SESSION_DIR##*/}"
			until [ -e ~/go ]; do read -rt 0.05 <> <(:); done; ln -s other .pale; echo tried' >"$S/live" 2>&1 &
		until_true 10 grep -q ready "$S/live" || fail "no start: $(cat "$S/live")"
		: | policy
		# Sessions of other tests of this user may be seen.
		run pale policy reload --session "$(sed -n 's/^ready //p' "$S/live")"
		rc_is 0
		touch ~/go
		wait $!
		grep -q tried "$S/live" || fail "$from: not tried"
		[ ! -L .pale ] || fail "$from: a link chose the project's policy"
	done
}

# Where it does not lie there, nobody makes the directory.
t_elsewhere_it_is_closed_whole() {
	local how
	mkdir other && echo '[files]' >other/policy.ini
	for how in 'mkdir .pale' 'ln -s other .pale' 'mv other .pale' 'mkdir -p .pale/x'; do
		run pale run -q --keep-home -- bash -c "$how"
		rc_not 0 "$how"
		[ ! -e .pale ] && [ ! -L .pale ] || fail "$how made it"
	done
}

# [session] share: links to what is the operator's own, judged as what they lead to.
t_shares() {
	mkdir -p ~/.config/tool ~/.config/gh ~/.local/share/tool
	echo set >~/.config/tool/rc
	echo "$DECOY" >~/.config/gh/hosts.yml
	printf '[session]\nstate = .pale\nshare = config/tool/\nshare = config/gh\nshare = data/tool/deep\n' | policy
	fsh 'cat "$XDG_CONFIG_HOME/tool/rc"
		cat "$XDG_CONFIG_HOME/gh/hosts.yml"; echo x >"$XDG_CONFIG_HOME/tool/rc"; ls -I gnupg "$XDG_DATA_HOME"'
	out_is set
	file_is ~/.config/tool/rc set
	# What stands there is left as it is.
	rm .pale/config/tool && mkdir .pale/config/tool
	fsh 'ls -d "$XDG_CONFIG_HOME/tool"/*'
	rc_not 0
	printf '[session]\nstate = .pale\nshare = config/tool\nshare = none\n' | policy
	rm -rf .pale
	fsh 'ls -A -I ssh -I emacs "$XDG_CONFIG_HOME"'
	out_is ""
}

# What git reads there is no more the session's to write than ~/.gitconfig is: with the operator's own behind a link,
# without, and where XDG_CONFIG_HOME is not moved.
t_git_obeys_no_session() {
	local how run keep at
	need busybox
	state .pale
	mkdir y && echo '[core]' >y/config
	for keep in own none kept; do
		at=.pale/config/git
		rm -rf ~/.config/git
		[ $keep != own ] || { mkdir -p ~/.config/git && echo '[user]' >~/.config/git/config; }
		[ $keep != kept ] || { mkdir -p "$W/conf" && export XDG_CONFIG_HOME=$W/conf at=conf/git; }
		for run in '' busybox; do
			for how in "$run mkdir -p $at" "$run rm -r $at" "$run mv $at z" "$run ln -sfn $W/y $at" "$run mv y $at" \
				"$run ln y/config $at/config" "$run cp -r y $at" "echo x >$at/config" "$run touch $at/attributes $at/ignore"; do
				run pale run -q $([ $keep = kept ] && echo --keep-home) -- bash -c "test \"\$XDG_CONFIG_HOME\" = $W/${at%/git} &&
					{ $how; }"
				[ $keep = own ] && [ "$how" != "${how#*mkdir -p}" ] || rc_not 0 "$keep: $how"
				[ ! -e $at/attributes ] && [ -d y ] || fail "$keep: $how"
				if [ $keep = own ]; then
					[ "$(readlink $at)" = "$HOME/.config/git" ] || fail "$how took the link"
					file_is ~/.config/git/config '[user]'
				else
					[ ! -e $at ] && [ ! -L $at ] || fail "$keep: $how made it"
				fi
			done
		done
		unset XDG_CONFIG_HOME
		rm -rf .pale
	done
	run pale explain write .pale/config/git/config
	rc_is 1
	out_has "git, curl, wget and ssh obey what is there"
	fsh 'for f in .curlrc curlrc wget/wget2rc; do mkdir -p $XDG_CONFIG_HOME/wget; for how in "echo x >$f" \
			"mv file $f" "ln file $f" "ln -s $PWD/file $f" \
			"busybox cp file $f"; do echo x >file; (cd $XDG_CONFIG_HOME; cp "$OLDPWD/file" file; eval "$how"); done; done; true'
	[ "$(ls -A -I git -I ssh -I emacs .pale/config)" = file ] ||
		fail "what curl obeys was made: $(ls -A .pale/config)"
	denied write "$W/.pale/config/.curlrc" "wget and ssh obey what is there"
	# Of a session in a directory above, or of one that brought it along.
	for how in "mkdir .pale/config/git" "ln -s $W/y .pale/config/git" "touch .pale/config/git"; do
		rm -rf .pale && mkdir -p .pale/config && chmod 700 .pale .pale/config && $how
		run pale run -q -- true
		rc_is 125 "$how"
		err_has "$W/.pale/config/git is no link to your own configuration of git"
	done
	printf '[session]\nstate = .pale\nshare = config/git/ignore\n' | policy
	rm -rf .pale && mkdir -p ~/.config/git && touch ~/.config/git/ignore
	run pale run -q -- true && run pale run -q -- true
	rc_is 0
}

# A way that an earlier session bent: no link is made through it.
t_shares_through_no_link() {
	mkdir -p ~/.config/a/b ~/target .pale/config
	touch ~/.config/a/b/c
	chmod 700 .pale/config
	ln -s ~/target .pale/config/a
	printf '[session]\nstate = .pale\nshare = config/a/b/c\n' | policy
	fsh true
	rc_is 0
	[ -z "$(ls -A ~/target)" ] || fail "something went through the link"
}

t_scratch_is_no_repository() {
	need git
	state .pale
	git init -q .
	fsh 'mkdir -p .pale/tmp/x && cd .pale/tmp/x && git rev-parse --show-toplevel'
	rc_not 0
	out_is ""
}

t_env_tells_it() {
	bridge
	run pale env --preset bridge
	out_has "PWD=$W/bridge/workspace	# set by [session] workspace"
	cd "$W" && rm -r bridge
	run pale env
	rc_is 0
	out_has "XDG_DATA_HOME=$HOME/.local/share/pale/"
	out_has "by [session] state"
	missing ~/.local/share/pale
	run pale env --keep-home
	out_lacks /pale/
}

# What an agent left in the place of a directory ends the start, and is named.
t_what_stands_in_the_way() {
	state
	local what
	mkdir "$HOME/target"
	for what in .opencode .opencode/data .opencode/tmp; do
		for with in 'ln -s "$HOME/target"' mkfifo touch; do
			rm -rf .opencode
			mkdir -p "$(dirname $what)"
			eval "$with $what"
			run timeout 20 pale run -q -- touch ran
			rc_is 125 "$with $what"
			err_has "$W/$what is not a directory that you alone own"
			err_has "remove it, or use --keep-home"
			missing ran
			[ -z "$(ls -A "$HOME/target")" ] || fail "something went through the link"
			run pale run -q --keep-home -- touch ran
			rc_is 0
			rm ran
		done
	done
	rm -rf .opencode && mkdir .opencode && chmod 777 .opencode
	run pale run -q -- true
	rc_is 125
	# What an earlier session wrote is not written through.
	rm -rf .opencode && mkdir .opencode && ln -s "$HOME/target/f" .opencode/.gitignore
	run pale run -q -- true
	missing "$HOME/target/f"
}

# Nothing that a session does to these directories keeps the next one from starting there.
t_the_next_one_starts() {
	local how run state modes attrs acl=02000000010000000000000004000000ffffffff20000000ffffffff
	need busybox python3
	for state in .pale .x/y outside; do
		state "$state"
		rm -rf .pale .x ~/.local/share/pale
		[ $state != outside ] || { pale run -q -- true && state=$(echo ~/.local/share/pale/*); }
		modes=("chmod 0 $state" "chmod 777 $state/tmp" "chmod -R a-x $state" "chmod u-r $state/data")
		attrs=('os.fchmod(os.open(d, os.O_RDONLY), 0)' 'os.chown(d, -1, os.getgid())'
			"os.setxattr(d, \"system.posix_acl_access\", bytes.fromhex(\"$acl\"))"
			'os.setxattr(d, "user.x", b"y")' 'os.chmod("/proc/self/root" + os.path.abspath(d), 0o777)')
		# At level hooks these changes are not judged.
		[ "$T_LEVEL" != hooks ] || modes=() attrs=()
		for run in '' busybox; do
			for how in "${modes[@]}" "rm -rf $state/tmp" \
				"rm -rf $state; ln -s / $state" "rm -rf $state/cache; ln -s /tmp $state/cache" "mv $state x" "mv $state/tmp x" \
				"rmdir $state/config; mkfifo $state/config" "rm -rf $state/state; touch $state/state" "ln -sfn /tmp $state/tmp" \
				"mkdir x; mv -T x $state/tmp" "rm -rf $state/tmp; mkdir -m 777 $state/tmp" \
				"rm -rf $state/.gitignore; mkdir $state/.gitignore" "mv ${state%/*} x" "rm -rf ${state%/*}"; do
				fsh "$run $how"
				run pale run -q -- touch "$state/tmp/ran"
				rc_is 0 "$run $how"
				rm "$state/tmp/ran"
			done
		done
		for how in "${attrs[@]}" 'os.rmdir(d + "/tmp")'; do
			fsh "python3 -c 'import os; d = \"$state\"; $how' || exit 9"
			rc_is 9 "$how"
			grep -q "^pale: denied .*the agent's state, a directory that may be filled and no more" "$S/err" ||
				fail "$how: it is not said"
			run pale run -q -- true
			rc_is 0 "$how"
		done
	done
}

# What a session in a directory above closed is opened again, with a word, before the policy is read.
t_closed_from_above() {
	state .pale
	mkdir sub
	(cd sub && pale run -q -- true) || fail "no start"
	printf '[session]\nmode = read-only\n' >sub/.pale/policy.ini
	for how in 'chmod 0 sub/.pale' 'chmod 0 sub/.pale/tmp sub/.pale/data' 'chmod 100 sub/.pale/config sub/.pale'; do
		fsh "$how"
		rc_is 0 "$how"
		(cd sub && run pale run -q -- touch ran
			rc_not 0 "$how"
			rc_not 125 "$how"
			missing ran
			[ "$how" = "${how#*tmp}" ] || exit 0
			err_has "$W/sub/.pale was closed to you (mode") || exit 1
	done
	rm sub/.pale/policy.ini
	fsh 'chmod 0 sub/.pale/tmp'
	cd sub
	run pale run -q -- touch .pale/tmp/ran
	rc_is 0
	err_has "$W/sub/.pale/tmp was closed to you (mode 000) and is opened again"
}

t_workspace_that_cannot_be_written() {
	local how
	chmod 555 .
	run pale run -q -- bash -c 'echo "${XDG_DATA_HOME-none}"'
	chmod 755 .
	rc_is 0
	out_is none
	err_has "cannot be written: the agent's state stays in your home"
	missing .pale
	# Not to who wants it there, nor where it would stay there anyway.
	chmod 555 .
	for how in --keep-home --mode=read-only; do
		run pale run -q $how -- true
		rc_is 0
		err_lacks "stays in your home"
	done
	policy <<<$'[session]\nstate = none'
	run pale run -q -- true
	chmod 755 .
	rc_is 0
	err_lacks "stays in your home"
}

# A full disk is said, and half of what was made there does not stay: the next start makes all of it.
t_full_disk() {
	[ -n "${T_FULL:-}" ] || skip "a file system of its own needs root"
	state .pale
	mkdir "$S/full/w" && cd "$S/full/w" || exit 99
	dd if=/dev/zero of=../fill bs=4k 2>/dev/null
	run pale run -q -- touch ran
	rc_is 125
	err_has "$S/full/w/.pale cannot be made for the agent's state: No space left on device; --keep-home"
	missing ran
	rm ../fill
	run pale run -q -- touch .pale/tmp/ran
	rc_is 0
	grep -qx /data/ .pale/.gitignore || fail "git is told nothing"
}

t_bad_words() {
	local word
	for word in /tmp/x '~/x' .. ../x .pale/policy.ini .git/x '*' . a/../../b; do
		state "$word"
		run pale lint
		rc_is 1 "$word"
		out_has bad-path
	done
	for word in tmp/x config data/ data/../x 'config/*' /etc; do
		printf '[session]\nshare = %s\n' "$word" | policy
		run pale lint
		rc_is 1 "$word"
		out_has bad-path
	done
	mkdir .pale
	printf '[session]\nstate = .x\nshare = config/x\nworkspace = x\n' >.pale/policy.ini
	rm ~/.config/pale/policy.ini
	run pale run -- true
	rc_is 0
	err_has "may only tighten"
	missing .x
}

scenario "$@"
