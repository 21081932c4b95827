. "$(dirname "$0")/common.sh"
build consumer "$OUT/static" -DFROM=package -DCMAKE_PREFIX_PATH="$prefix"
check_programs "$OUT/static"
if ldd "$OUT/static/compare" | grep libvitrine; then fail "not static"; fi

# A missing component is named.
mkdir -p "$OUT/wrong"
cat > "$OUT/wrong/CMakeLists.txt" <<'X'
cmake_minimum_required(VERSION 3.25)
project(wrong LANGUAGES C CXX)
find_package(Vitrine CONFIG REQUIRED COMPONENTS runtime trains)
X
expect_failure 'has no component "trains"' "$CMAKE" -S "$OUT/wrong" -B "$OUT/wrong/build" -DCMAKE_PREFIX_PATH="$prefix"
