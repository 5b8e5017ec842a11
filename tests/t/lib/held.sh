# What the files work/traps-*.sh share.  A trap springs bare and in the fence, in workspaces of the same name:
#
#   holds VIA 'LINE'    LINE, in which $F names a file and $T is the victim, comes out in the fence as
#                       it does bare: output, errors, status, tree.  Where F is a key it shows that key
#                       bare, shows nothing of it in the fence, and the ledger tells who refused it:
#                       VIA is hook (then the trap did not shake it off) or kernel.

T=$T_VICTIMS/traps
export T F T_PASS="T F A n ld"

# Runs in the workspace and keeps what comes out and what is left: sprung NAME COMMAND...
sprung() {
	local rc=0 name=$1
	shift
	rm -rf "$HOME/now" && mkdir "$HOME/now"
	cp -a "$W/." "$HOME/now/"
	(cd "$HOME/now" && exec "$@") >"$S/$name.out" 2>"$S/$name.err" </dev/null || rc=$?
	echo "status $rc" >>"$S/$name.out"
	picture "$HOME/now" >"$S/$name.tree"
}

same() {
	local what
	F=$HOME/now/file
	sprung bare bash -c "$1"
	sprung inside pale run -q ${OPTS[@]+"${OPTS[@]}"} -- bash -c "$1"
	grep -q 'status 0' "$S/bare.out" || fail "$1: does not work bare: $(cat "$S/bare.out" "$S/bare.err")"
	for what in out err tree; do
		diff "$S/bare.$what" "$S/inside.$what" >"$S/diff" || fail "$1: $what differs: $(head -30 "$S/diff")"
	done
}

# Whose word it is at this level: strict takes nobody's but the kernel's.
teller() {
	case $T_LEVEL in
	hooks) echo hook ;;
	full) echo "$1" ;;
	strict) echo kernel ;;
	esac
}

held() {
	F=$HOME/.ssh/id_rsa
	sprung bare bash -c "$2"
	grep -qF "$DECOY" "$S/bare.out" || fail "$2: does not read the key bare"
	rm -rf "$STATE/sessions"
	sprung inside pale run -q ${OPTS[@]+"${OPTS[@]}"} -- bash -c "$2"
	cp "$S/inside.out" "$S/out"
	cp "$S/inside.err" "$S/err"
	no_decoy
	recorded read deny "$F" "\"via\":\"$(teller "$1")\""
}

holds() {
	same "$2"
	held "$1" "$2"
}
