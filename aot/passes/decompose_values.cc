// Decompositions of element-wise operators, conversions and makers of tensors.
#include <array>

#include "aot/passes/decomposition.h"

namespace vitrine::aot {
namespace {

void dropout(Decomposition& to) {
  if (to.boolean(2, "train", false)) to.refuse("it is in training mode");
  to.replace(to.tensor(0));
}

void relu6(Decomposition& to) {
  to.replace(to.call("aten.hardtanh.default", {to.tensor(0), 0, 6}, to.spec()));
}

void silu(Decomposition& to) {
  Node* gate = to.call("aten.sigmoid.default", {to.tensor(0)}, to.spec());
  to.replace(to.call("aten.mul.Tensor", {to.tensor(0), gate}, to.spec()));
}

// softmax and log_softmax of an input of the result's dtype.
void softmax(Decomposition& to) {
  Node* x = to.tensor(0);
  if (x->tensor()->dtype != to.spec().dtype) to.refuse("it converts its input");
  const bool is_log = to.node().target().op() == "log_softmax";
  to.replace(to.call(is_log ? "aten._log_softmax.default" : "aten._softmax.default",
                     {x, to.integer(1, "dim", 0), false}, to.spec()));
}

void convert(Decomposition& to) {
  Node* x = to.tensor(0);
  const TensorSpec& before = *x->tensor();
  const TensorSpec& after = to.spec();
  if (before.dtype == after.dtype && before.strides == after.strides) return to.replace(x);
  ArgumentMap kwargs;
  if (before.dtype != after.dtype) kwargs.emplace_back("dtype", after.dtype);
  to.replace(to.call("aten._to_copy.default", {x}, after, std::move(kwargs)));
}

void clone(Decomposition& to) {
  to.replace(to.call("aten.clone.default", {to.tensor(0)}, to.spec()));
}

void alias_copy(Decomposition& to) {
  Node* alias = to.call("aten.alias.default", {to.tensor(0)}, to.spec());
  to.replace(to.call("aten.clone.default", {alias}, to.spec()));
}

void fill(Decomposition& to) {
  to.replace(to.call("aten.full_like.default", {to.tensor(0), to.arg(1, "value")}, to.spec()));
}

void fill_with_tensor(Decomposition& to) {
  to.replace(to.call("aten.copy.default", {to.tensor(0), to.arg(1, "value")}, to.spec()));
}

void floor_divide(Decomposition& to) {
  to.replace(to.call("aten.div.Tensor_mode", {to.tensor(0), to.arg(1, "other")}, to.spec(),
                     {{"rounding_mode", "floor"}}));
}

void variance(Decomposition& to) {
  const bool is_unbiased = to.boolean(2, "unbiased", true);
  to.replace(
      to.call("aten.var.correction", {to.tensor(0), to.arg(1, "dim")}, to.spec(),
              {{"correction", is_unbiased ? 1 : 0}, {"keepdim", to.boolean(3, "keepdim", false)}}));
}

void masked_fill(Decomposition& to) {
  const TensorSpec& spec = to.spec();
  Node* value =
      to.call("aten.scalar_tensor.default", {to.arg(2, "value")}, contiguous_spec(spec.dtype, {}),
              {{"dtype", spec.dtype}, {"layout", Layout::kStrided}, {"device", Device()}});
  to.replace(to.call("aten.where.self", {to.tensor(1), value, to.tensor(0)}, spec));
}

void reverse_subtract(Decomposition& to) {
  to.replace(to.call("aten.sub.Tensor", {to.arg(1, "other"), to.tensor(0)}, to.spec(),
                     to.kwargs({"alpha"})));
}

void sum(Decomposition& to) {
  to.replace(to.call("aten.sum.dim_IntList", {to.tensor(0), ArgumentList()}, to.spec(),
                     to.kwargs({"dtype"})));
}

template <int value>
void filled(Decomposition& to) {
  const ScalarType dtype = to.spec().dtype;
  const bool is_float = is_floating(dtype) || is_complex(dtype);
  const Argument number = dtype == ScalarType::kBool ? Argument(value != 0)
                          : is_float                 ? Argument(static_cast<double>(value))
                                                     : Argument(value);
  to.replace(to.call("aten.full.default", {to.arg(0, "size"), number}, to.spec(),
                     to.kwargs({"dtype", "layout", "device", "pin_memory"})));
}

template <int value>
void filled_like(Decomposition& to) {
  to.replace(to.call("aten.full_like.default", {to.tensor(0), value}, to.spec(),
                     to.kwargs({"dtype", "layout", "device", "pin_memory"})));
}

void arange(Decomposition& to) {
  ArgumentList args = to.node().args();
  if (to.node().target().overload() == "default") args.insert(args.begin(), Argument(0));
  to.replace(to.call("aten.arange.start_step", std::move(args), to.spec(),
                     to.kwargs({"dtype", "layout", "device", "pin_memory"})));
}

constexpr std::array kRows = {
    DecompositionRow{"aten.alias_copy.default", alias_copy},
    DecompositionRow{"aten.arange.default", arange},
    DecompositionRow{"aten.arange.start", arange},
    DecompositionRow{"aten.dropout.default", dropout},
    DecompositionRow{"aten.fill.Scalar", fill},
    DecompositionRow{"aten.fill.Tensor", fill_with_tensor},
    DecompositionRow{"aten.floor_divide.default", floor_divide},
    DecompositionRow{"aten.lift_fresh_copy.default", clone},
    DecompositionRow{"aten.log_softmax.int", softmax},
    DecompositionRow{"aten.masked_fill.Scalar", masked_fill},
    DecompositionRow{"aten.ones.default", filled<1>},
    DecompositionRow{"aten.ones_like.default", filled_like<1>},
    DecompositionRow{"aten.relu6.default", relu6},
    DecompositionRow{"aten.rsub.Scalar", reverse_subtract},
    DecompositionRow{"aten.silu.default", silu},
    DecompositionRow{"aten.softmax.int", softmax},
    DecompositionRow{"aten.sum.default", sum},
    DecompositionRow{"aten.to.dtype", convert},
    DecompositionRow{"aten.to.dtype_layout", convert},
    DecompositionRow{"aten.var.dim", variance},
    DecompositionRow{"aten.zeros.default", filled<0>},
    DecompositionRow{"aten.zeros_like.default", filled_like<0>},
};

}  // namespace

std::span<const DecompositionRow> value_decompositions() { return kRows; }

}  // namespace vitrine::aot
