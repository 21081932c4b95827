. "$(dirname "$0")/common.sh"
build consumer "$OUT/shared" -DFROM=package -DCMAKE_PREFIX_PATH="$prefix" -DBUILD_SHARED_LIBS=ON
check_programs "$OUT/shared"
ldd "$OUT/shared/compare" | grep -q "$prefix/$LIBDIR/libvitrine.so" || fail "not shared"
