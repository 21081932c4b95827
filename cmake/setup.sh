#!/bin/sh
# Installs the missing packages of the distribution that the build needs.
# If no package is missing, the script works offline and without root.
# Arguments add packages: the name of a preset adds those of that build, `python` those of the Python
# module and of tools/fleet, `lint` clang-format and clang-tidy.
set -eu

packages='cmake ninja-build g++ clang git pkg-config flatbuffers-compiler libflatbuffers-dev
  libgtest-dev libgmock-dev nlohmann-json3-dev libzip-dev zlib1g-dev libcli11-dev libfmt-dev
  libxxhash-dev libhwy-dev libicu-dev libonig-dev libsentencepiece-dev python3'
# In releases after Debian 13, SentencePiece's header needs Abseil's headers, but its package does not depend on Abseil.
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
  # Oniguruma's development packages for two architectures exclude each other (see cmake/Dependencies.cmake).
  packages="$packages libonig5:$architecture"
fi

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this is not a Debian system; docs/dependencies.md lists the libraries to install" >&2
  exit 0
fi
for preset in riscv64 aarch64-kleidiai; do
  case " $* " in *" $preset "*) ;; *) continue ;; esac
  if grep -qs '^VERSION_ID="1[0-2]"' /etc/os-release; then
    echo "setup: the preset $preset needs libraries that only Debian 13 or newer has" >&2
    exit 1
  fi
done
native=$(dpkg --print-architecture)
missing=''
for package in $packages; do
  # A name without a suffix means this machine's architecture.
  case $package in *:*) wanted=${package#*:} ;; *) wanted=$native ;; esac
  case " $(dpkg-query -W -f='${Architecture}:${db:Status-Status} ' "$package" 2>/dev/null || true)" in
    *" $wanted:installed "* | *' all:installed '*) ;;
    *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

echo "setup: installing$missing"
run=''
if [ "$(id -u)" != 0 ]; then
  run=sudo
  if ! command -v sudo >/dev/null; then
    echo "setup: these packages are missing, and only root can install them:$missing" >&2
    exit 1
  fi
fi
[ -z "$architecture" ] || $run dpkg --add-architecture "$architecture"
$run apt-get update -q
DEBIAN_FRONTEND=noninteractive $run apt-get install -y -q --no-install-recommends $missing
