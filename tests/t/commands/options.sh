# limit: 180
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

# What the presets say of what leaves the machine, and of containers that are the machine; what only reads is free.
t_presets() {
	local verb preset
	for preset in ci:deny agent:ask; do
		verb=${preset#*:}
		policy <<<"preset = ${preset%:*}"
		run pale explain --json exec "$(paste -sd ';' "$O/preset_held.txt")"
		mv "$S/out" "$S/said"
		run bash -c 'python3 "$@" <"$0"' "$S/said" "$O/presets.py" "$verb" "$O/preset_held.txt"
		rc_is 0
		run pale explain exec "mvn clean package; gradle publishToMavenLocal; npm ci; npm --silent run build
			./gradlew build; ./mvnw test; perl -pe 1; ruby -e 1"
		rc_is 0
	done
	run pale explain --json exec "$(paste -sd ';' "$O/preset_free.txt")"
	mv "$S/out" "$S/said"
	run bash -c 'python3 "$@" <"$0"' "$S/said" "$O/presets.py" allow "$O/preset_free.txt"
	rc_is 0
}

t_walk() {
	need git
	git init -q .
	run python3 "$O/walk.py" "$O/options.def" "$O/reviewed.tsv"
	rc_is 0
	cat "$S/out"
	# That it would notice one.
	sed 's/ --strip-components / /' "$O/reviewed.tsv" >"$S/less"
	run python3 "$O/walk.py" "$O/options.def" "$S/less"
	rc_is 1
	out_has "tar --strip-components: nobody classified it"
	sed 's/"-o= --output= -O /"-o --output= -O /' "$O/options.def" >"$S/other.def"
	run python3 "$O/walk.py" "$S/other.def" "$O/reviewed.tsv"
	rc_is 1
	out_has "curl -o: takes a value, the table says otherwise"
}

# A HELP row is true of the programs that are installed, also with other words before the option.
t_helps() {
	need git
	git init -q .
	run python3 "$O/helps.py" "$O/options.def"
	rc_is 0
	cat "$S/out"
	# That it would notice one.
	echo 'HELP("git", "-h", "status ls-remote", "")' >"$S/other.def"
	run python3 "$O/helps.py" "$S/other.def"
	rc_is 1
	out_has "git ls-remote x -h: "
}

# The names of a subcommand are those that the programs have for it.
t_names() {
	need npm
	run python3 "$O/names.py" "$O/options.def"
	rc_is 0
	cat "$S/out"
	# That it would notice one.
	sed 's/|isnt|/|/' "$O/options.def" >"$S/other.def"
	run python3 "$O/names.py" "$S/other.def"
	rc_is 1
	out_has "npm isnt is install: "
}

scenario "$@"
