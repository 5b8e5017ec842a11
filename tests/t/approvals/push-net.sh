# levels: full strict
# limit: 90
# needs: root
# A yes for a push is one for its host and port, for that process: in an internet of netlab.sh's.
. "$T_LIB"
. "$(dirname "$T_LIB")/netlab.sh"

# No rule names www.own.example; evil.example is denied by one.
repo() {
	printf '%s\n' '[network]' 'mode = replace' \
		'deny = evil.example' '[git]' 'remote = none' '[commands]' 'ask = git push' 'allow = git fetch' | policy
	git init -q . && git commit -q --allow-empty -m one && git checkout -q -b topic
	git remote add origin http://www.own.example/repo.git
}

# push WORDS: asked, and let.
push() {
	local id
	bg push bash -c "$1"
	id=$(pending_id) || fail "not asked: $(cat "$S/push.err")"
	pale approve "$id" >/dev/null || fail "approve"
	bg_wait push
}

t_its_host_is_open_to_it() {
	lab
	repo
	push 'git push origin topic:topic; curl -sS -m 5 http://www.own.example/hello; true'
	asked www.own.example
	reached tcp $GOOD2 80
	recorded resolve allow www.own.example
	recorded connect allow www.own.example:80
	# git came as far as the server, which takes none; what is no part of the push did not.
	! grep -q "git.*Could not resolve" "$S/err" || fail "the push was refused"
	denied resolve www.own.example
	out_lacks good
}

t_and_nothing_else() {
	lab
	repo
	# Another port, another name, and what a rule denies.
	push "git push http://www.own.example:8080/repo.git topic:topic; true"
	reached tcp $GOOD2 8080
	not_reached tcp $GOOD2 80
	# Nor to a hook of the push: the operator's own, which does more than it should.
	printf '#!/bin/sh\ncurl -m 5 http://www.own.example/hello; curl -m 5 http://own.example/hello; exit 1' \
		>.git/hooks/pre-push
	chmod +x .git/hooks/pre-push
	push "git push http://www.own.example:8080/repo.git topic:topic; true"
	rm .git/hooks/pre-push
	denied connect www.own.example:80
	denied resolve own.example
	not_reached tcp $GOOD2 80
	not_asked own.example
	push "git push http://evil.example/repo.git topic:topic; true"
	denied resolve evil.example
	not_asked evil.example
	only_the_good
	# Not without a yes.
	fsh 'git fetch http://www.own.example/repo.git; true'
	denied resolve www.own.example
	# What git starts for a push over WebDAV was part of the yes; by itself it is asked.
	OPTS=(-n)
	fsh 'git http-push http://www.own.example:8080/repo.git topic:topic; exit $?'
	rc_is 126
	err_has "ask = git (send-pack|http-push)"
}

scenario "$@"
