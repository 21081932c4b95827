# The pinned sources from their git repositories: local ones stand for the public ones, whose addresses
# stay as they are. Only how they are fetched is tested, so each has one file.
. "$(dirname "$0")/common.sh"
folder=$OUT/fetched_sources
rm -rf "$folder" && mkdir -p "$folder/recipe" "$folder/repositories"
cp "$SOURCE"/cmake/third_party/*.cmake "$folder/recipe"
export GIT_CONFIG_GLOBAL=$folder/gitconfig
git config --global user.name test
git config --global user.email test@localhost
git config --global init.defaultBranch main

# The texts that are put right, in their files.
cat > "$folder/recipe/wrong.cmake" <<'X'
include(${CMAKE_CURRENT_LIST_DIR}/pins.cmake)
foreach(row IN LISTS VITRINE_SOURCE_FIXES)
  string(REGEX MATCH "^([^|]*)[|]([^|]*)[|]([^|]*)[|](.*)$" whole "${row}")
  if(NAME STREQUAL CMAKE_MATCH_1)
    file(APPEND ${FOLDER}/${CMAKE_MATCH_2} "${CMAKE_MATCH_3}\n")
  endif()
endforeach()
X

# Each row of pins.cmake: name|commit|address|...
while IFS='|' read -r name commit address _; do
  name=${name#*\"}
  local=$folder/repositories/$name
  git init -q "$local"
  echo "$name" > "$local/name"
  "$CMAKE" -DNAME="$name" -DFOLDER="$local" -P "$folder/recipe/wrong.cmake"
  git -C "$local" add .
  git -C "$local" commit -qm "The pinned commit"
  sed -i "s/$commit/$(git -C "$local" rev-parse HEAD)/" "$folder/recipe/pins.cmake"
  echo later > "$local/later"
  git -C "$local" add .
  git -C "$local" commit -qm "A later one"
  git clone -q --bare "$local" "$local.git"
  git config --global "url.file://$local.git.insteadOf" "$address"
done < <(grep '^  "[A-Za-z0-9]*|[0-9a-f]\{40\}|' "$folder/recipe/pins.cmake")

cat > "$folder/recipe/CMakeLists.txt" <<'X'
cmake_minimum_required(VERSION 3.25)
project(fetched_sources LANGUAGES NONE)
include(sources.cmake)
vitrine_fetch_sources(${FOLDER})
X
fetch() { "$CMAKE" -S "$folder/recipe" -B "$folder/build" -DFOLDER="$folder/sources"; }
printed=$(fetch)
for name in XNNPACK pthreadpool cpuinfo FP16 FXdiv; do
  [[ $printed == *"$name: from https://"* ]] || fail "$name is not from git: $printed"
  [[ $(cat "$folder/sources/$name/name") == "$name" ]] || fail "$name was not fetched"
  [[ ! -e $folder/sources/$name/later ]] || fail "$name is not of its commit"
done
grep -q "PARAMS 16" "$folder/sources/XNNPACK/include/xnnpack.h" || fail "the header is not put right"
products=$(cat "$folder"/sources/XNNPACK/src/f16-*gemm/gen/*)
[[ $(grep -c "+ 32, vacc" <<< "$products") == 4 && $products != *"+ 1, vacc"* ]] || fail "the products are not put right"
printed=$(fetch)
[[ $printed != *"from https"* ]] || fail "fetched twice: $printed"
