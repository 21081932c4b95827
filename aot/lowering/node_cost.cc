#include "aot/lowering/node_cost.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "aot/operators/call.h"
#include "operators/flops.h"

namespace vitrine::delegation {
namespace {

using aot::Node;
using aot::RangeConstraints;
using aot::SymInt;
using aot::TensorSpec;
using aot::Value;

uint64_t saturated(double count) {
  return count >= 0x1p64 ? std::numeric_limits<uint64_t>::max() : static_cast<uint64_t>(count);
}

std::string scaled(uint64_t value, double step, const std::array<const char*, 5>& units) {
  auto number = static_cast<double>(value);
  size_t unit = 0;
  for (; number >= step && unit + 1 < units.size(); ++unit) number /= step;
  return unit == 0 ? fmt::format("{} {}", value, units[0])
                   : fmt::format("{:.1f} {}", number, units[unit]);
}

// The tensor sizes and integer arguments of a call, for FLOP rules. A dynamic size counts as its
// upper bound, or as 1 if unbounded.
class GraphCall : public CallSizes {
 public:
  GraphCall(const Node& node, const RangeConstraints& symbols)
      : node_(node), call_(node), symbols_(symbols) {}

  double size(const SymInt& value) const {
    const std::optional<int64_t> max = aot::upper_bound(value, symbols_);
    return max.has_value() && *max >= 0 ? static_cast<double>(*max) : 1;
  }
  double elements(const TensorSpec& spec) const {
    double count = 1;
    for (const SymInt& each : spec.sizes) count *= size(each);
    return count;
  }
  double bytes(const Value& value) const {
    if (const TensorSpec* tensor = value.tensor()) {
      return elements(*tensor) * static_cast<double>(element_size(tensor->dtype));
    }
    double sum = 0;
    if (const Value::Items* items = value.items()) {
      for (const Value& item : *items) sum += bytes(item);
    }
    return sum;
  }

  std::optional<double> result_elements() const override {
    const Value* value = &node_.meta.value;
    while (value->items() != nullptr && !value->items()->empty()) value = &value->items()->front();
    return value->tensor() == nullptr ? std::nullopt : std::optional(elements(*value->tensor()));
  }
  std::optional<double> elements(std::string_view argument) const override {
    const TensorSpec* tensor = call_.optional_tensor(argument);
    return tensor == nullptr ? std::nullopt : std::optional(elements(*tensor));
  }
  std::vector<double> sizes(std::string_view argument) const override {
    std::vector<double> found;
    if (const TensorSpec* tensor = call_.optional_tensor(argument)) {
      for (const SymInt& each : tensor->sizes) found.push_back(size(each));
    }
    return found;
  }
  std::vector<int64_t> integers(std::string_view argument) const override {
    const aot::Argument* found = call_.find(argument);
    if (found == nullptr) return {};
    if (const bool* flag = found->get<bool>()) return {*flag ? 1 : 0};
    if (const int64_t* number = found->get<int64_t>()) return {*number};
    std::vector<int64_t> numbers;
    if (const aot::ArgumentList* list = found->list()) {
      for (const aot::Argument& each : *list) {
        if (const int64_t* number = each.get<int64_t>()) numbers.push_back(*number);
      }
    }
    return numbers;
  }

 private:
  const Node& node_;
  aot::Call call_;
  const RangeConstraints& symbols_;
};

}  // namespace

NodeCost cost_of(const Node& node, const RangeConstraints& symbols) {
  if (!node.is_call() || node.target().dialect() == aot::Dialect::kPython) return {.flops = 0};
  const GraphCall call(node, symbols);
  const Operator* op = operator_of(node.target());
  const std::optional<double> flops = op == nullptr ? std::nullopt : count_flops(*op, call);
  double bytes = call.bytes(node.meta.value);
  for (const Node* input : node.inputs()) bytes += call.bytes(input->meta.value);
  return {.flops = flops ? std::optional(saturated(*flops)) : std::nullopt,
          .bytes = saturated(bytes)};
}

std::string flops_text(uint64_t flops) {
  return scaled(flops, 1000, {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"});
}

std::string bytes_text(uint64_t bytes) {
  return scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}

}  // namespace vitrine::delegation
