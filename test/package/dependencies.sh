# Checks that configuring names each missing library and its package, in a build and for components of an
# installed Vitrine. The test hides the libraries in the table from CMake.
. "$(dirname "$0")/common.sh"
folder=$OUT/dependencies
rm -rf "$folder" && mkdir -p "$folder/no_modules" "$folder/finds"
table=$SOURCE/cmake/DistributionPackages.cmake
# Calls the function $1 with the fields of each row.
each_row() {
  local name how packages options components
  while IFS='|' read -r name how packages options components; do
    [[ $name == absl ]] || "$1" "$name" "$how" "$packages" "$options" "$components"  # only newer versions of SentencePiece need absl
  done < <(sed -n 's/^  "\([^|"]*|.*\)".*/\1/p' "$table")
}
hide() {
  local kind variable
  read -r kind variable _ <<< "$2"
  case $kind in
    package) [[ $1 == PkgConfig ]] || hidden+=("-DCMAKE_DISABLE_FIND_PACKAGE_$1=ON") ;;
    path | library | program) hidden+=("-D$variable=") ;;
    *) [[ $kind == modules ]] || fail "hide() does not support \"$2\"" ;;
  esac
}
hidden=()
each_row hide
[[ ${#hidden[@]} -ge 10 ]] || fail "found too few rows in $table: ${hidden[*]}"
configure() { PKG_CONFIG_LIBDIR=$folder/no_modules "$CMAKE" "$@" -G Ninja 2>&1; }

# says <text>: the last output of CMake, which wraps messages, contains the text.
says() { [[ $(tr -s ' \n' ' ' <<< "$said") == *"$1"* ]] || fail "expected \"$1\" in: $said"; }
is_named() {
  local version=
  [[ $1 != PkgConfig ]] || return 0
  [[ $2 != "package "* ]] || version=" ${2#package } or newer"
  says " $1$version: install $3${4:+, or configure without it: -D${4// /=OFF -D}=OFF}"
}
if said=$(configure -S "$SOURCE" -B "$folder/build" "${hidden[@]}"); then fail "configured without libraries"; fi
each_row is_named
if said=$(configure -S "$SOURCE" -B "$folder/no_pkg_config" -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON); then
  fail "configured without pkg-config"
fi
says "not installed: PkgConfig: install pkg-config, or configure without it: -DVITRINE_BUILD_HOST=OFF The packages are"

# With VITRINE_BUILD_HOST=OFF, a build needs only the libraries without an option in the table.
needed=()
keep() { if [[ -z $4 ]]; then read -r _ variable _ <<< "$2"; needed+=("-D$variable="); fi; }
each_row keep
optional=()
for option in "${hidden[@]}"; do [[ " ${needed[*]} " == *" $option "* ]] || optional+=("$option"); done
said=$(configure -S "$SOURCE" -B "$folder/device" -DVITRINE_BUILD_HOST=OFF -DVITRINE_DEPS_DIR="$DEPS" -DVITRINE_XNNPACK_PIN="$PIN" "${optional[@]}") ||
  fail "VITRINE_BUILD_HOST=OFF: $said"
said=$("$CMAKE" --build "$folder/device" --target help)
says " vitrine_run: phony"
[[ $said != *executor_runner* ]] || fail "VITRINE_BUILD_HOST=OFF builds executor_runner"

# A build for Android uses the headers of this machine, since the NDK does not have them.
if said=$(configure -S "$SOURCE" -B "$folder/android" -DANDROID=ON -DVITRINE_BUILD_HOST=OFF -DVITRINE_FLATC=); then
  fail "configured without flatc"
fi
is_linked() {
  local kind header
  read -r kind _ header <<< "$2"
  [[ $kind != path || -e $folder/android/host_headers/$header ]] || fail "the build for Android has no $header"
}
each_row is_linked

# cmake/setup.sh installs each package.
is_installed() {
  for one in $3; do grep -qwe "$one" "$SOURCE/cmake/setup.sh" || fail "cmake/setup.sh does not install $one"; done
}
each_row is_installed

# find_package names the missing libraries of a component.
cat > "$folder/finds/CMakeLists.txt" <<'X'
cmake_minimum_required(VERSION 3.25)
project(finds LANGUAGES C CXX)
find_package(Vitrine 0.1 CONFIG REQUIRED COMPONENTS ${COMPONENTS} OPTIONAL_COMPONENTS ${OPTIONAL})
X
finds() { said=$(configure -S "$folder/finds" -B "$folder/found" -DCMAKE_PREFIX_PATH="$prefix" "${hidden[@]}" "$@"); }
finds "-DCOMPONENTS=runtime;kernels;optimized_kernels;xnnpack" -DOPTIONAL=aot || fail "the components of the device side need no library, but CMake failed: $said"
for component in devtools aot llm; do
  if finds -DCOMPONENTS=$component -DOPTIONAL=; then fail "$component is found without the libraries that it needs"; fi
  says "Vitrine's component \"$component\" needs libraries that are not installed:"
  is_said() {
    if [[ " $5 " == *" $component "* ]]; then
      is_named "$1" "$2" "$3" ""
    elif [[ $said == *" $1: install"* ]]; then
      fail "$component does not need $1: $said"
    fi
  }
  each_row is_said
done
