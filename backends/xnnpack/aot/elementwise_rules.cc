#include <fmt/format.h>

#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/rules.h"

namespace vitrine::aot::xnnpack {

std::optional<Rejection> check_operands(const Candidate& candidate) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (operand(candidate.node, i) == nullptr) {
      return Rejection{"one of its operands is not a tensor", "make both operands tensors"};
    }
  }
  return {};
}

std::optional<Rejection> check_alpha(const Candidate& candidate) {
  if (auto rejection = check_operands(candidate)) return rejection;
  if (Call(candidate.node).real("alpha", 1.0) == 1.0) return {};
  return Rejection{"its alpha is not 1", "multiply by alpha in a separate call"};
}

std::optional<Rejection> check_gelu(const Candidate& candidate) {
  if (spec_of(candidate.node).dtype != ScalarType::kHalf) return {};
  return Rejection{"XNNPACK supports this operator only in f32", ""};
}

std::optional<Rejection> check_square(const Candidate& candidate) {
  const Argument* exponent = Call(candidate.node).find("exponent");
  const auto* number = exponent == nullptr ? nullptr : exponent->get<int64_t>();
  if (number != nullptr && *number == 2) return {};
  return Rejection{"its exponent is not the integer 2", "write x * x"};
}

std::optional<Rejection> check_softmax(const Candidate& candidate) {
  const size_t rank = spec_of(candidate.node).rank();
  const int64_t dim = Call(candidate.node).integer("dim");
  if (rank != 0 && wrapped_dim(candidate.node, dim, rank) + 1 == rank) return {};
  return Rejection{"its dim is not the last one", "permute the input"};
}

std::optional<Rejection> check_prelu(const Candidate& candidate) {
  const Node* slope = operand(candidate.node, "weight");
  if (!candidate.parameters.has(slope)) {
    return Rejection{"its slopes are computed, or written to, when the program runs",
                     "make the slopes a parameter"};
  }
  const size_t rank = spec_of(candidate.node).rank();
  const std::vector<SymInt>& slopes = spec_of(*slope).sizes;
  if (slopes.empty() || slopes[0] == SymInt(1) || rank == 2 || rank == 4) return {};
  return Rejection{
      fmt::format("slopes per channel need a rank of 2 or 4, but the rank is {}", rank), ""};
}

std::vector<Node*> group_prelu(const Candidate& candidate) {
  return {&candidate.node, operand(candidate.node, "weight")};
}

}  // namespace vitrine::aot::xnnpack
