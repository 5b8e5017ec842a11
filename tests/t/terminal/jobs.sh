# limit: 180
# Job control: an interactive shell's keys and words do to an agent what they do to any program.
. "$T_LIB"
. "$(dirname "$T_LIB")/watch-lib.sh"

# An interactive bash on a screen; its prompt is `$ `.
desk() {
	printf 'PS1="$ "\nunset PROMPT_COMMAND\nset +o history\n' >"$HOME/.bashrc"
	tmx new-session -d -s w -x 100 -y 30 "bash --rcfile $HOME/.bashrc -i"
	must_show '$'
}

# Busy machines are slow.
must_show() {
	shows "$1" 25 || fail "the screen lacks: $1
$(screen)"
}

# The shell waits for a line: what is typed before belongs to the program.
prompts() {
	[ "$(screen | grep -v '^$' | tail -n 1)" = "${1:-\$}" ]
}

prompt() {
	until_true 25 prompts "$@" || fail "no prompt: $(screen)"
}

line() {
	keys -l "$1"
	keys Enter
}

# The terminal is as bash left it for the programs it starts.
sane() {
	prompt
	line 'stty -a | tr " " "\n" | grep -cxE "icanon;?|isig|echo|opost|icrnl" | sed "s/^/sane: /"'
	must_show 'sane: 5'
	prompt
	keys C-l
	until_true 25 is_off_screen sane || fail "not cleared"
}

t_stop_and_go_on() {
	desk
	line 'pale run -q -- sh -c "echo r\eady; read x; echo had \$x; read x; echo had \$x"'
	must_show ready
	keys C-z
	must_show Stopped
	prompt
	line 'echo shell has keys'
	must_show 'shell has keys'
	sane
	line 'fg'
	must_show 'pale run'
	line one
	must_show 'had one'
	keys C-z
	must_show Stopped
	prompt
	keys C-l
	line 'fg'
	must_show 'pale run'
	line two
	must_show 'had two'
	sane
}

# A full-screen program: its own screen is left before the shell's prompt comes, and is back afterwards.
t_stop_a_full_screen() {
	need less
	desk
	seq 500 >numbers
	line 'pale run -q -- less numbers'
	must_show '29'
	is_there() { on_screen 'numbers'; }
	until_true 20 is_there || fail "no less"
	keys C-z
	must_show Stopped
	until_true 20 is_off_screen '17' || fail "the shell's screen is not back: $(screen)"
	line 'fg'
	must_show '17'
	keys G
	must_show '500'
	keys q
	until_true 20 is_off_screen '490' || fail "less has not left"
	sane
}

# Started or sent to the background: it goes on until it wants keys, and gets them in the foreground.
t_background() {
	desk
	line 'pale run -q -- sh -c "echo w\orking; until test -e go; do sleep 0.05; done; read x; echo had \$x" &'
	must_show working
	line 'echo shell is alive'
	must_show 'shell is alive'
	: >go
	stopped() {
		keys -l 'jobs'
		keys Enter
		on_screen 'Stopped'
	}
	until_true 20 stopped || fail "it does not wait for the foreground: $(screen)"
	prompt
	keys C-l
	line fg
	must_show 'pale run'
	line keys
	must_show 'had keys'
	sane
	rm go
	# Stopped, let go on behind, brought back.
	line 'pale run -q -- sh -c "echo a\gain; until test -e go; do sleep 0.05; done; echo o\ver; read x; echo got \$x"'
	must_show again
	keys C-z
	must_show Stopped
	prompt
	line bg
	: >go
	must_show over
	until_true 20 stopped || fail "it does not wait for the foreground: $(screen)"
	prompt
	keys C-l
	line fg
	must_show 'pale run'
	line words
	must_show 'got words'
	sane
}

# In a pipeline that is stopped and goes on, the keys are still the other program's.
t_a_pipeline() {
	need less
	desk
	line 'pale run -q -- sh -c "seq 200; until test -e go; do sleep 0.05; done; seq 201 400" | less'
	must_show 29
	keys C-z
	must_show Stopped
	prompt
	line fg
	must_show 29
	: >go
	keys G
	must_show 400
	keys q
	prompt
	sane
}

t_keys_that_end() {
	desk
	line 'pale run -q -- sh -c "echo r\eady; sleep 300"'
	must_show ready
	keys C-c
	prompt
	line 'echo s\tatus $?'
	must_show 'status 130'
	prompt
	line 'pale run -q -- sh -c "echo a\gain; sleep 300"'
	must_show again
	keys 'C-\'
	prompt
	line 'echo t\hen $?'
	must_show 'then 131'
	prompt
	line 'pale run -q -- cat; echo e\nd $?'
	line 'some words'
	until_true 20 twice 'some words' || fail "no echo and no answer: $(screen)"
	keys C-d
	must_show 'end 0'
	sane
}

twice() {
	[ "$(screen | grep -cF -e "$1")" -ge 2 ]
}

# A shell inside has jobs of its own.
t_jobs_inside() {
	desk
	line 'pale run -q -- bash --norc -i'
	must_show 'bash-'
	line 'PS1="in> "'
	must_show 'in>'
	line 'sh -c "echo i\nner; sleep 300"'
	must_show inner
	keys C-z
	must_show 'Stopped'
	prompt 'in>'
	line 'kill %1; echo k\illed'
	must_show killed
	line 'sh -c "echo s\econd; sleep 300"'
	must_show second
	keys C-c
	prompt 'in>'
	line 'echo s\t $?'
	must_show 'st 130'
	# The whole session is stopped from inside, and brought back.
	keys C-l
	line 'suspend -f'
	must_show Stopped
	prompt
	line 'echo outside $$'
	must_show 'outside '
	line fg
	must_show 'pale run -q'
	line 'echo i\nside again'
	must_show 'inside again'
	prompt 'in>'
	line exit
	sane
}

# A nested run, which signals nothing around it, is a job of the shell there, and has jobs of its own.
t_jobs_of_a_nested_run() {
	desk
	line 'pale run -q -- bash --norc -i'
	must_show 'bash-'
	line 'PS1="in> "'
	must_show 'in>'
	line 'pale run -q -n -- bash --norc -i'
	must_show 'bash-'
	line 'PS1="deep> "'
	must_show 'deep>'
	line 'sh -c "echo i\nner; sleep 300"'
	must_show inner
	keys C-z
	must_show 'Stopped'
	prompt 'deep>'
	# `kill %1; wait %1` is no test: a bash that has not heard of the end says "job 1 is stopped", also outside.
	line 'kill %1; sleep 1'
	must_show 'Terminated'
	line 'sh -c "echo s\econd; sleep 300"'
	must_show second
	keys C-c
	prompt 'deep>'
	keys C-l
	line 'suspend -f'
	must_show Stopped
	prompt 'in>'
	keys C-l
	line fg
	must_show 'pale run'
	line 'kill -9 $$'
	must_show Killed
	line 'timeout 1 pale run -q -n -- sleep 300; echo o\ver $?'
	must_show 'over 124'
	line 'pale run -q -n -- timeout 1 sleep 300; echo a\gain $?'
	must_show 'again 124'
	line exit
	sane
}

scenario "$@"
