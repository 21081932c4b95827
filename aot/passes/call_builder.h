// The calls that decompositions are mostly made of, in short.
//
//   const Calls f(to);
//   Node* soft = f("log1p", f("exp", f.mul(x, 2)));
#pragma once

#include <fmt/format.h>

#include <limits>

#include "aot/passes/decomposition.h"
#include "aot/shapes/infer.h"

namespace vitrine::aot {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Operands are nodes that are tensors, or numbers. AotErrors name the node that is replaced.
class Calls {
 public:
  explicit Calls(Decomposition& to) : to_(to) {}

  // aten.<op>.default
  template <class... Args>
  Node* operator()(std::string_view op, Args... args) const {
    return to_.make(fmt::format("aten.{}.default", op), ArgumentList{Argument(args)...});
  }

  Node* add(Argument a, Argument b) const { return binary("add", std::move(a), std::move(b)); }
  Node* sub(Argument a, Argument b) const { return binary("sub", std::move(a), std::move(b)); }
  Node* mul(Argument a, Argument b) const { return binary("mul", std::move(a), std::move(b)); }
  Node* div(Argument a, Argument b) const { return binary("div", std::move(a), std::move(b)); }
  Node* pow(Node* x, Argument exponent) const {
    return to_.make("aten.pow.Tensor_Scalar", {x, std::move(exponent)});
  }
  // "eq", "ne", "lt", "le", "gt", "ge"
  Node* compare(std::string_view op, Node* a, Argument b) const {
    const bool is_tensor = b.node() != nullptr && b.node()->tensor() != nullptr;
    return to_.make(fmt::format("aten.{}.{}", op, is_tensor ? "Tensor" : "Scalar"),
                    {a, std::move(b)});
  }
  // Numbers have the dtype of the other; one of both is a tensor.
  Node* where(Node* mask, Argument a, Argument b) const {
    const Node* tensor = a.node() != nullptr ? a.node() : b.node();
    const ScalarType dtype = tensor->tensor()->dtype;
    if (a.node() == nullptr) a = to_.scalar(std::move(a), dtype);
    if (b.node() == nullptr) b = to_.scalar(std::move(b), dtype);
    return to_.make("aten.where.self", {mask, std::move(a), std::move(b)});
  }

  // No dims: all.
  Node* sum(Node* x, const std::vector<int64_t>& dims, bool keepdim = false) const {
    return along("aten.sum.dim_IntList", x, dims, keepdim);
  }
  Node* mean(Node* x, const std::vector<int64_t>& dims, bool keepdim = false) const {
    return along("aten.mean.dim", x, dims, keepdim);
  }
  Node* greatest(Node* x, const std::vector<int64_t>& dims, bool keepdim = false) const {
    return along("aten.amax.default", x, dims, keepdim);
  }
  Node* least(Node* x, const std::vector<int64_t>& dims, bool keepdim = false) const {
    return along("aten.amin.default", x, dims, keepdim);
  }

  Node* slice(Node* x, size_t dim, Argument start, Argument end) const {
    return to_.make("aten.slice.Tensor",
                    {x, static_cast<int64_t>(dim), std::move(start), std::move(end)});
  }
  Node* select(Node* x, int64_t dim, int64_t index) const {
    return to_.make("aten.select.int", {x, dim, index});
  }
  Node* unsqueeze(Node* x, int64_t dim) const { return (*this)("unsqueeze", x, dim); }
  Node* squeeze(Node* x, int64_t dim) const {
    return to_.make("aten.squeeze.dims", {x, std::vector<int64_t>{dim}});
  }
  Node* cat(const std::vector<Node*>& parts, size_t dim) const {
    return to_.make("aten.cat.default", {Argument::list(ArgumentList(parts.begin(), parts.end())),
                                         static_cast<int64_t>(dim)});
  }
  // Counts from `start` up to `end`, of any dtype.
  Node* count(const SymInt& start, const SymInt& end, int64_t step = 1,
              ScalarType dtype = ScalarType::kLong) const {
    ArgumentList args = {to_.size(start), to_.size(end)};
    if (step != 1) args.emplace_back(step);
    return to_.make("aten.arange.start_step", std::move(args), maker(dtype));
  }
  Node* full(const std::vector<SymInt>& sizes, Argument value, ScalarType dtype) const {
    return to_.make("aten.full.default", {to_.size_list(sizes), std::move(value)}, maker(dtype));
  }
  Node* index(Node* x, ArgumentList indices) const {
    return to_.make("aten.index.Tensor", {x, Argument::list(std::move(indices))});
  }

 private:
  static ArgumentMap maker(ScalarType dtype) {
    return {{"dtype", dtype},
            {"layout", Layout::kStrided},
            {"device", Device()},
            {"pin_memory", false}};
  }
  Node* binary(std::string_view op, Argument a, Argument b) const {
    return to_.make(fmt::format("aten.{}.Tensor", op), {std::move(a), std::move(b)});
  }
  Node* along(std::string_view target, Node* x, const std::vector<int64_t>& dims,
              bool keepdim) const {
    ArgumentList args = {x, dims};
    if (keepdim) args.emplace_back(true);
    return to_.make(target, std::move(args));
  }

  Decomposition& to_;
};

inline size_t rank_of(const Node* x) { return x->tensor()->rank(); }
inline const SymInt& size_at(const Node* x, size_t dim) { return x->tensor()->sizes.at(dim); }

}  // namespace vitrine::aot
