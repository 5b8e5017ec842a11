#!/bin/bash
# Whether each promise of the documents pale began with is shown by a test: tests/seeds.sh [RESULTS...]
#
# A row of tests/seeds/*.tsv is one promise: a number, the document's own words, the tests that show it (SCENARIO/TEST,
# `unit:SUITE`, or a check of tests/run.sh; several with a comma between), and a note.  In place of the tests
# stands `absent` where none does; then the note must say why.
#
# Fails on a row whose test does not exist and, where RESULTS of tests/run.sh are given, on one whose test failed or did
# not run.  A row with a test that was skipped at every level counts as skipped.

cd "$(dirname "$0")/.." || exit 2

names() {
	local file name
	for file in tests/t/*/*.sh; do
		name=${file#tests/t/}
		sed -n "s|^t_\([A-Za-z0-9_-]*\)() *{.*|${name%.sh}/\1|p" "$file"
	done
	sed -n 's/^SUITE(\([a-z_]*\))$/unit:\1/p' tests/unit/suites.h
	printf '%s\n' deps words symbols surface docs circles
}

awk -F '\t' -v given=$# '
	function complain(text) { print FILENAME ":" FNR ": " text; bad = 1 }

	# What became of a test: shown, skipped or bad.
	function outcome(test, ran) {
		ran = test
		sub(/^unit:.*/, "unit", ran) # its suites are one line of the results
		if (!(test in exists))
			complain("there is no test " test)
		else if (!given || (!(ran in failed) && (ran in passed)))
			return "shown"
		else if (ran in failed)
			complain(test " did not pass")
		else if (!(ran in skipped))
			complain(test " did not run")
		else {
			print "seeds: " $1 ": skipped: " test
			return "skipped"
		}
		return "bad"
	}

	kind == "names" { exists[$0] }
	kind == "results" && /^(not )?ok / {
		to = /^not/ ? "failed" : / # skip:/ ? "skipped" : "passed"
		sub(/^(not )?ok ((strict|hooks):)?/, "")
		sub(/ .*/, "")
		if (to == "failed") failed[$0]
		else if (to == "skipped") skipped[$0]
		else passed[$0]
	}
	kind == "rows" && !/^#/ {
		doc = FILENAME
		gsub(/.*\/|\.tsv$/, "", doc)
		if (!(doc in rows)) order[++docs] = doc
		if ($1 != sprintf("%s-%02d", doc, ++rows[doc])) complain("its number is not the next one: " $1)
		if (NF < 3 || NF > 4 || $2 == "" || $3 == "") complain("it has not three or four columns")
		state = "shown"
		if ($3 == "absent") {
			if ($4 == "") complain("no reason is given")
			state = "absent"
		} else for (i = split($3, tests, ","); i > 0; i--)
			if ((got = outcome(tests[i])) != "shown" && state != "bad") state = got
		count[doc, state]++
	}
	END {
		for (i = 1; i <= docs; i++) {
			doc = order[i]
			printf "seeds: %s: %d rows, %d shown", doc, rows[doc], count[doc, "shown"]
			if (count[doc, "skipped"]) printf ", %d skipped", count[doc, "skipped"]
			if (count[doc, "bad"]) printf ", %d wrong", count[doc, "bad"]
			printf ", %d absent\n", count[doc, "absent"]
		}
		exit bad
	}' kind=names <(names) kind=results "$@" kind=rows tests/seeds/*.tsv
