// Advice for a model that cannot be lowered.
#pragma once

#include <filesystem>
#include <string>

#include "tools/advise/blockers.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {

// A model that cannot be lowered, and the calls that prevent its lowering.
class NotLowerable : public ToolError {
 public:
  NotLowerable(const std::filesystem::path& model, const std::string& error, Blockers blockers);

  const std::string& model() const { return model_; }  // name of the file
  const std::string& error() const { return error_; }  // error of lowering
  const Blockers& blockers() const { return blockers_; }

 private:
  std::string model_;
  std::string error_;
  Blockers blockers_;
};

std::string blockers_text(const NotLowerable& model, size_t width);
// Returns JSON with the error and the calls that need changes. `is_lowerable` is false.
std::string blockers_json(const NotLowerable& model);

}  // namespace vitrine::tools
