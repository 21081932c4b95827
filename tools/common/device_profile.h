#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "inspector/join/profile.h"

namespace vitrine::tools {

struct DeviceProfile {
  std::string name;       // "Pixel 8"
  size_t processors = 0;  // allowed processors of the run; 0: unknown
  inspector::Profile profile;
};

// Reads a profile.json file, or the profile.json in a folder of tools/device/profile_on_device.py.
// The device's name comes from device.json in the same folder, else from the profile's processor.
// Throws HostError; messages begin with `option`.
DeviceProfile read_device_profile(const std::filesystem::path& file, const char* option);

}  // namespace vitrine::tools
