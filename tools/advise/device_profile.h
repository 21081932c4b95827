// The profile of a program that was recorded on a device.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "inspector/join/profile.h"

namespace vitrine::tools {

struct DeviceProfile {
  std::string name;       // "Pixel 8"
  size_t processors = 0;  // those that the run was pinned to; 0: unknown
  inspector::Profile profile;
};

// Reads profile.json in a folder of tools/device/profile_on_device.py, or such a file. The name of
// the device comes from device.json beside it, or else is the processor of the profile. Throws
// HostError.
DeviceProfile read_device_profile(const std::filesystem::path& file);

// Returns "" if `device`, recorded elsewhere, and `here` are of the same program; else what
// differs. Programs are the same if their digests are equal, or their inputs, outputs, operators
// and work.
std::string program_difference(const inspector::Profile& device, const inspector::Profile& here);

}  // namespace vitrine::tools
