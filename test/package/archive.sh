# The .tar.xz, unpacked anywhere; a program is built against it.
. "$(dirname "$0")/common.sh"
rm -rf "$OUT/archive" && mkdir -p "$OUT/archive"
(cd "$BUILD" && "$(dirname "$CMAKE")/cpack" -G TXZ -B "$OUT/archive") > "$OUT/archive.log"
tar -xJf "$OUT"/archive/vitrine-*.tar.xz -C "$OUT/archive"
root=$(echo "$OUT"/archive/vitrine-*/)
"$root/bin/pte_inspect" "$sample/model.pte" > /dev/null
build consumer "$OUT/archive/build" -DFROM=package -DCMAKE_PREFIX_PATH="$root"
check_programs "$OUT/archive/build"
