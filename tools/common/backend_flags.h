#pragma once

#include <string>
#include <vector>

#include "vitrine/backend.h"

namespace vitrine::tools {

class OptionGroup;

struct BackendFlags {
  // --backend_option: "workspace_sharing_mode=2", or "SomeBackend:key=true" for a backend other
  // than XNNPACK.
  std::vector<std::string> options;
  bool exact = false;                  // --exact: XNNPACK's option of this name
  std::string weights_cache;           // --weights_cache: a file, or empty
  std::vector<std::string> libraries;  // --load: libraries of operators and backends

  // Loads the libraries of --load. Throws ToolError.
  void load_libraries() const;
  // The result refers to the texts in `options`. Throws ToolError for a text without the form
  // KEY=VALUE.
  std::vector<BackendOption> parsed() const;
};

void add_backend_flags(const OptionGroup& group, BackendFlags& flags);

}  // namespace vitrine::tools
