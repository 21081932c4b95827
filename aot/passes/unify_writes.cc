// Other spellings of writes -> those that the passes after this one know.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "aot/passes/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

// Views that are made of a tensor in its own place: it is read as the view from there on.
constexpr std::array<std::string_view, 11> kViewsInPlace = {
    "aten.squeeze_.default",   "aten.squeeze_.dim",       "aten.squeeze_.dims",
    "aten.unsqueeze_.default", "aten.transpose_.default", "aten.t_.default",
    "aten.swapaxes_.default",  "aten.swapdims_.default",  "aten.as_strided_.default",
    "aten.detach_.default",    "aten.transpose_.int"};

// Python's operators that write, "x |= y".
struct Spelling {
  std::string_view operation;
  std::string_view write;
};
constexpr std::array kSpellings = {
    Spelling{"aten.__iand__.Scalar", "aten.bitwise_and_.Scalar"},
    Spelling{"aten.__iand__.Tensor", "aten.bitwise_and_.Tensor"},
    Spelling{"aten.__ilshift__.Scalar", "aten.bitwise_left_shift_.Tensor_Scalar"},
    Spelling{"aten.__ilshift__.Tensor", "aten.bitwise_left_shift_.Tensor"},
    Spelling{"aten.__ior__.Scalar", "aten.bitwise_or_.Scalar"},
    Spelling{"aten.__ior__.Tensor", "aten.bitwise_or_.Tensor"},
    Spelling{"aten.__irshift__.Scalar", "aten.bitwise_right_shift_.Tensor_Scalar"},
    Spelling{"aten.__irshift__.Tensor", "aten.bitwise_right_shift_.Tensor"},
    Spelling{"aten.__ixor__.Scalar", "aten.bitwise_xor_.Scalar"},
    Spelling{"aten.__ixor__.Tensor", "aten.bitwise_xor_.Tensor"},
    Spelling{"aten._index_put_impl_.default", "aten.index_put_.default"},
};

void unify(Graph& graph) {
  std::unordered_map<const Node*, Node*> viewed;  // what was made a view in place -> the view
  for (Node& node : graph.nodes()) {
    if (!viewed.empty()) {
      for (Node* input : node.inputs()) {
        Node* view = input;
        while (viewed.contains(view)) view = viewed.at(view);
        if (view != input) node.replace_input(input, view);
      }
    }
    if (!node.is_call()) continue;
    const auto spelling = std::ranges::find(kSpellings, node.target().name(), &Spelling::operation);
    if (spelling != kSpellings.end()) node.set_target(Target::of(spelling->write));
    if (std::ranges::count(kViewsInPlace, node.target().name()) == 0) continue;
    Node* input = node.args().empty() ? nullptr : node.args()[0].node();
    if (input == nullptr) continue;
    node.set_target(Target::of(node.target().is("aten.transpose_.default")
                                   ? "aten.transpose.int"
                                   : without_underscore(node.target().name())));
    viewed[input] = &node;
  }
}

}  // namespace

std::string without_underscore(std::string_view name) {
  const size_t underscore = name.find("_.", name.find('.') + 1);
  return std::string(name.substr(0, underscore)) + std::string(name.substr(underscore + 1));
}

void unify_writes(ExportedProgram& program) {
  for_each_graph(*program.graph, unify);
  const ArgumentList& results = *program.graph->output()->args().at(0).list();
  for (size_t i = 0; i < results.size(); ++i) {
    if (const Node* node = results[i].node()) program.signature.outputs.at(i).name = node->name();
  }
}

}  // namespace vitrine::aot
