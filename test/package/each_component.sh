# Each component by itself, in a static and in a shared library of someone else's.
. "$(dirname "$0")/common.sh"
folder=$OUT/each_component
check_components() {
  for component in "$folder"/bin/*; do "$component" || fail "$component: what it claims does not hold"; done
}
build each_component "$folder" -DCMAKE_PREFIX_PATH="$prefix" -DSAMPLES="$SOURCE/test/samples"
check_components
"$CMAKE" "$folder" -DBUILD_SHARED_LIBS=ON
"$CMAKE" --build "$folder"
expect "libuse_aot.so" ldd "$folder/bin/aot"
check_components

# A wrong name is answered with all names, and these are the ones that were tried.
mkdir -p "$OUT/wrong"
cat > "$OUT/wrong/CMakeLists.txt" <<'X'
cmake_minimum_required(VERSION 3.25)
project(wrong LANGUAGES C CXX)
find_package(Vitrine CONFIG REQUIRED COMPONENTS runtime trains)
X
if said=$("$CMAKE" -S "$OUT/wrong" -B "$OUT/wrong/build" -DCMAKE_PREFIX_PATH="$prefix" 2>&1); then fail "trains are found"; fi
said=$(tr -s ' \n' ' ' <<< "$said")
[[ $said == *'has no component "trains". Components are: '* ]] || fail "trains: $said"
named=$(sed 's/.*Components are: //; s/, and, of a build with VITRINE_BUILD_HOST:\([^.]*\)\..*/\1/' <<< "$said")
diff <(tr ' ' '\n' <<< "$named" | sort) <(ls "$folder/bin") || fail "other components than those that were tried: $named"
