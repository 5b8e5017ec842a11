# What the machine's policy demands of its users: a level, and flags that it takes away.
# needs: root
# limit: 90
. "$T_LIB"

PREFIX=/opt/installed
S=$T_SCRATCH
FLOOR=/etc/pale/policy.ini

# machine [VARIABLE=VALUE]...: runs on_NAME for the t_NAME that calls it, on a machine with pale installed so.
machine() {
	[ "$(id -u)" = 0 ] || skip "the machine's policy is root's to write"
	PATH=$PATH:/usr/sbin:/sbin
	chmod 755 "$S" "$HOME" "$W"
	chown -R "$T_USER:" "$HOME" "$XDG_RUNTIME_DIR"
	T_INSTALL="$*" bash "${T_LIB%/*}/helper/machine.sh" bash "$0" "on_${FUNCNAME[1]#t_}"
	RC=$?
	[ $RC != 77 ] || exit 77
	[ $RC = 0 ] || exit 1
}

# The machine's policy; what it is installed with is in T_INSTALL.
floor() {
	if [ ! -e "$PREFIX" ]; then
		# shellcheck disable=SC2086
		run make --no-print-directory -s -C "$T_SOURCE" install B="$T_BUILD" PREFIX="$PREFIX" DESTDIR= $T_INSTALL
		rc_is 0 "make install"
		mkdir -p /etc/pale
	fi
	cat >$FLOOR
}

pale() {
	setpriv --reuid="$T_USER" --regid="$(id -g "$T_USER")" --clear-groups env -i HOME="$HOME" LANG=C.UTF-8 \
		PATH="$PREFIX/bin:/usr/bin:/bin" T_MARK="$S" TERM=dumb "$PREFIX/bin/pale" "$@"
}

# level_is LEVEL OPTION...: what a session says that it runs at.
level_is() {
	local want=$1
	shift
	run pale run "$@" -- true
	rc_is 0
	err_has ", level $want"
}

on_level() {
	printf '[session]\nlevel = strict\n' | floor
	level_is strict
	level_is strict --level full
	err_has "$FLOOR:2 says \`level = strict\`"
	level_is strict --level hooks
	level_is strict --preset review
	run pale policy show
	out_has "level = strict"
	# What it demands is there, not only said: a word of the gate opens nothing at this level.
	run pale run -q --level full -- grep -c Seccomp_filters /proc/self/status
	rc_is 0
	run pale session show --json
	out_has strict
	# No file below it takes it back, and what is no level is refused where it stands.
	mkdir -p "$HOME/.config/pale"
	printf '[session]\nlevel = full\n' >"$HOME/.config/pale/policy.ini"
	chmod 644 "$HOME/.config/pale/policy.ini"
	level_is strict
	printf '[session]\nlevel = hooks\n' >"$HOME/.config/pale/policy.ini"
	run pale run -- true
	rc_is 125
	err_has "policy.ini:2:"
	rm "$HOME/.config/pale/policy.ini"
	printf '[session]\nlevel = full\n' | floor
	level_is full --level hooks
	level_is strict --level strict
}

t_level() {
	machine
}

t_level_of_a_foreign_helper() {
	machine SETUID=1
}
on_level_of_a_foreign_helper() {
	on_level
}

FLAGS='--danger --allow-sensitive-roots --allow-denylisted-commands --allow-unhooked --keep-home --observe
--level=hooks --abi-max=4'

# Each flag is refused where it is forbidden, and by that name; none where nothing is.
on_forbidden_flags() {
	local flag name
	: | floor
	for flag in $FLAGS; do
		run pale run -q "$flag" -- true
		rc_is 0 "$flag"
	done
	for flag in $FLAGS; do
		name=${flag#--}
		[ "$name" != abi-max=4 ] || name=abi-max
		printf '[session]\nforbid = keep-home\nforbid = %s\n' "$name" | floor
		run pale run -q "$flag" -- true
		rc_is 125 "$flag"
		err_has "$FLOOR:$([ "$name" = keep-home ] && echo '' || echo 3)"
		err_has "--$name is forbidden on this machine"
		run pale run -q -- true
		rc_is 0 "without $flag"
	done
	printf '[session]\nforbid = --danger observe  level=hooks\n' | floor
	for flag in --danger --observe --level=hooks; do
		run pale run -q "$flag" -- true
		rc_is 125 "$flag"
	done
	run pale run -q --danger --mode danger -- true
	rc_is 125
	run pale run -q --keep-home -- true
	rc_is 0
}

t_forbidden_flags() {
	machine
}

t_forbidden_flags_of_a_foreign_helper() {
	machine SETUID=1
}
on_forbidden_flags_of_a_foreign_helper() {
	on_forbidden_flags
}

t_what_forbid_says() {
	machine
}
on_what_forbid_says() {
	printf '[session]\nforbid = danger nonsense\n' | floor
	run pale run -q -- true
	rc_is 125
	err_has "\`nonsense\` is not a flag that can be forbidden"
	: | floor
	mkdir -p "$HOME/.config/pale"
	printf '[session]\nforbid = danger\n' >"$HOME/.config/pale/policy.ini"
	chmod 644 "$HOME/.config/pale/policy.ini"
	run pale run -q -- true
	rc_is 125
	err_has "allowed only in the machine's own policy"
}

case $1 in
on_*)
	HOME=$S/h
	XDG_RUNTIME_DIR=$S/r
	"$1"
	;;
*) scenario "$@" ;;
esac
