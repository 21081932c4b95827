// EValue is a value of a program: a tensor, a number, a string, a list or None.
//
// An EValue takes 16 bytes and is trivially copyable. Tensors and list bodies belong to the Method
// (or test) that made them, and copies of an EValue share them. Accessors named as_*() return
// InvalidType for another kind. Accessors named unchecked_*() are for callers that have checked the
// tag.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "vitrine/error.h"
#include "vitrine/tensor.h"

namespace vitrine {

class EValue;

// An int list refers to Int values, which are read again at each use, because instructions may
// overwrite the values.
struct IntListBody {
  std::span<EValue* const> items;
  int64_t* scratch;  // receives the numbers when the list is read; items.size() elements
};

// A list of tensor values. A null item is None, which only an optional list may contain. Items are
// read again at each use, because a move instruction may replace a tensor.
struct TensorListBody {
  std::span<EValue* const> items;
  Tensor** scratch;
};

class EValue {
 public:
  enum class Tag : uint32_t {
    kNone = 0,
    kTensor = 1,
    kString = 2,
    kDouble = 3,
    kInt = 4,
    kBool = 5,
    kListBool = 6,
    kListDouble = 7,
    kListInt = 8,
    kListTensor = 9,
    kListScalar = 10,
    kListOptionalTensor = 11,
  };

  EValue() = default;
  // Deleted, because pointers would otherwise be converted to Bool.
  template <class T>
  explicit EValue(const T*) = delete;
  explicit EValue(Tensor* value) : tag_(Tag::kTensor) { body_.tensor = value; }
  explicit EValue(int64_t value) : tag_(Tag::kInt) { body_.integer = value; }
  explicit EValue(double value) : tag_(Tag::kDouble) { body_.real = value; }
  explicit EValue(bool value) : tag_(Tag::kBool) { body_.boolean = value; }
  // Strings, double lists and bool lists must have fewer than 2^32 elements. Elements are not
  // copied.
  explicit EValue(std::string_view value)
      : tag_(Tag::kString), size_(static_cast<uint32_t>(value.size())) {
    body_.chars = value.data();
  }
  explicit EValue(std::span<const double> value)
      : tag_(Tag::kListDouble), size_(static_cast<uint32_t>(value.size())) {
    body_.doubles = value.data();
  }
  explicit EValue(std::span<const bool> value)
      : tag_(Tag::kListBool), size_(static_cast<uint32_t>(value.size())) {
    body_.bools = value.data();
  }
  explicit EValue(IntListBody* value) : tag_(Tag::kListInt) { body_.int_list = value; }
  EValue(TensorListBody* value, bool optional)
      : tag_(optional ? Tag::kListOptionalTensor : Tag::kListTensor) {
    body_.tensor_list = value;
  }

  Tag tag() const { return tag_; }
  bool is_none() const { return tag_ == Tag::kNone; }
  bool is_tensor_list() const {
    return tag_ == Tag::kListTensor || tag_ == Tag::kListOptionalTensor;
  }
  bool is_tensor() const { return tag_ == Tag::kTensor; }
  bool is_int() const { return tag_ == Tag::kInt; }
  bool is_double() const { return tag_ == Tag::kDouble; }
  bool is_bool() const { return tag_ == Tag::kBool; }
  bool is_string() const { return tag_ == Tag::kString; }

  // These accessors return InvalidType if the value is of another kind. The message names both
  // kinds. as_int_list() and as_tensor_list() also return InvalidType if an item cannot be read.
  Result<Tensor*> as_tensor() const;
  Result<int64_t> as_int() const;
  Result<double> as_double() const;
  Result<bool> as_bool() const;
  Result<std::string_view> as_string() const;
  Result<std::span<const double>> as_double_list() const;
  Result<std::span<const bool>> as_bool_list() const;
  Result<std::span<const int64_t>> as_int_list() const;
  Result<std::span<Tensor* const>> as_tensor_list() const;

  // The behavior is undefined if the value is of another kind.
  Tensor& unchecked_tensor() const { return *body_.tensor; }
  int64_t unchecked_int() const { return body_.integer; }
  double unchecked_double() const { return body_.real; }
  bool unchecked_bool() const { return body_.boolean; }
  std::string_view unchecked_string() const { return {body_.chars, size_}; }
  std::span<const double> unchecked_double_list() const { return {body_.doubles, size_}; }
  std::span<const bool> unchecked_bool_list() const { return {body_.bools, size_}; }

  // Reads the numbers of an int list into its scratch array. The numbers are valid until the list
  // is read again. Returns false if this is not an int list, or if an item is not an Int.
  bool read_int_list(std::span<const int64_t>* out) const;
  // Reads the tensors of a list, like read_int_list(). None becomes null.
  bool read_tensor_list(std::span<Tensor* const>* out) const;

 private:
  Tag tag_ = Tag::kNone;
  uint32_t size_ = 0;
  union {
    Tensor* tensor;
    int64_t integer;
    double real;
    bool boolean;
    const char* chars;
    const double* doubles;
    const bool* bools;
    IntListBody* int_list;
    TensorListBody* tensor_list;
  } body_{};
};

static_assert(sizeof(EValue) == 16);

// The name of a kind, such as "Tensor", "Int" or "OptionalTensorList".
const char* tag_name(EValue::Tag tag);

}  // namespace vitrine
