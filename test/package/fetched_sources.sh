# Fetches the pinned sources from git, configures them, and builds the smallest library. git redirects the
# public addresses to local repositories, which are made from the sources of this build.
. "$(dirname "$0")/common.sh"
folder=$OUT/fetched_sources
rm -rf "$folder" && mkdir -p "$folder/repositories"
cp -r "$SOURCE/cmake/third_party" "$folder/recipe"
export GIT_CONFIG_GLOBAL=$folder/gitconfig
git config --global user.name test
git config --global user.email test@localhost
git config --global init.defaultBranch main
git config --global core.compression 0
git config --global core.fsync none
git config --global gc.auto 0

# The sources of this build are patched. The repositories get the original text.
cat > "$folder/pins.cmake" <<'X'
include(${RECIPE}/pins.cmake)
foreach(row IN LISTS VITRINE_PINS)
  message("${row}")
endforeach()
X
"$CMAKE" -DRECIPE="$folder/recipe" -DVITRINE_XNNPACK_PIN="$PIN" -P "$folder/pins.cmake" 2> "$folder/pins"

# Each row: name|commit|address|...
names=()
while IFS='|' read -r name commit address _; do
  names+=("$name")
  bare=$folder/repositories/$name.git
  git init -q --bare "$bare"
  repository() { git --git-dir="$bare" --work-tree="$1" "${@:2}"; }
  repository "$SOURCES/$name" add -f .
  patches=("$folder/recipe/patches/$PIN/$name-"*.patch)
  if [[ -e ${patches[0]} ]]; then repository "$SOURCES/$name" apply --cached --reverse "${patches[@]}"; fi
  repository . commit -qm "The pinned commit"
  sed -i "s/$commit/$(repository . rev-parse HEAD)/" "$folder/recipe/pins.cmake"
  repository . commit -q --allow-empty -m "A later one"
  git config --global "url.file://$bare.insteadOf" "$address"
done < "$folder/pins"
[[ ${#names[@]} -ge 5 ]] || fail "found too few pins: ${names[*]}"

# Configures like cmake/Dependencies.cmake.
configure() { "$CMAKE" -S "$folder/recipe" -B "$folder/build" -G Ninja -DVITRINE_XNNPACK_PIN="$PIN" -DVITRINE_SOURCES_DIR="$folder/sources"; }
printed=$(configure)
for name in "${names[@]}"; do
  [[ $printed == *"$name: from https://"* ]] || fail "$name was not fetched from git: $printed"
  diff -r -x .git "$SOURCES/$name" "$folder/sources/$name" || fail "$name differs from the source of this build"
  [[ $(git -C "$folder/sources/$name" log -1 --format=%s) == "The pinned commit" ]] || fail "$name is not at the pinned commit"
done
printed=$(configure)
[[ $printed != *"from https"* ]] || fail "a source was fetched twice: $printed"

printed=$("$CMAKE" --build "$folder/build" --target help)
for target in XNNPACK microkernels-prod pthreadpool cpuinfo; do
  [[ $printed =~ $'\n'(xnnpack-)?"$target: phony" ]] || fail "the target $target is missing: $printed"
done
"$CMAKE" --build "$folder/build" --target pthreadpool
library=$(sed -n 's/.*"\(.*libpthreadpool.a\)".*/\1/p' "$folder/build/imported.cmake")
[[ -s $library ]] || fail "imported.cmake does not name an existing libpthreadpool.a"
rm -rf "$folder"/{repositories,sources}
