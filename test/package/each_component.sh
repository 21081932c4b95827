# Links each component alone, into a static and into a shared library of another project.
. "$(dirname "$0")/common.sh"
folder=$OUT/each_component
check_components() {
  for component in "$folder"/bin/*; do "$component" || fail "$component: its check failed"; done
}
build each_component "$folder" -DCMAKE_PREFIX_PATH="$prefix" -DSAMPLES="$SOURCE/test/samples"
check_components
"$CMAKE" "$folder" -DBUILD_SHARED_LIBS=ON
"$CMAKE" --build "$folder"
expect "libuse_aot.so" ldd "$folder/bin/aot"
check_components

# The error for an unknown component lists all components, which must be those that this test tried.
mkdir -p "$OUT/wrong"
cat > "$OUT/wrong/CMakeLists.txt" <<'X'
cmake_minimum_required(VERSION 3.25)
project(wrong LANGUAGES C CXX)
find_package(Vitrine CONFIG REQUIRED COMPONENTS runtime trains)
X
if said=$("$CMAKE" -S "$OUT/wrong" -B "$OUT/wrong/build" -DCMAKE_PREFIX_PATH="$prefix" 2>&1); then fail "find_package accepts the unknown component trains"; fi
said=$(tr -s ' \n' ' ' <<< "$said")
[[ $said == *'has no component "trains". Components are: '* ]] || fail "the error for the component trains is: $said"
named=$(sed 's/.*Components are: //; s/, and in a build with VITRINE_BUILD_HOST:\([^.]*\)\..*/\1/' <<< "$said")
diff <(tr ' ' '\n' <<< "$named" | sort) <(ls "$folder/bin") || fail "the error lists other components than this test tried: $named"
