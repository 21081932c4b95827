// Makes the values for a kernel call from the Arguments of op_arguments.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "test/kernels/kernel_call.h"
#include "test/kernels/op_arguments.h"

namespace vitrine::test {

inline void set_element(Tensor& tensor, int64_t index, const Number& number) {
  std::byte* to = tensor.unchecked_mutable_data<std::byte>() +
                  static_cast<size_t>(index) * tensor.element_size();
  const double real = number.is_real ? number.real : static_cast<double>(number.integer);
  const auto put = [&](const auto& value, size_t at = 0) {
    std::memcpy(to + at * sizeof value, &value, sizeof value);
  };
  switch (tensor.dtype()) {
    case ScalarType::kFloat:
      return put(static_cast<float>(real));
    case ScalarType::kDouble:
      return put(real);
    case ScalarType::kHalf:
      return put(Half(static_cast<float>(real)));
    case ScalarType::kBFloat16:
      return put(BFloat16(static_cast<float>(real)));
    case ScalarType::kComplexHalf:
      put(Half(static_cast<float>(real)));
      return put(Half(0.5f), 1);
    case ScalarType::kComplexFloat:
      put(static_cast<float>(real));
      return put(0.5f, 1);
    case ScalarType::kComplexDouble:
      put(real);
      return put(0.5, 1);
    default:
      break;
  }
  int64_t integer = number.integer;
  if (number.is_real) integer = std::fabs(real) < 0x1p62 ? static_cast<int64_t>(real) : INT64_MIN;
  if (tensor.dtype() == ScalarType::kBool) integer = integer != 0 ? 1 : 0;
  std::memcpy(to, &integer, tensor.element_size());  // little-endian: the low bytes
}

// The values of a call. They are valid while this object is alive.
class ArgumentValues : public KernelCall {
 public:
  explicit ArgumentValues(const std::vector<Argument>& arguments) {
    for (const Argument& argument : arguments) {
      values_.push_back(argument.kind == Argument::Kind::kSame ? EValue() : make_value(argument));
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].kind != Argument::Kind::kSame) continue;
      values_[i] = values_[static_cast<size_t>(arguments[i].integer)];
      aliased_ = true;
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Argument& sharing = arguments[i];
      if (sharing.shares_memory_of < 0) continue;
      Tensor* a = tensor_at(i, sharing.shares_item);
      Tensor* b = tensor_at(static_cast<size_t>(sharing.shares_memory_of), sharing.shared_item);
      if (a == nullptr || b == nullptr || a == b || !a->raw_data() || !b->raw_data()) continue;
      overlap(*a, *b, sharing.shares_from);
      aliased_ = true;
    }
  }

  // Calls the kernel with pointers to its arguments, as the executor does. A pointer to the
  // returned value, if any, comes last.
  Error call(const Kernel& kernel, HeapArena& temp) {
    std::vector<EValue*> pointers;
    for (EValue& value : values_) pointers.push_back(&value);
    if (pointers.size() < kernel.num_arguments) pointers.push_back(&result);
    if (pointers.size() != kernel.num_arguments) {
      return Error::make(ErrorCode::kInternal, "%s expects %d arguments", kernel.name,
                         kernel.num_arguments);
    }
    KernelContext context(&temp);
    kernel.function(context, pointers.data());
    return context.take_error();
  }

  std::vector<int32_t> sizes_of(size_t index) const {
    const std::span<const int32_t> sizes = values_[index].unchecked_tensor().sizes();
    return {sizes.begin(), sizes.end()};
  }
  std::span<const std::byte> bytes_of(size_t index) const {
    const Tensor& tensor = values_[index].unchecked_tensor();
    return {static_cast<const std::byte*>(tensor.raw_data()), tensor.nbytes()};
  }

  // Returns argument `index`, or item `item` of the argument if the argument is a list. Returns
  // null if the selected value is not a tensor.
  Tensor* tensor_at(size_t index, size_t item) const {
    const EValue& value = values_[index];
    if (value.is_tensor()) return &value.unchecked_tensor();
    const bool is_list =
        value.tag() == EValue::Tag::kListTensor || value.tag() == EValue::Tag::kListOptionalTensor;
    std::span<Tensor* const> list;
    if (!is_list || !value.read_tensor_list(&list) || item >= list.size()) return nullptr;
    return list[item];
  }

  // Returns true if the operator's read-only arguments are unchanged.
  bool inputs_intact() const {
    for (const Input& input : inputs_) {
      if (aliased_ || input.bytes.empty()) continue;
      if (std::memcmp(input.tensor->raw_data(), input.bytes.data(), input.bytes.size()) != 0) {
        return false;
      }
    }
    return true;
  }

 private:
  using Kind = Argument::Kind;

  struct Input {
    const Tensor* tensor;
    std::vector<std::byte> bytes;
  };

  EValue make_value(const Argument& argument) {
    switch (argument.kind) {
      case Kind::kNone:
      case Kind::kSame:
        return EValue();
      case Kind::kInt:
      case Kind::kScalarType:
        return EValue(argument.integer);
      case Kind::kDouble:
        return EValue(argument.real);
      case Kind::kBool:
        return EValue(argument.integer != 0);
      case Kind::kString: {
        const size_t size = argument.text.size();
        auto& copy = texts_.emplace_back(
            new char[size]);  // exact size, so that AddressSanitizer finds overruns
        std::memcpy(copy.get(), argument.text.data(), size);
        return EValue(std::string_view(copy.get(), size));
      }
      case Kind::kInts:
        return ints(argument.ints);
      case Kind::kDoubles: {
        auto& copy = doubles_.emplace_back(argument.doubles);
        copy.shrink_to_fit();
        return EValue(std::span<const double>(copy));
      }
      case Kind::kBools: {
        auto& copy = bools_.emplace_back(new bool[argument.bools.size()]);
        std::copy(argument.bools.begin(), argument.bools.end(), copy.get());
        return EValue(std::span<const bool>(copy.get(), argument.bools.size()));
      }
      case Kind::kTensor:
        return EValue(&make_tensor(argument));
      case Kind::kTensors:
      case Kind::kOptionalTensors: {
        std::vector<Tensor*> list;
        for (const Argument& item : argument.items) {
          list.push_back(item.is_tensor() ? &make_tensor(item) : nullptr);
        }
        return tensors(list, argument.kind == Kind::kOptionalTensors);
      }
    }
    return EValue();
  }

  Tensor& make_tensor(const Argument& argument) {
    std::vector<int32_t> bound = argument.sizes;
    if (argument.output && argument.roomy && !bound.empty()) {
      for (int32_t& size : bound) size = std::max(size, 1);
      bound[0] = static_cast<int32_t>(std::min<int64_t>(int64_t{bound[0]} * 16, INT32_MAX));
      const Result<int64_t> numel = checked_numel(bound);
      if (!numel.ok() || *numel > 16384) bound = argument.sizes;
    }
    const bool dynamic = argument.output && !argument.is_static;
    const bool ordered = argument.dim_order.size() == bound.size();
    Tensor& tensor =
        make(argument.dtype, bound, ordered ? argument.dim_order : std::vector<uint8_t>(),
             dynamic ? ShapeDynamism::kDynamicBound : ShapeDynamism::kStatic);
    if (dynamic) (void)tensor.resize(argument.sizes);
    fill(argument, tensor);
    if (argument.no_memory) tensor.set_data(nullptr);
    if (argument.read_only) tensor.set_read_only();
    if (!argument.output && !argument.no_memory) {
      const auto* bytes = tensor.unchecked_data<std::byte>();
      inputs_.push_back({&tensor, {bytes, bytes + tensor.nbytes()}});
    }
    return tensor;
  }

  static void fill(const Argument& argument, Tensor& tensor) {
    if (argument.pattern >= 0) {
      std::fill_n(tensor.unchecked_mutable_data<std::byte>(), tensor.nbytes(),
                  static_cast<std::byte>(argument.pattern));
      return;
    }
    const bool real = is_floating(tensor.dtype()) || is_complex(tensor.dtype());
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      Number number =
          real ? Number::of(0.25 * static_cast<double>(i % 64 + 1))
               : Number::of(tensor.dtype() == ScalarType::kBool ? (i + 1) % 2 : 1 + i % 3);
      if (!argument.elements.empty()) {
        number = argument.elements[static_cast<size_t>(i) % argument.elements.size()];
      }
      set_element(tensor, i, number);
    }
  }

  std::deque<EValue> values_;
  std::deque<Input> inputs_;
  std::deque<std::unique_ptr<char[]>> texts_;
  std::deque<std::vector<double>> doubles_;
  std::deque<std::unique_ptr<bool[]>> bools_;
  bool aliased_ = false;
};

}  // namespace vitrine::test
