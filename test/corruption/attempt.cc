#include "test/corruption/attempt.h"

#include <vector>

#include "test/support/tensor_factory.h"
#include "vitrine/method.h"

namespace vitrine::test {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;

template <class T>
std::vector<T> copy(std::span<const T> from) {
  return {from.begin(), from.end()};
}

// Sets an input. Tensors get zeros, and other inputs get their planned values.
Error set_input(Method& method, size_t index, TensorFactory& factory) {
  if (!method.input(index).is_tensor()) return method.set_input(index, method.input(index));
  const Tensor& planned = method.input(index).unchecked_tensor();
  if (planned.nbytes() > kMaxBytes) {
    return Error::make(ErrorCode::kOutOfResources, "input %zu has more bytes than this test allows",
                       index);
  }
  Tensor& tensor = factory.make(planned.dtype(), copy(planned.sizes()), copy(planned.dim_order()));
  if (tensor.nbytes() != 0) {
    std::fill_n(tensor.unchecked_mutable_data<std::byte>(), tensor.nbytes(), std::byte{});
  }
  return method.set_input(index, EValue(&tensor));
}

// Provides memory for an output that has no planned memory.
Error set_output(Method& method, size_t index, TensorFactory& factory) {
  if (method.meta().output_tag(index) != EValue::Tag::kTensor) return Error();
  const TensorInfo info = method.meta().output_tensor(index);
  if (info.is_memory_planned) return Error();
  if (info.nbytes > kMaxBytes) {
    return Error::make(ErrorCode::kOutOfResources,
                       "output %zu has more bytes than this test allows", index);
  }
  Tensor& memory = factory.make(ScalarType::kByte, {static_cast<int32_t>(info.nbytes)});
  return method.set_output_data(index,
                                {memory.unchecked_mutable_data<std::byte>(), memory.nbytes()});
}

Error prepare(Method& method, TensorFactory& factory) {
  for (size_t i = 0; i < method.num_outputs(); ++i) {
    VITRINE_RETURN_IF_ERROR(set_output(method, i, factory));
  }
  for (size_t i = 0; i < method.num_inputs(); ++i) {
    VITRINE_RETURN_IF_ERROR(set_input(method, i, factory));
  }
  return Error();
}

}  // namespace

Outcome attempt(std::span<const std::byte> bytes, const KernelRegistry& kernels,
                const BackendRegistry& backends) {
  const auto program = Program::load(*view_buffer(bytes));
  if (!program.ok()) return {Stage::kProgramLoad, program.error().message()};
  MethodOptions options{
      .kernels = &kernels,
      .backends = &backends,
      .limits = {.max_memory_bytes = 2 * kMaxBytes, .max_instructions_per_run = 100},
      .check_plan = &refuse_overlaps,
      .accept_unwritten_outputs = true};
  auto method = Method::load(*program, (*program)->method_name(0), options);
  if (!method.ok()) {
    // Loads the method again without the check for overlaps, so that kernels are also tested with
    // overlapping tensors.
    options.check_plan = nullptr;
    method = Method::load(*program, (*program)->method_name(0), options);
  }
  if (!method.ok()) return {Stage::kMethodLoad, method.error().message()};
  TensorFactory factory;
  for (int run = 0; run < 2; ++run) {
    const Error prepared = prepare(**method, factory);
    if (!prepared.ok()) return {Stage::kInputs, prepared.message()};
    const Error executed = (*method)->execute();
    if (!executed.ok()) return {Stage::kExecute, executed.message()};
  }
  return {};
}

}  // namespace vitrine::test
