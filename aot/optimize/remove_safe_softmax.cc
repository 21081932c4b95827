#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "aot/operators/call.h"
#include "aot/optimize/rewriting.h"
#include "aot/optimize/rules.h"

namespace vitrine::aot {
namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

std::optional<double> number(const Node& node, size_t index) {
  const Argument* given = node.arg(index);
  if (given == nullptr) return {};
  if (const auto* real = given->get<double>()) return *real;
  if (const auto* integer = given->get<int64_t>()) return static_cast<double>(*integer);
  return {};
}

// True if the call's argument "dim" is the last dim of its first argument.
bool is_over_last(const Node& node) {
  const Node* input = tensor_arg(node, 0);
  if (input == nullptr || input->tensor()->rank() == 0) return false;
  const size_t rank = input->tensor()->rank();
  return wrapped(Call(node).integer("dim"), rank) + 1 == rank;
}

// True if every row of a constant has an element for which `predicate` is true.
template <class T, class Predicate>
bool each_row_has(const TensorData& data, Predicate predicate) {
  const std::vector<std::byte> bytes = row_major_bytes(data);
  const size_t length = data.sizes.empty() ? 1 : static_cast<size_t>(data.sizes.back());
  const size_t count = bytes.size() / sizeof(T);
  if (length == 0) return true;
  for (size_t row = 0; row < count; row += length) {
    bool has = false;
    for (size_t i = row; i < row + length && !has; ++i) {
      T value{};
      std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
      has = predicate(value);
    }
    if (!has) return false;
  }
  return true;
}

class ScoreAnalysis {
 public:
  explicit ScoreAnalysis(const ExportedProgram& program) : program_(program) {}

  // True if every row of `scores` is known to have an unmasked element. Results of matrix products
  // count as unmasked.
  bool has_unmasked_rows(const Node* scores) const {
    constexpr std::array<std::string_view, 5> kProducts = {
        "aten.bmm.default", "aten.mm.default", "aten.addmm.default", "aten.linear.default",
        "aten.matmul.default"};
    // Operators that keep the values of the scores. keeps_rows() checks the size of the last dim.
    constexpr std::array<std::string_view, 4> kSame = {
        "aten.expand_copy.default", "aten.unsqueeze_copy.default", "aten.clone.default",
        "dim_order_ops._clone_dim_order.default"};
    if (scores == nullptr || !scores->is_call() || scores->tensor() == nullptr) return false;
    const std::string& target = scores->target().name();
    if (std::ranges::count(kProducts, target) != 0) return true;
    if (std::ranges::count(kSame, target) != 0 || target == "aten.view_copy.default") {
      return keeps_rows(*scores) && has_unmasked_rows(tensor_arg(*scores, 0));
    }
    if (target == "aten.mul.Scalar" || target == "aten.div.Scalar") {
      const std::optional<double> factor = number(*scores, 1);
      return factor && std::isfinite(*factor) && *factor > 0 &&
             has_unmasked_rows(tensor_arg(*scores, 0));
    }
    if (target == "aten.mul.Tensor" || target == "aten.div.Tensor") {
      return is_positive(tensor_arg(*scores, 1)) && has_unmasked_rows(tensor_arg(*scores, 0));
    }
    if (target == "aten.add.Tensor") return is_masked_sum(*scores);
    return target == "aten.where.self" && is_masked_choice(*scores);
  }

 private:
  static bool keeps_rows(const Node& node) {
    const Node* input = tensor_arg(node, 0);
    if (input == nullptr || input->tensor()->rank() == 0 || node.tensor()->rank() == 0) {
      return false;
    }
    return input->tensor()->sizes.back() == node.tensor()->sizes.back();
  }

  bool is_positive(const Node* node) const {
    const TensorData* data = constant_of(program_, node);
    return data != nullptr && data->dtype == ScalarType::kFloat && data->numel() == 1 &&
           each_row_has<float>(*data, [](float x) { return std::isfinite(x) && x > 0; });
  }

  // Returns the data of a mask that is combined with scores. Null if the mask is not constant, or
  // if the scores are broadcast along the last dim.
  const TensorData* mask_data(const Node& sum, const Node* mask, const Node* scores) const {
    const TensorData* data = constant_of(program_, mask);
    if (data == nullptr || scores == nullptr || scores->tensor()->rank() == 0) return nullptr;
    const std::vector<SymInt>& sizes = sum.tensor()->sizes;
    return scores->tensor()->sizes.back() == sizes.back() ? data : nullptr;
  }

  // True for a call that computes scores + mask, if every row of the mask has a finite element.
  bool is_masked_sum(const Node& sum) const {
    if (Call(sum).real("alpha", 1.0) != 1.0) return false;
    for (const size_t side : {0U, 1U}) {
      const Node* mask = tensor_arg(sum, side);
      const Node* scores = tensor_arg(sum, 1 - side);
      const TensorData* data = mask_data(sum, mask, scores);
      if (data == nullptr || data->dtype != ScalarType::kFloat) continue;
      // Another mask in the scores could mask the elements that this mask leaves unmasked.
      return !may_contain_masks(scores) &&
             each_row_has<float>(*data, [](float x) { return std::isfinite(x); });
    }
    return false;
  }

  // True for where(mask, scores, x) and where(mask, x, scores), if the mask selects a score in
  // every row.
  bool is_masked_choice(const Node& choice) const {
    for (const size_t side : {1U, 2U}) {
      const Node* scores = tensor_arg(choice, side);
      const TensorData* data = mask_data(choice, tensor_arg(choice, 0), scores);
      if (data == nullptr || data->dtype != ScalarType::kBool || may_contain_masks(scores))
        continue;
      return each_row_has<uint8_t>(*data, [&](uint8_t x) { return (x != 0) == (side == 1); });
    }
    return false;
  }

  // True if some elements of `scores` may already be masked.
  bool may_contain_masks(const Node* scores) const {
    for (const Node* node = scores; node != nullptr && node->is_call();
         node = tensor_arg(*node, 0)) {
      if (calls(node, "aten.add.Tensor") || calls(node, "aten.where.self")) return true;
      if (calls(node, "aten.bmm.default") || calls(node, "aten.mm.default") ||
          calls(node, "aten.matmul.default")) {
        return !has_unmasked_rows(scores);
      }
    }
    return true;
  }

  const ExportedProgram& program_;
};

// Returns the tensor whose fully masked rows `mask` marks, or null.
const Node* masked_tensor(const Node* mask) {
  if (!calls(mask, "aten.logical_not.default")) return nullptr;
  const Node* any = tensor_arg(*mask, 0);
  if (!calls(any, "aten.any.dim") || !is_over_last(*any)) return nullptr;
  const Node* unmasked = tensor_arg(*any, 0);
  if (!calls(unmasked, "aten.logical_not.default")) return nullptr;
  const Node* masked = tensor_arg(*unmasked, 0);
  if (!calls(masked, "aten.eq.Scalar") || number(*masked, 1) != kMasked) return nullptr;
  return tensor_arg(*masked, 0);
}

bool is_zero(const ExportedProgram& program, const Node* node) {
  if (calls(node, "aten.full_like.default") || calls(node, "aten.full.default")) {
    return number(*node, 1) == 0;
  }
  const TensorData* data = constant_of(program, node);
  if (data == nullptr) return false;
  const std::vector<std::byte> bytes = row_major_bytes(*data);
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

void remove_safe_softmax(ExportedProgram& program, Changes& changes) {
  const ScoreAnalysis analysis(program);
  for_each_call(*program.graph, [&](Node& node) {
    if (!calls(&node, "aten.where.self")) return;
    Node* softmax = tensor_arg(node, 2);
    if (!calls(softmax, "aten._softmax.default") || !is_over_last(*softmax)) return;
    const Node* scores = masked_tensor(tensor_arg(node, 0));
    if (scores == nullptr || scores != tensor_arg(*softmax, 0)) return;
    if (!is_zero(program, tensor_arg(node, 1))) return;
    if (!have_same_layout(*softmax->tensor(), *node.tensor()) || !can_replace(node, *softmax))
      return;
    if (!analysis.has_unmasked_rows(scores)) return;
    changes.remove("safe softmax simplified, because no row is fully masked", node);
    replace_node(program, node, *softmax);
  });
  const size_t before = program.graph->nodes().size();
  program.graph->remove_dead_code();
  changes.add("call removed, because only a safe softmax needed it",
              before - program.graph->nodes().size(), before - program.graph->nodes().size());
}

}  // namespace vitrine::aot
