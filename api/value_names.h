// ValueNames finds the names of a method's inputs and outputs. The names consist of the keyword
// arguments and dict keys of the exported model (docs/formats/program.md, "Names").
#pragma once

#include <string_view>

#include "runtime/core/checked_vector.h"
#include "vitrine/method_meta.h"

namespace vitrine {

class ValueNames {
 public:
  static Result<ValueNames> of_inputs(const MethodMeta& method);
  static Result<ValueNames> of_outputs(const MethodMeta& method);
  // Returns the names of the leaves of a tree. `tree` is the JSON text of a
  // torch.utils._pytree.TreeSpec. If the text is not a tree spec, or does not have `count` leaves,
  // no value has a name. This is not an error: the only error is MemoryAllocationFailed.
  static Result<ValueNames> of_tree(std::string_view tree, size_t count);

  // Returns the name of value `index`, zero-terminated. The name is empty if the value has no name
  // or `index` is out of range.
  std::string_view at(size_t index) const {
    return index < starts_.size() ? std::string_view(text_.data() + starts_[index]) : "";
  }

 private:
  CheckedVector<char> text_;
  CheckedVector<size_t> starts_;  // offsets of the names in text_
};

}  // namespace vitrine
