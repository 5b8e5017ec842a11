#!/bin/bash
# Makes the disk that tests/vm/vm.sh boots, a Debian 12 with its own kernel: tests/vm/image.sh DIR
#
# DIR gets image, kernel and initrd.  As root, or where users may have name spaces of their own (mmdebstrap).
# MIRROR names another source of packages.

# No compiler: the tree comes built.
PACKAGES=linux-image-amd64,systemd-sysv,udev,dbus-user-session,libpam-systemd,zstd
PACKAGES+=,make,git,python3,curl,busybox-static,procps,iproute2,strace,netcat-openbsd,openssh-client,openssl
PACKAGES+=,bind9-host,bind9-dnsutils,less

# The initial ramdisk knows the two disks and nothing else.
before() {
	mkdir -p "$1/etc/initramfs-tools/conf.d"
	echo "MODULES=list" >"$1/etc/initramfs-tools/conf.d/vm"
	printf '%s\n' virtio_pci virtio_blk ext4 >"$1/etc/initramfs-tools/modules"
}

# The guest's part is a service, which ends the machine with itself.
after() {
	cp "$1"/boot/vmlinuz-* "$2/kernel" && cp "$1"/boot/initrd.img-* "$2/initrd" || return 1
	chroot "$1" useradd -m -s /bin/bash ana || return 1
	cat >"$1/etc/systemd/system/vm.service" <<-'END'
		[Unit]
		After=multi-user.target
		SuccessAction=poweroff-force
		FailureAction=poweroff-force
		[Service]
		ExecStartPre=/bin/mount /dev/vdb /mnt
		ExecStart=/bin/bash /mnt/tests/vm/guest.sh
		StandardOutput=file:/dev/virtio-ports/pale
		StandardError=inherit
		[Install]
		WantedBy=default.target
	END
	chroot "$1" systemctl -q enable vm.service || return 1
	echo debian >"$1/etc/hostname"
	echo '127.0.0.1 localhost debian' >"$1/etc/hosts"
	rm -rf "$1"/var/cache/apt/archives/*.deb
	# Without what is mounted in it.
	mkdir "$2/root" && mount --bind "$1" "$2/root" && mke2fs -q -t ext4 -d "$2/root" "$2/image.new" 3G &&
		umount "$2/root" && rmdir "$2/root"
}

case $1 in
before | after)
	"$@"
	;;
*)
	rm -rf "$1"/{image,image.new,root}
	mmdebstrap --variant=minbase --format=null --include="$PACKAGES" --essential-hook="bash $0 before \"\$1\"" \
		--customize-hook="bash $0 after \"\$1\" $1" bookworm /dev/null $MIRROR && mv "$1/image.new" "$1/image"
	;;
esac
