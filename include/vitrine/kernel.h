// Turns a typed C++ function into a Kernel, which the executor can call.
//
//   void add_out(KernelContext& context, const Tensor& self, const Tensor& other,
//                const Scalar& alpha, Tensor& out);
//   VITRINE_KERNEL(add_out, "aten::add.out", add_out);
//
// Parameters after the context are the operator's schema arguments in schema order, including `out`
// tensors:
//   Tensor            const Tensor& (input), Tensor& (output)
//   Tensor?           const Tensor*               null for None
//   Tensor            TensorSlot                  if the kernel does not access its memory
//   Tensor[]          std::span<const Tensor* const> (inputs), std::span<Tensor* const> (outputs)
//   Tensor?[]         OptionalTensorList          items may be null
//   int, SymInt       int64_t                     int?    std::optional<int64_t>
//   float             double                      float?  std::optional<double>
//   bool              bool                        bool?   std::optional<bool>
//   Scalar            const Scalar&               Scalar? std::optional<Scalar>
//   int[], SymInt[]   std::span<const int64_t>    int[]?  std::optional<std::span<const int64_t>>
//   float[]           std::span<const double>     float[]? std::optional<std::span<const double>>
//   bool[]            std::span<const bool>
//   str               std::string_view            str?    std::optional<std::string_view>
//   ScalarType        ScalarType                  ScalarType? std::optional<ScalarType>
// After these arguments, a program passes the results again in a trailing argument, which the
// kernel does not read. Two kinds of operators have no trailing argument:
// - operators that return a number (aten::sym_size.int, most of executorch_prim): their last
//   parameter is an `EValue&`, which receives the number;
// - operators that give a tensor other sizes or memory (executorch_prim::et_view, et_copy_index):
//   the parameter for this tensor is a ChangedTensor.
// A parameter of type `const EValue&` accepts any value.
//
// Kernels need not check for values of the wrong kind, inputs without memory, and outputs without
// memory or in constant memory. Such calls fail before the kernel runs. An output may be an input
// of the same call, but then its shape cannot change.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "vitrine/evalue.h"
#include "vitrine/kernel_context.h"
#include "vitrine/scalar.h"

namespace vitrine {

struct TensorSlot {
  Tensor* tensor;
};

struct ChangedTensor {
  Tensor* tensor;
};

struct OptionalTensorList {
  std::span<const Tensor* const> tensors;
};

struct Kernel {
  using Function = void (*)(KernelContext& context, EValue* const* arguments);

  const char* name;  // "aten::add.out"
  Function function;
  uint16_t num_arguments;  // arguments of the instruction, including any trailing argument
  uint32_t outputs = 0;    // bit n: the kernel writes the tensors of argument n
  uint32_t results = 0;    // bit n: argument n is an `EValue&` or a ChangedTensor
};

namespace boxing {

// Unbox<T>::read(value, storage) returns false if a parameter of type T does not accept `value`. An
// `int` accepts an Int. A `float` accepts a Double or an Int. A Scalar also accepts a Bool.
template <class T>
struct Unbox;

// False if `value` is not a list of readable tensors. None items become null.
bool read_inputs(const EValue& value, std::span<const Tensor* const>& out);

template <>
struct Unbox<const Tensor&> {
  using Storage = const Tensor*;
  static bool read(const EValue& value, Storage& out) {
    if (!value.is_tensor() || !value.unchecked_tensor().is_readable()) return false;
    out = &value.unchecked_tensor();
    return true;
  }
  static const Tensor& get(Storage storage) { return *storage; }
};
template <>
struct Unbox<Tensor&> {
  using Storage = Tensor*;
  static bool read(const EValue& value, Storage& out) {
    if (!value.is_tensor() || !value.unchecked_tensor().is_writable()) return false;
    out = &value.unchecked_tensor();
    return true;
  }
  static Tensor& get(Storage storage) { return *storage; }
};
template <>
struct Unbox<const Tensor*> {
  using Storage = const Tensor*;
  static bool read(const EValue& value, Storage& out) {
    out = value.is_tensor() ? &value.unchecked_tensor() : nullptr;
    return value.is_tensor() ? out->is_readable() : value.is_none();
  }
  static const Tensor* get(Storage storage) { return storage; }
};

template <class T>
struct UnboxValue {
  using Storage = T;
  static const T& get(const Storage& storage) { return storage; }
};
template <>
struct Unbox<TensorSlot> : UnboxValue<TensorSlot> {
  static bool read(const EValue& value, TensorSlot& out) {
    if (value.is_tensor()) out.tensor = &value.unchecked_tensor();
    return value.is_tensor();
  }
};
template <>
struct Unbox<ChangedTensor> : UnboxValue<ChangedTensor> {
  static bool read(const EValue& value, ChangedTensor& out) {
    if (value.is_tensor()) out.tensor = &value.unchecked_tensor();
    return value.is_tensor();
  }
};
template <>
struct Unbox<int64_t> : UnboxValue<int64_t> {
  static bool read(const EValue& value, int64_t& out) {
    out = value.is_int() ? value.unchecked_int() : 0;
    return value.is_int();
  }
};
template <>
struct Unbox<double> : UnboxValue<double> {
  static bool read(const EValue& value, double& out) {
    if (value.is_double()) out = value.unchecked_double();
    if (value.is_int()) out = static_cast<double>(value.unchecked_int());
    return value.is_double() || value.is_int();
  }
};
template <>
struct Unbox<bool> : UnboxValue<bool> {
  static bool read(const EValue& value, bool& out) {
    out = value.is_bool() && value.unchecked_bool();
    return value.is_bool();
  }
};
template <>
struct Unbox<ScalarType> : UnboxValue<ScalarType> {
  static bool read(const EValue& value, ScalarType& out) {
    const int64_t number = value.is_int() ? value.unchecked_int() : -1;
    if (number < 0 || number >= kNumScalarTypes) return false;
    out = static_cast<ScalarType>(number);
    return true;
  }
};
template <>
struct Unbox<std::string_view> : UnboxValue<std::string_view> {
  static bool read(const EValue& value, std::string_view& out) {
    if (value.is_string()) out = value.unchecked_string();
    return value.is_string();
  }
};
template <>
struct Unbox<std::span<const int64_t>> : UnboxValue<std::span<const int64_t>> {
  static bool read(const EValue& value, std::span<const int64_t>& out) {
    return value.read_int_list(&out);
  }
};
template <>
struct Unbox<std::span<const double>> : UnboxValue<std::span<const double>> {
  static bool read(const EValue& value, std::span<const double>& out) {
    if (value.tag() != EValue::Tag::kListDouble) return false;
    out = value.unchecked_double_list();
    return true;
  }
};
template <>
struct Unbox<std::span<const bool>> : UnboxValue<std::span<const bool>> {
  static bool read(const EValue& value, std::span<const bool>& out) {
    if (value.tag() != EValue::Tag::kListBool) return false;
    out = value.unchecked_bool_list();
    return true;
  }
};
template <>
struct Unbox<std::span<Tensor* const>> : UnboxValue<std::span<Tensor* const>> {
  static bool read(const EValue& value, std::span<Tensor* const>& out) {
    if (value.tag() != EValue::Tag::kListTensor || !value.read_tensor_list(&out)) return false;
    for (const Tensor* tensor : out) {
      if (!tensor->is_writable()) return false;
    }
    return true;
  }
};
template <>
struct Unbox<std::span<const Tensor* const>> : UnboxValue<std::span<const Tensor* const>> {
  static bool read(const EValue& value, std::span<const Tensor* const>& out) {
    return value.tag() == EValue::Tag::kListTensor && read_inputs(value, out);
  }
};
template <>
struct Unbox<OptionalTensorList> : UnboxValue<OptionalTensorList> {
  static bool read(const EValue& value, OptionalTensorList& out) {
    return read_inputs(value, out.tensors);
  }
};
template <>
struct Unbox<const Scalar&> {
  using Storage = Scalar;
  static bool read(const EValue& value, Scalar& out) {
    if (value.is_int()) {
      out = Scalar(value.unchecked_int());
    } else if (value.is_double()) {
      out = Scalar(value.unchecked_double());
    } else if (value.is_bool()) {
      out = Scalar(value.unchecked_bool());
    } else {
      return false;
    }
    return true;
  }
  static const Scalar& get(const Scalar& storage) { return storage; }
};
template <>
struct Unbox<Scalar> : Unbox<const Scalar&> {};
template <>
struct Unbox<const EValue&> {
  using Storage = const EValue*;
  static bool read(const EValue& value, Storage& out) {
    out = &value;
    return true;
  }
  static const EValue& get(Storage storage) { return *storage; }
};
template <class T>
struct Unbox<std::optional<T>> : UnboxValue<std::optional<T>> {
  static bool read(const EValue& value, std::optional<T>& out) {
    if (value.is_none()) return true;
    typename Unbox<T>::Storage storage = initial();
    if (!Unbox<T>::read(value, storage)) return false;
    out = storage;
    return true;
  }
  static typename Unbox<T>::Storage initial() {
    if constexpr (std::is_same_v<T, Scalar>) {
      return Scalar(int64_t{0});
    } else {
      return {};
    }
  }
};

template <class T>
struct Slot {
  typename Unbox<T>::Storage storage{};
};
template <>
struct Slot<const Scalar&> {
  Scalar storage{int64_t{0}};
};
// The result of an operator that returns a number.
template <>
struct Slot<EValue&> {
  EValue* storage = nullptr;
};
// True for a value that a number may overwrite. Tensors, strings and lists must not be overwritten.
inline bool may_become_number(const EValue& value) {
  return value.is_none() || value.is_int() || value.is_double() || value.is_bool();
}
template <>
struct Unbox<EValue&> {
  using Storage = EValue*;
  static EValue& get(EValue* storage) { return *storage; }
};

// How a kernel uses the tensors of a parameter.
enum class TensorUse : uint8_t { kNone, kInput, kOutput, kInputList, kOutputList };
template <class T>
inline constexpr TensorUse tensor_use = TensorUse::kNone;
template <>
inline constexpr TensorUse tensor_use<const Tensor&> = TensorUse::kInput;
template <>
inline constexpr TensorUse tensor_use<const Tensor*> = TensorUse::kInput;
template <>
inline constexpr TensorUse tensor_use<Tensor&> = TensorUse::kOutput;
template <>
inline constexpr TensorUse tensor_use<std::span<const Tensor* const>> = TensorUse::kInputList;
template <>
inline constexpr TensorUse tensor_use<OptionalTensorList> = TensorUse::kInputList;
template <>
inline constexpr TensorUse tensor_use<std::span<Tensor* const>> = TensorUse::kOutputList;

template <class T>
inline constexpr bool is_input =
    tensor_use<T> == TensorUse::kInput || tensor_use<T> == TensorUse::kInputList;

template <class T>
inline constexpr bool is_output =
    tensor_use<T> == TensorUse::kOutput || tensor_use<T> == TensorUse::kOutputList;

template <class T>
inline constexpr bool is_result = std::is_same_v<T, EValue&> || std::is_same_v<T, ChangedTensor>;

// Bit n of the result is flag n.
constexpr uint32_t bits(std::initializer_list<bool> flags) {
  uint32_t result = 0;
  uint32_t bit = 1;
  for (const bool flag : flags) {
    result |= flag ? bit : 0;
    bit <<= 1;
  }
  return result;
}

void wrong_argument(KernelContext& context, size_t index, const EValue& value, TensorUse use);

template <class T>
bool read_argument(KernelContext& context, EValue* const* arguments, size_t index, Slot<T>& slot) {
  if constexpr (std::is_same_v<T, EValue&>) {
    slot.storage = arguments[index];
    if (may_become_number(*arguments[index])) return true;
  } else {
    if (Unbox<T>::read(*arguments[index], slot.storage)) return true;
  }
  wrong_argument(context, index, *arguments[index], tensor_use<T>);
  return false;
}

template <auto function>
struct Box;

template <class... Args, void (*function)(KernelContext&, Args...)>
struct Box<function> {
  static_assert(sizeof...(Args) < 32);
  static constexpr uint32_t kInputs = bits({is_input<Args>...});
  static constexpr uint32_t kOutputs = bits({is_output<Args>...});
  static constexpr uint32_t kResults = bits({is_result<Args>...});
  static constexpr uint16_t kNumArguments = sizeof...(Args) + (kResults != 0 ? 0 : 1);
  static void call(KernelContext& context, EValue* const* arguments) {
    call(context, arguments, std::index_sequence_for<Args...>());
  }

 private:
  template <size_t... I>
  static void call(KernelContext& context, [[maybe_unused]] EValue* const* arguments,
                   std::index_sequence<I...>) {
    std::tuple<Slot<Args>...> slots;
    if ((read_argument<Args>(context, arguments, I, std::get<I>(slots)) && ... && true)) {
      context.set_call(arguments, kInputs);
      function(context, Unbox<Args>::get(std::get<I>(slots).storage)...);
    }
  }
};

}  // namespace boxing

// Defines the Kernel `kernel_<id>` in the current namespace, where `id` must be unique. To register
// it, add it to a KernelTable.
#define VITRINE_KERNEL(id, operator_name, function)                                              \
  extern const ::vitrine::Kernel kernel_##id;                                                    \
  constinit const ::vitrine::Kernel kernel_##id {                                                \
    operator_name, &::vitrine::boxing::Box<&function>::call,                                     \
        ::vitrine::boxing::Box<&function>::kNumArguments,                                        \
        ::vitrine::boxing::Box<&function>::kOutputs, ::vitrine::boxing::Box<&function>::kResults \
  }

}  // namespace vitrine
