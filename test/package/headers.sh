# Checks that each installed public header compiles alone with strict warnings as C++20, that all together compile as
# C++23, and that vitrine.h compiles as C99.
. "$(dirname "$0")/common.sh"
strict='-fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror'
if [[ $("$CXX" --version) == *clang* ]]; then strict="$strict -Wno-sign-conversion"; fi
cd "$prefix/include"
# shellcheck disable=SC2086
compile() { "$CXX" $strict -std="$1" -I . -x c++ "$2"; }
export -f compile
export CXX strict
rm -rf "$OUT/headers" && mkdir -p "$OUT/headers"
for header in vitrine.h vitrine/*.h; do
  echo "#include <$header>" > "$OUT/headers/$(basename "$header").${header%%/*}.cc"
done
printf '%s\n' "$OUT"/headers/*.cc | xargs -P 2 -I {} bash -c "compile c++20 {}" || fail "a header does not compile alone as C++20"
cat "$OUT"/headers/*.cc > "$OUT/all_headers.cc"
compile c++2b "$OUT/all_headers.cc" || fail "the headers do not compile as C++23"
# The installed headers of the host side are exactly those in the list, and each compiles alone.
listed=$(sed -n 's/^  \([a-z_/0-9]*\.h\).*/\1/p' "$SOURCE/cmake/HostHeaders.cmake" | LC_ALL=C sort)
diff <(echo "$listed") <(cd vitrine-devtools && find . -type f | sed 's#^\./##' | LC_ALL=C sort) ||
  fail "the installed headers of the host side differ from the list in cmake/HostHeaders.cmake"
if grep -rlE 'flatbuffers|nlohmann|_generated\.h' vitrine-devtools; then fail "an installed header uses a type of another library"; fi
compile_host() { echo "#include \"$1\"" | "$CXX" -fsyntax-only -std=c++20 -I . -I vitrine-devtools -x c++ -; }
export -f compile_host
echo "$listed" | xargs -P 2 -I {} bash -c "compile_host {}" || fail "a header of the host side does not compile alone"
# shellcheck disable=SC2086
echo "#include <vitrine.h>" | "$CC" $strict -std=c99 -I . -x c - || fail "vitrine.h does not compile as C99"
