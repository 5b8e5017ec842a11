#!/bin/bash
# What must hold on a Debian 12 as it ships, with its own kernel: tests/vm/vm.sh BUILD_DIR [ROW...]
#
# The image is made once and kept in .build/vm; `make clean` removes it.  The tree as it is built here goes in on a
# second disk, for the guest is the same Debian: nothing is compiled there.  What the guest writes on either disk is
# thrown away.  tests/vm/guest.sh has the rows and prints a table of them.
#
# Without /dev/kvm the processor is emulated, ten to twenty times slower, and the limits of tests grow with it.
# VM_KVM=no emulates it where KVM is there and starts no unmodified kernel.
# VM_LIMIT, in seconds, ends a guest that hangs: an hour where there is KVM.

cd "$(dirname "$0")/../.." || exit 2
B=${1:?usage: tests/vm/vm.sh BUILD_DIR [ROW...]}
shift
VM=.build/vm
mkdir -p "$VM"
exec 9>"$VM/lock"
flock -n 9 || { echo "vm: another one runs" && exit 2; }

# Made anew where the file is newer that says what is in it.
image() {
	[ ! "$VM/image" -nt tests/vm/image.sh ] || return 0
	echo "vm: making the image"
	bash tests/vm/image.sh "$VM" >"$VM/image.log" 2>&1 || { tail -20 "$VM/image.log" && return 1; }
}

# With the times of its files, so that `make install` in the guest finds everything built.
tree() {
	rm -rf "$VM/tree" "$VM/tree.img"
	mkdir -p "$VM/tree"
	{ git ls-files -z --cached --others --exclude-standard && find "$B" -type f -print0; } |
		tar -c --null -T - --ignore-failed-read | tar -x -C "$VM/tree" &&
		echo "B=$B SLOW=$SLOW ROWS='$*'" >"$VM/tree/tests/vm/given" &&
		mke2fs -q -t ext4 -E root_owner=0:0 -d "$VM/tree" "$VM/tree.img" 1G >/dev/null && rm -rf "$VM/tree"
}

boot() {
	local how=(-accel tcg,thread=multi -cpu max)
	[ "$SLOW" != 1 ] || how=(-accel kvm -cpu host)
	rm -f "$VM/log" && touch "$VM/log"
	timeout -k 10 "${VM_LIMIT:-$((3600 * SLOW))}" qemu-system-x86_64 -nodefaults -no-reboot -display none \
		"${how[@]}" -smp 2 -m 3G \
		-kernel "$VM/kernel" -initrd "$VM/initrd" -append "root=/dev/vda rw console=ttyS0 quiet panic=-1" \
		-drive "file=$VM/image,format=raw,if=virtio,snapshot=on" -drive "file=$VM/tree.img,format=raw,if=virtio,snapshot=on" \
		-device virtio-rng-pci -serial "file:$VM/console" \
		-device virtio-serial-pci -chardev "file,id=log,path=$VM/log" -device virtserialport,chardev=log,name=pale &
	QEMU=$!
	tail -n +1 -f --pid=$QEMU "$VM/log"
	wait $QEMU
}

trap 'kill "$QEMU" 2>/dev/null; exit 130' INT TERM
SLOW=20
[ ! -w /dev/kvm ] || [ "$VM_KVM" = no ] || SLOW=1
image && tree "$@" || exit 2
boot || echo "vm: qemu ended with $?"
grep -q '^vm: ' "$VM/log" || tail -20 "$VM/console"
tail -1 "$VM/log" | grep -qx 'vm: all passed'
