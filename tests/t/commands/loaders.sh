# levels: full strict
# limit: 180
# A program that is run by another one, which opens it: dynamic loaders above all.  The rules on commands hold
# whatever the program is called there, and whatever its loader is called.  Hooks know both by their names alone.
. "$T_LIB"

LD=/lib64/ld-linux-x86-64.so.2
[ -e "$LD" ] || LD=/lib/ld-linux-aarch64.so.1
MUSL=$(echo /lib/ld-musl-*.so.1)

# A repository whose pushes to main can be seen, and a denied tool that leaves a file; the links and copies.
ground() {
	policy <<-END
		preset = agent
		[commands]
		deny = banned
		ask = asktool
	END
	git init -q --bare far.git
	git init -q .
	git add file
	git commit -qm one
	git remote add origin ./far.git
	mkdir -p "$HOME/bin"
	cat >t.c <<-'END'
		#include <fcntl.h>
		int main(int c, char **v) { return open(v[c - 1], O_CREAT | O_WRONLY, 0600) < 0; }
	END
	gcc -o "$HOME/bin/banned" t.c || fail "does not compile"
	cp "$HOME/bin/banned" harmless
	ln -s /usr/bin/git g
	cp /usr/bin/git copy
	cp "$LD" m
	mkdir -p -- -
	ln -s -- "$HOME/bin/banned" -/b
	ln -s "$HOME/bin/banned" b
	ln -s /usr/bin/git git-push
	export T_LD=$LD
}

# push LINE: it runs git push to main, by another name, and comes to nothing.  tool LINE: the same of the tool.
push() {
	fsh "$1"
	[ "$(git -C far.git branch)" = "" ] || fail "pushed by: $1"
	rc_not 0 "$1"
	err_has 'pale: denied exec'
}

tool() {
	fsh "$1"
	[ ! -e ran ] || fail "ran by: $1"
	rc_not 0 "$1"
	err_has 'pale: denied exec'
}

t_named_by_link_copy_or_descriptor() {
	ground
	push '$T_LD /usr/bin/git push origin main'
	push '$T_LD ./g push origin HEAD:main'
	push '$T_LD ./copy push origin main'
	push '$T_LD $PWD/g push origin main'
	push '$T_LD ../work/./g push origin main'
	push '$T_LD /proc/self/fd/7 push origin main 7</usr/bin/git'
	push '$T_LD /dev/fd/7 push origin main 7</usr/bin/git'
	push '$T_LD /dev/stdin push origin main </usr/bin/git'
	push '$T_LD /proc/self/cwd/g push origin main'
	push '$T_LD /proc/thread-self/root/usr/bin/git push origin main'
	push 'cd /usr; $T_LD bin/git -C "$OLDPWD" push origin main'
	push 'env $T_LD ./g push origin main'
	tool '$T_LD ./b ran'
	tool '$T_LD -/b ran'
	tool '$T_LD ~/bin/banned ran'
}

t_options_in_any_order() {
	ground
	push '$T_LD --argv0 ls ./g push origin main'
	push '$T_LD --argv0 git-push ./copy origin main'
	push '$T_LD ./git-push origin main'
	push '$T_LD --preload "" --library-path /lib ./g push origin main'
	push '$T_LD --library-path /lib --inhibit-cache --argv0 x --inhibit-rpath x ./copy push origin main'
	push '$T_LD --audit "" --glibc-hwcaps-mask x ./g push origin main'
	tool '$T_LD --argv0 true ./b ran'
	tool '$T_LD --library-path=x ./b ran'
	tool '$T_LD --unheard-of ./b ran'
	tool '$T_LD -- ./b ran'
}

t_the_loader_is_called_otherwise() {
	ground
	push './m ./g push origin main'
	push './m --argv0 ls /usr/bin/git push origin main'
	push 'ln -s $T_LD l; ./l ./copy push origin main'
	push 'exec -a git $T_LD ./g push origin main'
	push 'cp m valgrind; ./valgrind --argv0 true /usr/bin/git push origin main'
	push 'cp m env; ./env ./g push origin main'
	push '$T_LD $T_LD ./g push origin main'
	push '$T_LD ./m ./m ./copy push origin main'
	tool './m ./b ran'
	tool 'exec 8<$T_LD; /proc/self/fd/8 ./b ran'
}

t_what_nobody_can_resolve() {
	ground
	tool 'LD_LIBRARY_PATH=. $T_LD b ran'
	tool '$T_LD --library-path . b ran'
	tool '$T_LD ./missing ran'
	tool '$T_LD /proc/self/fd/7 ran 7< <(cat ~/bin/banned)'
	tool 'cp ~/bin/banned gone; exec 7<gone; rm gone; $T_LD /proc/self/fd/7 ran'
	tool '$T_LD . ran'
	err_has 'pale cannot determine which program it would open'
}

# By the kernel's own words: the loader is the interpreter of a script.
t_a_script_that_names_a_loader() {
	ground
	printf '#!%s %s\n' "$LD" "$HOME/bin/banned" >s
	chmod +x s
	fsh './s ran'
	[ ! -e ran ] || fail "ran by the script"
	rc_not 0
	err_has 'pale: denied exec'
	printf '#!%s %s\n' "$PWD/m" "$PWD/b" >s
	fsh './s ran'
	[ ! -e ran ] || fail "ran by the script with a copy"
	rc_not 0
}

t_musl() {
	[ -e "$MUSL" ] || skip "musl is not installed"
	need musl-gcc
	ground
	musl-gcc -o "$HOME/bin/banned" t.c || fail "does not compile"
	export T_MUSL=$MUSL
	tool '$T_MUSL ./b ran'
	tool '$T_MUSL --argv0=ls --library-path=/lib ./b ran'
	tool '$T_MUSL --preload "" -- ./b ran'
	tool 'cp $T_MUSL x; ./x ./b ran'
	tool 'ln -s $(readlink -f $T_MUSL) y; ./y --argv0 z ./b ran'
}

# What a loader runs in honest work.
t_honest_loaders() {
	need ldd
	ground
	fsh '$T_LD ./harmless one && $T_LD --argv0 x ./harmless two && ls one two'
	rc_is 0
	fsh './m $PWD/harmless three && ls three'
	rc_is 0
	fsh '$T_LD --list ./harmless >/dev/null && $T_LD --verify ./harmless
		$T_LD --help >/dev/null && $T_LD --version >/dev/null'
	rc_is 0
	fsh 'ldd /usr/bin/git ./harmless ~/bin/../work/harmless && ldd /bin/ls'
	rc_is 0
	out_has libc.so
	err_lacks 'pale: denied'
	fsh 'LD_TRACE_LOADED_OBJECTS=1 $T_LD /usr/bin/git'
	rc_is 0
	out_has libc.so
	fsh '$T_LD /usr/bin/git status --short; $T_LD ./g log --oneline'
	rc_is 0
	out_has one
}

# A static-pie program is a shared object without an interpreter, too.
t_static_pie_is_no_loader() {
	ground
	gcc -static-pie -fPIE -o p t.c || skip "cannot link static-pie"
	fsh './p missing/no || ./p --unheard-of made'
	rc_is 0
	[ -e made ] || fail "it did not run"
	err_lacks 'pale: denied'
}

t_explain_says_the_same() {
	ground
	run pale explain exec -- "$LD" ./g push origin main && rc_is 1
	run pale explain exec -- ./m --argv0 x ./copy push origin main && rc_is 1
	run pale explain exec -- ./m ./b ran && rc_is 1
	out_has 'deny = banned'
	run pale explain exec -- valgrind git push origin main && rc_is 1
	run pale explain exec -- valgrind git status && rc_is 0
	run pale explain exec -- "$LD" ./missing && rc_is 1
	out_has 'pale cannot determine which program'
	run pale explain exec -- "$LD" ./harmless x && rc_is 0
	run pale explain --level "$T_LEVEL" exec -- "$LD" ./harmless x && rc_is 0
	run pale explain exec -- node /usr/lib/node_modules/npm/bin/npm-cli.js publish && rc_is 3
}

# What a script starts is judged by its first line, here as in the session.
t_explain_reads_the_first_line() {
	ground
	printf '#!%s\n' "$HOME/bin/banned" >s
	printf '#!%s -x\n' "$PWD/s" >ss
	printf '#!/bin/sh %s/bin/asktool\n' "$HOME" >st
	printf '#!%s missing\n' "$LD" >sl
	printf '#!/usr/bin/env -S sh -e\n:\n' >fine
	printf '#!/bin/sh\n' >"$HOME/bin/asktool"
	chmod +x s ss st sl fine "$HOME/bin/asktool"
	run pale explain exec -- ./s x && rc_is 1
	out_has 'deny = banned'
	run pale explain exec -- ./ss && rc_is 1
	out_has 'deny = banned'
	run pale explain exec -- ./st && rc_is 3
	out_has 'ask = asktool'
	# The advice is about the command that the rule names, and not about the one that was typed.
	run pale explain exec -- sh "$HOME/bin/asktool" x && rc_is 3
	out_has '       allow = asktool x'
	run pale explain exec -- ./sl && rc_is 1
	out_has 'pale cannot determine which program'
	run pale explain exec -- ./fine x && rc_is 0
}

# --- interpreters that are given a tool's script ------------------------------------------------------

# asked LINE: it asks once, and is denied since nobody is there.
asked() {
	rm -f asked
	PALE_PROMPT=0 fsh "$1"
	rc_not 0 "$1"
	[ ! -e ran ] || fail "ran by: $1"
	[ "$(pale log --all --json | grep -c '"rule".*ask = ')" -gt 0 ] || fail "nothing was asked by: $1"
	err_has 'pale: denied exec'
}

scripts() {
	ground
	mkdir -p lib/npm/bin
	printf '#!/bin/sh\n: >ran\n' >"$HOME/bin/asktool"
	printf '#!/usr/bin/env node\nrequire("fs").writeFileSync("ran", "")\n' >lib/npm/bin/npm-cli.js
	printf '#!/usr/bin/env python3\nopen("ran", "w")\n' >"$HOME/bin/twine"
	chmod +x "$HOME/bin"/* lib/npm/bin/npm-cli.js
	ln -s "$HOME/bin/asktool" other
	cp lib/npm/bin/npm-cli.js lib/npm/index.js
	ln -s lib/npm/bin/npm-cli.js npm
	ln -s lib/npm/bin/npm-cli.js xyz
}

t_scripts_by_their_interpreter() {
	scripts
	asked 'sh ~/bin/asktool'
	asked 'bash -x ~/bin/asktool a'
	asked 'sh ./other'
	asked 'sh +e ./other'
	asked 'bash +O extglob ~/bin/asktool'
	asked 'bash -oe pipefail -rcfile x ./other'
	asked '$T_LD /bin/sh ./other'
	asked 'nice env sh ./other'
	# By the kernel's own words, before the script that names it; what that one itself says is not run.
	printf '#!/bin/sh %s\n: >ran\n' "$HOME/bin/asktool" >s
	printf '#!/usr/bin/env -S nice sh -e %s\n' "$HOME/bin/asktool" >sn
	chmod +x s sn
	asked ./s
	asked ./sn
	need node python3
	asked 'node lib/npm/bin/npm-cli.js publish'
	asked 'node --no-warnings ./npm publish'
	asked 'node ./xyz publish'
	asked 'node lib/npm/bin/npm-cli publish'
	asked 'node --max-http-header-size 16384 --dns_result_order verbatim lib/npm/bin/npm-cli.js publish'
	asked 'node -r ./lib/npm/bin/npm-cli.js /dev/null publish'
	asked 'node lib/npm/ publish'
	asked 'cd lib/npm; node . publish'
	asked 'cd lib/npm; node index publish'
	asked 'python3 ~/bin/twine upload x'
	asked 'env -u X python3 -I ~/bin/twine upload x'
	asked 'PYTHONPATH=~/bin python3 -Imtwine upload x'
	asked 'awk -v a=b -f ~/bin/asktool'
	asked './npm publish'
	asked 'lib/npm/bin/npm-cli.js publish'
}

# Programs that take scripts by an option, each of them, and not by a word.
t_scripts_by_option() {
	need gawk
	scripts
	cat >"$HOME/bin/asktool" <<-'END'
		#!/usr/bin/sed -f
		w ran
	END
	asked 'sed -f ~/bin/asktool </dev/null'
	asked 'echo | sed -f /dev/null -nf ./other'
	asked 'echo | sed --file=./other'
	asked 'gawk -f /dev/null -f ./other'
	asked 'gawk -E ./other x'
	asked 'mkdir q; ln -s ~/bin/asktool q/o; AWKPATH=q gawk -f o'
	[ ! -x /usr/bin/expect ] || asked 'expect -f ./other; expect ./other'
	[ ! -x /usr/bin/gdb ] || asked 'gdb -nx -batch -x ./other </dev/null'
	printf '#!/usr/bin/sed -f%s/bin/asktool\n' "$HOME" >s
	chmod +x s
	asked 'echo | ./s'
	echo p >mine
	fsh 'echo a | sed -f mine; echo asktool | gawk "/asktool/" - asktool=1; echo b | sed -n s/b/c/p'
	rc_is 0
	out_is "$(printf 'a\na\nasktool\nc')"
}

# Where a shell does not find a script here, it looks in PATH.
t_scripts_in_path() {
	scripts
	mkdir p
	ln -s "$HOME/bin/asktool" p/other2
	printf 'echo of the session\n' >p/plain
	export PATH=$PWD/p:$PATH
	asked 'bash other2'
	asked 'nice env bash -e other2'
	asked 'PATH=/nowhere:$PWD/p /bin/bash other2'
	# What it may not read it passes over.
	asked 'mkdir -m 700 q; echo : >q/other2; chmod 000 q/other2; PATH=$PWD/q:$PATH bash other2'
	printf '#!/bin/bash other2\n' >s
	chmod +x s
	asked './s'
	if [ -x /usr/bin/ksh ]; then asked 'ksh other2'; fi
	if [ -x /usr/bin/zsh ]; then asked 'zsh -o pathscript other2'; fi
	asked 'perl -S other2'
	run pale explain exec -- bash other2 && rc_is 3
	# A file of that name here comes first.
	fsh 'bash plain; echo "echo here" >other2; bash other2'
	rc_is 0
	out_is "$(printf 'of the session\nhere')"
}

# A name that no rule speaks of is no command of its own, also where only listed commands run.
t_ordinary_scripts() {
	need python3
	policy <<-END
		preset = agent
		[commands]
		default = deny
		allow = bash
		allow = python3
		allow = python3 -m json.tool
		allow = sh
	END
	echo 'print(40 + 2)' >git.py
	cp git.py x.py
	echo 'echo sh' >push
	fsh 'python3 x.py; python3 git.py push origin main; sh push; python3 -m json.tool <<<"[1]"; bash -c "echo c" git push'
	rc_is 0
	out_is "$(printf '42\n42\nsh\n[\n    1\n]\nc')"
}

# A multi-call program by another name.
t_applets() {
	need busybox
	policy <<<'[commands]
deny = mkfifo'
	ln -s "$(command -v busybox)" busyboxx
	cp "$(command -v busybox)" busyboxy
	ln -s "$PWD/busyboxy" mkfifo
	ln -s "$PWD/busyboxy" b
	cp busyboxy c
	fsh './busyboxx mkfifo ran; ./busyboxy mkfifo ran; ./mkfifo ran; busybox env ./mkfifo ran
		(exec -a -mkfifo ./busyboxy ran); (exec -a -/mkfifo busybox ran); ./busyboxx echo fine
		busybox busybox-1 mkfifo ran; (exec -a busybox-1 ./b mkfifo ran); (exec -a busybox-1 ./c mkfifo ran)
		(exec -a -busybox1 ./c mkfifo ran)'
	out_is fine
	[ ! -e ran ] || fail "an applet ran"
	# Called by an applet's name it takes words, and none of them is an applet.
	ln -s "$PWD/busyboxy" echo
	fsh './echo mkfifo ran'
	rc_is 0
	out_is 'mkfifo ran'
}

# Emulators and checkers read the program themselves.
t_other_loaders() {
	need valgrind
	ground
	tool 'valgrind ./b ran'
	tool 'valgrind -q --tool=none ~/bin/banned ran'
	push 'valgrind -- ./g push origin main'
	# It looks in PATH for a name.
	tool 'PATH=~/bin:$PATH valgrind -q banned ran'
	push 'valgrind -q git push origin main'
	tool 'PATH=$PWD:$PATH; valgrind -q --tool=none b ran'
	tool 'PATH=$PWD:$PATH; nice env valgrind -q -- b ran'
	tool 'PATH=:$PATH; valgrind -q b ran'
	tool 'PATH=$PWD:$PATH; /usr/libexec/valgrind/none-$(dpkg --print-architecture)-linux b ran'
	# and opens a script's interpreter itself.
	printf '#!%s\n' "$HOME/bin/banned" >s
	chmod +x s
	tool 'valgrind -q ./s ran'
	err_has 'deny = banned'
	tool 'valgrind -q $T_LD ./b ran'
	fsh 'valgrind -q ./harmless made; ls made'
	rc_is 0
	printf '#!/bin/sh\necho from the script\n' >s
	fsh 'PATH=$PWD:$PATH; valgrind -q harmless more; ls more; valgrind -q ./s'
	rc_is 0
	out_has 'from the script'
}

# Once is once, though env executes the interpreter anew.
t_a_yes_is_enough() {
	need node
	scripts
	export PALE_PROMPT=1
	pale run -q -- bash -c './npm publish; :' >"$S/out" 2>"$S/err" &
	until_true 10 eval '[ -n "$(pale pending --json | grep npm)" ]' || fail "nothing is asked"
	pale approve "$(pale pending --json | sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' | head -1)" || fail "cannot approve"
	until_true 10 test -e ran || fail "it did not run: $(pale pending)"
	wait
}

scenario "$@"
