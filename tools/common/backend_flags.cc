#include "tools/common/backend_flags.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "tools/common/backends.h"
#include "tools/common/command_line.h"
#include "tools/common/session.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

BackendOption parse_backend_option(std::string_view text) {
  const size_t equals = text.find('=');
  const size_t colon = text.substr(0, equals).find(':');
  const size_t key = colon == std::string_view::npos ? 0 : colon + 1;
  if (equals == std::string_view::npos || equals == key) {
    throw ToolError(fmt::format("--backend_option {}: expected KEY=VALUE", text));
  }
  BackendOption option;
  option.backend = key == 0 ? kDefaultBackend : text.substr(0, colon);
  option.key = text.substr(key, equals - key);
  const std::string_view value = text.substr(equals + 1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (value == "true" || value == "false") {
    option.value = value == "true";
  } else if (error == std::errc() && end == value.data() + value.size()) {
    option.value = number;
  } else {
    option.value = value;
  }
  return option;
}

}  // namespace

std::vector<BackendOption> BackendFlags::parsed() const {
  std::vector<BackendOption> result;
  for (const std::string& option : options) result.push_back(parse_backend_option(option));
  if (exact) result.push_back({kDefaultBackend, "exact", true});
  if (!weights_cache.empty()) {
    result.push_back({kDefaultBackend, "packed_cache_path", std::string_view(weights_cache)});
  }
  return result;
}

void BackendFlags::load_libraries() const {
  for (const std::string& library : libraries) load_extension(library);
}

void add_backend_flags(const OptionGroup& group, BackendFlags& flags) {
  as_files(group.add_option("--load", flags.libraries,
                            "shared libraries of operators and backends (libmy_ops.so)"));
  group
      .add_option("--backend_option", flags.options,
                  "option of a backend, e.g. workspace_sharing_mode=2 (docs/xnnpack.md)")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  group.add_flag("--exact", flags.exact,
                 "use only kernels that round no more than a plain sum of products does");
  group
      .add_option("--weights_cache", flags.weights_cache,
                  "file that keeps packed weights, so that later loads need not pack them")
      ->type_name("FILE");
}

}  // namespace vitrine::tools
