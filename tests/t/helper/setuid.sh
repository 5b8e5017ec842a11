# The helper as a user of its own, setuid or as a service: whoever starts it, whoever else is on the machine.
# needs: root
# limit: 60
. "$T_LIB"

PREFIX=/opt/installed
HELPER=$PREFIX/libexec/pale/pale-helper
S=$T_SCRATCH
OTHER=nobody

# --- a machine of one's own ---------------------------------------------------------------------------

# machine: runs on_NAME for the t_NAME that calls it, on a machine where nothing is installed yet.
machine() {
	[ "$(id -u)" = 0 ] || skip "an installation with a user of its own needs root"
	PATH=$PATH:/usr/sbin:/sbin
	chmod 755 "$S" "$HOME" "$W"
	chown -R "$T_USER:" "$HOME" "$XDG_RUNTIME_DIR"
	bash "${T_LIB%/*}/helper/machine.sh" bash "$0" "on_${FUNCNAME[1]#t_}"
	RC=$?
	[ $RC != 77 ] || exit 77
	[ $RC = 0 ] || exit 1
}

install_it() {
	run make --no-print-directory -s -C "$T_SOURCE" install B="$T_BUILD" PREFIX="$PREFIX" DESTDIR= "$@"
	rc_is 0 "make install $*"
	PALE_UID=$(id -u pale)
}

# as USER COMMAND...: with a home of his own.
as() {
	local user=$1 home=$S/h
	shift
	[ "$user" = "$T_USER" ] || home=$S/$user
	setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups env -i HOME="$home" LANG=C.UTF-8 \
		PATH="$PREFIX/bin:/usr/bin:/bin" T_MARK="$S" PALE_PROMPT=1 TERM=dumb "$@"
}

pale() {
	as "$T_USER" "$PREFIX/bin/pale" "$@"
}

python_suite() {
	run env PYTHONDONTWRITEBYTECODE=1 T_USER="$T_USER" T_HELPER="$HELPER" python3 "${T_LIB%/*}/helper/$1.py"
	rc_is 0 "$1.py"
}

listen() {
	need systemd-analyze
	PYTHONDONTWRITEBYTECODE=1 python3 "${T_LIB%/*}/helper/socket_unit.py" "$HELPER" \
		/etc/systemd/system/pale-helper@.service >"$S/listening" 2>&1 &
	until_true 5 grep -q listening "$S/listening" || fail "the listener does not listen: $(cat "$S/listening")"
}

# The whole flow of a session, whoever the helper is: STATE is where its ledgers are.
whole_flow() {
	local id
	STATE=/var/lib/pale/$(id -u "$T_USER")
	as "$T_USER" mkdir -p "$HOME/.config/pale"
	printf '[commands]\nask = cp file copy\n' | as "$T_USER" tee "$HOME/.config/pale/policy.ini" >/dev/null
	OPTS=(--level "$1")
	bg flow bash -c 'cat file; echo "$PALE_SESSION_DIR"; cp file copy; exit 7'
	id=$(pending_id)
	run pale session list --json
	out_has '"alive": true'
	run pale pending
	out_has "by        /usr/bin/bash ("
	run pale turn
	rc_is 0 "pale turn"
	run pale approve "$id"
	rc_is 0 "pale approve"
	bg_wait flow
	rc_is 7 "$1"
	out_has "hello from the workspace"
	out_has "/run/pale/$(id -u "$T_USER")/"
	[ -e copy ] || fail "what was approved was not done"
	run pale log verify
	rc_is 0 "pale log verify"
	run pale session show
	out_has "exit 7"
	recorded exec allow copy
	[ "$1" = hooks ] || ! ledgers | grep -q "exe claimed" || fail "nobody told whose programs they are"
	rm -f copy
	[ -z "$(ls -A "/run/pale/$(id -u "$T_USER")")" ] || fail "a runtime directory is left behind"
	[ -z "$(ls -A "$XDG_RUNTIME_DIR")" ] || fail "something is in the user's own runtime directory"
	[ "$(ls -A "$HOME/.local/state/pale" | grep -vx -e swept -e worked -e moves -e gate)" = heads.jsonl ] ||
		fail "more than heads, the last sweep, what agents worked on and which remotes there were is in the user's own state"
}

# --- what an installation is ----------------------------------------------------------------------------

on_installation() {
	local f
	for f in 1 2; do
		install_it SETUID=1
		[ "$(stat -c '%U:%G %a' "$HELPER")" = "pale:pale 6755" ] || fail "not installed setuid"
		[ "$(stat -c '%U:%G %a' /run/pale /var/lib/pale | sort -u)" = "pale:pale 711" ] || fail "directories"
		[ "$(stat -c '%U:%G %a' /etc/pale /etc/pale/policy.d | sort -u)" = "root:root 755" ] || fail "/etc/pale"
		grep -q common-auth /etc/pam.d/pale || fail "no PAM service"
		[ $f = 2 ] || { grep -qv '^\(#.*\)\?$' /etc/pale/policy.ini && fail "the floor that is installed says something"; }
		echo "# mine" >/etc/pale/policy.ini
		ln -f "$HELPER" "$PREFIX/kept$f"
	done
	file_is /etc/pale/policy.ini "# mine"
	[ ! -u "$PREFIX/kept1" ] || fail "an old helper stays setuid under another name"
	install_it SERVICE=1
	[ "$(stat -c '%U:%G %a' "$HELPER")" = "root:root 755" ] || fail "the service's helper is setuid"
	[ ! -u "$PREFIX/kept2" ] || fail "an old helper stays setuid under another name"
	grep -qF "ExecStart=$HELPER service" /etc/systemd/system/pale-helper@.service || fail "the unit starts something else"
	if command -v systemd-analyze >/dev/null; then
		run systemd-analyze verify --man=no /etc/systemd/system/pale-helper.socket /etc/systemd/system/pale-helper@.service
		! grep -i pale "$S/err" || fail "systemd-analyze verify"
		run systemd-analyze security --offline=yes --threshold=20 /etc/systemd/system/pale-helper@.service
		rc_is 0 "systemd-analyze security"
	fi
	mkdir /var/lib/pale/1
	# Another prefix: what that one never installed stays.
	run make --no-print-directory -s -C "$T_SOURCE" uninstall PREFIX=/opt/other DESTDIR=
	rc_is 0 "make uninstall of another prefix"
	out_has "/etc/pam.d/pale stays"
	for f in /etc/systemd/system/pale-helper.socket /etc/systemd/system/pale-helper@.service /etc/tmpfiles.d/pale.conf \
		/etc/pam.d/pale "$HELPER" "$PREFIX/bin/pale"; do
		exists "$f"
	done
	run make --no-print-directory -s -C "$T_SOURCE" uninstall PREFIX="$PREFIX" DESTDIR=
	rc_is 0 "make uninstall"
	out_has "left: /etc/pale, /var/lib/pale, the user pale"
	for f in /etc/systemd/system/pale-helper.socket /etc/systemd/system/pale-helper@.service /etc/tmpfiles.d/pale.conf \
		/etc/pam.d/pale "$HELPER" "$PREFIX/bin/pale"; do
		missing "$f"
	done
	exists /var/lib/pale/1
	file_is /etc/pale/policy.ini "# mine"
	# For a package, by anybody.
	as "$T_USER" mkdir "$S/h/package"
	run as "$T_USER" env PATH=/usr/bin:/bin make --no-print-directory -s -C \
		"$T_SOURCE" -o all install B="$T_BUILD" PREFIX=/usr \
		DESTDIR="$S/h/package" SETUID=1
	rc_is 0 "DESTDIR"
	exists "$S/h/package/usr/lib/systemd/system/pale-helper.socket"
	exists "$S/h/package/usr/lib/tmpfiles.d/pale.conf"
	exists "$S/h/package/etc/pale/policy.ini"
}

t_installation() {
	machine
}

# --- sessions -------------------------------------------------------------------------------------------

on_setuid_flow() {
	install_it SETUID=1
	cd "$W" || exit 1
	whole_flow full
	whole_flow strict
	whole_flow hooks
}

t_setuid_flow() {
	machine
}

# The helper is another user and may not end what a killed pale leaves; the session's warden does.
on_killed() {
	local pid run
	install_it SETUID=1
	cd "$W" || exit 1
	STATE=/var/lib/pale/$(id -u "$T_USER")
	OPTS=(--level full)
	bg it bash -c 'setsid sleep 300 & echo $!; echo $$; while :; do read -t 1 <> <(:); done'
	until_true 20 eval '[ "$(wc -l <"$S/it.out")" = 2 ]' || fail "it does not begin"
	pid=$(tail -1 "$S/it.out")
	run=$(ps -o ppid= -p "$pid")
	[ "$(ps -o comm= -p $run)" = pale ] || fail "its parent is no pale"
	kill -9 $run
	for pid in $(cat "$S/it.out"); do
		until_true 10 eval '! kill -0 '$pid || fail "left: $(ps -o pid,stat,args -p $pid)"
	done
	recorded session/end "" "pale run died; its processes are another user's"
}

t_killed() {
	machine
}

on_service_flow() {
	install_it SERVICE=1
	listen
	cd "$W" || exit 1
	whole_flow full
	whole_flow hooks
	# A service that is told to start a session of its own user, or as root.
	run as pale "$HELPER" service
	rc_is 125
	run "$HELPER" service
	rc_is 125
}

t_service_flow() {
	machine
}

on_hostile_starter() {
	install_it SETUID=1
	python_suite setuid
	[ "$(grep -c '^ok ' "$S/out")" -ge 13 ] || fail "not all ran"
	python_suite setuid_bounds
	[ "$(grep -c '^ok ' "$S/out")" = 4 ] || fail "not all ran"
}

t_hostile_starter() {
	machine
}

# What one user takes is bounded, and other users find theirs.
on_bounds() {
	install_it SETUID=1
	python_suite bounds
	[ "$(grep -c '^ok ' "$S/out")" -ge 6 ] || fail "not all ran"
}

t_bounds() {
	machine
}

# What is granted is kept by the helper: its owner reads it, and takes it back through a session alone.
on_grants() {
	local id file long
	install_it SETUID=1
	cd "$W" || exit 1
	as "$T_USER" mkdir -p "$HOME/.config/pale"
	printf '[commands]\nask = cp file copy\n' | as "$T_USER" tee "$HOME/.config/pale/policy.ini" >/dev/null
	bg grant bash -c 'cp file copy'
	id=$(pending_id)
	run pale approve "$id" --yes --always
	rc_is 0 "pale approve --always"
	bg_wait grant
	rc_is 0
	file=/var/lib/pale/$(id -u "$T_USER")/grants.ini
	as "$T_USER" test -r "$file" || fail "its owner cannot read it"
	! as "$T_USER" test -w "$file" || fail "its owner can write it"
	! as "$OTHER" test -r "$file" || fail "another user can read it"
	exists "$file"
	missing "$HOME/.local/state/pale/grants.ini"
	rm -f copy
	fsh 'cp file copy'
	rc_is 0
	run pale grants
	out_has "allow = cp file copy \$"
	run pale explain exec cp file copy
	rc_is 0
	id=$(pale grants --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["id"])')
	run pale revoke "$id"
	rc_is 1
	err_has "through a session"
	bg long sleep 30
	long=$BG
	until_true 10 bash -c "ls /run/pale/$(id -u "$T_USER")/*/session.json >/dev/null 2>&1"
	run pale revoke "$id"
	rc_is 0 "pale revoke"
	# What outlives a session is recorded where its owner cannot change it.
	as "$T_USER" python3 -c 'import glob, json, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(glob.glob("/run/pale/%s/*/control.sock" % sys.argv[1])[0])
s.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "stepup/set",
    "params": {"new": "correct horse battery", "phrase": "seven blue herons"}}).encode())
assert "result" in json.loads(s.recv(65536))' "$(id -u "$T_USER")" || fail "no passphrase is set"
	file=${file%/*}/machine-helper/ledger.jsonl
	as "$T_USER" grep -q '"op":"stepup/set"' "$file" || fail "it is not recorded, or its owner cannot read it"
	! as "$T_USER" test -w "$file" || fail "its owner can write it"
	! as "$OTHER" test -r "$file" || fail "another user can read it"
	run pale log --machine
	out_has "stepup/set"
	run pale log verify --machine
	rc_is 0 "pale log verify --machine"
	out_has "ok: machine-helper: 1 records"
	kill "$long"
	run pale explain exec cp file copy
	rc_is 3
}

t_grants() {
	machine
}

# A reload reads the machine's floor itself: what the launcher claims of it counts as little as at the start.
on_reload() {
	install_it SETUID=1
	cd "$W" || exit 1
	as "$T_USER" mkdir -p "$HOME/.config/pale"
	printf '[commands]\ndeny = ls\n' | as "$T_USER" tee "$HOME/.config/pale/policy.ini" >/dev/null
	printf '[files]\ndeny = **/closed\n' >/etc/pale/policy.ini
	echo secret | as "$T_USER" tee closed >/dev/null
	run as "$T_USER" env PYTHONDONTWRITEBYTECODE=1 T_HELPER="$HELPER" T_STAGE="$PREFIX" T_SCRATCH="$S" \
		python3 "${T_LIB%/*}/helper/reload.py" a_floor_that_is_claimed
	rc_is 0 "reload.py"
	out_has "ok a_floor_that_is_claimed"
	bg long bash -c 'until test -e go; do sleep 0.05; done; cat closed; echo over'
	until_true 10 bash -c "ls /run/pale/$(id -u "$T_USER")/*/session.json >/dev/null 2>&1"
	run pale policy reload
	rc_is 0 "pale policy reload"
	as "$T_USER" touch go
	bg_wait long
	out_is over
	err_has "policy.ini:2 [files] deny = **/closed"
}

t_reload() {
	machine
}

on_hostile_starts() {
	install_it SETUID=1
	python_suite hostile
	cat "$S/out"
}

t_hostile_starts() {
	machine
}

# A session inside that waits, and what everybody can do to it.
on_two_users() {
	local mine id d left
	install_it SETUID=1
	cd "$W" || exit 1
	mkdir -p "$S/$OTHER"
	chown "$OTHER" "$S/$OTHER"
	as "$T_USER" mkdir -p "$HOME/.config/pale"
	printf '[commands]\nask = cp file copy\n' | as "$T_USER" tee "$HOME/.config/pale/policy.ini" >/dev/null
	bg two bash -c 'cp file copy'
	id=$(pending_id)
	mine=/var/lib/pale/$(id -u "$T_USER")
	d=$(echo /run/pale/"$(id -u "$T_USER")"/*)
	exists "$d/control.sock"
	# The other user sees and reaches nothing.
	for cmd in "ls /run/pale" "ls ${d%/*}" "ls $d" "cat $d/image" "cat $d/session.json" "ls /var/lib/pale" "ls $mine" \
		"cat $mine/sessions/${d##*/}/ledger.jsonl" "ls $mine/sessions"; do
		run as "$OTHER" sh -c "$cmd"
		[ "$RC" != 0 ] && [ ! -s "$S/out" ] || fail "another user: $cmd"
	done
	run as "$OTHER" python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect(sys.argv[1])' "$d/control.sock"
	rc_not 0 "another user connects"
	for cmd in "session list" "pending" "log"; do
		run as "$OTHER" "$PREFIX/bin/pale" $cmd
		! grep -q "${d##*/}\|copy" "$S/out" || fail "another user sees something: pale $cmd"
	done
	run as "$OTHER" "$PREFIX/bin/pale" approve "$id"
	rc_not 0 "another user approves"
	missing copy
	# The owner reads, and changes nothing; nor does he reach the helper.
	run as "$T_USER" cat "$mine/sessions/${d##*/}/ledger.jsonl"
	rc_is 0 "the owner's own ledger"
	left=$(cd "$mine" && find . | sort)
	for cmd in "rm -rf $mine/sessions/${d##*/}" "rm -f $mine/sessions/${d##*/}/ledger.jsonl" "mv $mine/sessions $mine/x" \
		"echo x >>$mine/sessions/${d##*/}/ledger.jsonl" "echo x >$mine/grants.ini" "echo x >/etc/pale/policy.ini" \
		"echo x >/etc/pale/policy.d/x.ini" "rm -f $d/control.sock" "chmod 777 $d" "setfacl -b $d" "mkdir $mine/y"; do
		run as "$T_USER" sh -c "$cmd"
		rc_not 0 "the owner: $cmd"
	done
	[ "$left" = "$(cd "$mine" && find . | sort)" ] || fail "the owner changed what is kept for him"
	for p in /proc/[0-9]*; do
		[ "$(readlink "$p/exe")" = "$HELPER" ] || continue
		for sig in TERM KILL STOP; do
			run as "$T_USER" sh -c "kill -$sig ${p#/proc/}"
			rc_not 0 "the owner sends $sig to the helper"
		done
	done
	run pale approve "$id"
	rc_is 0 "the owner approves"
	bg_wait two
	rc_is 0
	exists copy
	verifies
}

t_two_users() {
	machine
}

# From inside: its own session's files, the other places, the helper.
on_agent_inside() {
	local level
	install_it SETUID=1
	cd "$W" || exit 1
	for level in full strict; do
		OPTS=(--level $level)
		fsh 'd=$PALE_SESSION_DIR; s=/var/lib/pale/$(id -u)
for c in "ls /run/pale" "ls $d" "cat $d/session.json" "ls $s/sessions" "cat $s/sessions/${d##*/}/ledger.jsonl" \
	"rm $d/image" "touch $s/x" "touch /etc/pale/x" "cat $d/../*/session.json"; do
	sh -c "$c" >out 2>/dev/null && [ -s out -o "${c#ls}${c#cat}" = "$c$c" ] && echo "could: $c"
done
python3 - <<END
import os, socket
for path in ("$d/control.sock", "/run/pale/helper.sock"):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        s.connect(path)
        s.send(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/info\"}\n")
        got = s.recv(65536)
        if b"result" in got:
            print("could: talk to", path)
    except OSError:
        pass
END
for p in /proc/[0-9]*; do
	[ "$(stat -c %u "$p" 2>/dev/null)" != "$(id -u)" ] && kill -0 "${p#/proc/}" 2>/dev/null && echo "could: signal $p"
done
echo done'
		out_lacks "could:"
		out_has "done"
	done
	verifies() { run pale log verify; rc_is 0; }
	verifies
}

t_agent_inside() {
	machine
}

# An installation that is not sound is refused, and never served by a helper of the user's own.
on_unsound() {
	install_it SETUID=1
	cd "$W" || exit 1
	refuses() {
		run pale run -q -- true
		rc_is 125 "$1"
		err_has "$2"
		run pale doctor
		rc_is 1 "doctor: $1"
		[ ! -e "$HOME/.local/state/pale/sessions" ] || fail "$1: a helper of the user's own served"
	}
	run pale doctor
	rc_is 0
	out_has "pale, setuid: $HELPER"
	out_has "belongs to the helper's user alone"
	chmod g+w "$HELPER" && chmod 6775 "$HELPER"
	refuses "the group can write it" "can replace it"
	chmod 6755 "$HELPER"
	chmod 777 "$PREFIX/libexec"
	refuses "a directory above is everybody's" "can replace it"
	chmod 755 "$PREFIX/libexec"
	chown root: "$HELPER" && chmod 4755 "$HELPER"
	refuses "setuid root" "setuid root"
	chown pale: "$HELPER" && chmod 6755 "$HELPER"
	run as "$T_USER" setpriv --no-new-privs "$PREFIX/bin/pale" run -q -- true
	rc_is 125 "no_new_privs"
	err_has "no_new_privs"
	mv /run/pale /run/pale.away
	refuses "no runtime directory" "installation is not whole"
	mv /run/pale.away /run/pale
	chown root: /run/pale
	refuses "a runtime directory of root's" "installation is not whole"
	chown pale: /run/pale
	chmod 666 /etc/pale/policy.ini
	refuses "a floor for everybody" "policy"
	chmod 644 /etc/pale/policy.ini
	run pale run -q -- true
	rc_is 0 "sound again"
	# A socket that nobody serves any more.
	install_it SERVICE=1
	python3 -c 'import socket; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).bind("/run/pale/helper.sock")'
	run pale run -q -- true
	rc_is 125 "a dead socket"
	err_has "cannot connect to /run/pale/helper.sock"
}

t_unsound() {
	machine
}

# --- the end of the file: t_NAME is run here, on_NAME on the machine --------------------------------------

case ${1:-} in
on_*)
	HOME=$S/h
	W=$HOME/work
	XDG_RUNTIME_DIR=$S/r
	"$1"
	;;
*) scenario "$@" ;;
esac
