# pale watch on a terminal of tmux: sourced by the scenarios of its screen.

need tmux

tmx() {
	tmux -S "$S/tmux" -f /dev/null "$@"
}

# watch COLUMNS ROWS [OPTION...]: on a screen of that size, a pane called w.
watch() {
	local cols=$1 rows=$2
	shift 2
	tmx new-session -d -s w -x "$cols" -y "$rows" "pale watch $*; echo ended \$?; sleep 100"
	shows "pale watch" || fail "no screen"
}

screen() {
	tmx capture-pane -p -t w
}

on_screen() {
	screen | grep -qF -e "$1"
}

shows() {
	until_true "${2:-10}" on_screen "$1"
}

must_show() {
	shows "$1" || fail "the screen lacks: $1
$(screen)"
}

is_off_screen() {
	! on_screen "$1"
}

must_not_show() {
	! on_screen "$1" || fail "the screen has: $1
$(screen)"
}

keys() {
	tmx send-keys -t w "$@"
}

# A card that came under the cursor by itself is answered by no key for half a second.
settled() {
	must_show "${1:-digest}"
	sleep 0.7
}

ask_touch() {
	printf '[session]\ntimeout = %s\n[commands]\nask = touch\n' "${1:-60s}" | policy
}

# The whole screen, with what differs from run to run named.
golden() {
	screen | sed -E "s/[0-9]{2}:[0-9]{2}:[0-9]{2}/TIME/; s/\\b$1\\b/ID/g; s/\\b$2\\b/SESSION/g; s/ [0-9]+s /  NNs /
		s/denied in [0-9]+ s/denied in NN s/; s/\\([0-9]{2,}\\)/(PID)/
		s/[0-9a-f]{64}/DIGEST/; s/ +[0-9]+ records.*/ N records/
		s|$S|SCRATCH|g; s/─+/-/g; s/ +\$//"
}
