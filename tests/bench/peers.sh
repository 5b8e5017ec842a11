# Other fences beside pale, in the same run: `bench.sh BUILD --peers`.  Sourced by bench.sh.
#
# Each does as much of pale's work as it can: bwrap and firejail hold files by mounts; sudo judges the argv of
# each exec (intercept, by seccomp and ptrace); proot and fakechroot translate paths and deny nothing.  One that
# is not installed, or does not start here, is left out and said so.  firejail and sudo want entries in files of
# the system: root gives them copies in a mount namespace of the bench's own, so nothing is changed.

peers=(bwrap firejail sudo proot fakechroot)

# Re-executes the bench where it may bind mount; without root there is nothing to prepare.
peers_enter() {
	[ "$(id -u)" != 0 ] || [ -n "${BENCH_MOUNTS:-}" ] || BENCH_MOUNTS=1 exec unshare -m "$0" "$@"
}

# The bench's own user gets a name, and may use what asks for one.
peers_prepare() {
	local etc=$scratch/etc
	[ -n "${BENCH_MOUNTS:-}" ] || return 0
	mkdir -p "$etc/firejail" && cp -a /etc/passwd "$etc/" || return 1
	echo "bench:*:$uid:$uid::$home:/bin/sh" >>"$etc/passwd"
	mount --bind "$etc/passwd" /etc/passwd || return 1
	if [ -d /etc/firejail ]; then
		cp -a /etc/firejail/. "$etc/firejail/"
		echo bench >"$etc/firejail/firejail.users"
		mount --bind "$etc/firejail" /etc/firejail
	fi
	if [ -e /etc/sudoers ]; then
		printf '%s\n' 'Defaults !env_reset, !use_pty, intercept, intercept_type=trace' \
			"#$uid ALL = (ALL) NOPASSWD: ALL" >"$etc/sudoers"
		chmod 440 "$etc/sudoers"
		mount --bind "$etc/sudoers" /etc/sudoers
	fi
}

# What stands before a command, in the array `before`.
peer_command() {
	case $1 in
	bare) before=() ;;
	full | strict | hooks) before=("$bin/pale" run -q --level "$1" --) ;;
	bwrap) before=(bwrap --ro-bind / /
		--dev /dev --proc /proc --bind "$scratch" "$scratch" --tmpfs "$home/.ssh" --unshare-pid) ;;
	firejail) before=(firejail --quiet --noprofile
		--read-only=/usr --read-only=/etc --read-only=/home --read-only=/var "--blacklist=$home/.ssh") ;;
	sudo) before=(sudo -n -u "#$uid" --) ;;
	*) before=("$1") ;;
	esac
}

# with-NAME COMMAND... runs a command behind NAME; adds those that work here to `words` and `columns`.
peers_workers() {
	local name before
	mkdir -p "$home/.ssh"
	for name in bare ${levels//,/ } "${peers[@]}"; do
		peer_command "$name"
		printf '#!/bin/sh\nexec%s "$@"\n' "$([ ${#before[@]} = 0 ] || printf ' %q' "${before[@]}")" >"$bin/with-$name"
		chmod 755 "$bin/with-$name"
		[[ " ${peers[*]} " = *" $name "* ]] || continue
		if as_user "$bin/with-$name" true >/dev/null 2>"$scratch/why" </dev/null; then
			words+=(, "plain:$name" "${before[@]}" "$bin/worker")
			columns+=,$name
		else
			say "left out, it does not start here: $name ($(head -1 "$scratch/why"))"
		fi
	done
}
