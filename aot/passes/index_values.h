// What tensors hold as functions of the index and of positions: how a mask is seen to be causal.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/passes/linear_sum.h"
#include "aot/shapes/call.h"

namespace vitrine::aot {

struct IndexValue {
  enum class Kind : uint8_t {
    kWhole,     // `whole`, for integers
    kSeen,      // true where all conditions are >= 0
    kOneWhere,  // floats: 1 where they are, else 0
    kAdded,     // floats: 0 where they are, else -inf or the lowest number
    kNumber     // `number` everywhere, for floats
  };
  Kind kind = Kind::kWhole;
  LinearSum whole;
  std::vector<LinearSum> conditions;
  double number = 0;
  bool is_finite = false;  // of kAdded: it is not -inf
};

// For a graph that does not change meanwhile. Results are empty for whatever is not certain, such
// as tensors that anything writes to.
class IndexValues {
 public:
  explicit IndexValues(const ExportedProgram& program);

  std::optional<IndexValue> of(const Node* node);
  // The sum for a number, a node that is one, or a tensor of integers.
  std::optional<LinearSum> whole(const Argument& argument);
  // A number or a size by its symbols: "s0 + 1".
  std::optional<LinearSum> size_sum(const SymInt& size);
  // The position p of a mask [..., query, key] that shows query i the keys up to p + i.
  std::optional<LinearSum> causal_from(const Node* mask);

 private:
  using Result = std::optional<IndexValue>;
  struct Rule;
  static const std::vector<Rule>& rules();

  Result compute(const Node& node);
  Result number_node(const Node& node);
  Result placeholder(const Node& node);
  static Result table(const TensorData& data);
  Result call(const Node& node);

  std::optional<double> number_of(const Argument& argument);
  std::optional<LinearSum> expression_sum(const Expression& expression);
  Result before(const Node& node, const Node& self);

  Result arange(const Node& node, const Call& call);
  Result add_or_subtract(const Node& node, const Call& call);
  Result compare(const Node& node, const Call& call);
  Result negate(const Node& node, const Call& call);
  Result both(const Node& node, const Call& call);
  Result equal(const Node& node, const Call& call);
  Result choose(const Node& node, const Call& call);
  Result fill(const Node& node, const Call& call);
  Result subtract_from(const Node& node, const Call& call);
  Result multiply(const Node& node, const Call& call);
  Result triangle(const Node& node, const Call& call);
  Result add_masks(const Node& node, const Call& call);
  Result join(const Node& node, const Call& call);
  Result uniform(const Node& node, const Call& call);
  Result same(const Node& node, const Call& call);
  Result reshape(const Node& node, const Call& call);
  Result slice(const Node& node, const Call& call);
  Result select(const Node& node, const Call& call);
  Result index(const Node& node, const Call& call);

  const ExportedProgram& program_;
  std::map<std::string, Node*> items_;  // numbers of tensors, by the symbol they have in sizes
  std::unordered_map<const Node*, Result> known_;
  size_t depth_ = 0;
};

// Whether something writes to the tensor, itself or by a view of it.
bool is_written(const Node& node);

}  // namespace vitrine::aot
