// What decompositions are written with.
#pragma once

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/shapes/call.h"
#include "aot/shapes/infer.h"
#include "aot/shapes/strides.h"

namespace vitrine::aot {

using Sizes = std::vector<SymInt>;
using Dims = std::vector<int64_t>;

// No more results of one call than a graph can use.
inline constexpr int64_t kMaxPieces = 1 << 16;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The call that is being replaced. New calls are inserted before it, in order of creation, and have
// the same source.
class Decomposition {
 public:
  // `owns_results`: what replaces a result that PyTorch makes anew shares memory with no operand.
  Decomposition(ExportedProgram& program, Node& node, bool owns_results = false)
      : program_(program), node_(node), owns_results_(owns_results) {}

  Node& node() { return node_; }
  // Arguments, by the names that the operator's signature has for them. An argument that is not
  // given, or None, is what the signature says, then `fallback`; AotError if there is neither, or
  // it is of another kind. One that the operator does not have counts as not given.
  Argument value(std::string_view name) const { return call().value(name); }  // None: there is none
  int64_t integer(std::string_view name, std::optional<int64_t> fallback = {}) const {
    return call().integer(name, fallback);
  }
  double number(std::string_view name, std::optional<double> fallback = {}) const {
    return call().real(name, fallback);
  }
  bool boolean(std::string_view name, std::optional<bool> fallback = {}) const {
    return call().boolean(name, fallback);
  }
  // A list, or one number for all, as a list of `count` (0: as it is).
  Dims integers(std::string_view name, size_t count = 0) const {
    return call().integers(name, count);
  }
  // A number that the operands are multiplied by: integers by its whole part, as ATen does.
  Argument factor(std::string_view name) const;
  // As it is given; `fallback` if it is not.
  Argument arg(std::string_view name, const Argument& fallback = {}) const;
  // That which stands in this place of the signature, whatever its name. None if it is not given.
  Argument operand(size_t index) const;
  Node* self() const;  // the first argument, which is a tensor
  Node* tensor(std::string_view name) const { return &call().node(name); }
  Node* optional_tensor(std::string_view name) const;       // null if it is None
  std::vector<Node*> tensors(std::string_view name) const;  // at least one
  // Keyword arguments that the old and the new call share.
  ArgumentMap kwargs(std::initializer_list<std::string_view> names) const;
  const TensorSpec& spec() const;  // of the result
  [[noreturn]] void refuse(std::string_view why) const;

  Node* call(std::string_view target, ArgumentList args, Value value, ArgumentMap kwargs = {});
  // With the result that aot/shapes infers.
  Node* make(std::string_view target, ArgumentList args, ArgumentMap kwargs = {});
  // aten.scalar_tensor of a number.
  Node* scalar(Argument value, ScalarType dtype);
  // arange(start, end) of i64.
  Node* range(const SymInt& start, const SymInt& end);
  Node* convert(Node* input, ScalarType dtype);  // itself if it is of that dtype
  Node* item(Node* tuple, size_t index);
  Node* permute(Node* input, const Dims& dims);
  Node* transpose(Node* input, int64_t a, int64_t b);
  Node* expand(Node* input, const Sizes& sizes);
  // The sizes that operands have together. AotError if they do not fit.
  Sizes broadcast_sizes(std::span<Node* const> operands) const;
  // aten.view, after a copy if the strides do not allow one. Sizes may be unchanged.
  Node* reshape(Node* input, const Sizes& sizes);
  // The same with sizes as the call is to have them.
  Node* reshape(Node* input, const Argument& asked, const Sizes& sizes);
  // Sizes as an argument. Symbols become nodes, created on demand. AotError if a symbol does not
  // derive from an operand's size.
  Argument size_list(const Sizes& sizes);
  Argument size(const SymInt& size);

  // --- The calls that decompositions are mostly made of, in short ---
  //   Node* soft = to("log1p", to("exp", to.mul(x, 2)));
  // Operands are nodes that are tensors, or numbers. AotErrors name the node that is replaced.

  // aten.<op>.default
  template <class... Args>
  Node* operator()(std::string_view op, Args... args) {
    return make(fmt::format("aten.{}.default", op), ArgumentList{Argument(args)...});
  }

  Node* add(Argument a, Argument b) { return binary("add", std::move(a), std::move(b)); }
  Node* sub(Argument a, Argument b) { return binary("sub", std::move(a), std::move(b)); }
  Node* mul(Argument a, Argument b) { return binary("mul", std::move(a), std::move(b)); }
  Node* div(Argument a, Argument b) { return binary("div", std::move(a), std::move(b)); }
  Node* pow(Node* x, Argument exponent) {
    return make("aten.pow.Tensor_Scalar", {x, std::move(exponent)});
  }
  // "eq", "ne", "lt", "le", "gt", "ge"
  Node* compare(std::string_view op, Node* a, Argument b) {
    const bool is_tensor = b.node() != nullptr && b.node()->tensor() != nullptr;
    return make(fmt::format("aten.{}.{}", op, is_tensor ? "Tensor" : "Scalar"), {a, std::move(b)});
  }
  // Numbers have the dtype of the other; one of both is a tensor.
  Node* where(Node* mask, Argument a, Argument b) {
    const Node* tensor = a.node() != nullptr ? a.node() : b.node();
    const ScalarType dtype = tensor->tensor()->dtype;
    if (a.node() == nullptr) a = scalar(std::move(a), dtype);
    if (b.node() == nullptr) b = scalar(std::move(b), dtype);
    return make("aten.where.self", {mask, std::move(a), std::move(b)});
  }

  // No dims: all.
  Node* sum(Node* x, const Dims& dims, bool keepdim = false) {
    return along("aten.sum.dim_IntList", x, dims, keepdim);
  }
  Node* mean(Node* x, const Dims& dims, bool keepdim = false) {
    return along("aten.mean.dim", x, dims, keepdim);
  }
  Node* greatest(Node* x, const Dims& dims, bool keepdim = false) {
    return along("aten.amax.default", x, dims, keepdim);
  }
  Node* least(Node* x, const Dims& dims, bool keepdim = false) {
    return along("aten.amin.default", x, dims, keepdim);
  }

  Node* slice(Node* x, size_t dim, Argument start, Argument end) {
    return make("aten.slice.Tensor",
                {x, static_cast<int64_t>(dim), std::move(start), std::move(end)});
  }
  Node* select(Node* x, int64_t dim, int64_t index) {
    return make("aten.select.int", {x, dim, index});
  }
  Node* unsqueeze(Node* x, int64_t dim) { return (*this)("unsqueeze", x, dim); }
  Node* squeeze(Node* x, int64_t dim) { return make("aten.squeeze.dims", {x, Dims{dim}}); }
  Node* cat(const std::vector<Node*>& parts, size_t dim) {
    return make("aten.cat.default", {Argument::list(ArgumentList(parts.begin(), parts.end())),
                                     static_cast<int64_t>(dim)});
  }
  // Counts from `start` up to `end`, of any dtype.
  Node* count(const SymInt& start, const SymInt& end, int64_t step = 1,
              ScalarType dtype = ScalarType::kLong) {
    ArgumentList args = {size(start), size(end)};
    if (step != 1) args.emplace_back(step);
    return make("aten.arange.start_step", std::move(args), maker(dtype));
  }
  Node* full(const Sizes& sizes, Argument value, ScalarType dtype) {
    return make("aten.full.default", {size_list(sizes), std::move(value)}, maker(dtype));
  }
  Node* index(Node* x, ArgumentList indices) {
    return make("aten.index.Tensor", {x, Argument::list(std::move(indices))});
  }

  // The keywords of calls that make tensors.
  static ArgumentMap maker(ScalarType dtype) {
    return {{"dtype", dtype},
            {"layout", Layout::kStrided},
            {"device", Device()},
            {"pin_memory", false}};
  }

  // Whether a replacement has different sizes, so that later results may too.
  bool changed_sizes() const { return changed_sizes_; }

  // Replaces the node by `other` and removes it. Here and below the dtype stays.
  void replace(Node* other);
  // Replaces getitem i by results[i]; at least one result is given. AotError if a missing result is
  // read.
  void replace_items(const std::vector<Node*>& results);

 private:
  Call call() const { return Call(node_, kContext); }
  Node* as_result(Node* made, const Node& before);
  bool makes_new_tensors() const;
  bool shares_operand(const Node* made) const;
  void note_sizes(const Node& before, const Node& after);
  Node* binary(std::string_view op, Argument a, Argument b) {
    return make(fmt::format("aten.{}.Tensor", op), {std::move(a), std::move(b)});
  }
  Node* along(std::string_view target, Node* x, const Dims& dims, bool keepdim) {
    ArgumentList args = {x, dims};
    if (keepdim) args.emplace_back(true);
    return make(target, std::move(args));
  }

  static constexpr std::string_view kContext = "no decomposition: ";
  ExportedProgram& program_;
  Node& node_;
  bool owns_results_;
  bool changed_sizes_ = false;
};

inline size_t rank_of(const Node* x) { return x->tensor()->rank(); }
inline const SymInt& size_at(const Node* x, size_t dim) { return x->tensor()->sizes.at(dim); }

}  // namespace vitrine::aot
