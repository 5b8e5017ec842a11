# levels: full strict hooks
# limit: 120
# A policy that is loaded anew into a session that runs: what is running sees it at its next call.
. "$T_LIB"

# The policy of the session's beginning, with more lines in [files].
base_policy() {
	{
		printf '%s\n' "preset = agent" "[commands]" "deny = ls" "[files]" "write = $HOME/elsewhere" "$@"
	} | policy
}

# Runs a program in a session behind our back; what is written to $S/in are its lines.
begin() {
	mkfifo "$S/in"
	pale run "$@" <"$S/in" >"$S/said" 2>"$S/err" &
	RUN=$!
	exec 7>"$S/in"
	for _ in $(seq 200); do
		grep -q ready "$S/said" 2>/dev/null && return
		sleep 0.05
	done
	fail "the session does not begin"
}

# One deed inside: its answer is the last line said.
deed() {
	local n
	n=$(wc -l <"$S/said")
	echo "$*" >&7
	for _ in $(seq 400); do
		[ "$(wc -l <"$S/said")" -gt "$n" ] && { SAID=$(tail -1 "$S/said"); return; }
		sleep 0.02
	done
	fail "no answer to: $*"
}

says() {
	deed "$1"
	[ "$SAID" = "$2" ] || fail "$1: $SAID, not $2"
}

finish() {
	exec 7>&-
	wait "$RUN"
}

reload() {
	pale policy reload "$@" >"$S/out" 2>"$S/err2"
	RC=$?
}

program() {
	cat >"$W/child.py" <<'END'
import os, sys
print("ready", flush=True)
for line in sys.stdin:
    verb, path = line.split()
    try:
        if verb == "read":
            open(path).close()
        elif verb == "write":
            open(path, "w").close()
        elif verb == "run":
            import subprocess
            subprocess.check_call([path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print("yes", flush=True)
    except OSError as e:
        print("no", flush=True)
END
}

t_running_python() {
	program
	base_policy
	begin -- python3 child.py
	says "write $W/made" yes
	says "write $HOME/elsewhere/made" yes
	says "write $HOME/other" no
	base_policy "write = $HOME/other" "readonly = made" "deny = file"
	reload
	[ "$RC" = 0 ] || fail "reload: $(cat "$S/err2")"
	says "write $W/made" no
	says "read $W/file" no
	says "write $HOME/other" yes
	says "write $HOME/elsewhere/made" yes
	grep -q "1 past denials would now be allowed" "$S/out" || fail "what is opened is not said: $(cat "$S/out")"
	grep -q "past allows would now be denied" "$S/out" || fail "what is closed is not said"
	base_policy
	reload
	says "write $W/made" yes
	says "read $W/file" yes
	says "write $HOME/other" no
	finish
	recorded policy/reload "" "generation=1" "past denials would now be allowed: write $HOME/other"
	recorded policy/reload "" "generation=2"
	verifies
}

scenario "$@"
