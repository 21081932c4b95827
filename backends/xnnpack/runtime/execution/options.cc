#include "backends/xnnpack/runtime/execution/options.h"

#include <algorithm>
#include <cstdio>

#include "backends/xnnpack/runtime/execution/xnnpack_backend.h"

namespace vitrine::xnnpack {
namespace {

// `read` returns false if the option does not accept the value.
struct OptionKey {
  const char* name;
  const char* expected;
  bool (*read)(const OptionValue& value, Options& options);
};

constexpr OptionKey kKeys[] = {
    {"workspace_sharing_mode", "0 (none), 1 (per program) or 2 (global)",
     [](const OptionValue& value, Options& options) {
       const auto* mode = std::get_if<int64_t>(&value);
       if (mode == nullptr || *mode < 0 || *mode > 2) return false;
       options.workspace_sharing = static_cast<WorkspaceSharing>(*mode);
       return true;
     }},
    {"weight_cache_enabled", "true or false",
     [](const OptionValue& value, Options& options) {
       const auto* enabled = std::get_if<bool>(&value);
       if (enabled == nullptr) return false;
       options.weights_cache = *enabled;
       return true;
     }},
    {"packed_cache_path", "a path",
     [](const OptionValue& value, Options& options) {
       const auto* path = std::get_if<std::string_view>(&value);
       if (path == nullptr) return false;
       options.packed_cache_path = *path;
       return true;
     }},
    {"vitrine_kernels", "true or false",
     [](const OptionValue& value, Options& options) {
       const auto* enabled = std::get_if<bool>(&value);
       if (enabled == nullptr) return false;
       options.vitrine_kernels = *enabled;
       return true;
     }},
    {"exact", "true or false",
     [](const OptionValue& value, Options& options) {
       const auto* enabled = std::get_if<bool>(&value);
       if (enabled == nullptr) return false;
       options.exact = *enabled;
       return true;
     }},
    {"choices", "a path",
     [](const OptionValue& value, Options& options) {
       const auto* path = std::get_if<std::string_view>(&value);
       if (path == nullptr) return false;
       options.choices = *path;
       return true;
     }},
};

// Writes the value as text, such as 7, true or "text". The text is cut at `size` characters.
void write_value(const OptionValue& value, char* text, size_t size) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    std::snprintf(text, size, "%lld", static_cast<long long>(*number));
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    std::snprintf(text, size, "%s", *truth ? "true" : "false");
  } else if (const auto* given = std::get_if<std::string_view>(&value)) {
    std::snprintf(text, size, "\"%.*s\"", static_cast<int>(std::min<size_t>(given->size(), 100)),
                  given->data());
  }
}

Error read_option(const BackendOption& option, Options& options) {
  const auto size = static_cast<int>(option.key.size());
  for (const OptionKey& key : kKeys) {
    if (option.key != key.name) continue;
    if (key.read(option.value, options)) return Error();
    char value[128];
    write_value(option.value, value, sizeof value);
    return Error::make(ErrorCode::kInvalidArgument, "option %s must be %s, got %s", key.name,
                       key.expected, value);
  }
  return Error::make(ErrorCode::kInvalidArgument,
                     "unknown option %.*s; known options are %s, %s, %s, %s, %s and %s", size,
                     option.key.data(), kKeys[0].name, kKeys[1].name, kKeys[2].name, kKeys[3].name,
                     kKeys[4].name, kKeys[5].name);
}

}  // namespace

Result<Options> read_options(std::span<const BackendOption> given, const Options& defaults) {
  Options options = defaults;
  for (const BackendOption& option : given) {
    if (option.backend != kBackendId) continue;
    VITRINE_RETURN_IF_ERROR(read_option(option, options));
  }
  return options;
}

}  // namespace vitrine::xnnpack
