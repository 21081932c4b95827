# Functions that the stand-ins for adb, ssh and scp share. The "device" is the folder FAKE_DEVICE, which has
# its /sys, /tmp and /data, and in bin/ its own commands. Source this file; do not run it.
set -u

map() {  # replaces paths of the device in a text by paths of this machine
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

device_copy() {  # FROM TO: copies a file between paths that `map` returned. Fails if TO is below FAKE_FULL
  case $2 in
    "${FAKE_FULL:-/dev/null}"*)
      echo "write failed: No space left on device" >&2
      exit 1
      ;;
  esac
  cp "$1" "$2"
}
