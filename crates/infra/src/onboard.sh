# Brings Bancada and a study to a new machine, runs the machine's part, hands the results over and,
# where that was asked for, switches the machine off. What is in capitals is set above.
set -u
umask 077
kit=$0
work=${BANCADA_ONBOARD:-$HOME/bancada-onboard}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}
say() { printf 'onboard: %s\n' "$1" >&2; }

end() {
  code=$?
  trap - EXIT
  if [ "$POWER_OFF" = yes ]; then
    say "switching this machine off"
    if [ -n "${BANCADA_POWER_OFF:-}" ]; then sh -c "$BANCADA_POWER_OFF"; else as_root shutdown -P now; fi
  fi
  exit "$code"
}
trap end EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

mkdir -p "$work" || exit 1
if [ "$(tail -c "+$PAYLOAD_BEGIN" "$kit" | sha256sum | cut -d' ' -f1)" != "$PAYLOAD_SHA256" ]; then
  say "$kit is not complete: copy it again"
  exit 1
fi
tail -c "+$PAYLOAD_BEGIN" "$kit" | tar -xz -C "$work" || exit 1
PATH=$work:$PATH
if ! "$work/bancada" --version > /dev/null 2>&1; then
  say "this Bancada does not start here: $("$work/bancada" --version 2>&1 | head -1)"
  say "build one for this system and give it with --program"
  exit 1
fi
say "$("$work/bancada" --version) in $work"

install_python() {
  if command -v apt-get; then
    as_root apt-get update -q && as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -q -y --no-install-recommends python3 python3-venv ca-certificates
  elif command -v dnf; then
    # The plain one of Red Hat 8 and 9 is older than frameworks accept; Fedora has no other.
    as_root dnf install -q -y python3.11 python3.11-pip ca-certificates ||
      as_root dnf install -q -y python3 python3-pip ca-certificates
  elif command -v yum; then
    as_root yum install -q -y python3 python3-pip ca-certificates
  else
    echo "neither apt-get nor dnf nor yum is here"
    return 1
  fi
}

# Frameworks are installed in environments of Python; without it only the engine and commands run.
if ! python3 -c 'import ensurepip, venv' > /dev/null 2>&1; then
  install_python > "$work/install.log" 2>&1 ||
    say "Python could not be installed ($work/install.log): studies that need a framework will not run"
fi

results=$work/results
if [ -n "$ONLY" ]; then set -- --only "$ONLY"; else set --; fi
"$work/bancada" run "$work/study/$STUDY" --prepare --out "$results" "$@"
ran=$?
if [ ! -d "$results" ]; then
  say "there are no results (exit code $ran)"
  exit "$ran"
fi

hand_over() {
  case $TO_KIND in
    folder)
      mkdir -p "$TO" && cp -R "$results/." "$TO/"
      ;;
    ssh)
      tar -cz -C "$results" . | ssh -o BatchMode=yes "$TO_HOST" "umask 077; mkdir -p $TO_PATH_QUOTED && tar -xz -C $TO_PATH_QUOTED"
      ;;
    put)
      tar -cz -f "$work/results.tar.gz" -C "$results" . || return 1
      # Not as an argument: an address that takes files is as good as a password.
      printf 'url = "%s"\nupload-file = "%s"\n' "$TO" "$work/results.tar.gz" | curl -fsS -K -
      ;;
  esac
}
for try in 1 2 3 4 5; do
  if hand_over; then
    say "the results are handed over"
    exit "$ran"
  fi
  say "handing the results over failed ($try of 5)"
  sleep "$((try * ${BANCADA_ONBOARD_PAUSE:-10}))"
done
say "the results are still in $results"
exit 1
