# Looks for a secret where a session could have it (sentinel.py): sourced after lib.sh.
#
#   secret_watch SECRET PID   from now on in PID, a process of the session, and its descendants, until PID ends
#   secret_nowhere SECRET PLACE...   fails where the watch found it, or a PLACE has it: the workspace, $STATE with
#                             its ledgers, the session's runtime directory

secret_watch() {
	python3 "${T_LIB%/*}/sentinel.py" --pid "$2" --until-end <<<"$1" >"$S/watched" 2>&1 &
	SECRET_WATCH=$!
}

secret_nowhere() {
	local secret=$1 rc=0
	shift
	if [ -n "${SECRET_WATCH:-}" ]; then
		wait "$SECRET_WATCH" || rc=$?
		[ $rc = 0 ] || fail "the secret, in processes of the session ($rc): $(head -20 "$S/watched")"
	fi
	python3 "${T_LIB%/*}/sentinel.py" "$@" <<<"$secret" >"$S/looked" 2>&1 || fail "the secret: $(head -20 "$S/looked")"
}
