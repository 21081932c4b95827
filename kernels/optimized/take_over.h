// Kernels that take over from portable ones where they can.
//
//   bool exp_out(KernelContext& context, const Tensor& self, Tensor& out);
//   VITRINE_OPTIMIZED_KERNEL(exp_out, "aten::exp.out", exp_out, portable);
//
// gives false, with nothing done but perhaps `out` resized, for arguments that are another kernel's
// business: the kernel of the same id in the room that is named last is then called. So dtypes,
// layouts and errors that are not worth code of their own have one home. A kernel that always takes
// over returns nothing and is named with VITRINE_KERNEL.
#pragma once

#include "vitrine/kernel.h"

namespace vitrine::optimized {

template <auto function, const Kernel* portable>
struct TakeOver;

template <class... Args, bool (*function)(KernelContext&, Args...), const Kernel* portable>
struct TakeOver<function, portable> {
  static constexpr uint16_t kNumArguments = sizeof...(Args) + 1;  // the trailing return value
  static constexpr uint32_t kInputs = boxing::bits({boxing::is_input<Args>...});
  static constexpr uint32_t kOutputs = boxing::bits({boxing::is_output<Args>...});

  static void call(KernelContext& context, EValue* const* arguments) {
    if (!call(context, arguments, std::index_sequence_for<Args...>())) {
      portable->function(context, arguments);
    }
  }

 private:
  // An argument of another kind is the portable kernel's to refuse.
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

// Outside of all namespaces. The other kernel is weak: a selective build has the operators of its
// programs only (cmake/SelectOps.cmake), and a file of this room may name others, which nobody
// calls.
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
