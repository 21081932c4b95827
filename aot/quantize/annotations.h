// Decides which tensors of a model become int8, like ExecuTorch's XNNPACKQuantizer.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/quantize/int8.h"

namespace vitrine::aot {

// A use of a tensor: as an operand of the call `user` or, if `user` is null, as the result of the
// node `tensor`.
struct TensorUse {
  Node* tensor = nullptr;
  Node* user = nullptr;
  friend auto operator<=>(const TensorUse&, const TensorUse&) = default;
};

// Each use has its own int8 spec, or shares the observer of another use.
using UseSpec = std::variant<Int8Spec, TensorUse>;

// The int8 inputs of a call. `output` is set if the call's output becomes int8, too.
struct Annotation {
  std::vector<std::pair<Node*, UseSpec>> inputs;  // distinct nodes
  std::optional<UseSpec> output = std::nullopt;
  bool is_empty() const { return inputs.empty() && !output; }
};

// Uses of tensors with the same observer, and therefore the same scale.
struct ObserverGroup {
  Int8Spec spec;
  std::vector<TensorUse> uses;
  // The observed tensors, in graph order.
  std::vector<Node*> tensors;
};

struct Annotations {
  std::map<Node*, Annotation> calls;
  std::vector<ObserverGroup> groups;
  std::map<TensorUse, size_t> group_of;
  // Reasons why calls that could be int8 stay float.
  std::map<const Node*, std::string> reasons;

  bool has_content(Node* call) const {
    const auto found = calls.find(call);
    return found != calls.end() && !found->second.is_empty();
  }
};

bool is_stored(const ExportedProgram& program, const Node& node);

// True if the call passes the scale of an int8 input on to its result, as relu does.
bool keeps_scale(const Node& call);

// Decides which tensors of `program` become int8. `program` must be in training IR (torch.export's
// default) and prepared (prepare.h). `excluded` maps calls that must stay float to the reasons.
// Throws AotError if a rule matches nothing.
Annotations annotate(const ExportedProgram& program, const Int8Options& options,
                     const std::map<const Node*, std::string>& excluded = {});

}  // namespace vitrine::aot
