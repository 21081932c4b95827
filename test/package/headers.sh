# Each installed public header compiles alone, as C++20 and as C++23, strictly; that for C as C99.
. "$(dirname "$0")/common.sh"
strict='-fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror'
if [[ $("$CXX" --version) == *clang* ]]; then strict="$strict -Wno-sign-conversion"; fi
cd "$prefix/include"
# shellcheck disable=SC2086
compile() { "$CXX" $strict -std="$1" -I . -x c++ "$2"; }
export -f compile
export CXX strict
mkdir -p "$OUT/headers"
for header in vitrine.h vitrine/*.h; do
  echo "#include <$header>" > "$OUT/headers/$(basename "$header").${header%%/*}.cc"
done
for standard in c++20 c++2b; do
  printf '%s\n' "$OUT"/headers/*.cc | xargs -P 2 -I {} bash -c "compile $standard {}" ||
    fail "a header does not compile alone as $standard"
done
# shellcheck disable=SC2086
echo "#include <vitrine.h>" | "$CC" $strict -std=c99 -I . -x c - || fail "vitrine.h is not C99"
