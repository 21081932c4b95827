. "$(dirname "$0")/common.sh"
export PKG_CONFIG_PATH=$prefix/$LIBDIR/pkgconfig
folder=$OUT/pkg_config
rm -rf "$folder" && mkdir "$folder"
flags=$(pkg-config --cflags vitrine)
[[ $flags == "$(pkg-config --cflags vitrine-static)" ]] || fail "vitrine and vitrine-static need different compiler flags"
# The words that pkg-config prints are separate options.
# shellcheck disable=SC2086
for source in "$readme/classify.cc" "$SOURCE"/test/package/consumer/{compare,declared}.cc; do
  "$CXX" -std=c++20 -c "$source" $flags -o "$folder/$(basename "$source" .cc).o"
done
# shellcheck disable=SC2086
"$CC" -std=c99 -c "$readme/classify.c" $flags -o "$folder/classify_c.o"
for form in vitrine vitrine-static; do
  mkdir "$folder/$form"
  # shellcheck disable=SC2046
  for program in classify compare declared; do
    "$CXX" "$folder/$program.o" $(pkg-config --libs $form) -o "$folder/$form/$program"
  done
  # shellcheck disable=SC2046
  "$CC" "$folder/classify_c.o" $(pkg-config --libs $form) -o "$folder/$form/classify_c"
  LD_LIBRARY_PATH=$prefix/$LIBDIR check_programs "$folder/$form"
done
# Runs the compile command of the README. LD_LIBRARY_PATH replaces the README's `ldconfig`.
commands=$(sed -n '/^```sh$/,/^```$/p' "$SOURCE/README.md" | grep -v '^```')
[[ $commands == *"cmake --install build/release --prefix /usr/local && sudo ldconfig"* ]] || fail "README.md has no command that installs Vitrine"
line=$(grep '^c++ ' <<< "$commands")
cd "$readme"
LD_LIBRARY_PATH=$prefix/$LIBDIR expect "class $(demo_class)" eval "${line/#c++/$CXX}"
