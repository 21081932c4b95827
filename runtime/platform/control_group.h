// Limits of this process's control groups (cgroup v1 and v2 of Linux).
//
// A group's limit also holds for the groups inside the group. Both functions return the smallest
// limit on the path from the root to the group of this process, or UINT64_MAX without a limit. The
// functions read /proc/self/cgroup and files under /sys/fs/cgroup. Tests prepend `root` to these
// paths.
#pragma once

#include <cstdint>

namespace vitrine::platform {

// Number of bytes that this process may still use. The memory that a group uses is subtracted from
// the group's limit. Cached pages of files count as free.
uint64_t control_group_memory(const char* root = "");

// Number of processors that this process may keep busy: CPU quota / period, rounded up.
uint64_t control_group_processors(const char* root = "");

}  // namespace vitrine::platform
