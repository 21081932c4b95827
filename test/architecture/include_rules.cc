#include "test/architecture/include_rules.h"

#include <algorithm>
#include <array>
#include <set>

namespace vitrine::architecture {
namespace {

constexpr bool kDevice = true;

// A library's headers, and the folders that may see them.
struct Library {
  std::string_view headers;
  std::vector<std::string_view> folders;
};

const std::vector<Library>& libraries() {
  static const std::vector<Library> kLibraries = {
      {"xnnpack", {"backends/xnnpack/runtime", "kernels/optimized", "bench", "test"}},
      {"src/xnnpack/", {"backends/xnnpack/runtime"}},
      {"pthreadpool.h",
       {"runtime/threadpool", "backends/xnnpack/runtime", "kernels/optimized", "bench", "test"}},
      {"cpuinfo.h", {"runtime/threadpool", "backends/xnnpack/runtime"}},
      {"xxhash.h", {"backends/xnnpack/runtime"}},
      {"hwy/", {"kernels/optimized", "bench", "test"}},
      {"flatbuffers/",
       {"runtime/data", "runtime/program", "backends", "devtools", "aot", "bench", "test"}},
      {"nlohmann/", {"aot", "devtools", "tools", "bench", "test"}},
      {"fmt/",
       {"aot", "backends/mapping_demo/aot", "backends/xnnpack/aot", "devtools", "tools", "bench",
        "test"}},
      {"CLI/", {"tools", "bench", "test"}},
      {"zip.h", {"devtools/containers", "devtools/etrecord", "test"}},
      {"gtest/", {"test"}},
      {"gmock/", {"test"}},
      {"benchmark/", {"bench"}},
  };
  return kLibraries;
}

// What code without exceptions and iostream must not see.
constexpr std::array<std::string_view, 10> kHostHeaders = {
    "iostream", "ostream", "istream",   "fstream",   "sstream",
    "iomanip",  "ios",     "exception", "stdexcept", "typeinfo"};

// Device-side files in rooms of the host.
constexpr std::array<std::string_view, 4> kDeviceFiles = {
    "devtools/etdump/etdump_writer.", "devtools/etdump/trace_buffer.",
    "devtools/etdump/value_buffer.", "devtools/etdump/extensions."};

bool lies_in(std::string_view path, std::string_view folder) {
  return folder.empty() || path == folder ||
         (path.starts_with(folder) && path[folder.size()] == '/');
}

bool is_device_file(std::string_view path, const Room& room) {
  return room.is_device ||
         std::ranges::any_of(kDeviceFiles, [&](auto file) { return path.starts_with(file); });
}

// Rooms on the way are not visited twice: `seen`.
bool reaches(const Room& from, const Room& to, std::set<std::string_view>& seen) {
  if (!seen.insert(from.folder).second) return false;
  return std::ranges::any_of(from.may_include, [&](std::string_view folder) {
    if (lies_in(to.folder, folder)) return true;
    return std::ranges::any_of(rooms(), [&](const Room& next) {
      return lies_in(next.folder, folder) && reaches(next, to, seen);
    });
  });
}

// Empty if the include is allowed.
std::string reason_against(std::string_view path, const Room& from, std::string_view header) {
  if (is_device_file(path, from) && std::ranges::count(kHostHeaders, header) != 0) {
    return "which is for the host side";
  }
  for (const Library& library : libraries()) {
    if (!header.starts_with(library.headers)) continue;
    const bool allowed =
        std::ranges::any_of(library.folders, [&](auto folder) { return lies_in(path, folder); });
    return allowed ? "" : "a library that this room must not see";
  }
  if (const Room* to = room_of(header)) {
    return may_include(from, *to) ? "" : std::string("of ") + std::string(to->folder);
  }
  return "";
}

}  // namespace

const std::vector<Room>& rooms() {
  static const std::vector<Room> kRooms = {
      {"schema", {}},
      {"runtime/core", {}, kDevice},
      {"runtime/platform", {"runtime/core"}, kDevice},
      {"runtime/data", {"runtime/core", "runtime/platform", "schema"}, kDevice},
      {"runtime/program", {"runtime/data", "schema"}, kDevice},
      {"runtime/trace", {"runtime/core"}, kDevice},
      {"runtime/kernel", {"runtime/core"}, kDevice},
      {"runtime/backend", {"runtime/core", "runtime/data", "runtime/trace"}, kDevice},
      {"runtime/threadpool", {"runtime/core"}, kDevice},
      {"runtime/executor",
       {"runtime/core", "runtime/platform", "runtime/data", "runtime/program", "runtime/trace",
        "runtime/kernel", "runtime/backend"},
       kDevice},
      {"kernels/util", {"runtime/kernel", "runtime/core"}, kDevice},
      {"kernels/portable", {"kernels/util"}, kDevice},
      {"kernels/quantized", {"kernels/util"}, kDevice},
      {"kernels/optimized",
       {"kernels/util", "kernels/portable", "kernels/quantized", "runtime/threadpool"},
       kDevice},
      {"backends/xnnpack/runtime",
       {"runtime/backend", "runtime/trace", "runtime/threadpool", "schema"},
       kDevice},
      {"backends/xnnpack/aot", {"aot/graph", "aot/passes", "aot/lowering", "schema"}},
      {"backends/mapping_demo/runtime", {"runtime/backend", "runtime/trace"}, kDevice},
      {"backends/mapping_demo/aot", {"aot/graph", "aot/passes", "aot/lowering"}},
      {"aot/graph", {"runtime/core"}},
      {"aot/import", {"aot/graph", "devtools/containers"}},
      {"aot/shapes", {"aot/graph"}},
      {"aot/builder", {"aot/graph", "aot/shapes"}},
      {"aot/evaluation",
       {"aot/graph", "aot/passes", "aot/emit", "runtime/executor", "kernels/portable",
        "kernels/quantized"}},
      {"aot/passes", {"aot/graph", "aot/shapes"}},
      {"aot/lowering", {"aot/graph", "aot/passes"}},
      {"aot/emit",
       {"aot/graph", "aot/lowering", "aot/passes", "runtime/data", "devtools/etrecord", "schema"}},
      {"devtools/etdump", {"runtime/backend", "runtime/trace", "runtime/core", "schema"}},
      {"devtools/containers", {"runtime/core", "runtime/platform"}},
      {"devtools/etrecord", {"devtools/containers", "runtime/core"}},
      {"devtools/bundled_program", {"runtime/core", "schema"}},
      {"devtools/inspector", {"devtools/etdump", "devtools/etrecord"}},
      {"devtools/delegation", {"aot"}},
      {"tools", {"runtime", "kernels", "backends", "devtools", "aot", "schema"}},
      {"bench", {""}},
      {"examples", {"runtime", "kernels", "backends", "devtools", "aot", "tools"}},
      {"test", {""}},
  };
  return kRooms;
}

const Room* room_of(std::string_view path) {
  const Room* innermost = nullptr;
  for (const Room& room : rooms()) {
    if (lies_in(path, room.folder) &&
        (innermost == nullptr || room.folder.size() > innermost->folder.size())) {
      innermost = &room;
    }
  }
  return innermost;
}

bool may_include(const Room& from, const Room& to) {
  std::set<std::string_view> seen;
  return &from == &to || reaches(from, to, seen);
}

std::vector<std::string> violations(std::string_view path, std::string_view source) {
  const Room* from = room_of(path);
  if (from == nullptr) return {std::string(path) + ": lies in no room"};
  std::vector<std::string> found;
  for (size_t begin = 0; begin < source.size();) {
    const size_t end = std::min(source.find('\n', begin), source.size());
    std::string_view line = source.substr(begin, end - begin);
    begin = end + 1;
    const auto skip = [&line](std::string_view characters) {
      line.remove_prefix(std::min(line.find_first_not_of(characters), line.size()));
    };
    skip(" \t");
    if (!line.starts_with('#')) continue;
    line.remove_prefix(1);
    skip(" \t");
    constexpr std::string_view kInclude = "include";
    if (!line.starts_with(kInclude)) continue;
    line.remove_prefix(kInclude.size());
    skip(" \t");
    if (line.empty() || (line[0] != '"' && line[0] != '<')) continue;
    const char closing = line[0] == '"' ? '"' : '>';
    line.remove_prefix(1);
    const std::string_view header = line.substr(0, line.find(closing));
    const auto complain = [&](const std::string& reason) {
      found.push_back(std::string(path) + ": includes " + std::string(header) + ", " + reason);
    };
    if (const std::string reason = reason_against(path, *from, header); !reason.empty()) {
      complain(reason);
    } else if (closing == '"' && room_of(header) == nullptr &&
               std::ranges::none_of(libraries(), [&](const Library& library) {
                 return header.starts_with(library.headers);
               })) {
      complain("not a path from the root");
    }
  }
  return found;
}

}  // namespace vitrine::architecture
