#!/bin/bash
# A release made in two directories is the same, byte by byte (`make dist-check`).

set -eu
cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
fail() { echo "dist-check: $*"; exit 1; }

signify-openbsd -G -n -p "$place/key.pub" -s "$place/key.sec"
for there in "$place/a" "$place/another/place"; do
	git clone --quiet --no-hardlinks . "$there"
	(umask 077 && cd "$there" && tools/release/release.sh .build/dist "$place/key.sec") >"$place/log" 2>&1 ||
		{ cat "$place/log"; fail "no release in $there"; }
done
diff -r "$place/a/.build/dist" "$place/another/place/.build/dist" || fail "the two releases differ"
cd "$place/a/.build/dist"
sha256sum --quiet -c SHA256SUMS
signify-openbsd -V -q -p "$place/key.pub" -m SHA256SUMS
[ "$(wc -l <SHA256SUMS)" -ge 3 ] || fail "something is missing: $(cat SHA256SUMS)"
! dpkg-deb --fsys-tarfile pale_*.deb | tar -xO ./usr/bin ./usr/lib ./usr/libexec | grep -qaF "$place" ||
	fail "a program names the directory that it was built in"
for name in libc6 libsodium23 libjansson4; do
	grep -q "DYNAMIC_LINK SPDXRef-$name" ./*.spdx || fail "the list of what is linked lacks $name"
done
# What is not committed is in no release.
echo >>"$place/a/README.md"
! "$place/a/tools/release/release.sh" "$place/none" 2>"$place/log" || fail "a release of a changed tree"
grep -q 'commit first' "$place/log"
echo "dist-check: the same in two directories: $(cut -c67- SHA256SUMS | tr '\n' ' ')"
