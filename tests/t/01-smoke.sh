# The least: a command runs, its output and status come through.
. "$T_LIB"

t_runs() {
	fence cat file
	rc_is 0
	out_is "hello from the workspace"
	err_is_empty
	recorded exec allow "cat file"
	recorded read allow "$W/file"
	verifies
}

t_status() {
	fsh 'exit 7'
	rc_is 7
}

scenario "$@"
