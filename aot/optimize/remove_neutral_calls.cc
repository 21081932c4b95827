#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

#include "aot/operators/call.h"
#include "aot/optimize/rewriting.h"
#include "aot/optimize/rules.h"

namespace vitrine::aot {
namespace {

struct NeutralOperand {
  std::string_view target;
  double operand;
  bool is_commutative;
};
// The neutral operand of an addition is -0.0 and not 0.0, because -0.0 + 0.0 is 0.0.
constexpr std::array<NeutralOperand, 8> kNeutralOperands = {{{"aten.add.Tensor", -0.0, true},
                                                             {"aten.add.Scalar", -0.0, false},
                                                             {"aten.sub.Tensor", 0, false},
                                                             {"aten.sub.Scalar", 0, false},
                                                             {"aten.mul.Tensor", 1, true},
                                                             {"aten.mul.Scalar", 1, false},
                                                             {"aten.div.Tensor", 1, false},
                                                             {"aten.div.Scalar", 1, false}}};

// Returns the value of a constant that has a single float element.
std::optional<double> single_value(const TensorData& data) {
  if (data.dtype != ScalarType::kFloat || data.numel() != 1) return {};
  const std::vector<std::byte> bytes = row_major_bytes(data);
  float value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

std::optional<double> number_at(const ExportedProgram& program, const Node& node, size_t index) {
  const Argument* given = node.arg(index);
  if (given == nullptr) return {};
  if (const auto* real = given->get<double>()) return *real;
  if (const auto* integer = given->get<int64_t>()) return static_cast<double>(*integer);
  const TensorData* data = constant_of(program, given->node());
  return data == nullptr ? std::nullopt : single_value(*data);
}

// True if `to` represents every value of `from` exactly.
bool is_wider(ScalarType to, ScalarType from) {
  using enum ScalarType;
  if (to == kDouble) return from == kFloat || from == kInt || from == kHalf || from == kBFloat16;
  if (to == kFloat) return from == kHalf || from == kBFloat16;
  if (to == kLong) return from == kInt || from == kShort || from == kChar || from == kByte;
  if (to == kInt) return from == kShort || from == kChar || from == kByte;
  return false;
}

class NeutralCallRemover {
 public:
  NeutralCallRemover(ExportedProgram& program, Changes& changes)
      : program_(program), changes_(changes) {}

  void visit(Node& node) {
    if (node.tensor() == nullptr) return;
    if (calls(&node, "dim_order_ops._to_dim_order_copy.default")) return visit_conversion(node);
    const auto* found =
        std::ranges::find(kNeutralOperands, node.target().name(), &NeutralOperand::target);
    if (found == kNeutralOperands.end() || Call(node).real("alpha", 1.0) != 1.0) return;
    if (has_operand(node, 1, found->operand)) {
      replace(node, tensor_arg(node, 0), "neutral call removed");
    } else if (found->is_commutative && has_operand(node, 0, found->operand)) {
      replace(node, tensor_arg(node, 1), "neutral call removed");
    }
  }

 private:
  bool has_operand(const Node& node, size_t index, double operand) const {
    const std::optional<double> number = number_at(program_, node, index);
    const bool is_integral =
        !is_floating(node.tensor()->dtype) && !is_complex(node.tensor()->dtype);
    return number == operand && (is_integral || std::signbit(*number) == std::signbit(operand));
  }

  void visit_conversion(Node& node) {
    Node* inner = tensor_arg(node, 0);
    if (!calls(inner, "dim_order_ops._to_dim_order_copy.default")) return;
    Node* source = tensor_arg(*inner, 0);
    if (source == nullptr || !is_wider(inner->tensor()->dtype, source->tensor()->dtype)) return;
    replace(node, source, "round trip through a wider dtype removed");
  }

  void replace(Node& node, Node* other, std::string_view what) {
    if (other == nullptr || !have_same_layout(*other->tensor(), *node.tensor())) return;
    if (!can_replace(node, *other)) return;
    changes_.remove(what, node);
    replace_node(program_, node, *other);
  }

  ExportedProgram& program_;
  Changes& changes_;
};

}  // namespace

void remove_neutral_calls(ExportedProgram& program, Changes& changes) {
  NeutralCallRemover remover(program, changes);
  for_each_call(*program.graph, [&](Node& node) { remover.visit(node); });
  program.graph->remove_dead_code();
}

}  // namespace vitrine::aot
