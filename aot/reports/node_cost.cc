#include "aot/reports/node_cost.h"

#include <algorithm>
#include <array>
#include <limits>

#include "vitrine/scalar_type.h"

namespace vitrine::delegation {
namespace {

using aot::Node;
using aot::RangeConstraints;
using aot::SymInt;
using aot::TensorSpec;

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}

uint64_t plus(uint64_t a, uint64_t b) { return a > kMost - b ? kMost : a + b; }

class Coster {
 public:
  Coster(const Node& call, const RangeConstraints& symbols) : call_(call), symbols_(symbols) {}

  uint64_t size(const SymInt& value) const {
    const std::optional<int64_t> most = aot::upper_bound(value, symbols_);
    return most.has_value() && *most >= 0 ? static_cast<uint64_t>(*most) : 1;
  }

  uint64_t elements(const TensorSpec& spec) const {
    uint64_t count = 1;
    for (const SymInt& each : spec.sizes) count = times(count, size(each));
    return count;
  }

  uint64_t elements(const aot::Value& value) const {
    if (const TensorSpec* tensor = value.tensor()) return elements(*tensor);
    uint64_t count = 0;
    if (const aot::Value::Items* items = value.items()) {
      for (const aot::Value& item : *items) count = plus(count, elements(item));
    }
    return count;
  }

  uint64_t bytes(const aot::Value& value) const {
    if (const TensorSpec* tensor = value.tensor()) {
      return times(elements(*tensor), element_size(tensor->dtype));
    }
    uint64_t sum = 0;
    if (const aot::Value::Items* items = value.items()) {
      for (const aot::Value& item : *items) sum = plus(sum, bytes(item));
    }
    return sum;
  }

  const TensorSpec* tensor(size_t index) const {
    const aot::Argument* arg = call_.arg(index);
    return arg == nullptr || arg->node() == nullptr ? nullptr : arg->node()->tensor();
  }

  const Node& call() const { return call_; }
  uint64_t results() const { return elements(call_.meta.value); }

 private:
  const Node& call_;
  const RangeConstraints& symbols_;
};

using Flops = uint64_t (*)(const Coster&);

uint64_t none(const Coster&) { return 0; }
uint64_t by_result(const Coster& cost) { return cost.results(); }
uint64_t by_input(const Coster& cost) {
  const TensorSpec* input = cost.tensor(0);
  return input == nullptr ? cost.results() : cost.elements(*input);
}

// Each element of the result (or of the input, if transposed) is multiplied with a filter.
uint64_t of_convolution(const Coster& cost) {
  const TensorSpec* weight = cost.tensor(1);
  if (weight == nullptr || weight->sizes.empty()) return cost.results();
  uint64_t filter = 2;
  for (size_t i = 1; i < weight->sizes.size(); ++i) {
    filter = times(filter, cost.size(weight->sizes[i]));
  }
  const aot::Argument* transposed = cost.call().arg(6);
  const bool* is_transposed = transposed == nullptr ? nullptr : transposed->get<bool>();
  return times(is_transposed != nullptr && *is_transposed ? by_input(cost) : cost.results(),
               filter);
}

uint64_t of_product(const Coster& cost, size_t left) {
  const TensorSpec* input = cost.tensor(left);
  if (input == nullptr || input->sizes.empty()) return cost.results();
  return times(cost.results(), times(2, cost.size(input->sizes.back())));
}
uint64_t of_mm(const Coster& cost) { return of_product(cost, 0); }
uint64_t of_addmm(const Coster& cost) { return of_product(cost, 1); }

// Counts one window per element of the result, since windows may overlap.
uint64_t of_pooling(const Coster& cost) {
  uint64_t window = 1;
  const aot::Argument* sizes = cost.call().arg(1);
  if (sizes != nullptr && sizes->list() != nullptr) {
    for (const aot::Argument& each : *sizes->list()) {
      if (const int64_t* size = each.get<int64_t>(); size != nullptr && *size > 0) {
        window = times(window, static_cast<uint64_t>(*size));
      }
    }
  }
  return times(cost.results(), window);
}

struct FlopsRow {
  std::string_view op;  // without namespace and overload
  Flops flops;
};

constexpr std::array kFlopsRows = {
    FlopsRow{"_clone_dim_order", none},
    FlopsRow{"_empty_dim_order", none},
    FlopsRow{"_native_batch_norm_legit_no_training", by_result},
    FlopsRow{"_to_dim_order_copy", none},
    FlopsRow{"addmm", of_addmm},
    FlopsRow{"alias_copy", none},
    FlopsRow{"amax", by_input},
    FlopsRow{"amin", by_input},
    FlopsRow{"any", by_input},
    FlopsRow{"argmax", by_input},
    FlopsRow{"argmin", by_input},
    FlopsRow{"as_strided_copy", none},
    FlopsRow{"avg_pool2d", of_pooling},
    FlopsRow{"baddbmm", of_addmm},
    FlopsRow{"bmm", of_mm},
    FlopsRow{"cat", none},
    FlopsRow{"clone", none},
    FlopsRow{"constant_pad_nd", none},
    FlopsRow{"convolution", of_convolution},
    FlopsRow{"copy", none},
    FlopsRow{"copy_", none},
    FlopsRow{"detach_copy", none},
    FlopsRow{"embedding", none},
    FlopsRow{"empty", none},
    FlopsRow{"expand_copy", none},
    FlopsRow{"flip", none},
    FlopsRow{"full", none},
    FlopsRow{"full_like", none},
    FlopsRow{"gather", none},
    FlopsRow{"index", none},
    FlopsRow{"index_put", none},
    FlopsRow{"index_select", none},
    FlopsRow{"linear", of_mm},
    FlopsRow{"max_pool2d", of_pooling},
    FlopsRow{"max_pool2d_with_indices", of_pooling},
    FlopsRow{"mean", by_input},
    FlopsRow{"mm", of_mm},
    FlopsRow{"permute_copy", none},
    FlopsRow{"prod", by_input},
    FlopsRow{"repeat", none},
    FlopsRow{"scatter", none},
    FlopsRow{"select_copy", none},
    FlopsRow{"slice_copy", none},
    FlopsRow{"slice_scatter", none},
    FlopsRow{"split_copy", none},
    FlopsRow{"split_with_sizes_copy", none},
    FlopsRow{"squeeze_copy", none},
    FlopsRow{"stack", none},
    FlopsRow{"sum", by_input},
    FlopsRow{"t_copy", none},
    FlopsRow{"transpose_copy", none},
    FlopsRow{"unbind_copy", none},
    FlopsRow{"unsqueeze_copy", none},
    FlopsRow{"var", by_input},
    FlopsRow{"view_copy", none},
};
static_assert(std::ranges::is_sorted(kFlopsRows, {}, &FlopsRow::op));

}  // namespace

NodeCost cost_of(const Node& call, const RangeConstraints& symbols) {
  const Coster cost(call, symbols);
  NodeCost made;
  if (!call.is_call() || call.target().dialect() == aot::Dialect::kPython) return made;
  const auto row = std::ranges::lower_bound(kFlopsRows, call.target().op(), {}, &FlopsRow::op);
  const bool is_known = row != kFlopsRows.end() && row->op == call.target().op();
  made.flops = is_known ? row->flops(cost) : by_result(cost);
  made.bytes = cost.bytes(call.meta.value);
  for (const Node* input : call.inputs())
    made.bytes = plus(made.bytes, cost.bytes(input->meta.value));
  return made;
}

}  // namespace vitrine::delegation
