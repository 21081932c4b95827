#include <fmt/format.h>

#include <algorithm>

#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/rules.h"

namespace vitrine::aot::xnnpack {
namespace {

Rejection unknown_size(std::string_view what) {
  return {fmt::format("{} is known only when the program runs", what),
          "export the model with fixed sizes"};
}

}  // namespace

std::optional<Rejection> check_cat(const Candidate& candidate) {
  // inputs() contains each tensor once, even if the call uses a tensor twice.
  if (candidate.node.inputs().size() < 2) return Rejection{"it has fewer than two inputs", ""};
  return {};
}

std::optional<Rejection> check_pad(const Candidate& candidate) {
  if (candidate.input().rank() == 0) return Rejection{"its input has no dims", ""};
  const std::vector<int64_t> padding = Call(candidate.node).integers("pad");
  if (std::ranges::any_of(padding, [](int64_t p) { return p < 0; })) {
    return Rejection{"its padding is negative", "slice the input instead"};
  }
  return {};
}

std::optional<Rejection> check_permute(const Candidate& candidate) {
  const size_t rank = candidate.input().rank();
  if (rank == 0 || Call(candidate.node).integers("dims", rank).size() != rank) {
    return Rejection{"its input has no dims, or its dims argument does not list all of them", ""};
  }
  return {};
}

std::optional<Rejection> check_slice(const Candidate& candidate) {
  const Node& node = candidate.node;
  if (Call(node).integer("step") != 1) return Rejection{"its step is not 1", ""};
  for (const char* bound : {"start", "end"}) {
    if (operand(node, bound) != nullptr) return unknown_size("its start or end");
  }
  for (const SymInt& size : spec_of(node).sizes) {
    if (!size.is_static()) return unknown_size("its result's size");
    if (size.value() == 0) return Rejection{"its result is empty", ""};
  }
  if (!candidate.input().is_static()) return unknown_size("its input's size");
  if (candidate.input().rank() != spec_of(node).rank()) {
    return Rejection{"its input and its result differ in rank", ""};
  }
  return {};
}

std::optional<Rejection> check_view(const Candidate& candidate) {
  const Argument* sizes = Call(candidate.node).find("size");
  if (sizes == nullptr || sizes->list() == nullptr) return Rejection{"its sizes are unknown", ""};
  size_t inferred = 0;
  for (const Argument& size : *sizes->list()) {
    const auto* number = size.get<int64_t>();
    if (number == nullptr) return unknown_size("one of its sizes");
    inferred += *number == -1 ? 1 : 0;
  }
  if (inferred > 1) return Rejection{"more than one of its sizes is -1", ""};
  return {};
}

std::optional<Rejection> check_unsqueeze(const Candidate& candidate) {
  const size_t rank = spec_of(candidate.node).rank();
  if (wrapped_dim(candidate.node, Call(candidate.node).integer("dim"), rank) + 1 != rank) {
    return Rejection{"its new dim is not the last one", "use a view with known sizes"};
  }
  if (count_dynamic(spec_of(candidate.node)) > 1) return unknown_size("more than one size");
  return {};
}

std::optional<Rejection> check_clone(const Candidate& candidate) {
  if (kept_dim_order(candidate.input()) != kept_dim_order(spec_of(candidate.node))) {
    return Rejection{"it changes the order of dims in memory", ""};
  }
  return {};
}

std::optional<Rejection> check_copy(const Candidate& candidate) {
  if (candidate.input().dtype == spec_of(candidate.node).dtype) return {};
  if (auto rejection = check_clone(candidate)) return rejection;
  const auto is_output = [](const Node* user) { return user->kind() == Node::Kind::kOutput; };
  const bool is_alone = !required(candidate.node, 0).is_call() &&
                        std::ranges::all_of(candidate.node.users(), is_output);
  return is_alone ? std::optional(
                        Rejection{"it only converts a method input to the dtype of an output", ""})
                  : std::nullopt;
}

}  // namespace vitrine::aot::xnnpack
