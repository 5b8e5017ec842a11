# limit: 120
# What an allow covers: one answer to each row of options/rules.tsv by explain, by the hooks and by the supervisor,
# and options.def against what the programs that are installed say of themselves.
. "$T_LIB"

O=$T_BASE/t/options

# all_rows HOW: copies of true stand for the programs.
all_rows() {
	need git
	export S
	mkdir "$S/stubs"
	git init -q -b topic d
	run python3 "$O/rows.py" "$1" "$O/rules.tsv" "$S/stubs" "$T_VICTIMS"
	rc_is 0
	cat "$S/out"
}

t_explain() {
	all_rows explain
}

t_sessions() {
	all_rows sessions
}

scenario "$@"
