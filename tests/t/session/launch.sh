# nightly: hooks strict
# The launched command itself: trusted as the operator's word, or judged as any other command.
. "$T_LIB"

rules='[commands]\nask = asked\ndeny = banned\nallow = touch\n'

programs() {
	local name
	for name in asked banned other; do cp /bin/touch $name; done
}

# judged PRESET_LINES COMMAND...: launched under a policy that judges the launch, and asks nobody.
judged() {
	# shellcheck disable=SC2059
	printf "$1[session]\nlaunch = judged\n$rules" | policy
	shift
	run pale run -n -- "$@"
}

t_a_trusted_launch_is_asked_nothing() {
	programs
	# shellcheck disable=SC2059
	printf "$rules" | policy
	run pale run -q -- ./asked made
	rc_is 0
	exists made
	recorded exec allow "./asked made" "command that the operator started"
	run pale run -q -- ./banned made2
	rc_is 126
	missing made2
}

t_a_judged_launch_is_denied_by_a_rule() {
	programs
	judged '' ./banned made
	rc_is 126
	missing made
	denied exec "./banned made"
	recorded exec deny "./banned made"
}

t_a_judged_launch_that_is_allowed_runs() {
	programs
	judged '' touch made
	rc_is 0
	exists made
	recorded exec allow "touch made"
	not_recorded exec allow "touch made" "command that the operator started"
}

t_a_judged_launch_follows_the_default() {
	programs
	judged '' ./other made
	rc_is 0
	judged 'preset = security-v0\n' ./other made2
	rc_is 126
	missing made2
}

t_the_presets_of_launchers_judge() {
	programs
	local preset
	for preset in security-v0 ci; do
		run pale run -q -n --preset "$preset" -- ./other "made-$preset"
		rc_is 126 "$preset"
		missing "made-$preset"
	done
	for preset in agent bridge; do
		mkdir -p workspace
		run pale policy show --json --preset "$preset"
		out_has '"launch": "trusted"'
	done
}

t_the_flag_judges_too() {
	programs
	# shellcheck disable=SC2059
	printf "$rules" | policy
	run pale run -q -n --judge -- ./asked made
	rc_is 126
	missing made
	denied exec "./asked made" "this session never asks"
}

t_with_n_what_would_be_asked_is_refused_at_once() {
	programs
	local began=$SECONDS
	# shellcheck disable=SC2059
	printf "[session]\nlaunch = judged\n$rules" | policy
	PALE_PROMPT=1 run pale run -q -n -- ./asked made
	rc_is 126
	missing made
	[ $((SECONDS - began)) -lt 20 ] || fail "it took $((SECONDS - began)) s"
	not_recorded approval/request '[a-z]*'
}

t_a_judged_launch_is_asked_about() {
	programs
	local id
	[ "$T_LEVEL" != hooks ] || skip "at level hooks nothing below the launcher can ask"
	# shellcheck disable=SC2059
	printf "[session]\nlaunch = judged\n$rules" | policy
	export PALE_PROMPT=1
	bg ask ./asked made
	id=$(pending_id)
	missing made
	run pale approve "$id"
	rc_is 0
	bg_wait ask
	rc_is 0
	exists made
	recorded exec allow "./asked made" "$id"
	bg ask ./asked made2
	id=$(pending_id)
	run pale deny "$id"
	bg_wait ask
	rc_is 126
	missing made2
}

t_at_hooks_a_question_about_the_launch_is_a_denial() {
	programs
	[ "$T_LEVEL" = hooks ] || skip "above level hooks it is asked"
	# shellcheck disable=SC2059
	printf "[session]\nlaunch = judged\n$rules" | policy
	PALE_PROMPT=1 run pale run -q -- ./asked made
	rc_is 126
	missing made
	denied exec "./asked made"
}

t_a_wrapper_does_not_hide_the_launched_command() {
	programs
	judged '' env ./banned made
	rc_is 126
	judged '' timeout 5 ./banned made
	rc_is 126
	judged '' nice -n 1 env A=b ./banned made
	rc_is 126
	missing made
}

# Scripts whose interpreter a rule names: by its path, by a link, and as the interpreter of an interpreter.
scripts() {
	programs
	ln -s "$W/banned" link
	printf '#!%s/banned evil\n' "$W" >script
	printf '#!%s/link evil\n' "$W" >by-link
	printf '#!%s/script\n' "$W" >by-script
	printf '#!%s/asked evil\n' "$W" >asking
	printf '#!%s/other fine\n' "$W" >fine
	chmod 755 script by-link by-script asking fine
}

t_the_interpreter_of_a_launched_script_is_judged() {
	local s
	scripts
	for s in script by-link by-script asking; do
		judged '' ./$s
		rc_is 126 "$s"
		missing evil
		denied exec "" "[commands]"
	done
	judged '' ./fine
	rc_is 0
	exists fine
	# shellcheck disable=SC2059
	printf "$rules" | policy
	for s in script by-link by-script; do
		run pale run -q -- ./$s
		rc_is 126 "$s, trusted"
		missing evil
	done
	recorded exec deny "$W/banned evil ./script"
	run pale run -q -- ./asking
	rc_is 0 "asking, trusted"
	exists evil
}

t_a_nested_launch_judges_the_interpreter() {
	local s
	scripts
	# shellcheck disable=SC2059
	printf "preset = agent\n[session]\nlaunch = judged\n$rules" >tight.ini
	for s in script by-link by-script asking; do
		run pale run -q -- "$T_STAGE/bin/pale" run -q -n -p tight.ini -- ./$s
		rc_is 126 "$s"
		missing evil
		denied exec "" "tight.ini:"
	done
	recorded exec deny "$W/banned evil ./script" image=1
	run pale run -q -- "$T_STAGE/bin/pale" run -q -n -p tight.ini -- ./fine
	rc_is 0
}

t_a_nested_run_of_a_static_program() {
	local static=$T_VICTIMS/plain_calls-static
	printf 'preset = agent\n[files]\ndeny = closed\n' >tight.ini
	echo in >closed
	run pale run -q -- "$T_STAGE/bin/pale" run -q -p tight.ini -- "$static" open file
	if [ "$T_LEVEL" = hooks ]; then
		rc_is 126
		err_has "a session at level full can"
		err_lacks "--level"
		return
	fi
	rc_is 0
	run pale run -q -- "$T_STAGE/bin/pale" run -q -p tight.ini -- "$static" open closed
	[ "$RC" != 0 ] || fail "the nested policy does not hold it"
	recorded read deny "$W/closed" image=1 "tight.ini:3"
}

t_a_launched_copy_of_a_known_program_is_judged() {
	cp /usr/bin/curl copy
	printf '[session]\nlaunch = judged\n[commands]\ndeny = curl\n' | policy
	run pale run -q -n -- ./copy --version
	rc_is 126
	denied exec "./copy --version" "deny = curl"
}

t_a_project_may_judge_and_not_trust() {
	programs
	mkdir .pale
	printf '[session]\nlaunch = judged\n[commands]\ndefault = ask\n' >.pale/policy.ini
	run pale run -q -n -- ./other made
	rc_is 126
	missing made
	printf '[session]\nlaunch = trusted\n' >.pale/policy.ini
	judged 'preset = security-v0\n' ./other made
	rc_is 126
	missing made
	err_has "may only tighten"
}

scenario "$@"
