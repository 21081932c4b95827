# Checks which XNNPACK `auto` chooses, that the choice does not wait for a network that hangs, and that a build folder
# keeps it. The folder here configures only cmake/XnnpackPin.cmake.
. "$(dirname "$0")/common.sh"
folder=$OUT/xnnpack_pin
rm -rf "$folder" && mkdir -p "$folder"/{downloads,hanging}
mkdir -p "$folder/project"
cat > "$folder/project/CMakeLists.txt" <<'X'
cmake_minimum_required(VERSION 3.25)
project(choice NONE)
set(PROJECT_SOURCE_DIR ${SOURCE})
include(${SOURCE}/cmake/XnnpackPin.cmake)
message(STATUS "chose ${VITRINE_XNNPACK_PIN}")
X
configure() { "$CMAKE" -S "$folder/project" -B "$folder/build" -DSOURCE="$SOURCE" "$@" 2>&1; }
choose() { rm -rf "$folder/build" && configure -DVITRINE_XNNPACK_PIN=auto "$@"; }
export GIT_CONFIG_GLOBAL=$folder/gitconfig
redirect() { git config --global --replace-all "url.file://$folder/$1.insteadOf" https://github.com/google/XNNPACK.git; }

redirect missing.git
expect "chose debian" choose
git config --global --remove-section "url.file://$folder/missing.git"
git init -q --bare "$folder/XNNPACK.git"
redirect XNNPACK.git
expect "https://github.com/google/XNNPACK.git answers" choose
expect "chose upstream" choose
redirect missing.git
git config --global --remove-section "url.file://$folder/XNNPACK.git"
expect "chose upstream" configure
expect "chose debian" configure -DVITRINE_XNNPACK_PIN=auto
# `auto` is the default.
rm -rf "$folder/build"
expect "VITRINE_XNNPACK_PIN is debian: neither" configure

printf '#!/bin/sh\nexec sleep 60\n' > "$folder/hanging/git"
chmod +x "$folder/hanging/git"
start=$SECONDS
expect "chose debian" choose -DVITRINE_GIT="$folder/hanging/git"
[[ $((SECONDS - start)) -lt 30 ]] || fail "the choice waited $((SECONDS - start)) s for git"

# VITRINE_DOWNLOADS needs both archives that Debian lacks.
cat > "$folder/archives.cmake" <<'X'
set(VITRINE_XNNPACK_PIN upstream)
include(${SOURCE}/cmake/third_party/pins.cmake)
foreach(row IN LISTS VITRINE_PINS)
  vitrine_read_pin(pin "${row}")
  if(NOT pin_TARBALL MATCHES "/")
    message("${pin_TARBALL}")
  endif()
endforeach()
X
"$CMAKE" -DSOURCE="$SOURCE" -P "$folder/archives.cmake" > "$folder/archives" 2>&1
[[ $(wc -l < "$folder/archives") -ge 2 ]] || fail "expected two archives: $(cat "$folder/archives")"
downloads=(-DVITRINE_DOWNLOADS="$folder/downloads" -DVITRINE_GIT="$folder/hanging/git")
expect "chose debian" choose "${downloads[@]}"
while read -r archive; do
  touch "$folder/downloads/$archive"
done < "$folder/archives"
expect "VITRINE_DOWNLOADS has the upstream sources" choose "${downloads[@]}"
expect "upstream was not tested on armv7" choose "${downloads[@]}" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=armv7
