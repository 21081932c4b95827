// BackendOptions holds a module's copy of the backend options that its caller passed.
#pragma once

#include <span>

#include "runtime/core/checked_vector.h"
#include "vitrine/backend.h"

namespace vitrine {

class BackendOptions {
 public:
  // Copies the options and their texts. If an option is for a backend that this build lacks,
  // returns InvalidArgument with a list of the backends of this build.
  static Result<BackendOptions> copy_of(std::span<const BackendOption> options);

  // The options are valid while this object exists, even if it is moved.
  std::span<const BackendOption> all() const { return {options_.data(), options_.size()}; }

 private:
  CheckedVector<BackendOption> options_;
  CheckedVector<char> texts_;
};

}  // namespace vitrine
