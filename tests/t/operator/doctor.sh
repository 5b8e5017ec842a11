# What pale says about this machine and about a program, before anything is run.
. "$T_LIB"

t_doctor_tells_the_level() {
	run pale doctor
	if [ "$RC" = 0 ]; then
		out_has "levels full and strict are reached"
		out_has "Landlock               ABI"
	else
		rc_is 1
		out_has "level full is not reached"
	fi
	out_has "agents' own sandboxes"
}

t_doctor_by_abi() {
	run pale doctor
	[ "$RC" = 0 ] || skip "level full is not reached here"
	run pale doctor --abi-max 2
	rc_is 0
	out_has "missing truncation             the supervisor performs it"
	out_has "missing signals"
	out_has "Linux 6.12"
	run pale doctor --abi-max 0
	rc_is 1
	out_has "the kernel has no Landlock"
	out_lacks "truncation"
}

# The table of ABIs in pale-guarantees(7) is what doctor says at each of them.
t_doctor_and_the_table_of_abis() {
	local n name cells said wanted
	run pale doctor
	[ "$RC" = 0 ] || skip "level full is not reached here"
	for n in 2 3 4 5 6 7; do
		pale doctor --abi-max $n --json >"$S/json"
		[ "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["landlock_abi"])' "$S/json")" = $n ] || continue
		while IFS='|' read -r _ name cells; do
			name=${name## } name=${name%% }
			wanted=$(cut -d'|' -f$((n - 1)) <<<"$cells" | tr -d ' ')
			said=$(python3 -c 'import json, sys
print(*("kernel" if c["verdict"] == "ok" else "supervisor" for c in json.load(open(sys.argv[1]))["checks"]
    if c["name"] == sys.argv[2]))' \
					"$S/json" "$name")
			[ "$said" = "$wanted" ] || fail "ABI $n, $name: pale-guarantees(7) says $wanted, doctor $said"
			echo "$name" >>"$S/compared"
		done < <(bash "$T_BASE/t/escapes/tables.sh" of "$T_BASE/t/escapes/pale-guarantees.7" abis | grep '^| [a-zT]')
	done
	[ "$(sort -u "$S/compared" | wc -l)" = 7 ] || fail "rows are missing"
}

t_doctor_without_a_listener() {
	# A sandbox around this has the one listener that there is.
	run python3 -c 'import ctypes, os, struct
libc = ctypes.CDLL(None)
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
filter = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(code)))
assert libc.prctl(38, 1, 0, 0, 0) == 0
fd = libc.syscall({"x86_64": 317, "aarch64": 277}[os.uname().machine], 1, 8, filter)
assert fd >= 0
os.set_inheritable(fd, True)
os.execvp("pale", ["pale", "doctor"])'
	rc_is 1
	out_has "missing seccomp listener       taken by the sandbox or container around this process"
}

# An older program's presets, as a run of it would have left them: NAME, and a sed script of what was different.
presets_were() {
	local now=$STATE/presets
	sed "$2" "$now"/0.1.0-* >"$S/older"
	mv "$S/older" "$now/$1"
}

t_presets_that_changed() {
	local own
	run pale run -- true
	rc_is 0
	err_lacks "presets"
	own=$(basename "$STATE"/presets/*)
	run pale doctor
	out_has "presets                $own"$'\n'
	presets_were 0.0.9-00000000 '/^preset agent .*npm publish$/d
		s/^preset ci .*/&x/; $s/$/\nagent old [files] read = ~\/.old/'
	# A quiet run leaves it to the next one.
	rm "$STATE/presets/$own"
	run pale run -q -- true
	missing "$STATE/presets/$own"
	run pale run -- true
	err_has "pale: the presets changed since 0.0.9-00000000:"
	err_has "  - agent old [files] read = ~/.old"
	err_lacks "preset ci"
	run pale run -- true
	err_lacks "presets changed"
	run pale doctor
	out_has "$own: rules differ from 0.0.9-00000000: 2 (once you know them, write in your policy: version = $own)"
	out_has "rule is gone         agent old [files] read = ~/.old"
	# Who knows them says so.
	printf 'version = %s\n' "$own" | policy
	run pale doctor
	out_lacks "0.0.9"
	out_lacks "rule is gone"
	printf 'version = 0.0.9\n' | policy
	run pale doctor
	out_has "from 0.0.9-00000000"
	printf 'version = 0.0.7\n' | policy
	run pale doctor
	out_has "$own; those of 0.0.7 were never used here"
	fsh "ls $STATE/presets"
	rc_not 0
}

t_many_presets_that_changed() {
	run pale run -- true
	presets_were 0.0.9-00000000 's/ = / = x/'
	rm "$STATE"/presets/0.1.0-*
	run pale run -- true
	[ "$(wc -l <"$S/err")" -lt 12 ] || fail "too much is said"
	err_has "more: pale doctor shows them"
	run pale doctor
	[ "$(grep -cE '(new rule|rule is gone) ' "$S/out")" = 20 ] || fail "not 20 rules"
	out_has "  more rules "
}

t_doctor_as_json() {
	run pale doctor --json
	python3 - "$S/out" "$RC" <<-'END' || fail "the report is not what it says"
		import json, sys
		d = json.load(open(sys.argv[1]))
		assert d["full"] == (sys.argv[2] == "0")
		assert (d["lacks"] is None) == d["full"]
		assert d["level"] == ("strict" if d["full"] else "hooks")
		assert 0 <= d["landlock_abi"] <= 10
		assert {c["verdict"] for c in d["checks"]} <= {"ok", "missing", "n.a."}
	END
}

t_doctor_tells_the_agents_on_path() {
	mkdir -p ~/lib/gemini ~/bin
	printf '#!/bin/bash\ntouch ~/started\n' >~/lib/gemini/cli.js && chmod +x ~/lib/gemini/cli.js
	ln -s ../lib/gemini/cli.js ~/bin/gemini
	cp "$T_VICTIMS/raw-static" ~/bin/codex
	PATH=$HOME/bin:$PATH run pale doctor
	out_has "agent gemini           dynamically linked: the hooks and the supervisor fence it"
	out_has "agent codex        \
    statically linked: only the supervisor fences it, at level full (start it with -s danger-full-access"
	out_lacks "agent qwen"
	missing ~/started
}

t_doctor_wrong_usage() {
	local n
	for n in 11 -1 x 2x ''; do
		run pale doctor --abi-max="$n"
		rc_is 2
		err_has "--abi-max is a number from 0 to 10"
	done
	run pale doctor everything
	rc_is 2
}

t_explain_tells_the_coverage() {
	run pale explain exec cat file
	rc_is 0
	out_has "held   hooked: dynamically linked"
	run pale explain exec "$T_VICTIMS/raw-static"
	out_has "held   kernel only: statically linked"
	run pale explain --level hooks exec "$T_VICTIMS/raw-static"
	rc_is 1
	out_has "held   kernel only: statically linked"
	printf '\x7fELFbroken' >odd && chmod +x odd
	run pale explain exec ./odd
	out_has "held   refused: a broken program file"
	run pale explain exec su
	out_has "setuid or setgid: inside it gains no privileges"
	run pale explain exec no-such-program
	out_lacks "held "
	[ "$(id -u)" != 0 ] || skip "root reads everything"
	cp /bin/cat secret && chmod 0111 secret
	run pale explain exec ./secret
	out_has "held   refused: it cannot be read"
}

t_explain_follows_a_script() {
	printf '#!/usr/bin/env python3\n' >script && chmod +x script
	run pale explain exec ./script
	rc_is 0
	out_has "held   hooked: dynamically linked, $(realpath "$(command -v python3)")"
	run pale explain --json exec ./script
	python3 - "$S/out" <<-'END' || fail "the report is not what it says"
		import json, sys
		d = json.load(open(sys.argv[1]))[0]["coverage"]
		assert d["word"] == "hooked" and "python3" in d["loaded"] and not d["setid"]
	END
	cp /bin/true $'a\e[2Jb' && printf '#!%s\n' "$PWD/"$'a\e[2Jb' >script
	run pale explain exec ./script
	out_has 'a\x1b[2Jb'
}

scenario "$@"
