#include <fmt/format.h>

#include <algorithm>

#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/rules.h"

namespace vitrine::aot::xnnpack {
namespace {

Refusal unknown_size(std::string_view what) {
  return {fmt::format("{} is known only when the program runs", what),
          "export it with fixed sizes"};
}

}  // namespace

std::optional<Refusal> check_cat(const Candidate& candidate) {
  // The same tensor twice is one.
  if (candidate.node.inputs().size() < 2) return Refusal{"it has fewer than two inputs", ""};
  return {};
}

std::optional<Refusal> check_pad(const Candidate& candidate) {
  if (candidate.input().rank() == 0) return Refusal{"it pads no dims", ""};
  const std::vector<int64_t> padding = Call(candidate.node).integers("pad");
  if (std::ranges::any_of(padding, [](int64_t p) { return p < 0; })) {
    return Refusal{"its padding is negative", "slice instead"};
  }
  return {};
}

std::optional<Refusal> check_permute(const Candidate& candidate) {
  const size_t rank = candidate.input().rank();
  if (rank == 0 || Call(candidate.node).integers("dims", rank).size() != rank) {
    return Refusal{"it permutes no dims", ""};
  }
  return {};
}

std::optional<Refusal> check_slice(const Candidate& candidate) {
  const Node& node = candidate.node;
  if (Call(node).integer("step") != 1) return Refusal{"its step is not 1", ""};
  for (const char* bound : {"start", "end"}) {
    if (operand(node, bound) != nullptr) return unknown_size("what it takes");
  }
  for (const SymInt& size : spec_of(node).sizes) {
    if (!size.is_static()) return unknown_size("its result's size");
    if (size.value() == 0) return Refusal{"its result is empty", ""};
  }
  if (!candidate.input().is_static()) return unknown_size("its input's size");
  if (candidate.input().rank() != spec_of(node).rank()) {
    return Refusal{"its input and its result differ in rank", ""};
  }
  return {};
}

std::optional<Refusal> check_view(const Candidate& candidate) {
  const Argument* sizes = Call(candidate.node).find("size");
  if (sizes == nullptr || sizes->list() == nullptr) return Refusal{"its sizes are unknown", ""};
  size_t inferred = 0;
  for (const Argument& size : *sizes->list()) {
    const auto* number = size.get<int64_t>();
    if (number == nullptr) return unknown_size("one of its sizes");
    inferred += *number == -1 ? 1 : 0;
  }
  if (inferred > 1) return Refusal{"more than one of its sizes is -1", ""};
  return {};
}

std::optional<Refusal> check_unsqueeze(const Candidate& candidate) {
  const size_t rank = spec_of(candidate.node).rank();
  if (wrapped_dim(candidate.node, Call(candidate.node).integer("dim"), rank) + 1 != rank) {
    return Refusal{"its new dim is not the last one", "use a view of known sizes"};
  }
  if (count_dynamic(spec_of(candidate.node)) > 1) return unknown_size("more than one size");
  return {};
}

std::optional<Refusal> check_clone(const Candidate& candidate) {
  if (kept_dim_order(candidate.input()) != kept_dim_order(spec_of(candidate.node))) {
    return Refusal{"it changes the order of dims in memory", ""};
  }
  return {};
}

}  // namespace vitrine::aot::xnnpack
