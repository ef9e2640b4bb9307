#!/bin/bash
# Tests of walls and of control groups under another kernel: in a virtual machine (QEMU without hardware
# support, one processor) with the programs of this machine and a kernel of a Debian package, for
# instance linux-image-6.1.0-56-cloud-amd64 (`apt-get download`). Its control groups are of version 2,
# and a command runs in a group of its own, as a service does.
#
#   tests/attacks/guest.sh PACKAGE.deb LOG [COMMAND...]      commands run in this tree, one after another
#
# With SYSTEMD=1 the first program is this machine's systemd (libpam-systemd and dbus-user-session too), and
# the commands run in a login session of an ordinary user, to whom no control group is delegated.
#
# Needs root, qemu-system-x86, busybox-static, cpio, e2fsprogs and dpkg, a build in build/, 8 GB in $TMPDIR
# and 5 GB of memory. MINUTES (40) is the most it takes; LOG tells what the guest prints.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
package=$(realpath "$1") log=$(realpath -m "$2")
shift 2
commands=("$@")
((${#commands[@]})) || commands=('build/bin/ratchet doctor'
  'build/bin/ratchet-tests-kernels [groups],[confine],[worker]'
  'tests/attacks/groups.py build/bin/ratchet host /tmp/groups 30')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

dpkg -x "$package" kernel
modules=$(echo kernel/lib/modules/*/kernel)

# What mounts the disk: the first program.
mkdir -p first/bin
cp /bin/busybox first/bin/
for module in virtio/virtio virtio/virtio_ring virtio/virtio_pci_legacy_dev virtio/virtio_pci_modern_dev \
  virtio/virtio_pci block/virtio_blk; do
  cp "$modules/drivers/$module.ko" first/ 2>/dev/null || xz -dc "$modules/drivers/$module.ko.xz" >"first/${module#*/}.ko"
done
cat >first/init <<'END'
#!/bin/busybox sh
/bin/busybox mkdir -p /dev /disk
/bin/busybox mount -t devtmpfs dev /dev
for module in virtio virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk; do
  /bin/busybox insmod "/$module.ko" 2>/dev/null
done
/bin/busybox sleep 1
/bin/busybox mount -t ext4 /dev/vda /disk || /bin/busybox poweroff -f
/bin/busybox umount /dev
exec /bin/busybox switch_root /disk /usr/sbin/first
END
chmod +x first/init
(cd first && find . | cpio --quiet -o -H newc | gzip -1) >first.gz

# The disk: this machine's system without what is large, and this tree at its own place.
mkdir -p disk/{proc,sys,dev,tmp,run,etc,root,var/tmp,usr/lib} "disk$root"
chmod 1777 disk/tmp disk/var/tmp
for link in bin sbin lib lib64; do ln -s "usr/$link" "disk/$link"; done
cp -a /usr/{bin,sbin,lib64,include} disk/usr/
tar -C /usr/lib -cf - --exclude='*libLLVM*' --exclude='*libclang*' --exclude='*cuda*' --exclude=x86_64-linux-gnu/dri \
  x86_64-linux-gnu gcc os-release $(cd /usr/lib && echo python3*) | tar -C disk/usr/lib -xf -
for file in passwd group shadow ld.so.cache ld.so.conf ld.so.conf.d nsswitch.conf os-release alternatives hosts; do
  [[ ! -e /etc/$file ]] || cp -a "/etc/$file" disk/etc/
done
(cd "$root" && git ls-files -coz --exclude-standard | tar --null -T - -cf -) | tar -C "disk$root" -xf -
mkdir -p "disk$root/build"
cp -a "$root"/build/{bin,walls-open,share} "disk$root/build/"
cat >disk/usr/sbin/guest <<END
#!/bin/bash
export PATH=/usr/bin:/usr/sbin HOME=/root LANG=C
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs run /run
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up
echo "+memory +pids +cpu" >/sys/fs/cgroup/cgroup.subtree_control
cd $root
uname -r
set -f
number=0
while read -r command; do
  echo "== \$command"
  mkdir "/sys/fs/cgroup/command\$((++number))"
  (echo 0 >"/sys/fs/cgroup/command\$number/cgroup.procs" && exec \$command) </dev/null
  echo "== ended with \$?"
done </usr/sbin/commands
echo o >/proc/sysrq-trigger
sleep 10
END
printf '%s\n' "${commands[@]}" >disk/usr/sbin/commands
ln -s guest disk/usr/sbin/first
if [[ -n ${SYSTEMD:-} ]]; then
  cp -a /usr/lib/systemd disk/usr/lib/
  mkdir -p disk/usr/share disk/etc/systemd/system/multi-user.target.wants disk/var/guest
  cp -a /usr/share/dbus-1 disk/usr/share/
  cp -a /etc/{pam.d,dbus-1,login.defs,security} disk/etc/
  echo 'guest:x:1234:1234::/var/guest:/bin/bash' >>disk/etc/passwd
  echo 'guest:x:1234:' >>disk/etc/group
  echo 'guest:*:19000:0:99999:7:::' >>disk/etc/shadow
  chown 1234:1234 disk/var/guest
  : >disk/etc/machine-id
  ln -sf /usr/lib/systemd/systemd disk/usr/sbin/first
  cat >disk/etc/systemd/system/commands.service <<'END'
[Unit]
After=dbus.service systemd-logind.service systemd-user-sessions.service
Wants=dbus.service systemd-logind.service systemd-user-sessions.service
[Service]
Type=oneshot
ExecStart=/usr/sbin/guest
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
TimeoutStartSec=infinity
END
  ln -s ../commands.service disk/etc/systemd/system/multi-user.target.wants/
  for unit in getty@tty1 serial-getty@ttyS0 systemd-timesyncd ssh sshd; do
    ln -sf /dev/null "disk/etc/systemd/system/$unit.service"
  done
  cat >disk/usr/sbin/guest <<END
#!/bin/bash
export PATH=/usr/bin:/usr/sbin LANG=C
uname -r
set -f
while read -r command; do
  echo "== \$command"
  su -l guest -c "cd $root && exec \$command" </dev/null
  echo "== ended with \$?"
done </usr/sbin/commands
systemctl poweroff --force --force
END
fi
chmod +x disk/usr/sbin/guest
mke2fs -q -t ext4 -d disk image "$(($(du -sm disk | cut -f1) * 3 / 2 + 1024))M"
rm -rf disk

timeout "${MINUTES:-40}m" qemu-system-x86_64 -accel tcg,thread=single -cpu max -smp 1 -m 5000 -nographic \
  -kernel kernel/boot/vmlinuz-* -initrd first.gz -drive file=image,format=raw,if=virtio \
  -append "console=ttyS0 panic=-1 quiet nowatchdog rw systemd.unit=multi-user.target" -no-reboot </dev/null 2>&1 | tr -d '\r' >"$log"
grep -E '^(==|.*tests passed|test cases|All tests)' "$log" || true
! grep -E '^== ended with [^0]' "$log" || exit 1
grep -q '^== ended with 0' "$log"
