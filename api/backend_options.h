#pragma once

#include <span>

#include "runtime/core/checked_vector.h"
#include "vitrine/backend.h"

namespace vitrine {

class BackendOptions {
 public:
  // Copies the options and their texts. Returns InvalidArgument if this build lacks the backend of
  // an option.
  static Result<BackendOptions> copy_of(std::span<const BackendOption> options);

  // The options are valid while this object exists, even if the object is moved.
  std::span<const BackendOption> all() const { return {options_.data(), options_.size()}; }

 private:
  CheckedVector<BackendOption> options_;
  CheckedVector<char> texts_;
};

}  // namespace vitrine
