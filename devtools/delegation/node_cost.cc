#include "devtools/delegation/node_cost.h"

#include <algorithm>
#include <array>
#include <limits>

#include "runtime/core/scalar_type.h"

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

// Each element of the result (of the input, if transposed) meets a filter.
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

// Windows overlap: an element of the result meets one window.
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

struct Row {
  std::string_view op;  // without namespace and overload
  Flops flops;
};

constexpr std::array kRows = {
    Row{"_clone_dim_order", none},
    Row{"_empty_dim_order", none},
    Row{"_native_batch_norm_legit_no_training", by_result},
    Row{"_to_dim_order_copy", none},
    Row{"addmm", of_addmm},
    Row{"alias_copy", none},
    Row{"amax", by_input},
    Row{"amin", by_input},
    Row{"any", by_input},
    Row{"argmax", by_input},
    Row{"argmin", by_input},
    Row{"as_strided_copy", none},
    Row{"avg_pool2d", of_pooling},
    Row{"baddbmm", of_addmm},
    Row{"bmm", of_mm},
    Row{"cat", none},
    Row{"clone", none},
    Row{"constant_pad_nd", none},
    Row{"convolution", of_convolution},
    Row{"copy", none},
    Row{"copy_", none},
    Row{"detach_copy", none},
    Row{"embedding", none},
    Row{"empty", none},
    Row{"expand_copy", none},
    Row{"flip", none},
    Row{"full", none},
    Row{"full_like", none},
    Row{"gather", none},
    Row{"index", none},
    Row{"index_put", none},
    Row{"index_select", none},
    Row{"linear", of_mm},
    Row{"max_pool2d", of_pooling},
    Row{"max_pool2d_with_indices", of_pooling},
    Row{"mean", by_input},
    Row{"mm", of_mm},
    Row{"permute_copy", none},
    Row{"prod", by_input},
    Row{"repeat", none},
    Row{"scatter", none},
    Row{"select_copy", none},
    Row{"slice_copy", none},
    Row{"slice_scatter", none},
    Row{"split_copy", none},
    Row{"split_with_sizes_copy", none},
    Row{"squeeze_copy", none},
    Row{"stack", none},
    Row{"sum", by_input},
    Row{"t_copy", none},
    Row{"transpose_copy", none},
    Row{"unbind_copy", none},
    Row{"unsqueeze_copy", none},
    Row{"var", by_input},
    Row{"view_copy", none},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::op));

}  // namespace

NodeCost cost_of(const Node& call, const RangeConstraints& symbols) {
  const Coster cost(call, symbols);
  NodeCost made;
  if (!call.is_call() || call.target().dialect() == aot::Dialect::kPython) return made;
  const auto row = std::ranges::lower_bound(kRows, call.target().op(), {}, &Row::op);
  const bool is_known = row != kRows.end() && row->op == call.target().op();
  made.flops = is_known ? row->flops(cost) : by_result(cost);
  made.bytes = cost.bytes(call.meta.value);
  for (const Node* input : call.inputs())
    made.bytes = plus(made.bytes, cost.bytes(input->meta.value));
  return made;
}

}  // namespace vitrine::delegation
