# Unpacks the .deb packages into one folder, checks their contents, and builds programs against them.
. "$(dirname "$0")/common.sh"
rm -rf "$OUT/deb" && mkdir -p "$OUT/deb/root"
(cd "$BUILD" && "$(dirname "$CMAKE")/cpack" -G DEB -B "$OUT/deb") > "$OUT/deb.log"
for package in libvitrine0.1 libvitrine-dev vitrine-tools; do
  dpkg-deb -x "$OUT"/deb/${package}_*.deb "$OUT/deb/root"
done
for package in libvitrine0.1 vitrine-tools; do
  expect libc6 dpkg-deb -f "$OUT"/deb/${package}_*.deb Depends
done
for package in libvitrine0.1 libvitrine-dev vitrine-tools; do
  folder=$OUT/deb/root/usr/share/doc/$package
  [[ -s $folder/LICENSE ]] || fail "$package has no LICENSE"
  for name in XNNPACK pthreadpool cpuinfo FP16 FXdiv; do
    grep -q "^$name [0-9a-f]\{40\}$" "$folder/THIRD_PARTY_NOTICES" || fail "$package has no notice of $name"
  done
  "$PYTHON3" -c 'import json, sys
packages = {p["name"]: p for p in json.load(open(sys.argv[1]))["packages"]}
assert {"vitrine", "XNNPACK", "pthreadpool", "cpuinfo", "FP16", "FXdiv"} <= set(packages)
assert packages["XNNPACK"]["licenseDeclared"] == "BSD-3-Clause"' "$folder/vitrine.spdx.json"
done
"$OUT/deb/root/usr/bin/pte_inspect" "$sample/model.pte" > /dev/null
build_consumer "$OUT/deb/build" -DFROM=package -DCMAKE_PREFIX_PATH="$OUT/deb/root/usr"
expect "$OUT/deb/root/usr/$LIBDIR/libvitrine.so" ldd "$OUT/deb/build/compare"
