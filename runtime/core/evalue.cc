#include "vitrine/evalue.h"

namespace vitrine {
namespace {

Error not_a(EValue::Tag wanted, EValue::Tag found) {
  return Error::make(ErrorCode::kInvalidType, "the value must be of kind %s, but it is %s",
                     tag_name(wanted), tag_name(found));
}

}  // namespace

Result<Tensor*> EValue::as_tensor() const {
  if (tag_ != Tag::kTensor) return not_a(Tag::kTensor, tag_);
  return body_.tensor;
}
Result<int64_t> EValue::as_int() const {
  if (tag_ != Tag::kInt) return not_a(Tag::kInt, tag_);
  return unchecked_int();
}
Result<double> EValue::as_double() const {
  if (tag_ != Tag::kDouble) return not_a(Tag::kDouble, tag_);
  return unchecked_double();
}
Result<bool> EValue::as_bool() const {
  if (tag_ != Tag::kBool) return not_a(Tag::kBool, tag_);
  return unchecked_bool();
}
Result<std::string_view> EValue::as_string() const {
  if (tag_ != Tag::kString) return not_a(Tag::kString, tag_);
  return unchecked_string();
}
Result<std::span<const double>> EValue::as_double_list() const {
  if (tag_ != Tag::kListDouble) return not_a(Tag::kListDouble, tag_);
  return unchecked_double_list();
}
Result<std::span<const bool>> EValue::as_bool_list() const {
  if (tag_ != Tag::kListBool) return not_a(Tag::kListBool, tag_);
  return unchecked_bool_list();
}
Result<std::span<const int64_t>> EValue::as_int_list() const {
  std::span<const int64_t> list;
  if (tag_ != Tag::kListInt) return not_a(Tag::kListInt, tag_);
  if (read_int_list(&list)) return list;
  return Error::make(ErrorCode::kInvalidType, "an item of the IntList is not an Int");
}
Result<std::span<Tensor* const>> EValue::as_tensor_list() const {
  std::span<Tensor* const> list;
  if (!is_tensor_list()) return not_a(Tag::kListTensor, tag_);
  if (read_tensor_list(&list)) return list;
  return Error::make(ErrorCode::kInvalidType, "an item of the %s is not a Tensor", tag_name(tag_));
}

bool EValue::read_int_list(std::span<const int64_t>* out) const {
  if (tag_ != Tag::kListInt) return false;
  const IntListBody& list = *body_.int_list;
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (!list.items[i]->is_int()) return false;
    list.scratch[i] = list.items[i]->unchecked_int();
  }
  *out = {list.scratch, list.items.size()};
  return true;
}

bool EValue::read_tensor_list(std::span<Tensor* const>* out) const {
  if (!is_tensor_list()) return false;
  const TensorListBody& list = *body_.tensor_list;
  for (size_t i = 0; i < list.items.size(); ++i) {
    const EValue* item = list.items[i];
    if (item != nullptr && item->is_tensor()) {
      list.scratch[i] = &item->unchecked_tensor();
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
