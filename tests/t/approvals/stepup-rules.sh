# nightly: strict hooks
# limit: 90
# A line that allows takes no passphrase away, unless it says so: what cannot be taken back is asked all the same.
. "$T_LIB"
. "$T_BASE/t/stepup-lib.sh"

# allowing LINE...: a policy that allows npm to publish, with these lines below that.
allowing() {
	publisher
	printf '%s\n' "[commands]" "allow = npm run" "allow = npm publish" "$@" | policy
}

published() {
	rm -f published
	fsh 'env npm publish; npm run build'
	file_is published "$1"
}

t_without_one_it_stands() {
	allowing
	published "publish
run build"
}

t_where_one_is_set_it_is_asked() {
	allowing
	set_passphrase
	unset PALE_PROMPT DISPLAY WAYLAND_DISPLAY TMUX
	published "run build"
	denied exec "env npm publish" "no one can be reached to answer"
	run pale explain exec -- npm publish
	rc_is 3
	out_has "needs confirmation despite the rule that allows it"
	run pale explain exec -- npm run build
	rc_is 0
	export PALE_PROMPT=1
	bg pub bash -c "npm publish || exit 3"
	until_true 10 has_pending || { mv "$S/"*.err "$S/err"; fail "nothing is pending"; }
	talk <<-'PY'
		assert c.card()["stepup"] is True, c.card()
		assert "code" in c.respond(), "approved without it"
		assert c.respond(secret=secret)["decision"] == "approved"
	PY
	bg_wait pub
	rc_is 0
	file_is published "run build
publish"
}

t_a_rule_may_say_no() {
	allowing "passphrase = no"
	set_passphrase
	published "publish
run build"
}

# The operator's own word is none of a rule's, and a rule about something else changes nothing.
t_what_a_rule_does_not_say() {
	allowing
	set_passphrase
	fence npm publish
	rc_is 0
	printf '%s\n' "[commands]" "allow = npm publish" "allow = npm run" "passphrase = no" | policy
	unset PALE_PROMPT DISPLAY WAYLAND_DISPLAY TMUX
	published "run build"
}

t_where_it_may_stand() {
	local lines
	for lines in "passphrase = no" "deny = npm|passphrase = no" "allow = npm|passphrase = yes"; do
		tr '|' '\n' <<<"[commands]|$lines" | policy
		run pale lint
		rc_is 1
		grep -qE "passphrase|bad-value" "$S/out" || fail "it is not told"
	done
}

scenario "$@"
