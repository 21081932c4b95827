// A module's backend options, which outlive what its caller gave.
#pragma once

#include <span>

#include "runtime/core/checked_vector.h"
#include "vitrine/backend.h"

namespace vitrine {

class BackendOptions {
 public:
  // Copies the options and their texts. InvalidArgument, with the ids that there are, for a backend
  // that this build lacks.
  static Result<BackendOptions> copy_of(std::span<const BackendOption> options);

  // Valid as long as this, also when it is moved.
  std::span<const BackendOption> all() const { return {options_.data(), options_.size()}; }

 private:
  CheckedVector<BackendOption> options_;
  CheckedVector<char> texts_;
};

}  // namespace vitrine
