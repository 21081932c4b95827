// VITRINE_OPTIMIZED_KERNEL defines an optimized kernel with a fallback: the kernel with the same id
// in another folder of kernels/ (a room), such as kernels/portable.
//
//     bool exp_out(KernelContext& context, const Tensor& self, Tensor& out);
//     VITRINE_OPTIMIZED_KERNEL(exp_out, "aten::exp.out", exp_out, portable);
//
// If exp_out() does not support the arguments, it returns false, and the optimized kernel calls the
// fallback. Before it returns false, exp_out() may resize `out`, but must not have other effects. A
// kernel that supports all arguments returns void and is defined with VITRINE_KERNEL.
#pragma once

#include "vitrine/kernel.h"

namespace vitrine::optimized {

template <auto function, const Kernel* portable>
struct TakeOver;

template <class... Args, bool (*function)(KernelContext&, Args...), const Kernel* portable>
struct TakeOver<function, portable> {
  static constexpr uint16_t kNumArguments = sizeof...(Args) + 1;  // includes the return value, last
  static constexpr uint32_t kInputs = boxing::bits({boxing::is_input<Args>...});
  static constexpr uint32_t kOutputs = boxing::bits({boxing::is_output<Args>...});

  static void call(KernelContext& context, EValue* const* arguments) {
    if (!call(context, arguments, std::index_sequence_for<Args...>())) {
      portable->function(context, arguments);
    }
  }

 private:
  // Returns false for an argument of the wrong kind, so that the fallback reports the error.
  template <size_t... I>
  static bool call(KernelContext& context, EValue* const* arguments, std::index_sequence<I...>) {
    std::tuple<boxing::Slot<Args>...> slots;
    if (!(boxing::Unbox<Args>::read(*arguments[I], std::get<I>(slots).storage) && ... && true)) {
      return false;
    }
    context.set_call(arguments, kInputs);
    return function(context, boxing::Unbox<Args>::get(std::get<I>(slots).storage)...);
  }
};

}  // namespace vitrine::optimized

// Use this macro outside all namespaces. The reference to the fallback is weak, because a selective
// build (cmake/SelectOps.cmake) may lack the fallback. Such a build never calls the optimized
// kernel.
#define VITRINE_OPTIMIZED_KERNEL(id, operator_name, function, room)                          \
  namespace vitrine::room {                                                                  \
  [[gnu::weak]] extern const Kernel kernel_##id;                                             \
  }                                                                                          \
  namespace vitrine::optimized {                                                             \
  extern const Kernel kernel_##id;                                                           \
  constinit const Kernel kernel_##id{operator_name,                                          \
                                     &TakeOver<&function, &room::kernel_##id>::call,         \
                                     TakeOver<&function, &room::kernel_##id>::kNumArguments, \
                                     TakeOver<&function, &room::kernel_##id>::kOutputs};     \
  }
