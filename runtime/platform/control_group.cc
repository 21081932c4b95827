#include "runtime/platform/control_group.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/platform/system_file.h"

namespace vitrine::platform {
namespace {

constexpr size_t kMaxPathBytes = 2048;
constexpr size_t kMaxFileBytes = 4096;

// A resource, and the files that limit the resource. The limit is the quota divided by the period.
// Memory has no period, so its quota is divided by 1.
struct Controller {
  const char* name;
  const char* v1_quota;
  const char* v1_period;
  const char* v2;  // the quota, then the period of a resource that has a period
  long long default_period;
};
constexpr Controller kMemory{.name = "memory",
                             .v1_quota = "memory.limit_in_bytes",
                             .v1_period = nullptr,
                             .v2 = "memory.max",
                             .default_period = 1};
constexpr Controller kProcessors{.name = "cpu",
                                 .v1_quota = "cpu.cfs_quota_us",
                                 .v1_period = "cpu.cfs_period_us",
                                 .v2 = "cpu.max",
                                 .default_period = 0};

// The folder of a control group: <root>/sys/fs/cgroup/<mount><path>. `path` has `path_size` bytes.
struct Group {
  const char* root;
  const char* mount;
  const char* path;
  size_t path_size;
};

// Reads a short file of a control group.
void read_file(const Group& group, const char* file_name, char (&text)[kMaxFileBytes]) {
  char path[kMaxPathBytes];
  std::snprintf(path, sizeof path, "%s/sys/fs/cgroup/%s%.*s/%s", group.root, group.mount,
                static_cast<int>(group.path_size), group.path, file_name);
  read_start(path, text, sizeof text);
}

// Reads up to two numbers from the beginning of a file. Stops at the word "max". Numbers that are
// not read stay unchanged, for example if the file is missing.
void read_numbers(const Group& group, const char* file_name, long long* first, long long* second) {
  char text[kMaxFileBytes];
  read_file(group, file_name, text);
  [[maybe_unused]] const int count = std::sscanf(text, "%lld %lld", first, second);
}

// Bytes that a group uses, without the cached pages of files, which the system can drop.
uint64_t used_memory(const Group& group, bool is_v2) {
  long long used = 0;
  long long unused = 0;
  read_numbers(group, is_v2 ? "memory.current" : "memory.usage_in_bytes", &used, &unused);
  char text[kMaxFileBytes];
  read_file(group, "memory.stat", text);
  for (const char* key : {"total_inactive_file", "total_active_file"}) {
    const char* const pages = find_line(text, is_v2 ? key + std::strlen("total_") : key);
    if (pages != nullptr) used -= std::strtoll(pages, nullptr, 10);
  }
  return used > 0 ? static_cast<uint64_t>(used) : 0;
}

// Returns UINT64_MAX if the group has no limit. In v1, a quota of -1 means no limit.
uint64_t limit_of(const Group& group, const Controller& controller, bool is_v2) {
  long long quota = 0;
  long long period = controller.default_period;
  read_numbers(group, is_v2 ? controller.v2 : controller.v1_quota, &quota, &period);
  if (!is_v2 && controller.v1_period != nullptr) {
    long long unused = 0;
    read_numbers(group, controller.v1_period, &period, &unused);
  }
  if (quota <= 0 || period <= 0) return UINT64_MAX;
  const uint64_t limit = static_cast<uint64_t>(quota / period) + (quota % period != 0 ? 1 : 0);
  return &controller == &kMemory ? limit - std::min(limit, used_memory(group, is_v2)) : limit;
}

// `names` is a list of the controllers of a v1 hierarchy, such as ":cpu,memory:".
bool contains_name(const char* names, const char* name) {
  const size_t size = std::strlen(name);
  do {
    ++names;
    if (std::strncmp(names, name, size) == 0 && (names[size] == ',' || names[size] == ':')) {
      return true;
    }
    names += std::strcspn(names, ",:");
  } while (*names == ',');
  return false;
}

// Not inlined, to save code size.
[[gnu::noinline]] uint64_t smallest_limit(const char* root, const Controller& controller) {
  char file[kMaxPathBytes];
  std::snprintf(file, sizeof file, "%s/proc/self/cgroup", root);
  char groups[kMaxFileBytes];
  read_start(file, groups, sizeof groups);
  uint64_t result = UINT64_MAX;
  char* rest = nullptr;
  // A line is "number:names:path". In v2, `names` is empty.
  for (const char* line = strtok_r(groups, "\n", &rest); line != nullptr;
       line = strtok_r(nullptr, "\n", &rest)) {
    const char* const names = std::strchr(line, ':');
    const char* path = names != nullptr ? std::strchr(names + 1, ':') : nullptr;
    if (path == nullptr) continue;
    const bool is_v2 = path == names + 1;
    if (!is_v2 && !contains_name(names, controller.name)) continue;
    ++path;
    Group group{root, is_v2 ? "" : controller.name, path, std::strlen(path)};
    // A missing folder does not set a limit. In a container, folders of the path may be missing,
    // because only the container's own group is mounted.
    while (true) {
      result = std::min(result, limit_of(group, controller, is_v2));
      if (group.path_size == 0) break;
      do {
        --group.path_size;
      } while (group.path_size != 0 && path[group.path_size] != '/');
    }
  }
  return result;
}

}  // namespace

uint64_t control_group_memory(const char* root) { return smallest_limit(root, kMemory); }
uint64_t control_group_processors(const char* root) { return smallest_limit(root, kProcessors); }

}  // namespace vitrine::platform
