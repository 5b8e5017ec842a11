# Recorded work with git and a remote (flows.txt), bare and inside a session: sourced after git-servers.sh.
#
#   flows GROUP    runs each row of the group at both sides and compares what it leaves and what it says; rows of
#                  flows-differs.txt name what may differ, and why

FLOWS=${T_LIB%/*}
# Bare git again at the other side, where a fault of the table or of the driver shows.
: "${FLOW_INSIDE:=session}"

# --- what both sides begin with -----------------------------------------------------------------------

# A flow's own words, for both sides.
flow_words() {
	cat <<-'END'
		export LC_ALL=C.UTF-8 GIT_EDITOR=: GIT_MERGE_AUTOEDIT=no TZ=UTC
		export GIT_AUTHOR_DATE GIT_COMMITTER_DATE
		tick() {
			NOW=$((NOW + 60))
			GIT_AUTHOR_DATE="$NOW +0000" GIT_COMMITTER_DATE="$NOW +0000"
		}
		commit() {
			echo "$1" >>"${2:-file}"
			git add "${2:-file}"
			tick
			git commit -q -m "$1"
		}
		# A commit at the upstream: others BRANCH TEXT [FILE]
		others() {
			export GIT_INDEX_FILE=$UP/other-index GIT_DIR=$UP
			git read-tree "$1"
			git cat-file -p "$1:${3:-file}" >"$UP/other-file" 2>/dev/null
			[ "${3:-}" != big ] || seq 90000 >>"$UP/other-file"
			echo "$2" >>"$UP/other-file"
			git update-index --add --cacheinfo "100644,$(git hash-object -w "$UP/other-file"),${3:-file}"
			tick
			git update-ref "refs/heads/$1" "$(git commit-tree -p "$1" -m "$2" "$(git write-tree)")"
			rm "$UP/other-index" "$UP/other-file"
			unset GIT_INDEX_FILE GIT_DIR
		}
		# Its last commit is replaced by another: rewound BRANCH
		rewound() {
			tick
			git -C "$UP" update-ref "refs/heads/$1" "$(git -C "$UP" commit-tree -p "$1~1" -m rewound "$1^{tree}")"
		}
		NOW=1767398400
		tick
	END
	printf 'URL=%q BASE=%q UP=%q\n' "$URL" "$BASE" "$UP"
}

# up_NAME: the upstream at $S/up/NAME/NAME.git, pushed from a repository beside it.
up_begin() {
	mkdir -p "$S/up/$1"
	git init -q --bare "${@:2}" "$S/up/$1/$1.git" && upstream_settings "$S/up/$1/$1.git" &&
		git init -q "${@:2}" "$S/up/making" && cd "$S/up/making" && git remote add origin "$S/up/$1/$1.git" ||
		fail "upstream $1"
	eval "$(URL='' BASE='' UP='' flow_words)"
	NOW=1767312000
}

up_end() {
	git push -q --all && git push -q --tags && git push -q origin 'refs/notes/*' 2>/dev/null
	cd "$W" && rm -rf "$S/up/making"
}

up_history() {
	mkdir src docs
	echo "read me" >docs/readme.md
	commit base docs/readme.md
	for i in 1 2 3; do commit "line $i" src/a.c; done
	git branch feature/one && git branch feature/two && git tag v0.9
	seq 3000 >bulk && commit bulk bulk
	commit "line 1" && commit "line 2"
	git branch gone
	tick && git tag -a -m "one" v1.0
	git checkout -q -b topic && commit "topic 1" && commit "topic 2" src/b.c
	git checkout -q feature/one && commit "one" src/one.c && commit "more of one" src/one.c
	git checkout -q feature/two && commit "two" src/two.c
	git checkout -q -b release/1.0 main && commit "backport" docs/changes
	git checkout -q main && tick && git merge -q --no-ff -m "merge two" feature/two
	commit "line 3"
	tick && git notes add -m "noted" main~3
}

up_project() {
	up_begin project
	up_history
	up_end
}

up_sha256() {
	up_begin sha256 --object-format=sha256
	up_history
	up_end
}

up_empty() {
	up_begin empty
	cd "$W" && rm -rf "$S/up/making"
}

up_unborn() {
	up_begin unborn
	git checkout -q -b other && commit one
	up_end
	git -C "$S/up/unborn/unborn.git" symbolic-ref HEAD refs/heads/not-yet
}

up_unrelated() {
	up_begin unrelated
	commit one && git branch topic
	git checkout -q --orphan other && git rm -q -f file && commit two other-file
	up_end
}

up_many() {
	up_begin many
	commit one && commit two
	git push -q origin main
	git rev-parse HEAD | (read -r id && seq 400 | sed "s|.*|create refs/heads/b/& $id|") |
		git -C "$S/up/many/many.git" update-ref --stdin
	up_end
}

# A project with another as its submodule, by a relative URL.
up_super() {
	up_begin super
	mkdir -p "$S/up/super" && cp -a "$S/up/project/project.git" "$S/up/super/part.git"
	commit one
	printf '[submodule "part"]\n\tpath = part\n\turl = ../part.git\n' >.gitmodules
	git update-index --add --cacheinfo "160000,$(git -C "$S/up/super/part.git" rev-parse main),part"
	mkdir part && git add .gitmodules && tick && git commit -q -m "with a part"
	up_end
}

# --- a flow -------------------------------------------------------------------------------------------

# What serves it: sets BASE, URL and UP; each server starts once in a test.
flow_server() {
	local up=$FORGE/git
	case $1 in
	http) [ -n "${HTTP_URL:-}" ] || serve_http ;;
	https) [ -n "${HTTPS_URL:-}" ] || serve_https ;;
	ssh) [ -n "${SSH_URL:-}" ] || serve_ssh ;;
	daemon) [ -n "${DAEMON_URL:-}" ] || serve_daemon ;;
	gitolite)
		[ -n "${GITOLITE_URL:-}" ] || serve_gitolite
		up=$FORGE/gitolite/repositories
		;;
	esac
	BASE=${1^^}_URL
	BASE=${!BASE}
	URL=$BASE/$2.git
	UP=$up/$2.git
}

# The upstream and a clone of it as both sides find them: flow_fresh UPSTREAM SERVER CLONE-OPTION...
flow_fresh() {
	local name=$1 server=$2 part kept
	shift 2
	[ -d "$S/up/project" ] || (up_project) || fail "upstream project"
	[ -d "$S/up/$name" ] || (up_"$name") || fail "upstream $name"
	if [ "$server" = gitolite ]; then
		for part in HEAD packed-refs refs objects; do
			rm -rf "${UP:?}/$part"
			[ ! -e "$S/up/$name/$name.git/$part" ] || cp -a "$S/up/$name/$name.git/$part" "$UP/$part"
		done
	else
		rm -rf "$FORGE/git" && cp -a "$S/up/$name" "$FORGE/git"
	fi
	kept=$S/up/clone-$name-$server-$*
	[ -d "$kept" ] || git clone -q "$@" "$URL" "$kept" 2>"$S/cloned" || fail "clone: $(cat "$S/cloned")"
	# Each flow is the first session in its workspace.
	rm -rf "$HOME/.local/state/pale/gate/remotes"
	find "$W" -mindepth 1 -delete && cp -a "$kept/." "$W/"
}

# flow_side SIDE DIR: runs it there, and leaves DIR/SIDE/{out,err,status,before,picture}.
flow_side() {
	local side=$1 dir=$2 to=$2/$1 fence=() rc=0
	mkdir -p "$to"
	[ "$side" != session ] || fence=(pale run -q ${OPTS[@]+"${OPTS[@]}"} --)
	{ flow_words && cat "$dir/outside"; } >"$S/outside.sh"
	(set +u && cd "$W" && . "$S/outside.sh") >"$to/outside" 2>&1 || fail "outside: $(cat "$to/outside")"
	python3 "$FLOWS/flows.py" picture "$UP" "$W" "$to/before"
	{ flow_words | sed 's/ UP=.*//' && cat "$dir/flow"; } >"$dir/flow.sh"
	(cd "$W" && timeout 40 ${fence[@]+"${fence[@]}"} bash -c "$(cat "$dir/flow.sh")") \
		>"$to/out" 2>"$to/err" </dev/null || rc=$?
	echo "$rc" >"$to/status"
	python3 "$FLOWS/flows.py" picture "$UP" "$W" "$to/picture" || fail "no picture of $dir"
}

# What the sessions have.  No person is there to be asked.
flow_policy() {
	unset PALE_PROMPT
	policy <<-END
		[git]
		push = allow
	END
}

flow() {
	local dir=$1 name upstream server=http word options=() side
	read -r name upstream word <"$dir/head"
	for word in $word; do
		case $word in
		shallow) options=(--depth 2) ;;
		partial) options=(--filter=blob:none) ;;
		bare) options=(--bare) ;;
		*) server=$word ;;
		esac
	done
	flow_server "$server" "$upstream"
	for side in bare "$FLOW_INSIDE"; do
		flow_fresh "$upstream" "$server" ${options[@]+"${options[@]}"}
		flow_side "$side" "$dir"
	done
	! grep -E 'command not found|syntax error' "$dir/bare/err" || echo "broken $name" >>"$S/differ"
	if python3 "$FLOWS/flows.py" compare "$name" "$dir/bare" "$dir/$side" "$FLOWS/flows-differs.txt" >"$dir/diff"; then
		echo "same $name"
	else
		{ echo "differs $name" && sed 's/^/    /' "$dir/diff"; } >>"$S/differ"
	fi
}

flows() {
	local dir n=0
	git config --global pack.threads 1
	git config --global advice.detachedHead false
	[ "$FLOW_INSIDE" != session ] || flow_policy
	python3 "$FLOWS/flows.py" cut "$FLOWS/flows.txt" "$1" "$S/flows"
	for dir in "$S"/flows/*; do
		flow "$dir"
		n=$((n + 1))
	done
	[ $n -gt 0 ] || fail "no flow is called $1"
	rm -f "$S/out" "$S/err"
	[ ! -e "$S/differ" ] || fail "$(grep -cE '^(differs|broken)' "$S/differ") of $n flows differ: $(cat "$S/differ")"
}
