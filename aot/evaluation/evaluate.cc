#include "aot/evaluation/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "aot/emit/emit.h"
#include "aot/graph/aot_error.h"
#include "aot/passes/pipelines.h"
#include "kernels/llm/llm_kernels.h"
#include "kernels/portable/portable_kernels.h"
#include "kernels/quantized/quantized_kernels.h"
#include "vitrine/method.h"

namespace vitrine::aot {
namespace {

void check(const Error& error) {
  if (!error.ok()) throw AotError(fmt::format("evaluation: {}", error.message()));
}
template <class T>
T take(Result<T> result) {
  if (!result.ok()) check(result.error());
  return std::move(*result);
}

// Calls visit(row-major index, offset in elements) for each element.
template <class Visit>
void each_element(const Tensor& tensor, Visit visit) {
  std::vector<int64_t> index(tensor.rank(), 0);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    int64_t offset = 0;
    for (size_t dim = 0; dim < index.size(); ++dim) offset += index[dim] * tensor.strides()[dim];
    visit(static_cast<size_t>(i), static_cast<size_t>(offset));
    for (size_t dim = index.size(); dim-- > 0;) {
      if (++index[dim] < tensor.size(dim)) break;
      index[dim] = 0;
    }
  }
}

// A tensor of the program's dim order, and its memory.
struct Input {
  std::vector<int32_t> sizes;
  std::vector<int64_t> strides;
  std::vector<std::byte> bytes;
  Tensor tensor;
};

void fill(Input& input, const TensorData& data, std::span<const uint8_t> dim_order) {
  for (const int64_t size : data.sizes) {
    if (size > INT32_MAX) throw AotError("evaluation: an input is too large");
    input.sizes.push_back(static_cast<int32_t>(size));
  }
  input.strides.resize(input.sizes.size());
  const std::vector<std::byte> logical = row_major_bytes(data);
  input.bytes.resize(logical.size());
  input.tensor = Tensor(data.dtype, input.sizes, dim_order, input.strides, input.bytes.data());
  const size_t width = input.tensor.element_size();
  each_element(input.tensor, [&](size_t from, size_t to) {
    std::memcpy(input.bytes.data() + to * width, logical.data() + from * width, width);
  });
}

TensorData copy_of(const Tensor& tensor) {
  std::vector<std::byte> bytes(tensor.nbytes());
  const size_t width = tensor.element_size();
  const auto* memory = static_cast<const std::byte*>(tensor.raw_data());
  each_element(tensor, [&](size_t to, size_t from) {
    std::memcpy(bytes.data() + to * width, memory + from * width, width);
  });
  return make_tensor_data(tensor.dtype(), {tensor.sizes().begin(), tensor.sizes().end()},
                          std::move(bytes));
}

void set_inputs(Method& method, std::span<const TensorData> inputs, std::deque<Input>& memory) {
  size_t next = 0;
  for (size_t i = 0; i < method.num_inputs(); ++i) {
    if (!method.input(i).is_tensor()) {
      check(method.set_input(i, method.input(i)));
      continue;
    }
    if (next == inputs.size()) throw AotError("evaluation: too few inputs");
    Input& input = memory.emplace_back();
    const Tensor& planned = method.input(i).unchecked_tensor();
    if (planned.rank() != inputs[next].sizes.size()) {
      throw AotError(fmt::format("evaluation: input {} has the wrong rank", next));
    }
    fill(input, inputs[next++], planned.dim_order());
    check(method.set_input(i, EValue(&input.tensor)));
  }
  if (next != inputs.size()) throw AotError("evaluation: too many inputs");
}

}  // namespace

std::vector<TensorData> evaluate(const ExportedProgram& program,
                                 std::span<const TensorData> inputs) {
  Methods methods;
  ExportedProgram& executable = methods.emplace("forward", program.copy()).first->second;
  to_executable(executable);
  EmitOptions options;
  options.emit_debug_maps = false;
  const EmittedProgram emitted = emit(methods, options);

  KernelRegistry kernels;
  check(kernels.add("portable", portable::kernels()));
  check(kernels.add("quantized", quantized::kernels()));
  check(kernels.add("llm", llm::kernels()));
  const auto loaded = take(Program::load(take(view_buffer(emitted.pte))));
  MethodOptions method_options;
  method_options.kernels = &kernels;
  method_options.check_plan = refuse_overlaps;
  const auto method = take(Method::load(loaded, "forward", method_options));
  std::deque<Input> memory;
  set_inputs(*method, inputs, memory);
  check(method->execute());
  std::vector<TensorData> results;
  // The method's results begin with the inputs that the program mutates.
  const auto user_outputs = static_cast<size_t>(std::ranges::count(
      program.signature.outputs, OutputSpec::Kind::kUserOutput, &OutputSpec::kind));
  const size_t count = method->num_outputs();
  for (size_t i = count - std::min(count, user_outputs); i < count; ++i) {
    const EValue& output = method->output(i);
    if (output.is_tensor()) results.push_back(copy_of(output.unchecked_tensor()));
  }
  return results;
}

}  // namespace vitrine::aot
