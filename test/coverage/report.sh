#!/usr/bin/env bash
# report.sh BUILD_FOLDER: prints the line coverage of each room in limits.txt. Fails below a limit.
# Writes a page with all lines to BUILD_FOLDER/coverage/index.html.
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "$0")/../.."
out=$build/coverage
mkdir -p "$out"

gcovr --root . --object-directory "$build" -j "$(nproc)" --exclude '^(build|test|bench|examples)/' \
  --exclude-directories '.*/CompilerId.*' \
  --json "$out/lines.json" --html-details "$out/index.html" "$build"

status=0
printf '%-28s %8s %8s %8s\n' room lines 'run %' 'limit %'
while read -r room limit; do
  summary=$out/$(tr / _ <<< "$room").json
  gcovr --root . --add-tracefile "$out/lines.json" --filter "$room/" --json-summary "$summary" \
    --fail-under-line "$limit" 2> "$out/log" || status=1
  read -r lines share < <(python3 -c '
import json, sys
summary = json.load(open(sys.argv[1]))
print(summary["line_total"], summary["line_percent"])' "$summary")
  printf '%-28s %8s %8s %8s\n' "$room" "$lines" "$share" "$limit"
done < <(grep -v '^#' test/coverage/limits.txt)
exit $status
