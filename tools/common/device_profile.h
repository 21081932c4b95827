// Reads the profile of a program that was recorded on a device.
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

// Reads a profile.json file, or the profile.json in a folder that tools/device/profile_on_device.py
// wrote. The device's name comes from device.json in the same folder. Without that file, it is the
// name of the processor in the profile. Throws HostError; messages begin with `option`.
DeviceProfile read_device_profile(const std::filesystem::path& file, const char* option);

}  // namespace vitrine::tools
