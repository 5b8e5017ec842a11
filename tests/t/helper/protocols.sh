# The helper alone, driven by its protocols (helper/*.py print a line for each of their tests).
# needs: tmpfs
# limit: 240
. "$T_LIB"

suite() {
	local file=${T_LIB%/*}/helper/$1.py
	shift
	run env PYTHONDONTWRITEBYTECODE=1 python3 "$file" "$@"
	rc_is 0 "$file"
	grep -q '^ok ' "$S/out" || fail "nothing ran"
	! grep '# skip' "$S/out" || skip "$(sed -n 's/.*# skip: //p' "$S/out" | sort -u | paste -sd,)"
}

t_approvals() {
	suite approvals
}

t_one_question() {
	suite one_question
}

t_control() {
	suite control
}

t_taint() {
	suite taint
}

t_frames() {
	suite frames
}

t_life() {
	suite life
}

t_ledger() {
	suite ledger
}

t_behalf() {
	suite behalf
}

t_nested() {
	suite nested
}

t_reload() {
	suite reload the_files a_supervisor_that_cannot a_supervisor_that_is_late a_name_that_is_not_had \
		a_file_that_cannot_be_marked killed_in_the_middle
}

t_kernel() {
	suite kernel
}

scenario "$@"
