// Names of a method's inputs and outputs: the keys of the dicts and keyword arguments that the
// model was exported with (docs/formats/program.md, "Names").
#pragma once

#include <string_view>

#include "runtime/core/checked_vector.h"
#include "vitrine/method_meta.h"

namespace vitrine {

class ValueNames {
 public:
  static Result<ValueNames> of_inputs(const MethodMeta& method);
  static Result<ValueNames> of_outputs(const MethodMeta& method);
  // The leaves of a tree, the JSON text of a torch.utils._pytree.TreeSpec. All nameless if the text
  // is none, or its leaves are not `count`: the only error is MemoryAllocationFailed.
  static Result<ValueNames> of_tree(std::string_view tree, size_t count);

  // Empty for a value without a name, or beyond their number. A zero follows the text.
  std::string_view at(size_t index) const {
    return index < starts_.size() ? std::string_view(text_.data() + starts_[index]) : "";
  }

 private:
  CheckedVector<char> text_;
  CheckedVector<size_t> starts_;  // of the names in text_
};

}  // namespace vitrine
