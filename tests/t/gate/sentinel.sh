# limit: 60
# The search for a secret finds it wherever one is put: what finds nothing elsewhere is worth that much.
. "$T_LIB"
. "$(dirname "$T_LIB")/sentinel-lib.sh"

SECRET=sentinel-7Qx+/9tLw~zz

# found PATTERN ARGUMENT...: the search says so.
found() {
	local pattern=$1
	shift
	RC=0
	python3 "${T_LIB%/*}/sentinel.py" "$@" <<<"$SECRET" >"$S/out" 2>"$S/err" || RC=$?
	rc_is 1 "$pattern"
	grep -qE "$pattern" "$S/out" || fail "not found: $pattern"
}

clean() {
	RC=0
	python3 "${T_LIB%/*}/sentinel.py" "$@" <<<"$SECRET" >"$S/out" 2>"$S/err" || RC=$?
	rc_is 0
	err_is_empty
}

t_files() {
	local offset
	clean "$W"
	out_has "1 files"
	mkdir one && echo "x$SECRET" >one/deep
	found "^$W/one/deep: plain$" "$W"
	for offset in 1 2 3 4; do
		printf "%${offset}s%s-and-more" "" "$SECRET" | base64 -w0 >one/deep
		found "^$W/one/deep: base64 at " "$W"
	done
	printf %s "$SECRET" | od -An -tx1 | tr -d ' \n' >one/deep
	found "deep: hex" "$W"
	echo 'https://tess:sentinel-7Qx%2B%2F9tLw~zz@host' >one/deep
	found "deep: url" "$W"
	rm one/deep && ln -s "../$SECRET" one/link
	found "^link $W/one/link: plain" "$W"
	# At the seam of what is read at once.
	rm one/link && { head -c 1048570 /dev/zero && printf %s "$SECRET"; } >one/big
	found "one/big: plain" "$W"
	rm -r one && clean "$W"
}

t_objects() {
	git init -q . && echo "$SECRET" >hidden && git add . && git commit -q -m one && rm hidden
	found "^object $W/.git/objects/.*: plain" "$W"
	git add -u && git commit -q -m two && git gc -q --prune=now
	[ -z "$(find .git/objects -path '.git/objects/??/*')" ] || fail "not packed"
	found "^objects of $W/.git: plain" "$W"
	out_has "6 objects"
	git init -q clean.git --bare
	clean clean.git
}

# A child of a shell, which is watched: in its words, environment and memory.
t_processes() {
	local how
	# shellcheck disable=SC2016 # the child's own
	for how in 'cmdline' 'environ' 'memory'; do
		case $how in
		cmdline) bash -c 'sleep 20; true' "$SECRET" & ;;
		environ) (export KEPT="$SECRET" && exec bash -c 'sleep 20; true') & ;;
		memory) bash -c 'read -r kept; sleep 20; true' <<<"$SECRET" & ;;
		esac
		until_true 5 pgrep -P $!
		found "^process [0-9]+ \((bash|sleep)\) $how: plain" --pid $!
		kill $! && wait $! 2>/dev/null
	done
	(exec -c bash -c 'sleep 20; true') &
	clean --pid $!
	out_has " memories)"
	kill $!
}

# Beside a session: who is in it is found although it lives for a moment, and what is outside is not looked at.
t_session() {
	local outside
	bash -c 'sleep 30; true' "$SECRET" &
	outside=$!
	bg quiet bash -c 'echo $$ >pid; until [ -e go ]; do sleep 0.02; done
		for i in $(seq 20); do bash -c "sleep 0.01"; done'
	until_true 10 test -s pid || fail "no session"
	secret_watch "$SECRET" "$(cat pid)"
	touch go
	bg_wait quiet
	secret_nowhere "$SECRET" "$W" "$STATE"
	file_has "$S/watched" " memories" || fail "$(cat "$S/watched")"
	! file_has "$S/watched" "(0 memories)" || fail "no memory was read: $(cat "$S/watched")"
	rm go pid
	bg loud bash -c 'echo $$ >pid; until [ -e go ]; do sleep 0.02; done
		bash -c "sleep 1; true" "$(tr a-z b-za <hint)"; true'
	tr b-za a-z <<<"$SECRET" >hint
	until_true 10 test -s pid || fail "no session"
	secret_watch "$SECRET" "$(cat pid)"
	touch go
	bg_wait loud
	(secret_nowhere "$SECRET" "$W" "$STATE") >"$S/said" && fail "it was not found"
	grep -qE "FAIL: the secret, in processes .*: process [0-9]+ \(bash\) (cmdline|memory): plain" "$S/said" ||
		fail "$(cat "$S/said")"
	kill $outside
}

scenario "$@"
