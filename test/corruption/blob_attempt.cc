#include "test/corruption/blob_attempt.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <vector>

#include "backends/xnnpack/runtime/blob.h"
#include "backends/xnnpack/runtime/graph_reader.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "runtime/executor/load_steps.h"
#include "test/corruption/guarded_memory.h"

namespace vitrine::test {
namespace {

class Argument {
 public:
  // XNNPACK may read a little past inputs; past outputs it may do nothing.
  explicit Argument(const xnnpack::Value& value)
      : sizes_(value.shape.dims.begin(), value.shape.dims.begin() + value.shape.rank),
        dim_order_(sizes_.size()),
        strides_(sizes_.size()),
        memory_(bytes(value), value.is_output ? 0 : XNN_EXTRA_BYTES) {
    std::iota(dim_order_.begin(), dim_order_.end(), uint8_t{0});
    tensor_ = Tensor(*value.datatype->argument, sizes_, dim_order_, strides_, memory_.data(),
                     ShapeDynamism::kDynamicBound);
    std::memset(memory_.data(), 1, tensor_.nbytes());
    value_ = EValue(&tensor_);
  }

  void set_batch(int32_t batch) {
    std::vector<int32_t> sizes(tensor_.sizes().begin(), tensor_.sizes().end());
    if (sizes.empty() || sizes[0] < batch) return;
    sizes[0] = batch;
    static_cast<void>(tensor_.resize(sizes));
  }
  EValue& value() { return value_; }

 private:
  static size_t bytes(const xnnpack::Value& value) {
    return *xnnpack::tensor_bytes(*value.datatype, value.shape);
  }
  std::vector<int32_t> sizes_;
  std::vector<uint8_t> dim_order_;
  std::vector<int64_t> strides_;
  GuardedMemory memory_;
  Tensor tensor_;
  EValue value_;
};

// Whether there is memory for the arguments that it declares.
bool is_affordable(const xnnpack::Graph& graph) {
  return std::ranges::all_of(graph.values, [](const xnnpack::Value& value) {
    return value.external_id == xnnpack::kNone ||
           xnnpack::tensor_bytes(*value.datatype, value.shape).value_or(SIZE_MAX) <=
               kBlobLimits.max_tensor_bytes;
  });
}

}  // namespace

BlobOutcome attempt_blob(std::span<const std::byte> blob, const NamedDataMap* named_data) {
  static const XnnpackBackend backend(kBlobLimits);
  BackendInitContext context;
  context.named_data = named_data;
  Budget memory(uint64_t{1} << 24);
  Budget steps(default_load_steps(blob.size()));
  context.memory = &memory;
  context.load_steps = &steps;
  Result<std::unique_ptr<Delegate>> loaded = backend.init(context, blob, {});
  if (!loaded.ok()) return {BlobStage::kLoad, loaded.error().message()};

  // Parses the graph again for the sizes of its arguments.
  Budget unbounded;
  const auto opened = xnnpack::open_blob(blob, unbounded);
  const auto read = xnnpack::read_graph(*opened->graph, unbounded);  // as init did: it is sound
  const xnnpack::Graph& graph = *read;
  if (!is_affordable(graph)) return {BlobStage::kExecute, "its arguments are too large"};
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
  BlobOutcome outcome;
  for (const int32_t batch : {-1, -1, 1, 0}) {
    if (batch >= 0) {
      for (Argument& argument : arguments) argument.set_batch(batch);
    }
    const Error error = (*loaded)->execute({}, values);
    if (!error.ok() && outcome.stage == BlobStage::kDone && batch < 0) {
      outcome = {BlobStage::kExecute, error.message()};
    }
  }
  return outcome;
}

}  // namespace vitrine::test
