#include "test/corruption/payload_attempt.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "backends/xnnpack/runtime/execution/xnnpack_backend.h"
#include "backends/xnnpack/runtime/reader/graph_reader.h"
#include "backends/xnnpack/runtime/reader/payload.h"
#include "runtime/executor/load_steps.h"
#include "test/corruption/guarded_memory.h"

namespace vitrine::test {
namespace {

enum class Resizing {
  kDeclared,
  kFirstShrinks,
  kOthersShrink,
  kOneRow,
  kAllInRows,
  kOneChannel,
  kEmpty,
};

class Argument {
 public:
  // XNNPACK may read XNN_EXTRA_BYTES past inputs, but must not access memory past outputs.
  explicit Argument(const xnnpack::Value& value)
      : sizes_(value.shape.dims.begin(), value.shape.dims.begin() + value.shape.rank),
        declared_(sizes_),
        dim_order_(sizes_.size()),
        strides_(sizes_.size()),
        is_output_(value.is_output),
        declared_bytes_(bytes(value)),
        memory_(declared_bytes_, is_output_ ? 0 : XNN_EXTRA_BYTES) {
    std::iota(dim_order_.begin(), dim_order_.end(), uint8_t{0});
    tensor_ = Tensor(value.argument_type(), sizes_, dim_order_, strides_, memory_.data(),
                     ShapeDynamism::kDynamicBound);
    std::memset(memory_.data(), 1, tensor_.nbytes());
    value_ = EValue(&tensor_);
  }

  // Resizes the tensor, unless the new sizes exceed its memory.
  void resize(Resizing resizing, bool is_first) {
    std::vector<int32_t> sizes = declared_;
    if (sizes.empty()) return;
    switch (resizing) {
      case Resizing::kDeclared:
        break;
      case Resizing::kFirstShrinks:
        if (is_first) sizes[0] = 1;
        break;
      case Resizing::kOthersShrink:
        if (!is_first) sizes[0] = 1;
        break;
      case Resizing::kOneRow:
        sizes[0] = 1;
        break;
      case Resizing::kAllInRows:  // the number of bytes stays equal
        for (size_t i = 1; i + 1 < sizes.size(); ++i) sizes[0] *= std::exchange(sizes[i], 1);
        break;
      case Resizing::kOneChannel:
        sizes.back() = 1;
        break;
      case Resizing::kEmpty:
        sizes[0] = 0;
        break;
    }
    static_cast<void>(tensor_.resize(sizes));
    if (is_output_) return;
    // Places the input as close to the unreadable page as XNN_EXTRA_BYTES and 16-byte alignment
    // allow.
    const size_t unused = declared_bytes_ - tensor_.nbytes();
    tensor_.set_data(memory_.data() + unused / 16 * 16);
  }
  EValue& value() { return value_; }

 private:
  static size_t bytes(const xnnpack::Value& value) {
    const size_t bytes = *xnnpack::tensor_bytes(*value.datatype, value.shape);
    return value.is_bf16 ? bytes / 2 : bytes;
  }
  std::vector<int32_t> sizes_;  // current sizes of the tensor
  std::vector<int32_t> declared_;
  std::vector<uint8_t> dim_order_;
  std::vector<int64_t> strides_;
  bool is_output_;
  size_t declared_bytes_;
  GuardedMemory memory_;
  Tensor tensor_;
  EValue value_;
};

// True if the declared sizes of the arguments are within this test's limit.
bool is_affordable(const xnnpack::Graph& graph) {
  return std::ranges::all_of(graph.values, [](const xnnpack::Value& value) {
    return value.external_id == xnnpack::kNone ||
           xnnpack::tensor_bytes(*value.datatype, value.shape).value_or(SIZE_MAX) <=
               kPayloadLimits.max_tensor_bytes;
  });
}

}  // namespace

PayloadOutcome attempt_payload(std::span<const std::byte> payload, const NamedDataMap* named_data) {
  static const XnnpackBackend backend(kPayloadLimits);
  BackendInitContext context;
  context.named_data = named_data;
  Budget memory(uint64_t{1} << 24);
  Budget steps(default_load_steps(payload.size()));
  context.memory = &memory;
  context.load_steps = &steps;
  Result<std::unique_ptr<Delegate>> loaded = backend.init(context, payload, {});
  if (!loaded.ok()) return {PayloadStage::kLoad, loaded.error().message()};

  // Reads the graph again to get the sizes of its arguments.
  Budget unbounded;
  const auto opened = xnnpack::open_payload(payload, unbounded);
  const auto read = xnnpack::read_graph(*opened->graph, unbounded);  // succeeds, since init did
  const xnnpack::Graph& graph = *read;
  if (!is_affordable(graph))
    return {PayloadStage::kExecute, "its arguments exceed the limit of this test"};
  std::deque<Argument> arguments;
  std::vector<EValue*> values;
  EValue none;
  for (const uint32_t index : graph.externals) {
    if (index == xnnpack::kNone) {
      values.push_back(&none);
    } else {
      values.push_back(&arguments.emplace_back(graph.values[index]).value());
    }
  }
  PayloadOutcome outcome;
  using enum Resizing;
  int calls = 0;  // only the first two determine the outcome
  for (const Resizing resizing : {kDeclared, kDeclared, kOneRow, kAllInRows, kFirstShrinks,
                                  kOthersShrink, kOneChannel, kDeclared, kEmpty}) {
    for (Argument& argument : arguments) argument.resize(resizing, &argument == &arguments.front());
    const Error error = (*loaded)->execute({}, values);
    if (++calls <= 2 && !error.ok() && outcome.stage == PayloadStage::kDone) {
      outcome = {PayloadStage::kExecute, error.message()};
    }
  }
  return outcome;
}

}  // namespace vitrine::test
