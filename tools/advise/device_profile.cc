#include "tools/advise/device_profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "inspector/report/read_whole_profile.h"
#include "inspector/report/row_texts.h"
#include "tools/advise/rows.h"
#include "tools/common/backends.h"
#include "tools/common/file_kind.h"
#include "tools/common/files.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

constexpr double kSameWork = 1e-3;  // relative; texts of numbers are rounded

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

// Returns the rows without inserted layout changes, which depend on the processor.
std::vector<const inspector::ProfileRow*> compared_rows(const inspector::Profile& profile) {
  std::vector<const inspector::ProfileRow*> rows;
  for (const inspector::ProfileRow& row : profile.rows) {
    if (!row.is_inserted) rows.push_back(&row);
  }
  return rows;
}

// Returns the name of a row without the chosen kernel variant, which depends on the processor.
std::string name_of(const inspector::ProfileRow& row, bool has_ops) {
  if (row.where == inspector::Where::kKernel) return row.kernel;
  if (has_ops) return full_op_of(row);
  return row.kernel.substr(0, row.kernel.find(" ("));
}

double work_of(const std::vector<const inspector::ProfileRow*>& rows) {
  double work = 0;
  for (const inspector::ProfileRow* row : rows) {
    if (row->cost) work += row->cost->flops + row->cost->bytes;
  }
  return work;
}

}  // namespace

DeviceProfile read_device_profile(const std::filesystem::path& file) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(file, ignored);
  const std::filesystem::path json = is_folder ? file / "profile.json" : file;
  const std::vector<std::byte> bytes = read_file(json);
  if (find_file_kind(bytes) != FileKind::kProfile) {
    throw ToolError(fmt::format(
        "--profile {}: expected the profile of a device (JSON): record it with "
        "tools/device/profile_on_device.py, or with 'executor_runner --profile --format json'",
        json.string()));
  }
  DeviceProfile device;
  device.profile =
      inspector::read_whole_profile(text_of(bytes), json.string(), all_delegate_profiles());
  const inspector::Profile& profile = device.profile;
  if (!(profile.wall.p50 > 0) || profile.rows.empty()) {
    throw ToolError(fmt::format("--profile {}: the profile has no runs or no rows", json.string()));
  }
  device.name = profile.run.machine;
  read_device_facts(json.parent_path() / "device.json", device);
  if (device.name.empty()) device.name = "the device";
  return device;
}

std::string program_difference(const inspector::Profile& device, const inspector::Profile& here) {
  if (!here.run.model_digest.empty() && device.run.model_digest == here.run.model_digest) return "";
  const auto differ = [](std::string_view what, const std::string& a, const std::string& b) {
    return fmt::format("{} {} there, but {} here", what, a.empty() ? "none" : a,
                       b.empty() ? "none" : b);
  };
  if (device.method != here.method) return differ("the method is", device.method, here.method);
  using Texts = std::vector<std::string>;
  for (const auto& [what, a, b] : {std::tuple<const char*, const Texts*, const Texts*>{
                                       "the inputs are", &device.run.inputs, &here.run.inputs},
                                   {"the outputs are", &device.run.outputs, &here.run.outputs}}) {
    if (*a != *b) {
      return differ(what, fmt::format("{}", fmt::join(*a, ", ")),
                    fmt::format("{}", fmt::join(*b, ", ")));
    }
  }
  const auto a = compared_rows(device), b = compared_rows(here);
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const bool has_ops = !a[i]->source_ops.empty() && !b[i]->source_ops.empty();
    const std::string name = name_of(*a[i], has_ops), other = name_of(*b[i], has_ops);
    if (a[i]->where == b[i]->where && name == other) continue;
    return differ(fmt::format("row {} is", a[i] - device.rows.data() + 1),
                  fmt::format("{} ({})", name, inspector::where_name(a[i]->where)),
                  fmt::format("{} ({})", other, inspector::where_name(b[i]->where)));
  }
  if (a.size() != b.size()) {
    return differ("the number of rows is", std::to_string(a.size()), std::to_string(b.size()));
  }
  const double work = work_of(a), other = work_of(b);
  if (work > 0 && other > 0 && std::abs(work - other) > kSameWork * other) {
    return differ("operations and bytes of a run are", fmt::format("{:.4g}", work),
                  fmt::format("{:.4g}", other));
  }
  return "";
}

}  // namespace vitrine::tools
