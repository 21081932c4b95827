#include "test/backends/xnnpack/fault_walk_models.h"

#include <utility>

#include "test/backends/xnnpack/payload_builder.h"

namespace vitrine::test {
namespace {

constexpr auto kDynamic = schema::program::TensorShapeDynamism::DYNAMIC_BOUND;

// A method whose tensors are consecutive in planned memory.
struct PlannedMethod {
  explicit PlannedMethod(MethodSpec& method) : spec(method) { spec.buffer_sizes = {0, 0}; }

  int tensor(std::vector<int32_t> sizes, ScalarType dtype = ScalarType::kFloat) {
    int64_t& end = spec.buffer_sizes[1];
    const auto offset = static_cast<uint64_t>(end);
    int64_t bytes = 8;  // size of the widest element
    for (const int32_t size : sizes) bytes *= size;
    end += (bytes + 15) / 16 * 16;
    return spec.tensor({.dtype = dtype,
                        .sizes = std::move(sizes),
                        .planned = Planned{1, offset},
                        .dynamism = kDynamic});
  }
  // Calls a kernel with `args` and an output of these sizes. Returns the output.
  int call(const char* name, const char* overload, std::vector<int32_t> args,
           std::vector<int32_t> sizes) {
    const int out = tensor(std::move(sizes));
    args.insert(args.end(), {out, out});
    spec.kernel_call(spec.op(name, overload), std::move(args));
    return out;
  }
  void delegate(PayloadBuilder& b, std::vector<int> args) {
    spec.delegate_call(spec.delegate({.id = "XnnpackBackend", .payload = b.build()}),
                       std::move(args));
  }

  MethodSpec& spec;
};

// Returns a program that only calls a delegate. The tensors have the dims that the payload
// declares.
AlignedBytes delegate_program(PayloadBuilder& b) {
  ProgramBuilder builder;
  PlannedMethod method(builder.method("forward"));
  std::vector<int> arguments;
  for (const PayloadValue& value : b.values) {
    if (value.external_id == kInvalidId) continue;
    arguments.push_back(method.tensor({value.dims.begin(), value.dims.end()}));
    (value.flags == 1 ? method.spec.inputs : method.spec.outputs).push_back(arguments.back());
  }
  method.delegate(b, arguments);
  return builder.build();
}

Bytes weights(size_t count) {
  std::vector<float> numbers(count);
  for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i * 7 % 33) / 32 - 0.5f;
  return bytes_of(numbers);
}

}  // namespace

AlignedBytes dynamically_quantized_linear() {
  PayloadBuilder b;
  const uint32_t x = b.input({4, 32}), y = b.output({4, 8});
  const uint32_t quantized = b.dynamically_quantized(x, 1);
  const uint32_t filter =
      b.constant<int8_t>({8, 32}, std::vector<int8_t>(8 * 32, 3), Type::xnn_datatype_qcint8);
  b.values[filter].per_channel = PerChannel{std::vector<float>(8, 0.25f)};
  b.fully_connected(quantized, filter, b.constant<float>({8}, std::vector<float>(8, 1)), y);
  return delegate_program(b);
}

AlignedBytes dynamically_quantized_convolutions() {
  PayloadBuilder b;
  const uint32_t quantized = b.dynamically_quantized(b.input({4, 5, 5, 4}), 3);
  const uint32_t filter =
      b.constant<int8_t>({2, 3, 3, 4}, std::vector<int8_t>(72, 3), Type::xnn_datatype_qcint8);
  b.values[filter].per_channel = PerChannel{std::vector<float>(2, 0.25f)};
  const WindowSpec w = window_of(3, 3, 4, 2).padded(1);
  for (const Tag tag : {Tag::XNNConv2d, Tag::XNNConvTranspose2d}) {
    b.convolution(tag, w, quantized, filter, kInvalidId, b.output({4, 5, 5, 2}));
  }
  return delegate_program(b);
}

AlignedBytes two_delegates() {
  PayloadBuilder b = square_plus({4, 512});
  ProgramBuilder builder;
  PlannedMethod method(builder.method("forward"));
  int last = method.tensor({4, 512});
  method.spec.inputs = {last};
  for (int i = 0; i < 2; ++i) {
    const int next = method.tensor({4, 512});
    method.delegate(b, {last, next});
    last = next;
  }
  method.spec.outputs = {last};
  return builder.build();
}

AlignedBytes windows() {
  PayloadBuilder b;
  const uint32_t x = b.input({4, 8, 8});
  const uint32_t rows = b.internal({1, 4, 8, 8}), channels = b.internal({1, 8, 8, 4});
  b.reshape({1, 0, 8, 8}, x, rows);
  b.reshape({1, 8, 8, 0}, x, channels);
  const WindowSpec w = window_of(3, 3, 8, 2).padded(1).strided(2, 2);
  const WindowSpec undilated = w.dilated(0, 0);  // as in payloads of ExecuTorch
  b.pooling(Tag::XNNAvgPooling2d, undilated, rows, b.output({1, 2, 4, 8}));
  b.pooling(Tag::XNNMaxPooling2d, w, rows, b.output({1, 2, 4, 8}));
  b.unary(Tag::XNNGlobalAvgPooling2d, channels, b.output({1, 1, 1, 4}), /*flags: keep dims=*/0x40);
  const uint32_t filter = b.constant<float>({2, 3, 3, 8}, std::vector<float>(144, 0.5f));
  b.convolution(Tag::XNNConvTranspose2d, w, rows, filter, kInvalidId, b.output({1, 7, 15, 2}));
  return delegate_program(b);
}

AlignedBytes lstm() {
  constexpr int32_t kBatch = 4, kSteps = 2, kInputs = 8, kState = 128, kGates = 4 * kState;
  const std::vector<int32_t> state_sizes = {kBatch, kState};
  const std::vector<int32_t> gate_sizes = {kBatch, kGates};
  ProgramBuilder builder;
  PlannedMethod method(builder.method("forward"));
  const auto constant = [&](std::vector<int32_t> sizes, size_t count) {
    return method.spec.tensor(
        {.sizes = std::move(sizes), .data = builder.constant(weights(count))});
  };
  const int of_input = constant({kGates, kInputs}, kGates * kInputs);
  const int of_state = constant({kGates, kState}, kGates * kState);
  const int bias = constant({kGates}, kGates);
  const int none = method.spec.none();
  const int one = method.spec.integer(1);
  const auto call = [&](const char* name, std::vector<int32_t> args) {
    return method.call(name, "out", std::move(args), state_sizes);
  };

  const int x = method.tensor({kBatch, kSteps, kInputs});
  int h = method.tensor(state_sizes);
  int c = method.tensor(state_sizes);
  method.spec.inputs = {x, h, c};
  for (int64_t step = 0; step < kSteps; ++step) {
    const int now = method.call("aten::select_copy", "int_out", {x, one, method.spec.integer(step)},
                                {kBatch, kInputs});
    const int from_x = method.call("aten::linear", "out", {now, of_input, bias}, gate_sizes);
    const int from_h = method.call("aten::linear", "out", {h, of_state, none}, gate_sizes);
    const int gates = method.call("aten::add", "out", {from_x, from_h, one}, gate_sizes);
    const auto gate = [&](int64_t number, const char* function) {
      const int begin = method.spec.integer(number * kState);
      const int end = method.spec.integer((number + 1) * kState);
      return call(function, {method.call("aten::slice_copy", "Tensor_out",
                                         {gates, one, begin, end, one}, state_sizes)});
    };
    const int kept = call("aten::mul", {gate(1, "aten::sigmoid"), c});
    const int added = call("aten::mul", {gate(0, "aten::sigmoid"), gate(2, "aten::tanh")});
    c = call("aten::add", {kept, added, one});
    h = call("aten::mul", {gate(3, "aten::sigmoid"), call("aten::tanh", {c})});
  }
  method.spec.outputs = {h, c};
  return builder.build();
}

AlignedBytes two_branches() {
  constexpr int32_t kLength = 2048;  // 32 KiB of temporary memory
  ProgramBuilder builder;
  PlannedMethod method(builder.method("forward"));
  MethodSpec& spec = method.spec;
  const int x = method.tensor({4, kLength});
  const int flag = spec.tensor({.dtype = ScalarType::kBool, .sizes = {1}});
  const int sorted = method.tensor({4, kLength});
  const int places = method.tensor({4, kLength}, ScalarType::kLong);
  spec.inputs = {x, flag};
  spec.outputs = {sorted, places};
  const int sort = spec.op("aten::sort", "values");
  const int no = spec.boolean(false);
  const int both = spec.tensor_list({sorted, places});
  spec.jump_false(flag, 3);
  for (int64_t dim = 0; dim < 2; ++dim) {
    spec.kernel_call(sort, {x, spec.integer(dim), no, sorted, places, both});
    if (dim == 0) spec.jump_false(no, 4);
  }
  return builder.build();
}

AlignedBytes methods_that_share_state() {
  ProgramBuilder builder;
  for (const char* name : {"forward", "second"}) {
    MethodSpec& method = builder.method(name);
    method.buffer_sizes = {0, 64, 64};
    const int x = method.tensor({.sizes = {8}, .planned = Planned{1, 0}});
    const int y = method.tensor({.sizes = {8}, .planned = Planned{1, 32}});
    const int state = method.tensor({.sizes = {8}, .planned = Planned{2, 0}});
    const int one = method.integer(1);
    method.inputs = {x};
    method.outputs = {y};
    const int add = method.op("aten::add", "out");
    method.kernel_call(add, {x, x, one, state, state});
    method.kernel_call(add, {state, x, one, y, y});
  }
  return builder.build();
}

}  // namespace vitrine::test
