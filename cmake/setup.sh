#!/bin/sh
# Installs the distribution's packages that the build needs, only those that are missing.
# Works offline, and without root, when nothing is missing.
# Arguments add to these: the name of a preset what that build needs, `python` what the Python module
# and the reduction of many profiles need, `lint` the two that read the code.
set -eu

packages='cmake ninja-build g++ clang git pkg-config flatbuffers-compiler libflatbuffers-dev
  libgtest-dev libgmock-dev nlohmann-json3-dev libzip-dev zlib1g-dev libcli11-dev libfmt-dev
  libxxhash-dev libhwy-dev libicu-dev libsentencepiece-dev python3'
# After Debian 13 SentencePiece's header includes Abseil's, on which its package does not depend.
grep -qs '^VERSION_ID="1[0-3]"' /etc/os-release || packages="$packages libabsl-dev"

architecture=''
for argument in "$@"; do
  case $argument in
    sanitize) packages="$packages libclang-rt-dev lld" ;;
    fuzz) packages="$packages libclang-rt-dev" ;;
    aarch64) architecture=arm64 packages="$packages g++-aarch64-linux-gnu" ;;
    aarch64-kleidiai) architecture=arm64 packages="$packages g++-aarch64-linux-gnu libkleidiai-dev:arm64" ;;
    armv7) architecture=armhf packages="$packages g++-arm-linux-gnueabihf" ;;
    riscv64) architecture=riscv64 packages="$packages g++-riscv64-linux-gnu" ;;
    coverage) packages="$packages gcovr" ;;
    lint) packages="$packages clang-format clang-tidy" ;;
    python) packages="$packages python3-dev python3-numpy pybind11-dev python3-distributed python3-pandas" ;;
  esac
done
if [ -n "$architecture" ]; then
  packages="$packages qemu-user"
  for library in libgtest libgmock libzip zlib1g libfmt libicu; do
    packages="$packages $library-dev:$architecture"
  done
fi

if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian system; see docs/dependencies.md for what is needed" >&2
  exit 0
fi
for preset in riscv64 aarch64-kleidiai; do
  case " $* " in *" $preset "*) ;; *) continue ;; esac
  if grep -qs '^VERSION_ID="1[0-2]"' /etc/os-release; then
    echo "setup: the preset $preset needs Debian 13 or newer, which has libraries for it" >&2
    exit 1
  fi
done
missing=''
for package in $packages; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  case $status in  # said once for each architecture
    installed*) ;;
    *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

echo "setup: installing$missing"
run=''
if [ "$(id -u)" != 0 ]; then
  run=sudo
  if ! command -v sudo >/dev/null; then
    echo "setup: these packages are missing and only root can install them:$missing" >&2
    exit 1
  fi
fi
[ -z "$architecture" ] || $run dpkg --add-architecture "$architecture"
$run apt-get update -q
DEBIAN_FRONTEND=noninteractive $run apt-get install -y -q --no-install-recommends $missing
