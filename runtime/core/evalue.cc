#include "vitrine/evalue.h"

namespace vitrine {

bool EValue::read_int_list(std::span<const int64_t>* out) const {
  const IntListBody& list = *body_.int_list;
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (!list.items[i]->is_int()) return false;
    list.scratch[i] = list.items[i]->to_int();
  }
  *out = {list.scratch, list.items.size()};
  return true;
}

bool EValue::read_tensor_list(std::span<Tensor* const>* out) const {
  const TensorListBody& list = *body_.tensor_list;
  for (size_t i = 0; i < list.items.size(); ++i) {
    const EValue* item = list.items[i];
    if (item != nullptr && item->is_tensor()) {
      list.scratch[i] = &item->tensor();
    } else if (tag_ == Tag::kListOptionalTensor && (item == nullptr || item->is_none())) {
      list.scratch[i] = nullptr;
    } else {
      return false;
    }
  }
  *out = {list.scratch, list.items.size()};
  return true;
}

const char* tag_name(EValue::Tag tag) {
  constexpr const char* kNames[] = {"None",    "Tensor",     "String",     "Double",
                                    "Int",     "Bool",       "BoolList",   "DoubleList",
                                    "IntList", "TensorList", "ScalarList", "OptionalTensorList"};
  const auto index = static_cast<uint32_t>(tag);
  return index < std::size(kNames) ? kNames[index] : "?";
}

}  // namespace vitrine
