# Full-screen agents in tmux, bare and fenced: sourced after npm.sh.
#
# start_screen bare|fenced NAME leaves the agent on the screen; what it shows once it changes no more is in
# $S/screen.  No request leads to the model: it is the screen that an agent starts with.

declare -A TUI=(
	[opencode]=""
	[claude]=""
	[codex]="-s danger-full-access"
	[gemini]="--skip-trust -m gemini-2.5-flash"
	[qwen]="--auth-type openai"
	[cline]="-i -P openai-compatible -m fake"
	[pi]="--provider fake --model fake"
	[copilot]=""
	[droid]=""
	[continue]="--config ../.continue/config.yaml"
	[kilo]=""
)

# A word of the screen that each comes to rest with.
declare -A READY=(
	[opencode]="Ask anything"
	[claude]="Yes, I trust"
	[codex]="Trust this folder"
	[gemini]="Type your message"
	[qwen]="Type your message"
	[cline]="Auto-approve"
	[pi]="for commands|to show full startup help"
	[copilot]="Do you trust the files"
	[droid]="for help|shift\+tab"
	[continue]="Ask anything|for slash commands"
	[kilo]="Ask anything"
)

tmx() {
	tmux -S "$S/tmux" -f /dev/null "$@"
}

# What differs from one start to the next: time, numbers, spinners, tips, where the session has its place.
# continue has a tip on some days only, and its lines move.  Of copilot's two notices either comes first, bare as well.
masked() {
	perl -Mutf8 -CS -ne '
		$tips = 3 if /\btips?\b/i; next if $tips-- > 0 || /Ask anything/ || ('"${MOVES:-0}"' && !/\S/);
		s/[\x{2800}-\x{28ff}◐◓◑◒✢✳✶✻✽·]/*/g;
		s/[0-9]+(\.[0-9]+)*( ?(ms|s|MB|KB|%))?/N/g; s/\s+$//; print "$_\n"' |
		case ${ORDER:-} in any) LC_ALL=C sort ;; *) cat ;; esac
}

settled() {
	local now
	now=$(tmx capture-pane -p -t a | masked)
	tmx capture-pane -p -t a | grep -qE "${READY[$1]}" && [ "$now" = "$LAST" ] && STILL=$((STILL + 1)) || STILL=0
	LAST=$now
	sleep 0.2
	[ $STILL -ge 10 ]
}

# start_screen bare|fenced NAME
start_screen() {
	local words=()
	serve model python3 "$A/model.py" "$2" /dev/null "$S/heard" "$S/model.port"
	"with_$2" "${PORTS[0]}"
	local_ports "${PORTS[0]}"
	# Its first start asks for colours; its later ones for a network.
	[ "$2" != claude ] || mkdir -p ~/.claude && [ "$2" != claude ] || echo \
		'{"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": {"approved": ["fake"], "rejected": []}}' \
		>~/.claude/.claude.json
	read -r -a words <<<"${TUI[$2]}"
	[ "$2" != continue ] || MOVES=1
	[ "$2" != copilot ] || ORDER=any
	CMD=("$(agent_program "$2")" ${words[@]+"${words[@]}"})
	[ "$1" = bare ] || CMD=(pale run -q -- "${CMD[@]}")
	export TERM=xterm-256color T_SCREEN=$S/screen.$1
	# Bare, pi asks tmux for its settings, which is out of reach inside, and speaks of them.
	tmx new-session -d -s a -x 120 -y 40 "stty -g >$S/modes.before
		env -u TMUX -u TMUX_PANE $(printf '%q ' "${CMD[@]}")
		echo \$? >$S/ended; stty -g >$S/modes.after; sleep 60"
	LAST= STILL=0
	until_true 8 settled "$2" || fail "the screen does not come to rest: $(tmx capture-pane -p -t a)"
	tmx capture-pane -p -t a | masked >"$S/screen.$1"
}

end_screen() {
	tmx kill-server
	servers_end
}

# Nothing of the session is left: by the mark in the environment, less this shell and its own.
left_over() {
	grep -lszE "^T_SCREEN=" /proc/[0-9]*/environ 2>/dev/null | sed -E 's|/proc/([0-9]+)/.*|\1|' | while read -r pid; do
		[ "$(tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -c "^T_SCREEN=$S/")" = 0 ] ||
			echo "$pid $(tr '\0' ' ' <"/proc/$pid/cmdline")"
	done
}

nothing_left() {
	[ -z "$(left_over)" ]
}

# Bare, codex leaves a daemon behind, which would go on in the home of the next.
end_left() {
	local pid rest
	until_true 5 nothing_left && return
	left_over | while read -r pid rest; do kill -9 "$pid" 2>/dev/null; done
	until_true 5 nothing_left
}

# A secret that qwen and opencode try at once, ~/.npmrc, is refused without a word on the screen.
t_screen() {
	world
	start_screen bare "$1"
	end_screen
	end_left || fail "left of bare: $(left_over)"
	world
	start_screen fenced "$1"
	end_screen
	diff "$S/screen.bare" "$S/screen.fenced" || fail "bare and fenced differ"
	[ "$(grep -c . "$S/screen.fenced")" -ge 3 ] || fail "not much of a screen: $(cat "$S/screen.fenced")"
}

# The terminal goes: so does all that ran on it.
t_hangup() {
	world
	start_screen fenced "$1"
	end_screen
	until_true 30 nothing_left || fail "left: $(left_over)"
}

# Told to end, it leaves the terminal as it was, and nothing behind.
t_leaves() {
	world
	start_screen fenced "$1"
	kill -TERM "$(pgrep -P "$(tmx display-message -p -t a '#{pane_pid}')")"
	until_true 30 test -s "$S/modes.after" || fail "it does not end: $(tmx capture-pane -p -t a)"
	diff "$S/modes.before" "$S/modes.after" || fail "the terminal is not as it was"
	end_screen
	until_true 30 nothing_left || fail "left: $(left_over)"
}
