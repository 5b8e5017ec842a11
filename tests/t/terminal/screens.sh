# limit: 120
# Full-screen programs look the same with a fence around them, byte for byte of the screen, also after the
# window changed its size.
. "$T_LIB"
. "$(dirname "$T_LIB")/watch-lib.sh"

# on DESK COMMAND: a screen of its own.
on() {
	tmx new-session -d -s "$1" -x 80 -y 24 "env -u TMUX -u TMUX_PANE $2; echo ended; sleep 300"
	tmx set-option -t "$1" status off
}

# What is on it, with colours and attributes, and where the cursor is.
look() {
	tmx capture-pane -e -p -t "$1"
	tmx display-message -p -t "$1" \
		'#{cursor_x},#{cursor_y} #{alternate_on} #{pane_width}x#{pane_height} #{mouse_any_flag} #{keypad_cursor_flag}'
}

shows_on() {
	tmx capture-pane -p -t "$1" | grep -qF -e "$2"
}

# Both show this text, and the same.
alike() {
	[ "$(look bare)" = "$(look fenced)" ]
}

both_show() {
	until_true 20 shows_on bare "$1" || fail "bare lacks: $1
$(look bare)"
	until_true 20 shows_on fenced "$1" || fail "fenced lacks: $1
$(look fenced)"
	until_true 20 alike || fail "not alike: $(diff <(look bare) <(look fenced))"
}

both() {
	tmx send-keys -t bare "$@"
	tmx send-keys -t fenced "$@"
}

resized() {
	tmx resize-window -t bare -x "$1" -y "$2"
	tmx resize-window -t fenced -x "$1" -y "$2"
}

start() {
	on bare "$1"
	on fenced "pale run -q -- $1"
}

t_less() {
	need less
	seq -f 'line %g of the text' 900 >text
	start "env LESSHISTFILE=- less -M text"
	both_show 'line 23 of'
	both Space
	both_show 'line 46 of'
	both /
	both -l 'line 777'
	both Enter
	both_show 'line 777'
	resized 61 33
	both_show 'line 790'
	both q
	both_show ended
}

t_vim() {
	need vim
	seq -f 'row %g' 200 >rows
	start "vim -u NONE -N -n -i NONE -c 'set ruler laststatus=2' rows"
	both_show 'row 20'
	both G
	both_show 'row 200'
	both o
	both -l 'typed here'
	both Escape
	both_show 'typed here'
	resized 100 30
	both -l ':set list'
	both Enter
	both_show 'typed here$'
	both -l ':q!'
	both Enter
	both_show ended
}

t_curses() {
	cat >draw.py <<-'PY'
		import curses
		def main(s):
		    curses.start_color(); curses.use_default_colors(); curses.mousemask(curses.ALL_MOUSE_EVENTS)
		    for i in range(1, 8): curses.init_pair(i, i, -1)
		    key = "none"
		    while True:
		        rows, cols = s.getmaxyx()
		        s.erase(); s.border()
		        for i in range(1, min(rows - 2, 8)):
		            s.addstr(i, 2, "colour %d" % i,
		                curses.color_pair(i) | (curses.A_BOLD, curses.A_REVERSE, curses.A_UNDERLINE)[i % 3])
		        s.addstr(rows - 2, 2, "%dx%d last key %s" % (rows, cols, key))
		        s.refresh()
		        k = s.getch()
		        if k == ord("q"): return
		        key = curses.keyname(k).decode()
		curses.wrapper(main)
	PY
	start "python3 draw.py"
	both_show '24x80 last key none'
	for key in Up F5 PPage C-a; do both $key; done
	both_show 'last key ^A'
	resized 70 20
	both_show '20x70 last key KEY_RESIZE'
	both q
	both_show ended
}

# --- denials wait for the screen ----------------------------------------------------------------------

# A secret is tried by what is hooked and by what is not; both have the terminal for their errors.
attempts() {
	touch "$HOME/.ssh/con\\fig"
	cat >attempts.py <<-'PY'
		import os, subprocess, sys
		def attempt():
		    key = os.path.expanduser("~/.ssh/")
		    code = "try: open(%r)\nexcept OSError: pass" % (key + "id_rsa")
		    subprocess.run([sys.executable, "-c", code])
		    subprocess.run([os.environ["T_VICTIMS"] + "/plain_calls", "open", key + "con\\fig"])
	PY
}

# How often the screen and what rolled off it have this text.
said() {
	tmx capture-pane -J -p -S - -t fenced | grep -cF -e "$1"
}

kept_in_the_ledger() {
	until_true 20 shows_on fenced ended || fail "$(look fenced)"
	! shows_on fenced "pale: denied" || fail "said: $(look fenced)"
	! shows_on bare "pale" || fail "bare: $(look bare)"
	recorded read deny "$HOME/.ssh/id_rsa"
	recorded read deny "$HOME/.ssh/con"
}

# By a program in raw mode.
t_denials_wait_for_a_program() {
	attempts
	cat >draw.py <<-'PY'
		import attempts, curses
		def main(s):
		    for i in range(3):
		        s.erase(); s.border(); s.addstr(5, 5, "attempt %d" % i); s.refresh()
		        s.getch()
		        attempts.attempt()
		        s.addstr(7, 7, "made %d" % i); s.refresh()
		        s.getch()
		curses.wrapper(main)
	PY
	start "python3 draw.py"
	for i in 0 1 2; do
		both_show "attempt $i"
		both x
		both_show "made $i"
		[ "$(said pale:)" = 0 ] || fail "$(look fenced)"
		both x
	done
	until_true 20 shows_on bare ended || fail "$(look bare)"
	kept_in_the_ledger
}

# An agent draws from its first line on, before any mode tells.
t_denials_wait_for_an_agent() {
	attempts
	cat >agent.py <<-'PY'
		import attempts, sys
		print("an agent starts", flush=True)
		attempts.attempt()
		print("and draws", flush=True)
		sys.stdin.readline()
	PY
	on bare "python3 agent.py"
	on fenced "pale run -q --agent qwen -- python3 agent.py"
	both_show 'and draws'
	both Enter
	until_true 20 shows_on bare ended || fail "$(look bare)"
	kept_in_the_ledger
}

# Anybody else's are said where they happen; what somebody makes up is not said.
t_denials_are_said_at_once() {
	attempts
	cat >plain.py <<-'PY'
		import attempts, fcntl, os, sys, tty
		attempts.attempt()
		print("between", flush=True)
		attempts.attempt()
		tty.setcbreak(0)
		for number in range(40):
		    try: fcntl.ioctl(2, 0x70616c65, number)
		    except OSError: pass
		os.system("stty sane")
	PY
	on fenced "pale run -q -- python3 plain.py"
	until_true 20 shows_on fenced ended || fail "$(look fenced)"
	[ "$(said "pale: denied read $HOME/.ssh/id_rsa (preset home:")" = 2 ] || fail "$(look fenced)"
	[ "$(said "pale: denied read $HOME/.ssh/con\\\\fig (preset home:")" = 2 ] || fail "$(look fenced)"
	[ "$(said "pale: denied")" = 4 ] || fail "$(look fenced)"
}

scenario "$@"
