// Limits that control groups (cgroup v1 and v2 of Linux) set for this process.
//
// A group's limit also holds for the groups inside it. Both functions therefore return the smallest
// limit along the path from the root to the group of this process, or UINT64_MAX if no group on the
// path has a limit. The memory that a group already uses is subtracted from its limit. The
// functions read /proc/self/cgroup and the files under /sys/fs/cgroup. `root` is prepended to these
// paths for tests.
#pragma once

#include <cstdint>

namespace vitrine::platform {

// The number of bytes of memory that this process may still use within its groups' limits. Cached
// pages of files count as free, because the system can drop them.
uint64_t control_group_memory(const char* root = "");

// Number of processors that the process may keep busy: the CPU quota divided by its period, rounded
// up.
uint64_t control_group_processors(const char* root = "");

}  // namespace vitrine::platform
