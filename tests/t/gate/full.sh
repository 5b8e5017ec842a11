# needs: tmpfs
# limit: 60
# No room in the gate: what comes in is refused or does not come in, and what stands there stays whole.
. "$T_LIB"
. "$T_BASE/t/gate-lib.sh"

t_disk_full() {
	local before
	[ -n "${T_FULL:-}" ] || skip "a small file system needs root"
	upstream
	gate_ready
	order "state=\"$T_SCRATCH/full\""
	chmod 700 "$T_SCRATCH/full" 2>/dev/null
	rm -f file
	run git clone -q "pale::$URL" .
	rc_is 0 
	before=$(git -C "$T_SCRATCH"/full/gate/*.git for-each-ref)
	# a push that is too large
	git checkout -q -b topic && head -c 1500000 /dev/urandom >big && git add big && git commit -qm big
	run git push origin topic
	rc_not 0
	! at refs/heads/session/s1/topic || fail "pushed"
	[ -z "$(find "$T_SCRATCH/full" -name 'tmp_*' -o -name 'intake.*')" ] ||
		fail "left: $(find "$T_SCRATCH/full")"
	# a remote that is too large
	head -c 1500000 /dev/urandom >~/src/big && git -C ~/src add big && git -C ~/src commit -qm big &&
		git -C ~/src push -q "$S/srv/o.git" main
	run git fetch origin
	rc_not 0
	err_has "the disk is full"
	[ -z "$(find "$T_SCRATCH/full" -name 'tmp_*')" ] || fail "left: $(find "$T_SCRATCH/full")"
	[ "$(git -C "$T_SCRATCH"/full/gate/*.git for-each-ref)" = "$before" ] || fail "refs moved"
	# no room for the change's file
	git -C ~/src reset -q --hard HEAD~1 && git -C ~/src push -q -f "$S/srv/o.git" main
	git checkout -q main && git checkout -q -b small && git commit -q --allow-empty -m small
	head -c 2000000 /dev/zero >"$T_SCRATCH/full/fill" 2>/dev/null
	run git push origin small
	rc_not 0
	! at refs/heads/session/s1/small || fail "pushed, and not written down"
	rm "$T_SCRATCH/full/fill"
	run git push origin small
	rc_is 0 
	git -C "$T_SCRATCH"/full/gate/*.git fsck --strict >"$S/out" 2>"$S/err" || fail "it is damaged"
}

scenario "$@"
