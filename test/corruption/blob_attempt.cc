#include "test/corruption/blob_attempt.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "backends/xnnpack/runtime/blob.h"
#include "backends/xnnpack/runtime/graph_reader.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"
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
  // XNNPACK may read a little past inputs; past outputs it may do nothing.
  explicit Argument(const xnnpack::Value& value)
      : sizes_(value.shape.dims.begin(), value.shape.dims.begin() + value.shape.rank),
        declared_(sizes_),
        dim_order_(sizes_.size()),
        strides_(sizes_.size()),
        is_output_(value.is_output),
        declared_bytes_(bytes(value)),
        memory_(declared_bytes_, is_output_ ? 0 : XNN_EXTRA_BYTES) {
    std::iota(dim_order_.begin(), dim_order_.end(), uint8_t{0});
    tensor_ = Tensor(*value.datatype->argument, sizes_, dim_order_, strides_, memory_.data(),
                     ShapeDynamism::kDynamicBound);
    std::memset(memory_.data(), 1, tensor_.nbytes());
    value_ = EValue(&tensor_);
  }

  // Sizes that it has no room for stay as they are.
  void resize(Resizing how, bool is_first) {
    std::vector<int32_t> sizes = declared_;
    if (sizes.empty()) return;
    switch (how) {
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
      case Resizing::kAllInRows:  // as many bytes
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
    // What is read ends where it may, whatever the size.
    const size_t unused = declared_bytes_ - tensor_.nbytes();
    tensor_.set_data(memory_.data() + unused / 16 * 16);
  }
  EValue& value() { return value_; }

 private:
  static size_t bytes(const xnnpack::Value& value) {
    return *xnnpack::tensor_bytes(*value.datatype, value.shape);
  }
  std::vector<int32_t> sizes_;  // the tensor's
  std::vector<int32_t> declared_;
  std::vector<uint8_t> dim_order_;
  std::vector<int64_t> strides_;
  bool is_output_;
  size_t declared_bytes_;
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
  using enum Resizing;
  int calls = 0;  // the outcome is that of the first two
  for (const Resizing how : {kDeclared, kDeclared, kOneRow, kAllInRows, kFirstShrinks,
                             kOthersShrink, kOneChannel, kDeclared, kEmpty}) {
    for (Argument& argument : arguments) argument.resize(how, &argument == &arguments.front());
    const Error error = (*loaded)->execute({}, values);
    if (++calls <= 2 && !error.ok() && outcome.stage == BlobStage::kDone) {
      outcome = {BlobStage::kExecute, error.message()};
    }
  }
  return outcome;
}

}  // namespace vitrine::test
