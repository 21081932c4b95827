. "$(dirname "$0")/common.sh"
build_consumer "$OUT/installed" -DFROM=package -DCMAKE_PREFIX_PATH="$prefix"
expect "$prefix/$LIBDIR/libvitrine.so" ldd "$OUT/installed/compare"
