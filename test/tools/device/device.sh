# What the stand-ins for adb, ssh and scp share. The "device" is the folder FAKE_DEVICE: its /sys, /tmp and
# /data are below it, its own commands in bin/. Sourced, not run.
set -u

map() {  # a device's paths, in text, as they are on this machine
  printf '%s' "$1" | sed "s# /tmp/# $FAKE_DEVICE/tmp/#g; s#/data/local/tmp#$FAKE_DEVICE/data/local/tmp#g; s#/sys/#$FAKE_DEVICE/sys/#g"
}

device_shell() {
  out=$(mktemp) errors=$(mktemp)
  PATH=$FAKE_DEVICE/bin:$PATH sh -c "$(map "$1")" >"$out" 2>"$errors"
  code=$?
  sed "s#$FAKE_DEVICE##g" "$out"
  sed "s#$FAKE_DEVICE##g" "$errors" >&2
  rm -f "$out" "$errors"
  exit $code
}

device_copy() {  # FROM TO: one of them is a device's path that `map` has seen. Below FAKE_FULL is no space left
  case $2 in
    "${FAKE_FULL:-/dev/null}"*)
      echo "write failed: No space left on device" >&2
      exit 1
      ;;
  esac
  cp "$1" "$2"
}
