# A network for the escapes, sourced by measure.sh: one name space, whose loopback device has every address that
# the probes try, public ones among them, and where target.py has every port.  The truth is what comes to it.

# The first word of a scenario: runs it again as the ordinary user, in such a network.  Without root it goes on
# as it is, and what needs the addresses is not here.
own_net() {
	local room=(unshare -n -m)
	[ "$(id -u)" = 0 ] || return 0
	"${room[@]}" true 2>/dev/null || room=()
	"${room[@]}" bash -c '
		. "$1" && shift
		[ -z "$1" ] || ! net_build || export ESCAPE_NET=1
		shift
		exec setpriv --reuid="$T_USER" --regid="$T_USER" --clear-groups bash "$@"' - "$E/netprobe.sh" "${room[*]}" "$0" "$@"
	exit
}

NET_V4="45.33.32.66 151.101.1.10 151.101.1.14 93.184.215.53 10.7.7.7 100.64.0.66 169.254.169.254"
NET_V6="2600:3c01::66 ::45.33.32.66 64:ff9b::45.33.32.66 64:ff9b:1::45.33.32.66 64:ff9b::10.7.7.7 2002:2d21:2042::1
	2001:0:2d21:2042::1 fc00::66 fec0::66 fe80::66 fd00:ec2::254"

# As root, in the name spaces that it is for.
net_build() {
	local a dir
	PATH=$PATH:/usr/sbin:/sbin
	ip link set lo up multicast on &&
		sysctl -qw net.ipv4.ping_group_range="0 2147483647" net.ipv4.ip_unprivileged_port_start=53 net.ipv4.tcp_fastopen=1 ||
			return 1
	for a in $NET_V4; do
		ip addr add "$a/32" dev lo || return 1
	done
	for a in $NET_V6; do
		ip addr add "$a/128" dev lo nodad || return 1
	done
	ip addr add 10.9.9.1/24 brd 10.9.9.255 dev lo && ip route add 224.0.0.0/4 dev lo || return 1
	dir=$(mktemp -d) && mount -t tmpfs tmpfs "$dir" || return 1
	printf 'nameserver 93.184.215.53\noptions timeout:1 attempts:1\n' >"$dir/resolv.conf"
	printf 'hosts: files dns\n' >"$dir/nsswitch.conf"
	printf '127.0.0.1 localhost\n::1 localhost\n45.33.32.66 hosts.leak.example\n' >"$dir/hosts"
	mount --bind "$dir/resolv.conf" "$(realpath /etc/resolv.conf)" &&
		mount --bind "$dir/nsswitch.conf" /etc/nsswitch.conf &&
		mount --bind "$dir/hosts" /etc/hosts && umount -l "$dir" && rmdir "$dir"
}
