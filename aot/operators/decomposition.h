// Defines the class with which decompositions read a call and build its replacement.
#pragma once

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/operators/call.h"
#include "aot/operators/infer.h"
#include "aot/operators/strides.h"

namespace vitrine::aot {

using Sizes = std::vector<SymInt>;
using Dims = std::vector<int64_t>;

// Maximum number of results of one call. Limits the work that a small file can cause.
inline constexpr int64_t kMaxResults = 1 << 16;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Reads the arguments of a call and replaces the call. New calls are inserted before the replaced
// call, in order of creation, and have its metadata.
class Decomposition {
 public:
  // PyTorch returns some results as new tensors. If `owns_results` is set, the replacements of
  // these results do not share memory with operands.
  Decomposition(ExportedProgram& program, Node& node, bool owns_results = false)
      : program_(program), node_(node), owns_results_(owns_results) {}

  // Converts f16 and bf16 operands to f32, like PyTorch's kernels. replace() then rounds the
  // results.
  void use_opmath();
  // Converts an f16 or bf16 tensor to f32.
  Node* to_opmath(Node* input);

  Node& node() { return node_; }
  // The next functions find an argument by name, like Call (aot/operators/call.h). For a missing
  // argument, they return the signature's default, or else `fallback`. Without a default and a
  // fallback, value() returns None, and the other functions throw AotError. They also throw
  // AotError if the argument has the wrong type.
  Argument value(std::string_view name) const { return call().value(name); }
  int64_t integer(std::string_view name, std::optional<int64_t> fallback = {}) const {
    return call().integer(name, fallback);
  }
  double number(std::string_view name, std::optional<double> fallback = {}) const {
    return call().real(name, fallback);
  }
  bool boolean(std::string_view name, std::optional<bool> fallback = {}) const {
    return call().boolean(name, fallback);
  }
  // Returns a list of `count` integers. Repeats a single integer `count` times. If `count` is 0,
  // the list may have any length, and is empty if the argument is missing.
  Dims integers(std::string_view name, size_t count = 0) const {
    return call().integers(name, count);
  }
  // Returns a factor such as "alpha". Truncates the factor to an integer if the result is an
  // integer tensor, like ATen.
  Argument factor(std::string_view name) const;
  // Returns the passed argument, or `fallback` if the call omits it. Ignores the signature's
  // default.
  Argument arg(std::string_view name, const Argument& fallback = {}) const;
  // Returns the argument at this position of the signature, or None if the call omits it.
  Argument operand(size_t index) const;
  Node* self() const;  // the first argument, which must be a tensor
  Node* tensor(std::string_view name) const { return &call().node(name); }
  Node* optional_tensor(std::string_view name) const;       // null if the argument is missing
  std::vector<Node*> tensors(std::string_view name) const;  // AotError if the list is empty
  // Returns the keyword arguments of the call that have one of these names.
  ArgumentMap kwargs(std::initializer_list<std::string_view> names) const;
  // Returns the spec of the result. After use_opmath(), the dtype is f32, not f16 or bf16.
  const TensorSpec& spec() const;
  [[noreturn]] void refuse(std::string_view why) const;

  Node* call(std::string_view target, ArgumentList args, Value value, ArgumentMap kwargs = {});
  // Like call(), but infers the result's spec with aot/operators.
  Node* make(std::string_view target, ArgumentList args, ArgumentMap kwargs = {});
  Node* scalar(Argument value, ScalarType dtype);
  // Returns an i64 tensor that counts from `start` to `end` - 1.
  Node* range(const SymInt& start, const SymInt& end);
  Node* convert(Node* input, ScalarType dtype);  // returns `input` if it has the dtype
  Node* item(Node* tuple, size_t index);
  Node* permute(Node* input, const Dims& dims);
  Node* transpose(Node* input, int64_t a, int64_t b);
  Node* expand(Node* input, const Sizes& sizes);
  // Returns the common sizes of broadcast operands. Throws AotError for incompatible operands.
  Sizes broadcast_sizes(std::span<Node* const> operands) const;
  // Calls aten.view, even if the sizes do not change. Copies the tensor first if its strides do not
  // allow a view.
  Node* reshape(Node* input, const Sizes& sizes);
  // Like the function above, but passes `sizes_arg`, which may contain -1, to aten.view.
  Node* reshape(Node* input, const Argument& sizes_arg, const Sizes& sizes);
  // Returns sizes as arguments. Inserts nodes for the symbolic sizes that no earlier node computes.
  // Throws AotError if earlier tensors do not determine a symbolic size.
  Argument size_list(const Sizes& sizes);
  Argument size(const SymInt& size);

  // --- Short forms of frequent calls. Operands are tensors or numbers. ---
  //   Node* soft = to("log1p", to("exp", to.mul(x, 2)));

  // Calls aten.<op>.default.
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
  // `op` is "eq", "ne", "lt", "le", "gt" or "ge".
  Node* compare(std::string_view op, Node* a, Argument b) {
    const bool is_tensor = b.node() != nullptr && b.node()->tensor() != nullptr;
    return make(fmt::format("aten.{}.{}", op, is_tensor ? "Tensor" : "Scalar"), {a, std::move(b)});
  }
  // A number gets the dtype of the other operand. At least one of `a` and `b` must be a tensor.
  Node* where(Node* mask, Argument a, Argument b) {
    const Node* tensor = a.node() != nullptr ? a.node() : b.node();
    const ScalarType dtype = tensor->tensor()->dtype;
    if (a.node() == nullptr) a = scalar(std::move(a), dtype);
    if (b.node() == nullptr) b = scalar(std::move(b), dtype);
    return make("aten.where.self", {mask, std::move(a), std::move(b)});
  }

  // The next functions reduce all dims if `dims` is empty.
  Node* sum(Node* x, const Dims& dims, bool keepdim = false) {
    return along("aten.sum.dim_IntList", x, dims, keepdim);
  }
  Node* mean(Node* x, const Dims& dims, bool keepdim = false) {
    return along("aten.mean.dim", x, dims, keepdim);
  }
  Node* amax(Node* x, const Dims& dims, bool keepdim = false) {
    return along("aten.amax.default", x, dims, keepdim);
  }
  Node* amin(Node* x, const Dims& dims, bool keepdim = false) {
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
  Node* cat(const std::vector<Node*>& tensors, size_t dim) {
    return make("aten.cat.default", {Argument::list(ArgumentList(tensors.begin(), tensors.end())),
                                     static_cast<int64_t>(dim)});
  }
  // Returns a tensor that counts from `start` up to, but not including, `end`.
  Node* count(const SymInt& start, const SymInt& end, int64_t step = 1,
              ScalarType dtype = ScalarType::kLong) {
    ArgumentList args = {size(start), size(end)};
    if (step != 1) args.emplace_back(step);
    return make("aten.arange.start_step", std::move(args), creation_kwargs(dtype));
  }
  Node* full(const Sizes& sizes, Argument value, ScalarType dtype) {
    return make("aten.full.default", {size_list(sizes), std::move(value)}, creation_kwargs(dtype));
  }
  Node* index(Node* x, ArgumentList indices) {
    return make("aten.index.Tensor", {x, Argument::list(std::move(indices))});
  }

  // Returns the data of `tensor` if it is a stored constant, or a copy of a constant, that the
  // program does not mutate. Otherwise returns null. Also returns null for a call in a subgraph.
  const TensorData* constant_data(const Node* tensor) const;
  Node* add_constant(std::string_view name, TensorData data) {
    return program_.add_constant(name, std::move(data));
  }

  static ArgumentMap creation_kwargs(ScalarType dtype) {
    return {{"dtype", dtype},
            {"layout", Layout::kStrided},
            {"device", Device()},
            {"pin_memory", false}};
  }

  // True if a replacement has other sizes than the original result. The specs of later calls may
  // then be wrong and must be inferred again.
  bool changed_sizes() const { return changed_sizes_; }

  // Keeps the node instead of replacing it. The node's operator must have a kernel.
  void keep() { is_kept_ = true; }
  bool is_kept() const { return is_kept_; }
  // Replaces the node with `other`, converted to the dtype of the node's result, and erases the
  // node.
  void replace(Node* other);
  // Replaces each getitem node of the call with its item of `results`, converted to the dtype of
  // the getitem. `results` must not be empty, but may omit trailing results. Throws AotError if an
  // omitted result is read.
  void replace_items(const std::vector<Node*>& results);

 private:
  Call call() const { return Call(node_, kContext); }
  Node* as_result(Node* made, const Node& before);
  bool makes_new_tensors() const;
  bool shares_operand(const Node* made) const;
  void compare_sizes(const Node& before, const Node& after);
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
  bool is_kept_ = false;
  std::optional<TensorSpec> opmath_spec_;  // set if use_opmath() changed the dtype of the result
};

inline size_t rank_of(const Node* x) { return x->tensor()->rank(); }
inline const SymInt& size_at(const Node* x, size_t dim) { return x->tensor()->sizes.at(dim); }

}  // namespace vitrine::aot
