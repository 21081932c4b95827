// dispatch<List>() calls a function template with the C++ type of a ScalarType. `List` contains the
// types that an operator supports.
//
//   dispatch<RealTypes>(context, self.dtype(), [&]<class T>() { scale<T>(self, out); });
//
// Each call of dispatch() instantiates its function for every type in the list. To keep the code
// small, use the shortest sufficient list and do not nest calls. If operands have different dtypes,
// convert them with kernels/util/convert.h.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/util/selected_dtypes.h"
#include "vitrine/kernel_context.h"
#include "vitrine/scalar_type.h"

namespace vitrine {

template <class... T>
struct TypeList {};

template <class... Lists>
struct Join;
template <class... A>
struct Join<TypeList<A...>> {
  using type = TypeList<A...>;
};
template <class... A, class... B, class... Rest>
struct Join<TypeList<A...>, TypeList<B...>, Rest...> : Join<TypeList<A..., B...>, Rest...> {};

using IntTypes = TypeList<uint8_t, int8_t, int16_t, int32_t, int64_t>;
using FloatTypes = TypeList<float, double>;
using ReducedFloatTypes = TypeList<Half, BFloat16>;
using BoolType = TypeList<bool>;

using IntBoolTypes = Join<IntTypes, BoolType>::type;
using FloatHBF16Types = Join<FloatTypes, ReducedFloatTypes>::type;
using RealTypes = Join<IntTypes, FloatTypes>::type;
using RealBTypes = Join<RealTypes, BoolType>::type;
using RealHBF16Types = Join<RealTypes, ReducedFloatTypes>::type;
using RealHBBF16Types = Join<RealHBF16Types, BoolType>::type;

// Arithmetic on Half and BFloat16 uses float.
template <class T>
using Compute =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;
constexpr ScalarType compute_type(ScalarType type) {
  return type == ScalarType::kHalf || type == ScalarType::kBFloat16 ? ScalarType::kFloat : type;
}

// A C++ bool must be 0 or 1, but an element of a Bool tensor may be any byte. Every non-zero byte
// is true.
template <class T>
T load(const T* element) {
  if constexpr (std::is_same_v<T, bool>) {
    return *reinterpret_cast<const uint8_t*>(element) != 0;
  } else {
    return *element;
  }
}

template <class... T>
constexpr bool is_one_of(ScalarType type, TypeList<T...>) {
  return ((type == scalar_type_of<T>) || ...);
}
template <class List>
constexpr bool is_one_of(ScalarType type) {
  return is_one_of(type, List{});
}

// True if this build has kernels for the dtype.
constexpr bool is_selected(ScalarType type) {
  return ((kSelectedDtypes >> static_cast<uint32_t>(type)) & 1u) != 0;
}

// Fails with NotSupported if this build omits the dtype, otherwise with InvalidArgument.
void fail_unsupported_dtype(KernelContext& context, ScalarType type);

// dispatch() calls `function.template operator()<T>()` for the C++ type T of `type`. If `type` is
// not in the list, or if this build omits the dtype, dispatch() calls fail_unsupported_dtype().
// Omitted dtypes do not generate code.
template <class T, class Function>
bool call_if_selected(Function& function) {
  if constexpr (is_selected(scalar_type_of<T>)) {
    function.template operator()<T>();
    return true;
  } else {
    return false;
  }
}
template <class... T, class Function>
void dispatch_list(KernelContext& context, ScalarType type, TypeList<T...>, Function&& function) {
  const bool found = ((type == scalar_type_of<T> && call_if_selected<T>(function)) || ...);
  if (!found) fail_unsupported_dtype(context, type);
}
template <class List, class Function>
void dispatch(KernelContext& context, ScalarType type, Function&& function) {
  dispatch_list(context, type, List{}, function);
}

}  // namespace vitrine
