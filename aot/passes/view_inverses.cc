#include "aot/passes/view_inverses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "aot/graph/node_error.h"
#include "aot/graph/pass.h"
#include "aot/operators/infer.h"

namespace vitrine::aot {

Node* insert(Node& at, const Node& view, Target target, ArgumentList args, ArgumentMap kwargs,
             Value value) {
  Node* node = insert_like(at, target, std::move(args), std::move(kwargs), std::move(value));
  if (node->meta.origin == nullptr) node->meta.origin = view.meta.origin;
  return node;
}
Node* make(Node& at, const Node& view, std::string_view target, ArgumentList args,
           ArgumentMap kwargs) {
  const Target called = Target::of(target);
  Value value = infer(called, args, kwargs);
  return insert(at, view, called, std::move(args), std::move(kwargs), std::move(value));
}

Argument sizes_of(Node& at, const Node& view, Node& like) {
  ArgumentList sizes;
  for (const SymInt& size : like.tensor()->sizes) {
    if (size.is_static()) {
      sizes.emplace_back(size.value());
      continue;
    }
    Value::Number number;
    number.value = size;
    sizes.emplace_back(insert(at, view, Target::of("aten.sym_size.int"),
                              {&like, static_cast<int64_t>(sizes.size())}, {}, number));
  }
  return Argument::list(std::move(sizes));
}

namespace {

Node* from_alias(Node&, const Node&, Node&, Node& value) { return &value; }
Node* from_reshape(Node& at, const Node& view, Node& input, Node& value) {
  return make(at, view, "aten.reshape.default", {&value, sizes_of(at, view, input)});
}
Node* from_permute(Node& at, const Node& view, Node&, Node& value) {
  const std::vector<int64_t> dims = Call(view).integers("dims", view.tensor()->rank());
  std::vector<int64_t> back(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    back.at(wrapped(dims[i], dims.size())) = static_cast<int64_t>(i);
  }
  return make(at, view, "aten.permute.default", {&value, back});
}
Node* from_squeeze(Node& at, const Node& view, Node& input, Node& value) {
  // Restores the dims of size 1 that the view removed.
  Node* result = &value;
  for (size_t i = 0; i < input.tensor()->rank(); ++i) {
    const bool missing =
        input.tensor()->sizes[i] == SymInt(1) &&
        result->tensor()->rank() < input.tensor()->rank() &&
        (i >= result->tensor()->rank() || !(result->tensor()->sizes[i] == SymInt(1)));
    if (missing)
      result = make(at, view, "aten.unsqueeze.default", {result, static_cast<int64_t>(i)});
  }
  return result;
}
Node* from_unsqueeze(Node& at, const Node& view, Node&, Node& value) {
  return make(at, view, "aten.squeeze.dims", {&value, Argument::list({view.need(1)})});
}
// Calls slice_scatter or select_scatter with the view's arguments after the tensors.
Node* scattered(Node& at, const char* target, const Node& view, Node& input, Node& value) {
  ArgumentList args = {&input, &value};
  args.insert(args.end(), view.args().begin() + 1, view.args().end());
  return make(at, view, target, std::move(args));
}
Node* from_slice(Node& at, const Node& view, Node& input, Node& value) {
  return scattered(at, "aten.slice_scatter.default", view, input, value);
}
Node* from_diagonal(Node& at, const Node& view, Node& input, Node& value) {
  ArgumentMap kwargs = view.kwargs();
  ArgumentList args = {&input, &value};
  args.insert(args.end(), view.args().begin() + 1, view.args().end());
  const Target target = Target::of("aten.diagonal_scatter.default");
  return insert(at, view, target, std::move(args), std::move(kwargs), *input.tensor());
}
Node* from_select(Node& at, const Node& view, Node& input, Node& value) {
  return scattered(at, "aten.select_scatter.default", view, input, value);
}
// The inverse of one result of split_with_sizes.
Node* from_split(Node& at, const Node& view, Node& input, Node& value) {
  const Node& tuple = view.need_node(0);
  const Call of_tuple(tuple);
  const std::vector<int64_t> sizes = of_tuple.integers("split_sizes");
  const auto* position = view.need(1).get<int64_t>();
  const int64_t index = position == nullptr ? -1 : *position;
  SymInt start = 0;
  for (size_t i = 0; i < sizes.size() && static_cast<int64_t>(i) < index; ++i) {
    start = start + SymInt(sizes[i]);
  }
  if (index < 0 || static_cast<size_t>(index) >= sizes.size() || !start.is_static()) {
    fail_at(view, fmt::format("split_with_sizes has {} results, but result {} is used",
                              sizes.size(), index));
  }
  const SymInt end = start + SymInt(sizes[static_cast<size_t>(index)]);
  return make(at, view, "aten.slice_scatter.default",
              {&input, &value, of_tuple.integer("dim"), start.value(), end.value()});
}

struct InverseRow {
  std::string_view view;
  Inverse inverse;
};
constexpr std::array kInverses = {
    InverseRow{"aten.alias.default", from_alias},
    InverseRow{"aten.detach.default", from_alias},
    InverseRow{"aten.diagonal.default", from_diagonal},
    InverseRow{"aten.permute.default", from_permute},
    InverseRow{"aten.select.int", from_select},
    InverseRow{"aten.slice.Tensor", from_slice},
    InverseRow{"aten.split_with_sizes.default", from_split},
    InverseRow{"aten.squeeze.default", from_squeeze},
    InverseRow{"aten.squeeze.dim", from_squeeze},
    InverseRow{"aten.squeeze.dims", from_squeeze},
    InverseRow{"aten.unsqueeze.default", from_unsqueeze},
    InverseRow{"aten.view.default", from_reshape},
};

}  // namespace

Inverse inverse_of(const Node& view) {
  const Node& op = view.target() == getitem() ? view.need_node(0) : view;
  const auto row = std::ranges::find(kInverses, op.target().name(), &InverseRow::view);
  if (row == kInverses.end()) {
    fail_at(view, fmt::format("writes through the view {} are not supported", op.target().name()));
  }
  return row->inverse;
}

}  // namespace vitrine::aot
