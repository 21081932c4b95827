. "$(dirname "$0")/common.sh"
build consumer "$OUT/shared" -DFROM=package -DCMAKE_PREFIX_PATH="$prefix" -DBUILD_SHARED_LIBS=ON
check_programs "$OUT/shared"
expect "$prefix/$LIBDIR/libvitrine.so" ldd "$OUT/shared/compare"
