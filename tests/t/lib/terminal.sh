# The operator's terminal: sourced by the scenarios of the agent's own.

# Runs a program of python's that plays the operator, with all of tests/t/lib/terminal.py: `operator <<'PY'`.
operator() {
	{
		echo "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, '$(dirname "$T_LIB")')"
		echo "from terminal import *"
		cat
	} >"$S/play.py"
	run python3 "$S/play.py"
	rc_is 0
}
