# The first start of a rented machine, and every later one: run as root by cloud-init or by the
# provider's own agent. What is named in capitals is set above.
set -u
umask 077
export PATH="$PATH:/usr/sbin:/sbin"
state=/var/lib/bancada
mkdir -p "$state"
started=$(date +%s)

# A dead man's switch comes first: whatever fails below, the machine ends itself.
if [ ! -s "$state/deadline" ]; then
  echo "$((started + TIME_LIMIT_SECONDS))" > "$state/deadline"
fi
deadline=$(cat "$state/deadline")
if [ -d /run/systemd/system ]; then
  cat > /etc/systemd/system/bancada-end.service << 'UNIT'
[Unit]
Description=End this rented machine

[Service]
Type=oneshot
ExecStart=/bin/sh -c 'exec shutdown -P now'
UNIT
  # A moment, not a span: a restarted machine has no more time than the first.
  cat > /etc/systemd/system/bancada-end.timer << UNIT
[Unit]
Description=End this rented machine when its time is over

[Timer]
OnCalendar=$(date -u -d "@$deadline" '+%Y-%m-%d %H:%M:%S UTC')
Persistent=true
AccuracySec=1s

[Install]
WantedBy=timers.target
UNIT
  systemctl daemon-reload
  systemctl enable --now bancada-end.timer
  shutdown -P "+$(((deadline - started) / 60 + 1))" || true
else
  (
    while [ "$(date +%s)" -lt "$deadline" ]; do sleep 1; done
    shutdown -P now || poweroff -f
  ) < /dev/null > /dev/null 2>&1 &
fi

# Whoever connects knows this key already, so the first connection is checked as all others are.
if [ ! -e "$state/host-key" ]; then
  mkdir -p /etc/ssh
  printf '%s\n' "$HOST_PRIVATE_KEY" > /etc/ssh/ssh_host_ed25519_key
  printf '%s\n' "$HOST_PUBLIC_KEY" > /etc/ssh/ssh_host_ed25519_key.pub
  chmod 600 /etc/ssh/ssh_host_ed25519_key
  chmod 644 /etc/ssh/ssh_host_ed25519_key.pub
  touch "$state/host-key"
fi

if ! id "$MACHINE_USER" > /dev/null 2>&1; then
  useradd -m -s /bin/bash "$MACHINE_USER"
fi
# No password fits, and the account is not locked: without PAM, sshd refuses keys of locked ones.
usermod -p '*' "$MACHINE_USER"
home=$(getent passwd "$MACHINE_USER" | cut -d: -f6)
mkdir -p "$home/.ssh"
if ! grep -qxF "$CLIENT_PUBLIC_KEY" "$home/.ssh/authorized_keys" 2> /dev/null; then
  printf '%s\n' "$CLIENT_PUBLIC_KEY" >> "$home/.ssh/authorized_keys"
fi
chmod 700 "$home/.ssh"
chmod 600 "$home/.ssh/authorized_keys"
chown -R "$MACHINE_USER:" "$home/.ssh"
if [ -d /etc/sudoers.d ]; then
  echo "$MACHINE_USER ALL=(ALL) NOPASSWD:ALL" > /etc/sudoers.d/90-bancada
  chmod 440 /etc/sudoers.d/90-bancada
fi

if [ -d /run/systemd/system ]; then
  systemctl restart ssh || systemctl restart sshd
elif [ -s /run/sshd.pid ]; then
  kill -HUP "$(cat /run/sshd.pid)"
fi

# What frameworks and copies of files need.
is_complete() {
  command -v rsync > /dev/null && python3 -c 'import ensurepip, venv' > /dev/null 2>&1
}
install_packages() {
  if command -v apt-get > /dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q && apt-get install -q -y --no-install-recommends \
      -o DPkg::Lock::Timeout=300 python3 python3-venv rsync ca-certificates
  elif command -v dnf > /dev/null; then
    dnf install -q -y python3 python3-pip rsync ca-certificates
  else
    yum install -q -y python3 python3-pip rsync ca-certificates
  fi
}
note=ok
for try in 1 2 3; do
  is_complete && break
  [ "$try" = 1 ] || sleep 10
  install_packages > "$state/install.log" 2>&1 || true
done
is_complete || note="python3, venv or rsync could not be installed: /var/lib/bancada/install.log"

umask 022
printf '%s %s %s\n' "$started" "$(date +%s)" "$note" > "$home/.bancada-ready.new"
mv "$home/.bancada-ready.new" "$home/.bancada-ready"
