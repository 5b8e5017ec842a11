# levels: full strict
# limit: 120
# A push hangs on HEAD and on configuration: what pale explain says of it, of the operator's own words and of the
# agent's is one verdict.
. "$T_LIB"

repo() {
	printf '[commands]\nallow = git push\n' | policy
	git init -q . && git add file && git commit -q -m one
	git config --global user.name x
	git checkout -q -b topic
	cp .git/config "$S/before"
}

# all_say VERDICT COMMAND...: each by explain, by a shell inside and by pale run itself.
all_say() {
	local want=$1 word got
	shift
	for word; do
		run pale explain exec $word
		rc_is "$([ $want = allow ] && echo 0 || echo 1)" "explain: $word"
		fence bash -c "$word; true"
		got=$(grep -q '^pale: denied exec' "$S/err" && echo deny || echo allow)
		[ $got = $want ] || fail "inside: $got: $word"
		fence $word
		got=$(grep -q '^pale: denied exec' "$S/err" && echo deny || echo allow)
		[ $got = $want ] || fail "by itself: $got: $word"
	done
}

t_plain() {
	printf '[commands]\nallow = git push\n' | policy
	all_say allow "git push origin topic"
	all_say deny "git push" "git push origin main"
	repo
	all_say allow "git push" "git push origin topic" \
		"git push origin HEAD" "git -C . push" "git --git-dir=.git push origin topic"
	all_say deny "git push origin main"
	git config push.default simple
	all_say allow "git push"
	git checkout -q --detach
	all_say deny "git push"
	all_say allow "git push origin topic"
}

# In the repository, in the operator's own file, and in that of the session.
t_configured() {
	local how
	repo
	for how in 'git config remote.origin.push refs/heads/topic:refs/heads/main' 'git config push.default upstream' \
		'git config include.path elsewhere' \
		'mkdir -p .git/branches; touch .git/branches/x' 'git config --global push.default matching' \
		'mkdir -p ~/.config/git; printf "[push]\n\tdefault = upstream\n" >~/.config/git/config'; do
		eval "$how"
		all_say deny "git push" "git -C . push origin topic"
		all_say allow "git push origin topic:topic"
		cp "$S/before" .git/config
		rm -rf .git/branches ~/.gitconfig ~/.config/git .pale
		git config --global user.name x
	done
	all_say allow "git push"
}

# Another repository is that one's matter.
t_elsewhere() {
	repo
	git init -q -b main other && git init -q -b side aside
	ln -s other link
	all_say deny "git -C other push" "git -C aside -C ../other push" "git -C link push"
	all_say allow "git -C aside push" "git -C other -C ../aside push" "git --git-dir=aside/.git push"
	git -C aside config push.default upstream
	all_say deny "git -C aside push origin side"
	cd other || exit 99
	all_say allow "git -C .. push"
	# What /proc says there is said of who looks.
	fence bash -c 'cd .. && git -C /proc/self/cwd/other push; true'
	denied exec "git" "protect = main"
}

scenario "$@"
