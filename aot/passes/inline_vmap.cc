// Removes the wrappers of torch.vmap. Converts calls for one sample to calls for the whole batch.
//
// A batched tensor has one leading dim for each vmap that batches the tensor, outermost first, and
// then the sample's dims.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "aot/graph/node_error.h"
#include "aot/graph/pass.h"
#include "aot/operators/call.h"
#include "aot/operators/infer.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

constexpr std::string_view kVmap = "torch._functorch.predispatch.";

// An operator whose second argument is a dim.
struct AlongDim {
  std::string_view target;
  size_t added = 0;  // number of dims that the operator adds
};
constexpr std::array kAlongDim = {
    AlongDim{"aten.unsqueeze.default", 1}, AlongDim{"aten.select.int"},
    AlongDim{"aten.squeeze.dim"},          AlongDim{"aten.slice.Tensor"},
    AlongDim{"aten.softmax.int"},          AlongDim{"aten.cumsum.default"},
};
constexpr std::array<std::string_view, 4> kCreations = {
    "aten.new_ones.default", "aten.new_zeros.default", "aten.new_full.default",
    "aten.new_empty.default"};
constexpr std::array<std::string_view, 5> kConversions = {
    "aten.to.dtype", "aten._to_copy.default", "aten.clone.default", "aten.alias.default",
    "aten.detach.default"};

template <class Names>
bool has(const Names& names, const Node& node) {
  return std::ranges::count(names, node.target().name()) != 0;
}

// Returns the name of the called vmap function, such as "_add_batch_dim", or an empty text.
std::string_view vmap_function(const Node& node) {
  const std::string_view name = node.is_call() ? std::string_view(node.target().name()) : "";
  return name.starts_with(kVmap) ? name.substr(kVmap.size()) : "";
}

class VmapInliner {
 public:
  VmapInliner(ExportedProgram& program, Graph& graph) : program_(program), graph_(graph) {}

  void run() {
    std::vector<Node*> nodes;
    for (Node& node : graph_.nodes()) nodes.push_back(&node);
    if (std::ranges::none_of(nodes, [](Node* node) { return !vmap_function(*node).empty(); }))
      return;
    for (Node* node : nodes) {
      run_at_node(std::string(node->name()), [&] { visit(*node); });
    }
    for (; !replaced_.empty(); replaced_.pop_back()) {
      if (!replaced_.back()->users().empty()) {
        fail_at(*replaced_.back(), "is used outside of its vmap");
      }
      graph_.erase(replaced_.back());
    }
  }

 private:
  struct Batched {
    Node* value = nullptr;
    std::vector<int64_t> levels;  // levels of the vmaps, ascending
  };

  void visit(Node& node) {
    if (!node.is_call()) return;
    const std::string_view function = vmap_function(node);
    if (function == "_add_batch_dim") return add_batch_dim(node);
    if (function == "_remove_batch_dim") return remove_batch_dim(node);
    if (!function.empty()) {
      constexpr std::array<std::string_view, 3> kMarkers = {
          "_vmap_increment_nesting", "_vmap_decrement_nesting", "lazy_load_decompositions"};
      if (std::ranges::count(kMarkers, function) == 0) fail_at(node, "unknown vmap function");
      replaced_.push_back(&node);
      return;
    }
    const std::vector<Node*> inputs = node.inputs();
    if (std::ranges::none_of(inputs, [&](Node* input) { return batched_.contains(input); })) return;
    batch(node);
  }

  Batched batched(Node* node) const {
    const auto found = batched_.find(node);
    return found == batched_.end() ? Batched{node, {}} : found->second;
  }
  // Returns the index of `level` in the sorted list `levels`, or the index at which to insert it.
  static size_t index_of(const std::vector<int64_t>& levels, int64_t level) {
    return static_cast<size_t>(std::ranges::lower_bound(levels, level) - levels.begin());
  }
  static int64_t integer(const Node& node, size_t index) {
    const auto* value = node.need(index).get<int64_t>();
    if (value == nullptr) fail_at(node, fmt::format("argument {} is not an integer", index));
    return *value;
  }
  Node* make(Node& at, Target target, ArgumentList args, ArgumentMap kwargs = {}) {
    Value value = infer(target, args, kwargs);
    return insert_like(at, target, std::move(args), std::move(kwargs), std::move(value));
  }
  Node* make(Node& at, std::string_view target, ArgumentList args) {
    return make(at, Target::of(target), std::move(args));
  }
  Node* moved(Node& at, Node* tensor, size_t from, size_t to) {
    if (from == to) return tensor;
    std::vector<int64_t> dims(tensor->tensor()->rank());
    for (size_t i = 0; i < dims.size(); ++i) dims[i] = static_cast<int64_t>(i);
    const int64_t dim = dims.at(from);
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(from));
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(to), dim);
    return make(at, "aten.permute.default", {tensor, dims});
  }

  // Replaces _add_batch_dim, whose arguments are (tensor, dim, level).
  void add_batch_dim(Node& node) {
    Batched made = batched(&node.need_node(0));
    const int64_t level = integer(node, 2);
    if (!made.levels.empty() && made.levels.back() >= level) {
      fail_at(node, "its tensor is already batched by this vmap");
    }
    const size_t outer = made.levels.size();
    if (made.value->tensor() == nullptr) fail_at(node, "its first argument is not a tensor");
    const size_t dim = wrapped(integer(node, 1), made.value->tensor()->rank() - outer);
    made.value = moved(node, made.value, outer + dim, outer);
    made.levels.push_back(level);
    batched_[&node] = std::move(made);
    replaced_.push_back(&node);
  }

  // Replaces _remove_batch_dim, whose arguments are (tensor, level, batch size, dim).
  void remove_batch_dim(Node& node) {
    Batched made = batched(&node.need_node(0));
    const int64_t level = integer(node, 1);
    const size_t index = index_of(made.levels, level);
    if (made.value->tensor() == nullptr || node.tensor() == nullptr) {
      fail_at(node, "its first argument is not a tensor");
    }
    if (index < made.levels.size() && made.levels[index] == level) {
      made.levels.erase(made.levels.begin() + static_cast<std::ptrdiff_t>(index));
    } else {  // the tensor is the same for all samples, so repeat it
      made.value = make(node, "aten.unsqueeze.default", {made.value, static_cast<int64_t>(index)});
      ArgumentList sizes(made.value->tensor()->rank(), Argument(int64_t{-1}));
      sizes.at(index) = node.need(2);
      made.value = make(node, "aten.expand.default", {made.value, Argument::list(sizes)});
    }
    const size_t out = wrapped(integer(node, 3), node.tensor()->rank());
    made.value = moved(node, made.value, index, made.levels.size() + out);
    check(node, made);
    if (made.levels.empty()) return replace_node(program_, node, *made.value);
    batched_[&node] = std::move(made);
    replaced_.push_back(&node);
  }

  void batch(Node& node) {
    Batched made;
    const Operator* op = operator_of(node.target());
    const Target target =
        op == nullptr || op->same_as.empty() ? node.target() : Target::of(op->same_as);
    const auto along = std::ranges::find(kAlongDim, target.name(), &AlongDim::target);
    if (has(kCreations, node)) {
      const Batched like = batched(&node.need_node(0));
      node.set_arg(0, like.value);
      return;
    }
    if (along != kAlongDim.end()) {
      made = batched(&node.need_node(0));
      ArgumentList args = node.args();
      args[0] = made.value;
      const size_t rank = made.value->tensor()->rank() - made.levels.size() + along->added;
      args.at(1) = static_cast<int64_t>(made.levels.size() + wrapped(integer(node, 1), rank));
      made.value = make(node, target, std::move(args), node.kwargs());
    } else if (is_elementwise(target) || has(kConversions, node)) {
      made = elementwise(node, target);
    } else if (target.is("aten.index.Tensor")) {
      made = index(node, target);
    } else {
      fail_at(node, fmt::format("{} is not supported inside torch.vmap", target.name()));
    }
    check(node, made);
    batched_[&node] = std::move(made);
    replaced_.push_back(&node);
  }

  // Gives all operands the same batch dims and rank. Returns the vmap levels of the batch dims.
  std::vector<int64_t> align(Node& at, ArgumentList& operands) {
    std::vector<int64_t> levels;
    size_t rank = 0;
    for (const Argument& operand : operands) {
      if (operand.node() == nullptr || operand.node()->tensor() == nullptr) continue;
      rank = std::max(rank, operand.node()->tensor()->rank());
      for (const int64_t level : batched(operand.node()).levels) {
        const size_t index = index_of(levels, level);
        if (index < levels.size() && levels[index] == level) continue;
        levels.insert(levels.begin() + static_cast<std::ptrdiff_t>(index), level);
      }
    }
    for (Argument& operand : operands) {
      if (operand.node() == nullptr || !batched_.contains(operand.node())) continue;
      const size_t missing = rank - operand.node()->tensor()->rank();
      const Batched from = batched(operand.node());
      Node* value = from.value;
      for (size_t i = 0; i < missing; ++i) {
        value =
            make(at, "aten.unsqueeze.default", {value, static_cast<int64_t>(from.levels.size())});
      }
      for (size_t i = 0; i < levels.size(); ++i) {
        if (std::ranges::count(from.levels, levels[i]) != 0) continue;
        value = make(at, "aten.unsqueeze.default", {value, static_cast<int64_t>(i)});
      }
      operand = value;
    }
    return levels;
  }

  Batched elementwise(Node& node, Target target) {
    ArgumentList args = node.args();
    Batched made;
    made.levels = align(node, args);
    made.value = make(node, target, std::move(args), node.kwargs());
    return made;
  }

  // Indexes an unbatched tensor with batched indices.
  Batched index(Node& node, Target target) {
    const Argument& self = node.need(0);
    const ArgumentList* list = node.need(1).list();
    const bool is_supported =
        self.node() != nullptr && !batched_.contains(self.node()) && list != nullptr &&
        std::ranges::none_of(*list, [](const Argument& item) { return item.node() == nullptr; });
    if (!is_supported) {
      fail_at(node, "inside torch.vmap, indexing needs an unbatched tensor and an index per dim");
    }
    ArgumentList indices = *list;
    Batched made;
    made.levels = align(node, indices);
    made.value = make(node, target, {self, Argument::list(std::move(indices))});
    return made;
  }

  // Checks that the dims after the batch dims have the sizes of one sample in the graph.
  static void check(const Node& node, const Batched& made) {
    const TensorSpec* spec = node.tensor();
    const TensorSpec* value = made.value->tensor();
    const size_t outer = made.levels.size();
    bool matches = spec != nullptr && value != nullptr && value->rank() == spec->rank() + outer;
    for (size_t i = 0; matches && i < spec->rank(); ++i) {
      const SymInt& size = value->sizes[i + outer];
      matches = same(size, spec->sizes[i]) || !size.is_static() || !spec->sizes[i].is_static();
    }
    if (!matches) {
      fail_at(node,
              fmt::format("the batched result is {}, but the graph declares {} for one sample",
                          value == nullptr ? "not a tensor" : to_text(*value),
                          spec == nullptr ? "not a tensor" : to_text(*spec)));
    }
  }

  ExportedProgram& program_;
  Graph& graph_;
  std::unordered_map<Node*, Batched> batched_;
  std::vector<Node*> replaced_;  // in graph order, to be erased
};

}  // namespace

void inline_vmap(ExportedProgram& program) {
  for_each_graph(*program.graph, [&](Graph& graph) { VmapInliner(program, graph).run(); });
}

}  // namespace vitrine::aot
