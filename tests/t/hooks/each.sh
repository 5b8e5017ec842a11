# levels: hooks
# limit: 300
# Every row of hooks.def, by its victim: on an allowed place it does what it does without a fence,
# to the errno, and is recorded; on a denied one it fails with EACCES, says why, changes nothing.
. "$T_LIB"

V=$T_VICTIMS/hooks
export RES_OPTIONS="timeout:1 attempts:1"

two_ports() {
	python3 -c '
import socket
s = [socket.socket() for _ in range(2)]
for x in s: x.bind(("127.0.0.1", 0))
print(*[x.getsockname()[1] for x in s])'
}

# Sets PLACE to the place of a row, a directory, port or name: place LABEL OP DIR PORT DOMAIN
place() {
	case $2 in
	OP_CONNECT) PLACE=$4 ;;
	OP_RESOLVE) PLACE=${1//_/u} PLACE=${PLACE//:/-}.$5 ;;
	*) PLACE=$3/${1//:/=} ;;
	esac
}

# Makes what the victims expect in each directory.
furnish() {
	local dir
	mkdir -p "${@/%//dir}"
	for dir; do
		echo content >"$dir/file"
	done
	tee "${@/%//prog}" <"$V" >/dev/null
	chmod 755 "${@/%//prog}"
}

# Calls every row on stdin: LABEL OP A B; the answer goes to $1/LABEL.out, what is said to .err.
loop='while read -r label op a b; do "$1/../v" "$label" "$a" "$b" >"$1/$label.out" 2>"$1/$label.err"; done <"$2"'

prepare() {
	local label op a dir dirs=()
	read -r P1 P2 < <(two_ports)
	policy <<-EOF2
		[commands]
		deny = sh -c "true $HOME/.ssh/rows/system"
		deny = sh -c "true $HOME/.ssh/rows/popen"
		deny = sh -c "true $HOME/.ssh/rows/_IO_popen"
		[network]
		allow = localhost:$P1
		deny = localhost:$P2
		allow = *.row.example
		deny = *.denied.example
	EOF2
	"$V" --list >"$S/rows"
	cp "$V" "$W/v"
	mkdir "$W"/{bare,fenced,no1,no2}.d
	while read -r label op; do
		for dir in "$W/bare" "$W/fenced" "$HOME/.ssh/rows" "$W/other"; do
			dirs+=("$dir/${label//:/=}")
		done
		place "$label" "$op" "$W/bare" "$P1" x.row.example
		echo "$label $op $PLACE $PLACE" >>"$S/bare.in"
		place "$label" "$op" "$W/fenced" "$P1" x.row.example
		echo "$label $op $PLACE $PLACE" >>"$S/fenced.in"
		place "$label" "$op" "$HOME/.ssh/rows" "$P2" x.denied.example
		a=$PLACE
		place "$label" "$op" "$W/other" "$P2" x.denied.example
		echo "$label $op $a $PLACE" >>"$S/no1.in"
		case $op in
		OP_RENAME | OP_LINK) echo "$label $op $PLACE $a" >>"$S/no2.in" ;;
		esac
	done <"$S/rows"
	furnish "${dirs[@]}"
	cp "$S"/*.in "$W/"
}

# is_recorded LABEL OP VERDICT PLACE: does the ledger hold the row, in its own words?
is_recorded() {
	local op=${2#OP_} target=$4
	[ "$1" != syscall ] || op=READ
	case $2 in
	OP_CONNECT) target=":$4\"" ;;
	OP_RESOLVE) target="\"$4" ;;
	esac
	find_records "${op,,}" "$3" "$target"
	[ ${#RECORDS[@]} != 0 ]
}

complain() {
	echo "$*" >>"$S/complaints"
}

check_allowed() {
	local label op a b bare got
	while read -r label op a b; do
		read -r bare <"$W/bare.d/$label.out"
		read -r got <"$W/fenced.d/$label.out"
		[ "$bare" != "$label absent" ] || bare=$got
		[ -n "$got" ] && [ "$got" = "$bare" ] || complain "$label: fenced '$got', bare '$bare'"
		[ ! -s "$W/fenced.d/$label.err" ] || complain "$label: said $(cat "$W/fenced.d/$label.err")"
		is_recorded "$label" "$op" allow "$a" || complain "$label: no record of $op $a"
	done <"$S/fenced.in"
}

# check_denied PASS
check_denied() {
	local label op a b got pat
	while read -r label op a b; do
		content_of "$W/$1.d/$label.out"
		got=${TEXT%$'\n'}
		pat="^$label (-1 13|13 77)$"
		# Names have errors of their own; a shell that may not start is a status of system().
		[ "$op" != OP_RESOLVE ] || pat="^$label -1 77$"
		[[ $got =~ $pat ]] || complain "$label: denied gives '$got'"
		[[ $got != *heard* ]] || complain "$label: something was sent"
		content_of "$W/$1.d/$label.err"
		[[ $'\n'$TEXT == *$'\npale: denied'* ]] || complain "$label: nothing said: $TEXT"
		[ "$1" = no2 ] && a=$b
		is_recorded "$label" "$op" deny "$a" || complain "$label: no record of denied $op $a"
	done <"$S/$1.in"
}

conclude() {
	[ ! -s "$S/complaints" ] || {
		: >"$S/out"
		: >"$S/err"
		cat "$S/complaints"
		fail "$(wc -l <"$S/complaints") complaints"
	}
}

t_every_row_allowed() {
	prepare
	bash -c "$loop" - "$W/bare.d" "$W/bare.in"
	fence bash -c "$loop" - "$W/fenced.d" "$W/fenced.in"
	rc_is 0
	check_allowed
	# What was done is the same.
	diff <(picture "$W/bare") <(picture "$W/fenced") >"$S/diff" || complain "the trees differ: $(cat "$S/diff")"
	conclude
	verifies
}

t_every_row_denied() {
	local before after
	prepare
	before=$(picture "$HOME/.ssh" && picture "$W/other")
	fence bash -c "$loop" - "$W/no1.d" "$W/no1.in"
	fence bash -c "$loop" - "$W/no2.d" "$W/no2.in"
	after=$(picture "$HOME/.ssh" && picture "$W/other")
	[ "$before" = "$after" ] || complain "changed: $(diff <(echo "$before") <(echo "$after"))"
	check_denied no1
	check_denied no2
	conclude
	verifies
}

# The rows that this tells apart; that none is missing is told by tests/surface.sh.
t_rows_are_many() {
	[ "$("$V" --list | wc -l)" -ge 150 ] || fail "rows are missing"
}

scenario "$@"
