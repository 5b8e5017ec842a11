# limit: 60
# What a reviewer sees of a change: nothing that the agent wrote hides a part of it, or passes for words of pale or git.
# The gate's repository is made here as pale-gate leaves it.
. "$T_LIB"

export GIT_CONFIG_NOSYSTEM=1

# A gate with a start, and a clone of it in which the agent works.
gate() {
	G=$STATE/gate/0a.git
	mkdir -p "$STATE/gate/changes" && chmod 700 "$STATE"
	git init -q "$S/w" && cd "$S/w" || exit 99
	mkdir src
	seq 40 >src/long
	for i in 1 2 3 4 5 6; do printf 'int f%s;\nint g%s;\nint h%s;\n' $i $i $i >src/f$i.c; done
	ln -s f1.c src/link
	printf 'all:\n\ttrue\n' >Makefile
	git add . && git commit -qm start
	git clone -q --bare . "$G"
	git checkout -qb topic
	N=0
}

# Commits what is there, unless it is committed, and makes it the next change.
change() {
	git add -A
	git diff --cached --quiet || git commit -qm "${1-work}"
	N=$((N + 1))
	local new=${NEW-$(git rev-parse HEAD)}
	git push -q "$G" "$new:refs/changes/$N/head"
	cat >"$STATE/gate/changes/$N.json" <<-END
		{"number": $N, "repository": "$G", "url": "https://joe:hunter2@host.example/a/b.git",
		 "session": "abcd1234", "agent": "opencode", "asked": "refs/heads/topic",
		 "ref": "refs/heads/session/abcd1234/topic", "old": "", "new": "$new",
		 "base": "${BASE-$(git rev-parse main)}", "state": "open", "made": $(date +%s), "text": ""}
	END
}

# Makes the change, and shows it to a reviewer.
shown() {
	change "$@"
	run pale changes "$N" --patch
	rc_is 0 "pale changes"
	plain
}

# Bytes of the screen that a terminal could obey.
plain() {
	! LC_ALL=C grep -n $'[^\t -~]' "$S/out" || fail "a raw byte on the screen"
	err_is_empty
}

# A line that begins at the left edge like this one.
edge_lacks() {
	! grep -n "^$1" "$S/out" || fail "a line of the agent's stands at the left edge"
}

# a comes before b on the screen
in_order() {
	local a b
	a=$(grep -nF -- "$1" "$S/out" | head -1 | cut -d: -f1) b=$(grep -nF -- "$2" "$S/out" | head -1 | cut -d: -f1)
	[ -n "$a" ] && [ -n "$b" ] && [ "$a" -lt "$b" ] || fail "\`$1' ($a) is not before \`$2' ($b)"
}

# --- attributes and configuration -------------------------------------------------------------------------

t_attributes() {
	gate
	cat >.gitattributes <<-END
		* -diff
		*.c binary
		Makefile diff=hide filter=hide -text eol=crlf
		src/f3.c linguist-generated=true export-ignore
		src/f4.c ident
		src/f5.c working-tree-encoding=UTF-16
		src/f6.c -merge whitespace=-trailing-space
	END
	printf '* -diff\n' >src/.gitattributes
	for i in 1 2 3 4 5 6; do git show main:src/f$i.c >src/f$i.c; done
	sed -i 's/true/evil-make/' Makefile
	for i in 1 2 3 6; do echo "evil $i" >>src/f$i.c; done
	git rm -q --cached src/f4.c src/f5.c
	i4=$(printf 'int f4;\n$Id: old$ evil 4\n' | git hash-object -w --stdin --no-filters)
	i5=$(printf 'evil 5\r\n' | git hash-object -w --stdin --no-filters)
	git add .gitattributes src/.gitattributes Makefile src/f[1236].c
	git update-index --add --cacheinfo "100644,$i4,src/f4.c" --cacheinfo "100644,$i5,src/f5.c"
	git commit -qm work && git checkout -qf HEAD 2>/dev/null
	NEW=$(git rev-parse HEAD) N=0 change
	run pale changes 1 --patch
	rc_is 0
	plain
	out_has "+ 	evil-make"
	for i in 1 2 3 6; do out_has "|+ evil $i"; done
	out_has '|+ $Id: old$ evil 4'
	out_has '|+ evil 5\x0d'
	out_lacks "Binary files"
	out_has "A  .gitattributes  +7 -0"
	out_has "line 1 hides or changes files for other readers; here it is not obeyed"
	out_has "A  src/.gitattributes  +1 -0"
	# Were the gate's own attributes gone, they would be written again.
	rm -f "$G/info/attributes"
	echo '* -diff' >"$G/info/attributes"
	run pale changes 1 --patch
	out_has "|+ evil 2"
	out_lacks "Binary files"
}

# The operator's own settings, and what a shell was made to export, change nothing.
t_settings() {
	gate
	echo "evil" >>src/f1.c
	change
	run pale changes 1 --patch
	cp "$S/out" "$S/want"
	printf '#!/bin/sh\necho nothing\n' >"$S/hide" && chmod 755 "$S/hide"
	cat >>"$HOME/.gitconfig" <<-END
		[diff]
			external = $S/hide
			noprefix = true
			context = 0
			renames = false
			orderFile = /dev/null
		[diff "hide"]
			textconv = $S/hide
			binary = true
		[core]
			attributesFile = $S/attributes
			pager = $S/hide
			quotePath = false
		[color]
			ui = always
		[log]
			showSignature = true
	END
	echo '* diff=hide' >"$S/attributes"
	run env GIT_EXTERNAL_DIFF="$S/hide" GIT_DIR="$S/w/.git" GIT_OBJECT_DIRECTORY=/nonexistent GIT_CONFIG_COUNT=1 \
		GIT_CONFIG_KEY_0=diff.external GIT_CONFIG_VALUE_0="$S/hide" GIT_DIFF_OPTS=-u0 GIT_LITERAL_PATHSPECS=1 \
		GIT_TRACE=1 pale changes 1 --patch
	rc_is 0
	out_is "$(cat "$S/want")"
	out_has "|+ evil"
	err_is_empty
}

t_replaced() {
	gate
	echo "evil 1" >>src/f1.c && git add . && git commit -qm one
	echo "evil 2" >>src/f2.c
	change two
	good=$(git -C "$G" rev-parse main)
	# a blob, a commit, and the history as grafts and as shallow
	git -C "$G" replace "$(git rev-parse HEAD:src/f1.c)" "$(git -C "$G" rev-parse main:src/f1.c)"
	git -C "$G" replace "$(git rev-parse HEAD)" "$good"
	mkdir -p "$G/info" && git rev-parse HEAD >"$G/info/grafts"
	run pale changes 1 --patch
	rc_is 0
	out_has "2 commits, 2 files, +2 -0 lines"
	out_has "|+ evil 1"
	out_has "|+ evil 2"
	err_is_empty
}

# --- bytes -------------------------------------------------------------------------------------------------

t_bytes() {
	gate
	printf 'good()\rbad();  \n' >cr
	printf 'x\033[2K\033[1A\033[8mhidden\033]0;t\007\n' >esc
	printf 'if (a \342\200\256 } \342\201\246 b)\n' >bidi
	printf 'ad\342\200\213min \357\273\277 \302\255\n' >zero-width
	printf 'p\320\260ypal\n' >homoglyph
	printf '\302\233 31m \177 \b\b\b \014\n' >c1
	printf 'a\0b\n' >nul
	printf '\377\376latin \344\n' >latin
	printf 'one\\x41\n' >backslash
	printf 'no end' >end
	{ head -c 3000 /dev/zero | tr '\0' ' '; echo 'evil-far-right'; } >far
	{ head -c 90000 /dev/zero | tr '\0' x; echo 'evil-at-the-end'; } >longest
	printf '\n\n\n\n   \t\n' >blank
	shown
	out_has '|+ good()\x0dbad();  '
	out_has '|+ x\x1b[2K\x1b[1A\x1b[8mhidden\x1b]0;t\x07'
	out_has '|+ if (a \xe2\x80\xae } \xe2\x81\xa6 b)'
	out_has '|+ ad\xe2\x80\x8bmin \xef\xbb\xbf \xc2\xad'
	out_has '|+ p\xd0\xb0ypal'
	out_has '|+ \xc2\x9b 31m \x7f \x08\x08\x08 \x0c'
	out_has '|+ a\x00b'
	out_has '|+ \xff\xfelatin \xe4'
	out_has '|+ one\\x41'
	out_has '(no line end here)'
	out_has 'evil-far-right'
	out_has 'xxxevil-at-the-end'
	[ "$(grep -c '^ *[0-9] |+ *.$' "$S/out")" -ge 4 ] || fail "blank lines"
}

t_names() {
	gate
	n=$(printf 'a\033[2J\rb\nc') && echo esc-name >"$n"
	n=$(printf 'src/f1\342\200\213.c') && echo zero-name >"$n"
	n=$(printf 'src/\321\2041.c') && echo look-alike >"$n"
	n=$(printf '\342\200\256c.exe') && echo bidi-name >"$n"
	echo arrow >'x => y'
	echo counts >'Makefile  +0 -0'
	echo option >-n
	echo blank >' lead'
	echo glob >'*'
	echo magic >':(exclude)x'
	echo quote >'"q"'
	shown
	out_has 'A  a\x1b[2J\x0db\x0ac  +1 -0  mode 100644'
	out_has 'A  src/f1\xe2\x80\x8b.c  +1 -0'
	out_has 'A  src/\xd1\x841.c  +1 -0'
	out_has 'A  \xe2\x80\xaec.exe  +1 -0'
	out_has "A  x => y  +1 -0  mode 100644"
	out_has "A  Makefile  +0 -0  +1 -0  mode 100644"
	out_has "A  -n  +1 -0"
	out_has "A   lead  +1 -0"
	out_has "11 files, +11 -0 lines"
	for word in esc-name zero-name look-alike bidi-name arrow counts option blank glob magic quote; do
		out_has "|+ $word"
	done
}

# --- words that pass for pale's or git's --------------------------------------------------------------------

t_forged() {
	gate
	cat >src/long <<-'END'
		+ b/evil
		-- a/Makefile
		++ b/Makefile
		diff --git a/x b/x
		@@ -1,4 +1,4 @@
		change 2, pushed, of 2026-01-01 00:00:00Z
		\ No newline at end of file
		Files that run later:
		(END)
	END
	git add . && git commit -qF - <<-'END'
		Fix a word

		Files:
		  M  README  +1 -1

		diff --git a/README b/README
		    1      1 |  nothing
		commit 0000000000000000000000000000000000000000
	END
	git -c user.name="$(printf 'Tess\033[0m <good@example.org>  ')" -c user.email='x> 1 +0000' \
		commit -q --allow-empty -m two
	shown
	out_has "|+ -- a/Makefile"
	out_has "|+ ++ b/Makefile"
	out_has "|+ diff --git a/x b/x"
	out_has '|+ \\ No newline at end of file'
	[ "$(grep -c '^diff --git' "$S/out")" = 1 ] || fail "the head of another file"
	[ "$(grep -c '^@@' "$S/out")" = 1 ] || fail "another hunk"
	[ "$(grep -c '^+++ b/' "$S/out")" = 1 ] || fail "another file"
	edge_lacks "change 2"
	edge_lacks "commit 000"
	edge_lacks "Files that run"
	edge_lacks "  M  README"
	out_has 'Tess\x1b[0m'
	# a context line at the end of a hunk that looks like the next file
	git checkout -qb ctx main
	{ seq 3; echo 'diff --git a/y b/y'; echo '--- a/y'; echo '+++ b/y'; seq 3; } >y && git add y && git commit -qm y
	BASE=$(git rev-parse HEAD)
	sed -i '2s/.*/two/' y
	shown
	[ "$(grep -c '^diff --git' "$S/out")" = 1 ] || fail "the head of another file"
	out_has "|  diff --git a/y b/y"
}

t_messages() {
	gate
	tree=$(git rev-parse 'main^{tree}') base=$(git rev-parse main)
	who='Tess <t@example.org> 1700000000 +0000'
	make() { git hash-object -t commit -w --stdin --literally; }
	c=$({ printf 'tree %s\nparent %s\nauthor %s\ncommitter %s\n' "$tree" "$base" "$who" "$who"
		printf '\nseen\n\0after the NUL\n'; } | make)
	c=$({ printf 'tree %s\nparent %s\nauthor %s\n' "$tree" "$c" "$who"
		printf 'committer Mallory <m@example.org> 1 +0000\nencoding UTF-7\n\nsecond +ADw- \033[7m\rline\n'; } | make)
	NEW=$c shown
	out_has '\x00after the NUL'
	out_has 'second +ADw- \x1b[7m\x0dline'
	out_has "Tess <t@example.org>, committed by Mallory <m@example.org>"
	run pale changes "$N" --json
	grep -q 'after the NUL' "$S/out" || fail "JSON ends at the NUL"
	plain
}

# --- kinds ---------------------------------------------------------------------------------------------------

t_kinds() {
	gate
	git mv src/f1.c src/moved.c
	git mv src/f2.c hooks.c && echo evil-in-a-rename >>hooks.c
	chmod +x src/f3.c
	ln -sf /etc/passwd src/link
	ln -s "$(printf '../\033[1mx')" new-link
	rm src/f4.c && ln -s f5.c src/f4.c
	printf '\177ELF\2\1\1\0\0\0\0\0' >prog && chmod +x prog
	printf '#!/bin/sh\n\0evil-script\n' >run
	printf 'evil utf16\n' | iconv -t UTF-16LE >wide
	: >empty
	git rm -q src/f6.c
	mkdir -p a/b/c/d/e/f && echo deep >a/b/c/d/e/f/g
	git add -A
	git update-index --add --cacheinfo "160000,$(git rev-parse main),sub" \
		--add --cacheinfo "100644,$(git hash-object -w /dev/null),.gitmodules"
	git commit -qm kinds
	NEW=$(git rev-parse HEAD) shown
	out_has "R  src/f1.c => src/moved.c  +0 -0"
	out_has "R  src/f2.c => hooks.c  +1 -0"
	out_has "|+ evil-in-a-rename"
	out_has "M  src/f3.c  +0 -0  mode 100644 -> 100755  newly executable"
	out_has "M  src/link  +1 -1  link -> /etc/passwd"
	out_has 'A  new-link  +1 -0  mode 120000  link -> ../\x1b[1mx'
	out_has "T  src/f4.c  +1 -3  mode 100644 -> 120000  link -> f5.c"
	out_has "A  prog  mode 100755  newly executable  binary, ELF program, 12 bytes, sha256 $(sha256sum <prog | cut -c-64)"
	out_has "binary, script with NULs, 23 bytes, sha256 $(sha256sum <run | cut -c-64)"
	out_has '|+ \x00evil-script'
	out_has '|+ e\x00v\x00i\x00l\x00'
	out_has "A  empty  +0 -0  mode 100644"
	out_has "D  src/f6.c  +0 -3"
	out_has "A  a/b/c/d/e/f/g  +1 -0"
	out_has "A  sub  +1 -0  mode 160000  submodule 000000000000 -> $(git rev-parse --short=12 main)"
	out_has "new mode 100755"
	out_has "rename from src/f1.c"
}

t_later() {
	gate
	mkdir -p .github/workflows .vscode zz
	echo 'run: evil' >.github/workflows/z.yml
	echo '{}' >package.json
	git mv src/long zz/Makefile
	git mv Makefile aaa
	echo a >AAA
	shown
	in_order "Files that run later:" "Files:"
	in_order ".github/workflows/z.yml" "A  AAA"
	in_order "runs later: continuous integration" "A  AAA"
	out_has "R  Makefile => aaa  +0 -0  runs later: make"
	out_has "R  src/long => zz/Makefile  +0 -0  runs later: make"
	out_has "5 files, +3 -0 lines, 4 that run later"
	# In the patch as well.
	in_order "diff --git a/package.json" "diff --git a/AAA"
	in_order "diff --git a/src/long b/zz/Makefile" "diff --git a/AAA"
}

# --- the history ---------------------------------------------------------------------------------------------

t_history() {
	gate
	echo gone-again >s && git add . && git commit -qm one
	printf '#!/bin/sh\n\0hidden-earlier\n' >t && git add . && git commit -qm two
	git rm -q s && echo later >t && git add . && git commit -qm three
	git commit -q --allow-empty -m four
	shown
	out_has "4 commits, 1 file, +1 -0 lines"
	out_has "Earlier versions, which leave with the history:"
	out_has "H  s  mode 100644  11 bytes, sha256 $(echo gone-again | sha256sum | cut -c-64)"
	out_has "H  t  mode 100644"
	out_has "|+ gone-again"
	out_has '|+ \x00hidden-earlier'
}

t_merges() {
	gate
	git checkout -qb side && echo side-file >side && git add . && git commit -qm side
	git checkout -q topic && echo main-file >m && git add . && git commit -qm m
	# what the merge itself adds, and a side whose content the merge gives up
	git merge -q --no-commit side 2>/dev/null && echo evil-merge >e && git add . && git commit -qm merge
	git checkout -qb ours side && echo given-up >side && git add . && git commit -qm up
	git checkout -q topic && git merge -q -s ours -m ours ours
	shown
	out_has "|+ evil-merge"
	out_has "A  e  +1 -0"
	out_has "H  side  mode 100644  9 bytes"
	out_has "|+ given-up"
	# lines that only the merge has, in a file that both sides changed
	git checkout -qb x main && sed -i 1s/^/x/ src/long && git commit -qam x
	git checkout -qb y main && sed -i 40s/^/y/ src/long && git commit -qam y
	git merge -q --no-commit x && sed -i 20s/.*/evil-20/ src/long && git commit -qam xy
	echo more >more
	shown
	out_has "+ evil-20"
	out_has "M  src/long  +3 -3"
}

# Without a base, and with commits that the reviewer's clock knows nothing of.
t_whole() {
	gate
	git checkout -q --orphan new && git rm -qrf . && echo all-new >f
	BASE=
	shown
	out_has "nothing: all of it is new"
	out_has "1 commit, 1 file, +1 -0 lines"
	out_has "|+ all-new"
}

# --- the commands --------------------------------------------------------------------------------------------

t_commands() {
	run pale changes
	rc_is 0
	err_has "no session pushed anything yet"
	run pale review
	rc_is 1
	gate
	echo x >x
	change
	echo y >y
	change
	sed -i 's/"open"/"denied"/; s/"text": ""/"text": "no \\u001b[1m thanks"/' "$STATE/gate/changes/2.json"
	run pale changes
	out_has "1  open"
	out_has "2  denied"
	out_has "refs/heads/session/abcd1234/topic  host.example  abcd1234"
	out_lacks hunter2
	run pale review
	rc_is 0
	out_has "change 2, denied"
	out_has 'said     no \x1b[1m thanks'
	out_lacks hunter2
	plain
	run pale changes 1
	out_lacks "diff --git"
	run pale changes 1 --stat
	out_lacks "diff --git"
	# on a terminal the patch is there, and lines wrap whatever $LESS says
	run env PAGER=cat TERM=dumb script -qec "pale changes 1" /dev/null
	out_has "diff --git"
	run env PAGER="sh -c 'echo \$LESS; cat'" TERM=dumb LESS=-SR script -qec "pale review 1" /dev/null
	out_has "-SR -+S"
	out_has "diff --git"
	run env PAGER=cat TERM=dumb script -qec "pale changes 1 --stat" /dev/null
	out_lacks "diff --git"
	run pale changes 2 --json
	python3 - "$S/out" <<-'END' || fail "JSON"
		import json, sys
		j = json.load(open(sys.argv[1]))
		assert j["number"] == 2 and j["state"] == "denied" and j["url"] == "https://host.example/a/b.git", j
		assert [f["path"] for f in j["files"]] == ["x", "y"] and len(j["commits"]) == 2, j
	END
	run pale changes --json
	[ "$(python3 -c 'import json, sys; print(len(json.load(sys.stdin)))' <"$S/out")" = 2 ] || fail "the list"
	for bad in 3 0 x -1 1x 99999999999999999999; do
		run pale changes -- "$bad"
		rc_not 0
	done
	run pale changes 1 2
	rc_is 2
	run pale changes --patch
	rc_is 2
	# A damaged change is told, and the others are shown.
	echo '{' >"$STATE/gate/changes/1.json"
	run pale changes
	rc_is 1
	err_has "change 1 cannot be read"
	out_has "2  denied"
	# An object is gone: what is missing is told, nothing is left out in silence.
	f=$(git rev-parse HEAD:y)
	git -C "$G" unpack-objects -q <"$(ls "$G"/objects/pack/*.pack 2>/dev/null | head -1)" 2>/dev/null
	rm -f "$G/objects/${f%"${f#??}"}/${f#??}"
	run pale changes 2 --patch
	rc_is 2
	err_has "change 2 cannot be shown whole"
}

t_inside() {
	for command in "changes" "review 1" "push 1"; do
		fsh "pale $command"
		rc_not 0
		err_has "is for another terminal, outside of the session"
	done
}

# The courier needs a server; what it does is tested in gate/through.
t_push() {
	gate
	echo x >x
	change
	sed -i 's,https://joe:hunter2@host.example/a/b.git,https://127.0.0.1:1/b.git,' "$STATE/gate/changes/1.json"
	run pale push
	rc_is 2
	run pale push 2
	rc_is 1
	err_has "there is no change 2"
	run pale push 1
	rc_is 1
	err_has "change 1 is not pushed"
	run pale changes
	out_has "1  open"
	run pale log --machine
	out_has "change/push"
	out_has "refs/heads/session/abcd1234/topic https://127.0.0.1:1/b.git"
}

scenario "$@"
