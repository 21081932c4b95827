. "$(dirname "$0")/common.sh"
export PKG_CONFIG_PATH=$prefix/$LIBDIR/pkgconfig
rm -rf "$OUT/pkg_config" && mkdir "$OUT/pkg_config"
for form in vitrine vitrine-static; do
  folder=$OUT/pkg_config/$form
  mkdir "$folder"
  # Words of pkg-config are options.
  # shellcheck disable=SC2046
  for source in "$readme/classify.cc" "$SOURCE"/test/package/consumer/{compare,declared}.cc; do
    "$CXX" -std=c++20 "$source" $(pkg-config --cflags --libs $form) -o "$folder/$(basename "$source" .cc)"
  done
  # shellcheck disable=SC2046
  "$CC" -std=c99 "$readme/classify.c" $(pkg-config --cflags --libs $form) -o "$folder/classify_c"
  LD_LIBRARY_PATH=$prefix/$LIBDIR check_programs "$folder"
done
# The README's own commands: the last of them, where `ldconfig` would have told the loader the folder.
commands=$(sed -n '/^```sh$/,/^```$/p' "$SOURCE/README.md" | grep -v '^```')
[[ $commands == *"cmake --install build/release --prefix /usr/local && sudo ldconfig"* ]] || fail "README.md does not install"
line=$(grep '^c++ ' <<< "$commands")
cd "$readme"
LD_LIBRARY_PATH=$prefix/$LIBDIR expect "class $(demo_class)" eval "${line/#c++/$CXX}"
