#include "aot/optimize/evaluate.h"

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

// An input tensor that owns its memory, in the program's dim order.
struct HostInput {
  std::vector<int32_t> sizes;
  std::vector<int64_t> strides;
  std::vector<std::byte> bytes;
  Tensor tensor;
};

namespace {

void check(const Error& error) {
  if (!error.ok()) throw AotError(fmt::format("evaluation: {}", error.message()));
}
template <class T>
T take(Result<T> result) {
  if (!result.ok()) check(result.error());
  return std::move(*result);
}

// Calls visit(index, offset) for each element in row-major order. `offset` is the element's
// position in memory, in elements.
template <class Visit>
void for_each_element(const Tensor& tensor, Visit visit) {
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

void fill(HostInput& input, const TensorData& data, std::span<const uint8_t> dim_order) {
  for (const int64_t size : data.sizes) {
    if (size > INT32_MAX) throw AotError("evaluation: an input has a size of 2^31 or more");
    input.sizes.push_back(static_cast<int32_t>(size));
  }
  input.strides.resize(input.sizes.size());
  const std::vector<std::byte> logical = row_major_bytes(data);
  input.bytes.resize(logical.size());
  input.tensor = Tensor(data.dtype, input.sizes, dim_order, input.strides, input.bytes.data());
  const size_t width = input.tensor.element_size();
  for_each_element(input.tensor, [&](size_t from, size_t to) {
    std::memcpy(input.bytes.data() + to * width, logical.data() + from * width, width);
  });
}

void set_inputs(Method& method, std::span<const TensorData> inputs, std::deque<HostInput>& memory) {
  size_t next = 0;
  for (size_t i = 0; i < method.num_inputs(); ++i) {
    if (!method.input(i).is_tensor()) {
      check(method.set_input(i, method.input(i)));
      continue;
    }
    if (next == inputs.size()) {
      throw AotError(fmt::format("evaluation: the program has more than {} tensor inputs", next));
    }
    HostInput& input = memory.emplace_back();
    const Tensor& planned = method.input(i).unchecked_tensor();
    if (planned.rank() != inputs[next].sizes.size()) {
      throw AotError(fmt::format("evaluation: input {} has rank {}, expected {}", next,
                                 inputs[next].sizes.size(), planned.rank()));
    }
    fill(input, inputs[next++], planned.dim_order());
    check(method.set_input(i, EValue(&input.tensor)));
  }
  if (next != inputs.size()) {
    throw AotError(fmt::format("evaluation: expected {} inputs, found {}", next, inputs.size()));
  }
}

}  // namespace

TensorData copy_of(const Tensor& tensor) {
  std::vector<std::byte> bytes(tensor.nbytes());
  const size_t width = tensor.element_size();
  const auto* memory = static_cast<const std::byte*>(tensor.raw_data());
  for_each_element(tensor, [&](size_t to, size_t from) {
    std::memcpy(bytes.data() + to * width, memory + from * width, width);
  });
  return make_tensor_data(tensor.dtype(), {tensor.sizes().begin(), tensor.sizes().end()},
                          std::move(bytes));
}

struct HostMethod::Parts {
  EmittedProgram emitted;
  size_t user_outputs = 0;
  KernelRegistry kernels;
  std::unique_ptr<Method> method;
  std::deque<HostInput> inputs;
};

HostMethod::HostMethod(ExportedProgram executable, KernelTable preferred)
    : parts_(std::make_unique<Parts>()) {
  parts_->user_outputs = static_cast<size_t>(std::ranges::count(
      executable.signature.outputs, OutputSpec::Kind::kUserOutput, &OutputSpec::kind));
  Methods methods;
  methods.emplace("forward", std::move(executable));
  EmitOptions options;
  options.emit_debug_maps = false;
  parts_->emitted = emit(methods, options);

  KernelRegistry& kernels = parts_->kernels;
  if (!preferred.kernels.empty()) check(kernels.add("preferred", preferred));
  check(kernels.add("portable", portable::kernels()));
  check(kernels.add("quantized", quantized::kernels()));
  check(kernels.add("llm", llm::kernels()));
  const auto loaded = take(Program::load(take(view_buffer(parts_->emitted.pte))));
  MethodOptions method_options;
  method_options.kernels = &kernels;
  method_options.check_plan = &refuse_overlaps;
  parts_->method = take(Method::load(loaded, "forward", method_options));
}

HostMethod::~HostMethod() = default;

const MethodDebugInfo& HostMethod::debug_info() const {
  return parts_->emitted.debug_info.at("forward");
}

void HostMethod::run(std::span<const TensorData> inputs, EventTracer* tracer) {
  parts_->inputs.clear();
  set_inputs(*parts_->method, inputs, parts_->inputs);
  parts_->method->set_tracer(tracer);
  const Error error = parts_->method->execute();
  parts_->method->set_tracer(nullptr);
  check(error);
}

std::vector<TensorData> HostMethod::outputs() const {
  std::vector<TensorData> results;
  // Skips the first outputs of the method, which are the new values of mutated inputs.
  const size_t count = parts_->method->num_outputs();
  for (size_t i = count - std::min(count, parts_->user_outputs); i < count; ++i) {
    const EValue& output = parts_->method->output(i);
    if (output.is_tensor()) results.push_back(copy_of(output.unchecked_tensor()));
  }
  return results;
}

std::vector<TensorData> evaluate(const ExportedProgram& program,
                                 std::span<const TensorData> inputs) {
  ExportedProgram executable = program.copy();
  to_executable(executable);
  HostMethod method(std::move(executable));
  method.run(inputs);
  return method.outputs();
}

}  // namespace vitrine::aot
