#!/bin/sh
# A machine made of namespaces: network, processes, mounts, and a copy on write of this machine's files
# in memory. Its first process is the end of it. Needs root, iproute2, util-linux, OpenSSH and Python.
# TEST_PAUSE_BEFORE and TEST_PAUSE_AFTER give tests time to interrupt a creation, TEST_PAUSE_DESTROY a
# destruction; TEST_BOOT_SECONDS is the time before its SSH server starts.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
run=/run/bancada-test/$NAME
link=bi$(printf %s "$NAME" | sha1sum | cut -c1-8)

case $1 in
  create-network)
    ip netns add "$NAME"
    ip link add "$link" type veth peer name eth0 netns "$NAME"
    ip addr add "$GATEWAY/30" dev "$link"
    ip link set "$link" up
    ip -n "$NAME" addr add "$ADDRESS/30" dev eth0
    ip -n "$NAME" link set eth0 up
    ip -n "$NAME" link set lo up
    ;;
  destroy-network)
    # As at real providers, a network in use cannot be deleted: a machine that was lost keeps it.
    if ip netns list | grep -q "^$NAME\b"; then
      if [ "${TEST_LOST_BLOCKS:-}" ] && [ "$(ip netns pids "$NAME")" ]; then
        echo "the network $NAME is in use" >&2
        exit 1
      fi
      ip netns pids "$NAME" | xargs -r kill -9 2> /dev/null || true
      ip netns del "$NAME"
    fi
    ip link del "$link" 2> /dev/null || true
    rm -rf "$run"
    ;;
  create)
    sleep "${TEST_PAUSE_BEFORE:-0}"
    umask 077
    mkdir -p "$run"
    printf '%s' "$USER_DATA" > "$run/user-data"
    unset USER_DATA
    setsid ip netns exec "$NAME" unshare --mount --pid --fork --kill-child \
      sh "$here/machine.sh" init < /dev/null > "$run/log" 2>&1 &
    echo $! > "$run/pid"
    sleep "${TEST_PAUSE_AFTER:-0}"
    ;;
  destroy)
    sleep "${TEST_PAUSE_DESTROY:-0}"
    ip netns pids "$NAME" | xargs -r kill -9 2> /dev/null || true
    ;;
  init)
    mkdir -p "$run/root"
    mount -t tmpfs none "$run/root"
    mkdir "$run/root/upper" "$run/root/work" "$run/root/machine"
    chmod 755 "$run/root/upper"
    root=$run/root/machine
    mount -t overlay overlay -o "lowerdir=/,upperdir=$run/root/upper,workdir=$run/root/work" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs none "$root/run"
    mkdir -p "$root/run/sshd" "$root/run/netns" "$root/var/lib/cloud"
    cp "$run/user-data" "$root/var/lib/cloud/user-data"
    cp "$here/notice.py" "$root/run/notice.py"
    # What a machine without systemd calls to end itself.
    printf '#!/bin/sh\nkill -TERM 1\n' > "$root/usr/local/sbin/shutdown"
    chmod 755 "$root/usr/local/sbin/shutdown"
    # An image's own key, which nobody may take for the machine's.
    rm -f "$root"/etc/ssh/ssh_host_*
    ssh-keygen -q -t ed25519 -N '' -f "$root/etc/ssh/ssh_host_ed25519_key"
    printf '%s\n' 'HostKey /etc/ssh/ssh_host_ed25519_key' 'PasswordAuthentication no' 'UsePAM no' \
      'PidFile /run/sshd.pid' 'Subsystem sftp internal-sftp' > "$root/etc/ssh/sshd_config"
    trap 'exit 0' TERM
    chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      BOOT="${TEST_BOOT_SECONDS:-1}" sh -c '
        sleep "$BOOT"
        python3 /run/notice.py > /dev/null 2>&1 &
        /usr/sbin/sshd -E /var/log/sshd.log
        # Its starter ends before it listens; what user data does to it would meet nothing until then.
        until [ -s /run/sshd.pid ]; do sleep 0.05; done
        sh /var/lib/cloud/user-data > /var/log/user-data.log 2>&1
        wait' &
    while :; do sleep 1 & wait $!; done
    ;;
esac
