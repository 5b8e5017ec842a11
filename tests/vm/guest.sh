#!/bin/bash
# Inside the machine that tests/vm/vm.sh boots: the rows, as the ordinary user ana, and a table of them at the end.
#
# Rows that need root (addresses and name spaces of their own) become an ordinary user themselves.

cd /mnt || exit 2
export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 SLOW JOBS=2 RETRIES=0
. tests/vm/given
TABLE=$(mktemp)

# row NAME COMMAND...
row() {
	local name=$1 began=$SECONDS rc word
	shift
	[[ -z "$ROWS" || " $ROWS " == *" $name "* ]] || return 0
	echo "vm: $name"
	: >/tmp/row
	"$@" </dev/null >/tmp/row 2>&1 &
	tail -f --pid=$! /tmp/row
	wait $!
	rc=$?
	[ $rc = 0 ] && word=passed || word="FAILED ($rc)"
	printf '%-12s %-12s %6d s  %s\n' "$name" "$word" $((SECONDS - began)) "$(tail -1 /tmp/row | cut -c1-60)" >>"$TABLE"
}

ana() {
	setpriv --reuid=ana --regid=ana --init-groups env -i HOME=/home/ana PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 \
		SLOW="$SLOW" JOBS="$JOBS" RETRIES=0 "$@"
}

# installed SETUID|SERVICE: as README says, with the real systemd: the ledger is sealed, the journal has its head, a
# scope holds the limits.
installed() {
	local user=/run/user/$(id -u ana)
	make --no-print-directory -s install B="$B" "$1=1" &&
		usermod -aG systemd-journal ana && loginctl enable-linger ana || return 1
	[ "$1" != SERVICE ] || { systemctl daemon-reload && systemctl enable -q --now pale-helper.socket; } || return 1
	for try in $(seq 60); do
		[ ! -S "$user/bus" ] || break
		sleep 1
	done
	ana XDG_RUNTIME_DIR="$user" sh -c 'mkdir -p ~/project && cd ~/project && pale doctor
		pale run -v --limit memory=200M -- true' >/tmp/said 2>&1
	cat /tmp/said
	grep -q 'memory 200M by systemd scope' /tmp/said && grep -q ', sealed$' /tmp/said &&
		ana XDG_RUNTIME_DIR="$user" pale log verify --journal
}

echo "vm: $(uname -r), started in $(cut -d. -f1 /proc/uptime) s"
row try ana tests/try.sh "$B"
row landlock tests/run.sh "$B" fence/rings/landlock_alone
MAIN="story/first-day approvals/answers ledger/verify hooks/gate hooks/agreement fence/open fence/signals"
for level in full strict hooks; do
	# shellcheck disable=SC2086
	row "main-$level" ana NIGHTLY=1 LEVELS=$level tests/run.sh "$B" $MAIN hooks/each
done
row rings tests/run.sh "$B" fence/rings
row guarantees tests/run.sh "$B" escapes/guarantees
row system tests/run.sh "$B" helper/setuid ledger/journal session/limits-scope session/limits-cgroups
# Last: what is installed would be others' helper.
row setuid installed SETUID
row service installed SERVICE

echo
cat "$TABLE"
[ -s "$TABLE" ] && ! grep -q FAILED "$TABLE" && echo "vm: all passed" || echo "vm: not all passed"
