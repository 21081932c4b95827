#include <algorithm>
#include <functional>
#include <optional>

#include "aot/operators/call.h"
#include "aot/operators/strides.h"
#include "aot/optimize/rewriting.h"
#include "aot/optimize/rules.h"

namespace vitrine::aot {
namespace {

// Returns the padding of each of the last `dims` dims. Empty if the pad value is not 0, the two
// sides of a dim differ, or another dim is padded.
std::optional<std::vector<int64_t>> equal_sides(const Node& pad, size_t dims) {
  const Call call(pad);
  if (call.real("value") != 0) return {};
  std::vector<int64_t> sides(dims);
  const std::vector<SymInt> given = call.sizes("pad");  // starts with the last dim
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i].is_static() || given[i].value() < 0) return {};  // negative padding crops
    const int64_t count = given[i].value();
    if (i / 2 >= dims) {
      if (count != 0) return {};
    } else if (i % 2 == 0) {
      sides[dims - 1 - i / 2] = count;
    } else if (count != sides[dims - 1 - i / 2]) {
      return {};
    }
  }
  return sides;
}

// Returns the sum of two paddings: that of `convolution` and that of the call `pad`. Empty if
// `convolution` cannot replace `pad`.
std::optional<std::vector<int64_t>> combined_padding(const Node& convolution, const Node& pad) {
  if (!calls(&convolution, "aten.convolution.default")) return {};
  const Call call(convolution);
  if (call.boolean("transposed") || call.optional_node("weight") == &pad ||
      call.optional_node("bias") == &pad) {
    return {};
  }
  const TensorSpec* weight = call.node("weight").tensor();
  if (weight == nullptr || weight->sizes.size() < 3) return {};
  const size_t dims = weight->sizes.size() - 2;
  const std::optional<std::vector<int64_t>> sides = equal_sides(pad, dims);
  if (!sides) return {};
  std::vector<int64_t> padding = call.integers("padding", dims);
  std::ranges::transform(padding, *sides, padding.begin(), std::plus<>());
  return padding;
}

}  // namespace

void fold_pads(ExportedProgram& program, Changes& changes) {
  for_each_call(*program.graph, [&](Node& pad) {
    if (!calls(&pad, "aten.constant_pad_nd.default") || is_result(pad)) return;
    Node* source = tensor_arg(pad, 0);
    if (source == nullptr || pad.users().empty() || !is_contiguous(*source->tensor()) ||
        !is_contiguous(*pad.tensor())) {
      return;
    }
    const std::vector<Node*> users(pad.users().begin(), pad.users().end());
    std::vector<std::vector<int64_t>> paddings;
    for (const Node* user : users) {
      std::optional<std::vector<int64_t>> padding = combined_padding(*user, pad);
      if (!padding) return;
      paddings.push_back(std::move(*padding));
    }
    for (size_t i = 0; i < users.size(); ++i) {
      constexpr size_t kPaddingIndex = 4;
      users[i]->set_arg(0, source);
      users[i]->set_arg(kPaddingIndex, paddings[i]);
    }
    changes.remove("pad folded into a convolution", pad);
  });
  program.graph->remove_dead_code();
}

}  // namespace vitrine::aot
