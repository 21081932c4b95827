. "$(dirname "$0")/common.sh"
build_consumer "$OUT/subdirectory" -DFROM=subdirectory -DVITRINE_SOURCE="$SOURCE" "${small[@]}"
