#!/bin/bash
# A release of the commit that is checked out, bit for bit the same wherever it is made: release.sh DIRECTORY [KEY]
#
# DIRECTORY is removed first.  It gets the tarball, the Debian packages, a list of what they link (SPDX 2.3) and the checksums of all;
# with the secret key of signify(1) also a signature of the checksums.

set -eu -o pipefail
cd "$(dirname "$0")/../.."
out=$1 key=${2:-}
[ -z "$key" ] || key=$(realpath "$key")
git diff --quiet HEAD || { echo "dist: commit first: a release is made of a commit" >&2; exit 1; }
version=$(sed -n 's/^VERSION := //p' Makefile)
name=pale-$version
rm -rf "$out" && mkdir -p "$out"
out=$(realpath "$out")

# One time for all, that of the commit; one locale, one umask, one zone.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
# ccache would give objects of another directory, and gcc's link-time optimisation names that one.
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC CCACHE_DISABLE=1
umask 022
work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT
git archive --format=tar --prefix="$name/" HEAD | gzip -9n >"$out/$name.tar.gz"

tar -xzf "$out/$name.tar.gz" -C "$work"
cp -r "$work/$name/tools/debian" "$work/$name/debian"
(cd "$work/$name" && dpkg-buildpackage --build=binary --no-sign -j"$(nproc)" >../build.log 2>&1) ||
	{ tail -30 "$work/build.log"; exit 1; }
mv "$work"/*.deb "$out"

# --- what is linked -------------------------------------------------------------------------------

# Of a library that is not here nothing is known: then there is no release.
license_of() {
	case $1 in
	libc6) echo LGPL-2.1-or-later ;;
	libelf1 | libidn2-0 | libunistring2) echo "LGPL-3.0-or-later OR GPL-2.0-or-later" ;;
	libinih1 | libbsd0 | libldns3 | libmd0) echo BSD-3-Clause ;;
	libjansson4 | libpsl5) echo MIT ;;
	libncursesw6 | libtinfo6) echo X11 ;;
	libpam0g) echo "BSD-3-Clause OR GPL-2.0-or-later" ;;
	libsodium23) echo ISC ;;
	zlib1g) echo Zlib ;;
	*) echo "dist: no license is written down for $1" >&2; return 1 ;;
	esac
}

# The packages of the shared objects that the programs ask for.
linked() {
	local so
	find "$work/$name/debian/pale/usr" -type f -perm /111 -exec readelf -d {} + 2>/dev/null |
		sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u | while read -r so; do
		dpkg -S "*/$so" | sed 's/:.*//' | head -1
	done | sort -u
}

spdx() {
	local package license all
	all=$(linked) || { echo "dist: a library belongs to no package" >&2; return 1; }
	cat <<-END
		SPDXVersion: SPDX-2.3
		DataLicense: CC0-1.0
		SPDXID: SPDXRef-DOCUMENT
		DocumentName: $name
		DocumentNamespace: https://spdx.org/spdxdocs/$name-$(git rev-parse HEAD)
		Creator: Tool: pale-dist
		Created: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)

		PackageName: pale
		SPDXID: SPDXRef-pale
		PackageVersion: $version
		PackageFileName: $name.tar.gz
		PackageChecksum: SHA256: $(sha256sum <"$out/$name.tar.gz" | cut -d' ' -f1)
		PackageDownloadLocation: NOASSERTION
		FilesAnalyzed: false
		PackageLicenseDeclared: MIT
		Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-pale
	END
	for package in $all; do
		license=$(license_of "$package") || return 1
		cat <<-END

			PackageName: $package
			SPDXID: SPDXRef-$package
			PackageVersion: $(dpkg-query -W -f '${Version}' "$package" | head -1)
			PackageDownloadLocation: NOASSERTION
			FilesAnalyzed: false
			PackageLicenseDeclared: $license
			Relationship: SPDXRef-pale DYNAMIC_LINK SPDXRef-$package
		END
	done
}
spdx >"$out/$name.spdx"

# --- checksums ------------------------------------------------------------------------------------

(cd "$out" && sha256sum -- *.tar.gz *.deb *.spdx >SHA256SUMS)
[ -z "$key" ] || signify-openbsd -S -s "$key" -m "$out/SHA256SUMS" -x "$out/SHA256SUMS.sig"
ls -l "$out"
