# Where tests run: a scratch directory outside what any policy makes writable, an installed copy
# in it, and an ordinary user.  Sourced by tests/run.sh and tests/try.sh.
#
# /tmp will not do: the everyday policy lets an agent write there, so nothing would be outside.

T_USER=pale-test

# Sets T_BASE, T_STAGE and T_AS, the words that run a command as the ordinary user.
stage_make() {
	local home
	if [ "$(id -u)" = 0 ]; then
		getent passwd $T_USER >/dev/null || useradd -m -s /bin/bash $T_USER || return 1
		home=/home/$T_USER
		install -d -o $T_USER -g $T_USER -m 755 "$home" || return 1
		T_AS=(setpriv --reuid=$T_USER --regid=$T_USER --clear-groups)
	else
		home=$HOME
		T_AS=()
	fi
	T_BASE=$(mktemp -d "$home/.pt.XXXXXX") || return 1
	chmod 755 "$T_BASE"
	T_STAGE=$T_BASE/stage
	mkdir "$T_STAGE" "$T_BASE/s"
	[ "$(id -u)" != 0 ] || chown $T_USER: "$T_BASE/s"
}

stage_install() {
	make --no-print-directory -s install DESTDIR= PREFIX="$T_STAGE" B="$1" >"$T_BASE/install.log" 2>&1 ||
		{ cat "$T_BASE/install.log" && return 1; }
}

# For each level a directory whose `pale run` runs at it, with the variables that tests are made of passed on:
# those called T_*, and what a test names in T_PASS.  What comes first on PATH decides; below the default level
# the way back to it stays on PATH, at the default a run inside a run is pale itself.  ABI_MAX=N makes each the
# `pale run` of a kernel whose Landlock is no newer.
stage_levels() {
	local level words
	for level; do
		words="${ABI_MAX:+--abi-max $ABI_MAX }$([ "$level" = full ] || echo "--level $level ")"
		mkdir -p "$T_BASE/level/$level"
		cat >"$T_BASE/level/$level/pale" <<-END
			#!/bin/sh
			set -f
			if [ "\$1" = run ]; then
				shift
				for name in \$T_PASS; do set -- -e "\$name" "\$@"; done
				set -- run $words-e 'T_*' "\$@"
			fi
			$([ "$level" != full ] ||
				echo "case \$PATH in
				*$T_BASE/level/full:*) PATH=\${PATH%%$T_BASE/level/full:*}\${PATH#*$T_BASE/level/full:} ;;
				esac")
			exec "$T_STAGE/bin/pale" "\$@"
		END
		chmod 755 "$T_BASE/level/$level/pale"
	done
}

# Runs a command as the ordinary user with an environment of its own: as_user SCRATCH COMMAND...
as_user() {
	local scratch=$1
	shift
	${T_AS[@]+"${T_AS[@]}"} env -i PATH="${T_LEVEL:+$T_BASE/level/$T_LEVEL:}$T_STAGE/bin:/usr/local/bin:/usr/bin:/bin" \
		LANG=C.UTF-8 TERM="${TERM:-dumb}" \
		HOME="$scratch" T_SCRATCH="$scratch" T_MARK="$scratch" T_STAGE="$T_STAGE" T_VICTIMS="$T_BASE/victims" \
		T_LIB="$T_BASE/t/lib.sh" T_BASE="$T_BASE" T_ABI="${ABI_MAX:-}" T_LEVEL="${T_LEVEL:-full}" SLOW="${SLOW:-1}" \
		${RACES:+RACES=$RACES} ${KILLS:+KILLS=$KILLS} ${RING_FUZZ_S:+RING_FUZZ_S=$RING_FUZZ_S} "$@"
}

# Ends, by pid, what still carries the mark of this scratch directory, or of one below it.
stage_reap() {
	local f pid
	for f in $(grep -lszE "^T_MARK=$1(/|\$)" /proc/[0-9]*/environ 2>/dev/null); do
		pid=${f#/proc/}
		kill -9 "${pid%/environ}" 2>/dev/null
	done
}

# Helpers have an empty environment: they are known by their program.
stage_reap_helpers() {
	local p
	for p in /proc/[0-9]*; do
		case $(readlink "$p/exe" 2>/dev/null) in
		"$T_STAGE"/*) kill -9 "${p#/proc/}" 2>/dev/null ;;
		esac
	done
}

stage_remove() {
	stage_reap "$T_BASE"
	stage_reap_helpers
	chmod -R u+rwX "$T_BASE" 2>/dev/null
	rm -rf "$T_BASE"
}
