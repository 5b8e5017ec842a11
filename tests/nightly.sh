#!/bin/bash
# What is too long for `make check`, one after another, and a table at the end: nightly.sh [TARGET...]
#
# A target that needs what this machine lacks (the npm registry, root) fails with its own words in its log.

cd "$(dirname "$0")/.." || exit 2
[ $# != 0 ] || set -- check asan asan-flow tsan-flow fuzz lint-code race agents compat deb-check dist-check bench \
	$([ ! -w /dev/kvm ] || echo vm)
logs=.build/nightly
mkdir -p "$logs"
: >"$logs/table"
bad=0
for target; do
	began=$SECONDS
	echo "nightly: $target"
	# At every level, not only where it matters.
	NIGHTLY=1 make --no-print-directory "$target" >"$logs/$target.log" 2>&1
	rc=$?
	[ $rc = 0 ] && word=passed || { word="FAILED ($rc)" bad=1; }
	printf '%-12s %-12s %6d s  %s\n' "$target" "$word" $((SECONDS - began)) \
		"$(grep -v '^make' "$logs/$target.log" | tail -1 | cut -c1-60)" >>"$logs/table"
done
echo
cat "$logs/table"
exit $bad
