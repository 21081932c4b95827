#pragma once

#include <memory>
#include <span>

#include "runtime/core/checked_vector.h"
#include "vitrine/named_data.h"

namespace vitrine {

class DataFiles {
 public:
  // Maps the files. Returns InvalidExternalData if two files have the same key. Errors begin with
  // the path.
  static Result<DataFiles> load(std::span<const char* const> paths);

  // The merged map. Null if no files were loaded. The map is valid while this object exists, even
  // if the object is moved.
  const NamedDataMap* all() const { return maps_.empty() ? nullptr : maps_.back().get(); }

 private:
  // The map of the first file. Each further file adds its own map and a map that merges all files
  // so far.
  CheckedVector<std::unique_ptr<NamedDataMap>> maps_;
};

}  // namespace vitrine
