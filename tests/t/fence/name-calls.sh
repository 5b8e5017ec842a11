# nightly: strict
# limit: 120
# Names and attributes by system calls that no hook sees: carried, they do what they do bare; denied, they
# do nothing, and the disk says so.
. "$T_LIB"

# A change of anything, were it an attribute or the number of links, shows in the time of change.
fingerprint() {
	find "$1" -printf '%P %y %m %n %s %T@ %C@ %l\n' | LC_ALL=C sort
}

outside() {
	mkdir -p "$HOME/out/dir"
	echo "$DECOY" >"$HOME/out/file"
	echo below >"$HOME/out/dir/file"
	ln -s file "$HOME/out/link"
	BEFORE=$(fingerprint "$HOME/out")
}

outside_is_untouched() {
	[ "$(fingerprint "$HOME/out")" = "$BEFORE" ] || fail "something outside has changed"
}

# None of the lines in $S/out tells of a success, but what the kernel grants without a look at the file.
nothing_succeeded() {
	! grep -v '^\(utimensat\|futimens\) omit' "$S/out" | grep -q ': [0-9]' || fail "a call succeeded"
	[ "$(grep -c ': -' "$S/out")" -ge "$1" ] || fail "too few calls were tried"
}

# --- as bare --------------------------------------------------------------------------------------------

# The same cases bare and carried: result, errno, and what the directory looks like afterwards.
compare() {
	local program=$1 step=$2
	mkdir m
	"$T_VICTIMS/$program" matrix "$step" "$W/m" >"$S/bare" || fail "the bare run failed"
	chmod 755 m
	fence "$T_VICTIMS/$program" matrix "$step" "$W/m"
	rc_is 0
	[ "$(wc -l <"$S/bare")" -ge 200 ] || fail "too few cases"
	diff "$S/bare" "$S/out" >"$S/diff" || fail "they differ: $(head -c 2000 "$S/diff")"
}

t_static_as_bare() {
	compare names-static 7
}

# A process that has the hooks, and goes around them.
t_around_the_hooks_as_bare() {
	compare names 29
}

# --- denied ---------------------------------------------------------------------------------------------

t_nothing_outside_changes() {
	outside
	fence "$T_VICTIMS/names-static" outside "$HOME/out"
	rc_is 0
	nothing_succeeded 400
	outside_is_untouched
	file_is inside mine
	denied delete "$HOME/out/file"
	recorded delete deny "$HOME/out/file" '"kernel"'
	recorded rename deny "$HOME/out/file" '"kernel"'
	recorded xattr deny "$HOME/out/file" '"kernel"'
}

t_no_link_leads_outside() {
	outside
	ln -s "$HOME/out" way
	fence "$T_VICTIMS/names-static" outside way
	nothing_succeeded 400
	outside_is_untouched
	recorded chmod deny "$HOME/out/file" '"kernel"'
	fence "$T_VICTIMS/names-static" outside "/proc/self/cwd/way"
	nothing_succeeded 400
	outside_is_untouched
}

t_without_the_preload() {
	outside
	fence env -u LD_PRELOAD "$T_VICTIMS/names" outside "$HOME/out"
	nothing_succeeded 400
	outside_is_untouched
}

t_a_descriptor_for_reading_changes_nothing() {
	outside
	fence "$T_VICTIMS/names-static" descriptors "$HOME/out"
	rc_is 0
	nothing_succeeded 60
	outside_is_untouched
}

# What Landlock cannot tell apart: a rule inside the workspace.
# The operator's redirection is for writing into, and for nothing else.
t_the_operators_redirection_keeps_its_mode() {
	: >~/log
	chmod 600 ~/log
	pale run -q -- python3 -c 'import os, sys; print("hello"); sys.stdout.flush(); os.fchmod(1, 0o666)' >~/log 2>"$S/err"
	file_is ~/log hello
	[ "$(stat -c %a ~/log)" = 600 ] || fail "its mode is $(stat -c %a ~/log)"
	denied chmod "$HOME/log"
	fsh 'python3 -c "import os; f = open(\"mine\", \"w\"); os.fchmod(f.fileno(), 0o700)"'
	[ "$(stat -c %a mine)" = 700 ] || fail "the workspace's own file"
}

t_readonly_inside_the_workspace() {
	printf '[files]\nreadonly = ro\n' | policy
	outside
	mv "$HOME/out" ro
	BEFORE=$(fingerprint ro)
	fence "$T_VICTIMS/names-static" outside "$W/ro"
	nothing_succeeded 400
	[ "$(fingerprint ro)" = "$BEFORE" ] || fail "a readonly directory has changed"
}

# --- ordinary work ----------------------------------------------------------------------------------------

t_pairs_leave_nothing() {
	fence "$T_VICTIMS/names-static" pair 2000 "$W"
	rc_is 0
	missing pair
	not_denied
	recorded delete allow "$W/pair" '"kernel"'
}

scenario "$@"
