#include "tools/common/device_profile.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "base/json.h"
#include "inspector/report/read_whole_profile.h"
#include "tools/common/delegate_profiles.h"
#include "tools/common/file_kind.h"
#include "tools/common/files.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void read_device_facts(const std::filesystem::path& file, DeviceProfile& device) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return;
  const std::vector<std::byte> bytes = read_file(file);
  const JsonDocument document(text_of(bytes), file.string());
  const JsonValue facts = document.root();
  if (facts.holds("model_name")) device.name = facts.at("model_name").string();
  if (facts.holds("cores")) device.processors = facts.at("cores").size();
}

}  // namespace

DeviceProfile read_device_profile(const std::filesystem::path& file, const char* option) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(file, ignored);
  const std::filesystem::path json = is_folder ? file / "profile.json" : file;
  const std::vector<std::byte> bytes = read_file(json);
  if (find_file_kind(bytes) != FileKind::kProfile) {
    throw ToolError(fmt::format(
        "{} {}: expected the profile of a device (JSON): record it with "
        "tools/device/profile_on_device.py, or with 'executor_runner --profile --format json'",
        option, json.string()));
  }
  DeviceProfile device;
  device.profile =
      inspector::read_whole_profile(text_of(bytes), json.string(), all_delegate_profiles());
  const inspector::Profile& profile = device.profile;
  if (!(profile.wall.p50 > 0) || profile.rows.empty()) {
    throw ToolError(
        fmt::format("{} {}: the profile has no runs or no rows", option, json.string()));
  }
  device.name = profile.run.machine;
  read_device_facts(json.parent_path() / "device.json", device);
  if (device.name.empty()) device.name = "the device";
  return device;
}

}  // namespace vitrine::tools
