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
	local verb preset path
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
		# an alias there is a command by another name
		for path in .cargo/config.toml .hg/hgrc; do
			run pale explain write "$path"
			rc_not 0
			out_has "ask_write = $path"
		done
	done
	run pale explain --json exec "$(paste -sd ';' "$O/preset_free.txt")"
	mv "$S/out" "$S/said"
	run bash -c 'python3 "$@" <"$0"' "$S/said" "$O/presets.py" allow "$O/preset_free.txt"
	rc_is 0
	policy <<<"preset = review"
	run pale explain exec "git config --get user.name; git config --global --get user.name; git config -l --system"
	rc_is 0
	run pale explain exec "git config --global user.name x"
	rc_is 1
}

# What other programs start: explain says of the whole what the session says when it is started.
t_started() {
	local line
	need choom
	policy <<<$'[commands]\ndeny = false x\ndeny = cat y'
	ln -s "$(command -v setarch)" linux64
	while read -r line; do
		fsh "$line"
		err_has "denied"
		run pale explain exec "$line"
		rc_is 1 "$line"
	done <<-'END'
		find . -maxdepth 0 -exec true ';' -exec false x ';'
		find . -maxdepth 0 -exec cat y {} +
		find . -maxdepth 0 -execdir nice false x ';' -print
		timeout 9 find . -maxdepth 0 -exec cat y ';'
		setarch -R false x
		setarch linux64 -R false x
		./linux64 false x
		choom -n 999 -- false x
	END
	run pale explain exec "find . -exec false + ';' -exec cat {} + -name y; choom -n 5 false y; find . -exec ';'"
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
