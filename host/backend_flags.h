// Flags for options of backends, which the runners share.
#pragma once

#include <string>
#include <vector>

#include "vitrine/backend.h"

namespace vitrine::tools {

class OptionGroup;

struct BackendFlags {
  // --backend_option: "workspace_sharing_mode=2", or "SomeBackend:key=true" for another backend
  // than XNNPACK.
  std::vector<std::string> options;
  std::string weights_cache;  // --weights_cache: a file; empty: none

  // Refers to the texts above. Throws ToolError for a text of another form.
  std::vector<BackendOption> parsed() const;
};

void add_backend_flags(const OptionGroup& group, BackendFlags& flags);

}  // namespace vitrine::tools
