# What is not installed is named, with the package to install: in a build, and for components of an installed Vitrine.
# The rows of the table are hidden from CMake.
. "$(dirname "$0")/common.sh"
folder=$OUT/dependencies
rm -rf "$folder" && mkdir -p "$folder/no_modules" "$folder/finds"
table=$SOURCE/cmake/DistributionPackages.cmake
# Calls $1 with the fields of each row.
each_row() {
  local name how packages options components
  while IFS='|' read -r name how packages options components; do
    [[ $name == absl ]] || "$1" "$name" "$how" "$packages" "$options" "$components"  # new SentencePieces need it
  done < <(sed -n 's/^  "\([^|"]*|.*\)".*/\1/p' "$table")
}
hide() {
  local kind variable
  read -r kind variable _ <<< "$2"
  case $kind in
    package) [[ $1 == PkgConfig ]] || hidden+=("-DCMAKE_DISABLE_FIND_PACKAGE_$1=ON") ;;
    path | library | program) hidden+=("-D$variable=") ;;
    *) [[ $kind == modules ]] || fail "hide() does not know \"$2\"" ;;
  esac
}
hidden=()
each_row hide
[[ ${#hidden[@]} -ge 10 ]] || fail "few rows in $table: ${hidden[*]}"
configure() { PKG_CONFIG_LIBDIR=$folder/no_modules "$CMAKE" "$@" -G Ninja 2>&1; }

# says <text>: the last message has it. CMake wraps messages.
says() { [[ $(tr -s ' \n' ' ' <<< "$said") == *"$1"* ]] || fail "\"$1\" expected in: $said"; }
is_named() {
  local version=
  [[ $1 != PkgConfig ]] || return 0
  [[ $2 != "package "* ]] || version=" ${2#package } or newer"
  says " $1$version: install $3${4:+, or leave out what needs it: -D${4// /=OFF -D}=OFF}"
}
if said=$(configure -S "$SOURCE" -B "$folder/build" "${hidden[@]}"); then fail "configured without libraries"; fi
each_row is_named
if said=$(configure -S "$SOURCE" -B "$folder/no_pkg_config" -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON); then
  fail "configured without pkg-config"
fi
says "not installed: PkgConfig: install pkg-config, or leave out what needs it: -DVITRINE_BUILD_HOST=OFF The packages are"

# An option leaves out what needs the rest.
needed=()
keep() { if [[ -z $4 ]]; then read -r _ variable _ <<< "$2"; needed+=("-D$variable="); fi; }
each_row keep
optional=()
for option in "${hidden[@]}"; do [[ " ${needed[*]} " == *" $option "* ]] || optional+=("$option"); done
said=$(configure -S "$SOURCE" -B "$folder/device" -DVITRINE_BUILD_HOST=OFF -DVITRINE_DEPS_DIR="$DEPS" "${optional[@]}") ||
  fail "VITRINE_BUILD_HOST=OFF: $said"
said=$("$CMAKE" --build "$folder/device" --target help)
says " vitrine_run: phony"
[[ $said != *executor_runner* ]] || fail "VITRINE_BUILD_HOST=OFF builds executor_runner"

# Android, whose NDK has none of them, gets this machine's headers.
if said=$(configure -S "$SOURCE" -B "$folder/android" -DANDROID=ON -DVITRINE_BUILD_HOST=OFF -DVITRINE_FLATC=); then
  fail "configured without flatc"
fi
is_linked() {
  local kind header
  read -r kind _ header <<< "$2"
  [[ $kind != path || -e $folder/android/host_headers/$header ]] || fail "$header is not there for Android"
}
each_row is_linked

# cmake/setup.sh installs each of them.
is_installed() {
  for one in $3; do grep -qwe "$one" "$SOURCE/cmake/setup.sh" || fail "cmake/setup.sh does not install $one"; done
}
each_row is_installed

# Components say it, too.
cat > "$folder/finds/CMakeLists.txt" <<'X'
cmake_minimum_required(VERSION 3.25)
project(finds LANGUAGES C CXX)
find_package(Vitrine 0.1 CONFIG REQUIRED COMPONENTS ${COMPONENTS} OPTIONAL_COMPONENTS ${OPTIONAL})
X
finds() { said=$(configure -S "$folder/finds" -B "$folder/found" -DCMAKE_PREFIX_PATH="$prefix" "${hidden[@]}" "$@"); }
finds "-DCOMPONENTS=runtime;kernels;optimized_kernels;xnnpack" -DOPTIONAL=aot || fail "the device side needs nothing: $said"
for component in devtools aot llm; do
  if finds -DCOMPONENTS=$component -DOPTIONAL=; then fail "$component is found without what it needs"; fi
  says "Vitrine's component \"$component\" needs what is not installed:"
  is_said() {
    if [[ " $5 " == *" $component "* ]]; then
      is_named "$1" "$2" "$3" ""
    elif [[ $said == *" $1: install"* ]]; then
      fail "$component does not need $1: $said"
    fi
  }
  each_row is_said
done
