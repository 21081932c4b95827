// ValueNames finds the names of a method's inputs and outputs in the exported model
// (docs/formats/program.md, "Names").
#pragma once

#include <string_view>

#include "runtime/core/checked_vector.h"
#include "vitrine/method_meta.h"

namespace vitrine {

class ValueNames {
 public:
  static Result<ValueNames> of_inputs(const MethodMeta& method);
  static Result<ValueNames> of_outputs(const MethodMeta& method);
  // Returns the names of the leaves of a tree, the JSON text of a torch.utils._pytree.TreeSpec.
  // Values have no names if the text is not a tree spec or does not have `count` leaves. The only
  // error is MemoryAllocationFailed.
  static Result<ValueNames> of_tree(std::string_view tree, size_t count);

  // Returns a zero-terminated name. The name is empty if the value has no name, or if `index` is
  // out of range.
  std::string_view at(size_t index) const {
    return index < starts_.size() ? std::string_view(text_.data() + starts_[index]) : "";
  }

 private:
  CheckedVector<char> text_;
  CheckedVector<size_t> starts_;
};

}  // namespace vitrine
