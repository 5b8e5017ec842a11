# levels: hooks full strict
# limit: 60
# What the rules on the files of protected branches hold, at every level.
. "$T_LIB"

t_kept() {
	local how MAIN TOPIC
	git init -q . && git add file && git commit -q -m one && git checkout -q -b topic && git commit -q --allow-empty -m two
	git pack-refs --all
	MAIN=$(git rev-parse main) TOPIC=$(git rev-parse topic)
	for how in "echo $TOPIC >.git/refs/heads/main" \
		"echo $TOPIC >x; mv x .git/refs/heads/main" 'rm -f .git/refs/heads/main' \
		'mv .git/refs/heads .git/h' \
		'mv .git .g' 'ln -sf topic .git/refs/heads/main' "git -c alias.u=update-ref u refs/heads/main $TOPIC" \
		'git -c alias.b=branch b -D main' \
		'git pack-refs --all; git gc -q' "echo \"$TOPIC refs/heads/main\" >.git/packed-refs"; do
		fsh "$how; true"
		[ "$(git rev-parse refs/heads/main)" = "$MAIN" ] || fail "main moved: $how"
	done
	# of the branch that the session begins on the file stays
	git checkout -q main
	fsh 'rm -f .git/refs/heads/main; mv .git/refs/heads/main x; mv .git/refs .git/r'
	file_is .git/refs/heads/main "$MAIN"
	fsh 'git commit -q --allow-empty -m three && git checkout -q -b work && git switch -q -'
	rc_is 0
	not_denied
}

scenario "$@"
