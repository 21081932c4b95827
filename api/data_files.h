// The external data of a program: any number of .ptd files, asked as one.
#pragma once

#include <memory>
#include <span>

#include "runtime/core/checked_vector.h"
#include "vitrine/named_data.h"

namespace vitrine {

// Owns its files, mapped, and what asks them in turn.
class DataFiles {
 public:
  // InvalidExternalData if two files hold the same name; errors begin with the file's path.
  static Result<DataFiles> load(std::span<const char* const> paths);

  // Null without files. Lives as long as this, also when it is moved.
  const NamedDataMap* all() const { return maps_.empty() ? nullptr : maps_.back().get(); }

 private:
  // Each file, followed by a merger from the second on.
  CheckedVector<std::unique_ptr<NamedDataMap>> maps_;
};

}  // namespace vitrine
