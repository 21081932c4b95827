# The .deb packages, unpacked beside each other; a program is built against them.
. "$(dirname "$0")/common.sh"
rm -rf "$OUT/deb" && mkdir -p "$OUT/deb/root"
(cd "$BUILD" && "$(dirname "$CMAKE")/cpack" -G DEB -B "$OUT/deb") > "$OUT/deb.log"
for package in libvitrine0.1 libvitrine-dev vitrine-tools; do
  dpkg-deb -x "$OUT"/deb/${package}_*.deb "$OUT/deb/root"
done
for package in libvitrine0.1 vitrine-tools; do
  expect libc6 dpkg-deb -f "$OUT"/deb/${package}_*.deb Depends
done
"$OUT/deb/root/usr/bin/pte_inspect" "$sample/model.pte" > /dev/null
build_consumer "$OUT/deb/build" -DFROM=package -DCMAKE_PREFIX_PATH="$OUT/deb/root/usr"
expect "$OUT/deb/root/usr/$LIBDIR/libvitrine.so" ldd "$OUT/deb/build/compare"
