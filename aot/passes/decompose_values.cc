// Decompositions of element-wise operators that are no activations, and other names of operators.
#include <algorithm>
#include <array>
#include <limits>

#include "aot/passes/calls.h"
#include "aot/shapes/promotion.h"

namespace vitrine::aot {
namespace {

void floor_divide(Decomposition& to) {
  to.replace(to.call("aten.div.Tensor_mode", {to.tensor(0), to.arg(1, "other")}, to.spec(),
                     {{"rounding_mode", "floor"}}));
}

void masked_fill(Decomposition& to) {
  const TensorSpec& spec = to.spec();
  const Argument given = to.arg(2, "value");
  Node* value = given.node() != nullptr && given.node()->tensor() != nullptr
                    ? to.convert(given.node(), spec.dtype)
                    : to.scalar(given, spec.dtype);
  to.replace(to.call("aten.where.self", {to.tensor(1), value, to.tensor(0)}, spec));
}

void reverse_subtract(Decomposition& to) {
  // Of numbers alpha stands by position.
  const Argument alpha = to.arg(2, "alpha");
  to.replace(to.call("aten.sub.Tensor", {to.arg(1, "other"), to.tensor(0)}, to.spec(),
                     alpha.is_none() ? ArgumentMap{} : ArgumentMap{{"alpha", alpha}}));
}

// where with numbers: these are tensors of the result's dtype.
void where(Decomposition& to) {
  ArgumentList args = {to.tensor(0), to.arg(1, "self"), to.arg(2, "other")};
  for (size_t i = 1; i < args.size(); ++i) {
    if (args[i].node() == nullptr) args[i] = to.scalar(args[i], to.spec().dtype);
  }
  to.replace(to.make("aten.where.self", std::move(args)));
}

// self + value * a * b, and self + value * a / b
void add_product(Decomposition& to) {
  const bool divides = to.node().target().op() == "addcdiv";
  Node* term =
      to.make(divides ? "aten.div.Tensor" : "aten.mul.Tensor", {to.tensor(1), to.tensor(2)});
  const Argument value = to.arg(99, "value", 1);
  const bool is_one = (value.get<int64_t>() != nullptr && *value.get<int64_t>() == 1) ||
                      (value.get<double>() != nullptr && *value.get<double>() == 1);
  if (!is_one) term = to.make("aten.mul.Tensor", {term, value});
  to.replace(to.make("aten.add.Tensor", {to.tensor(0), term}));
}

// start + weight (end - start)
void interpolate(Decomposition& to) {
  Node* difference = to.make("aten.sub.Tensor", {to.tensor(1), to.tensor(0)});
  Node* step = to.make("aten.mul.Tensor", {difference, to.arg(2, "weight")});
  to.replace(to.make("aten.add.Tensor", {to.tensor(0), step}));
}

void square(Decomposition& to) { to.replace(to.make("aten.pow.Tensor_Scalar", {to.tensor(0), 2})); }
void exp2(Decomposition& to) { to.replace(to.make("aten.pow.Scalar", {2.0, to.tensor(0)})); }
void complement_of_erf(Decomposition& to) {
  to.replace(to.make("aten.sub.Tensor", {1, to.make("aten.erf.default", {to.tensor(0)})}));
}
void fraction(Decomposition& to) {
  Node* whole = to.make("aten.trunc.default", {to.tensor(0)});
  to.replace(to.make("aten.sub.Tensor", {to.tensor(0), whole}));
}

void clamp_below(Decomposition& to) {
  to.replace(to.call("aten.clamp.default", {to.tensor(0), to.arg(1, "min")}, to.spec()));
}
void clamp_above(Decomposition& to) {
  to.replace(
      to.call("aten.clamp.default", {to.tensor(0), Argument(), to.arg(1, "max")}, to.spec()));
}

// x == x, and |x| is not infinite.
void is_finite(Decomposition& to) {
  Node* x = to.tensor(0);
  Node* is_number = to.make("aten.logical_not.default", {to.make("aten.isnan.default", {x})});
  Node* is_bounded = to.make("aten.logical_not.default", {to.make("aten.isinf.default", {x})});
  to.replace(to.make("aten.logical_and.default", {is_number, is_bounded}));
}

void replace_nan(Decomposition& to) {
  Node* x = to.tensor(0);
  const ScalarType dtype = x->tensor()->dtype;
  double largest = std::numeric_limits<float>::max();
  if (dtype == ScalarType::kDouble) largest = std::numeric_limits<double>::max();
  if (dtype == ScalarType::kHalf) largest = 65504;
  if (dtype == ScalarType::kBFloat16) largest = 3.3895313892515355e38;
  if (!is_floating(dtype)) return to.replace(x);
  const auto value = [&](size_t index, const char* name, double fallback) {
    const Argument given = to.arg(index, name);
    return to.scalar(given.is_none() ? Argument(fallback) : given, dtype);
  };
  Node* is_nan = to.make("aten.isnan.default", {x});
  Node* result = to.make("aten.where.self", {is_nan, value(1, "nan", 0), x});
  Node* is_high = to.make("aten.eq.Scalar", {x, kInfinity});
  result = to.make("aten.where.self", {is_high, value(2, "posinf", largest), result});
  Node* is_low = to.make("aten.eq.Scalar", {x, -kInfinity});
  to.replace(to.make("aten.where.self", {is_low, value(3, "neginf", -largest), result}));
}

// A number and a tensor, in whichever order.
void swapped(Decomposition& to) {
  const std::string target = "aten." + std::string(to.node().target().op()) + ".Scalar";
  to.replace(to.call(target, {to.tensor(1), to.arg(0, "self")}, to.spec()));
}

// A copy in the same memory, or of what is real and plain already.
void itself(Decomposition& to) { to.replace(to.tensor(0)); }

void conjugate(Decomposition& to) {
  const ScalarType dtype = to.tensor(0)->tensor()->dtype;
  if (dtype != ScalarType::kComplexFloat && dtype != ScalarType::kComplexDouble) return itself(to);
  to.replace(to.call("aten._conj_physical.default", {to.tensor(0)}, to.spec()));
}

// The same arguments, another name.
struct Renaming {
  std::string_view from;
  std::string_view to;
};
constexpr std::array kRenamings = {
    Renaming{"aten.__and__.Scalar", "aten.bitwise_and.Scalar"},
    Renaming{"aten.__and__.Tensor", "aten.bitwise_and.Tensor"},
    Renaming{"aten.__lshift__.Tensor", "aten.bitwise_left_shift.Tensor"},
    Renaming{"aten.__rshift__.Tensor", "aten.bitwise_right_shift.Tensor"},
    Renaming{"aten.__or__.Scalar", "aten.bitwise_or.Scalar"},
    Renaming{"aten.__or__.Tensor", "aten.bitwise_or.Tensor"},
    Renaming{"aten.__xor__.Scalar", "aten.bitwise_xor.Scalar"},
    Renaming{"aten.__xor__.Tensor", "aten.bitwise_xor.Tensor"},
    Renaming{"aten.absolute.default", "aten.abs.default"},
    Renaming{"aten.arccos.default", "aten.acos.default"},
    Renaming{"aten.arccosh.default", "aten.acosh.default"},
    Renaming{"aten.arcsin.default", "aten.asin.default"},
    Renaming{"aten.arcsinh.default", "aten.asinh.default"},
    Renaming{"aten.arctan.default", "aten.atan.default"},
    Renaming{"aten.arctan2.default", "aten.atan2.default"},
    Renaming{"aten.arctanh.default", "aten.atanh.default"},
    Renaming{"aten.cdist.default", "aten._cdist_forward.default"},
    Renaming{"aten.clip.Tensor", "aten.clamp.Tensor"},
    Renaming{"aten.clip.default", "aten.clamp.default"},
    Renaming{"aten.concat.default", "aten.cat.default"},
    Renaming{"aten.concatenate.default", "aten.cat.default"},
    Renaming{"aten.divide.Scalar", "aten.div.Tensor"},
    Renaming{"aten.divide.Scalar_mode", "aten.div.Tensor_mode"},
    Renaming{"aten.divide.Tensor_mode", "aten.div.Tensor_mode"},
    Renaming{"aten.divide.Tensor", "aten.div.Tensor"},
    Renaming{"aten.fix.default", "aten.trunc.default"},
    Renaming{"aten.ger.default", "aten.outer.default"},
    Renaming{"aten.greater.Scalar", "aten.gt.Scalar"},
    Renaming{"aten.greater.Tensor", "aten.gt.Tensor"},
    Renaming{"aten.greater_equal.Scalar", "aten.ge.Scalar"},
    Renaming{"aten.greater_equal.Tensor", "aten.ge.Tensor"},
    Renaming{"aten.item.default", "aten._local_scalar_dense.default"},
    Renaming{"aten.less.Scalar", "aten.lt.Scalar"},
    Renaming{"aten.less.Tensor", "aten.lt.Tensor"},
    Renaming{"aten.less_equal.Scalar", "aten.le.Scalar"},
    Renaming{"aten.less_equal.Tensor", "aten.le.Tensor"},
    Renaming{"aten.max.other", "aten.maximum.default"},
    Renaming{"aten.min.other", "aten.minimum.default"},
    Renaming{"aten.multiply.Scalar", "aten.mul.Tensor"},
    Renaming{"aten.multiply.Tensor", "aten.mul.Tensor"},
    Renaming{"aten.negative.default", "aten.neg.default"},
    Renaming{"aten.not_equal.Scalar", "aten.ne.Scalar"},
    Renaming{"aten.not_equal.Tensor", "aten.ne.Tensor"},
    Renaming{"aten.pdist.default", "aten._pdist_forward.default"},
    Renaming{"aten.remainder.Scalar_Tensor", "aten.remainder.Tensor"},
    Renaming{"aten.sgn.default", "aten.sign.default"},
    Renaming{"aten.special_erf.default", "aten.erf.default"},
    Renaming{"aten.special_erfc.default", "aten.erfc.default"},
    Renaming{"aten.special_exp2.default", "aten.exp2.default"},
    Renaming{"aten.special_expit.default", "aten.sigmoid.default"},
    Renaming{"aten.special_expm1.default", "aten.expm1.default"},
    Renaming{"aten.special_log1p.default", "aten.log1p.default"},
    Renaming{"aten.special_logit.default", "aten.logit.default"},
    Renaming{"aten.special_log_softmax.int", "aten.log_softmax.int"},
    Renaming{"aten.special_logsumexp.default", "aten.logsumexp.default"},
    Renaming{"aten.special_softmax.int", "aten.softmax.int"},
    Renaming{"aten.split.sizes", "aten.split_with_sizes.default"},
    Renaming{"aten.subtract.Scalar", "aten.sub.Tensor"},
    Renaming{"aten.subtract.Tensor", "aten.sub.Tensor"},
    Renaming{"aten.true_divide.Scalar", "aten.div.Tensor"},
    Renaming{"aten.true_divide.Tensor", "aten.div.Tensor"},
    Renaming{"aten.unsafe_split_with_sizes.default", "aten.split_with_sizes.default"},
};

void rename(Decomposition& to) {
  const auto row = std::ranges::find(kRenamings, to.node().target().name(), &Renaming::from);
  ArgumentList args = to.node().args();
  // cdist leaves open how it computes; the operator asks.
  if (row->to == "aten._cdist_forward.default") {
    args = {to.tensor(0), to.tensor(1), to.arg(2, "p", 2.0), to.arg(3, "compute_mode")};
  }
  to.replace(to.call(row->to, std::move(args), to.node().meta.value, to.node().kwargs()));
}

constexpr std::array kValueDecompositions = {
    DecompositionRow{"aten.addcdiv.default", add_product},
    DecompositionRow{"aten.addcmul.default", add_product},
    DecompositionRow{"aten.bitwise_and.Scalar_Tensor", swapped},
    DecompositionRow{"aten.bitwise_or.Scalar_Tensor", swapped},
    DecompositionRow{"aten.bitwise_xor.Scalar_Tensor", swapped},
    DecompositionRow{"aten.clamp_max.default", clamp_above},
    DecompositionRow{"aten.clamp_min.default", clamp_below},
    DecompositionRow{"aten.conj.default", conjugate},
    DecompositionRow{"aten.conj_physical.default", conjugate},
    DecompositionRow{"aten.erfc.default", complement_of_erf},
    DecompositionRow{"aten.exp2.default", exp2},
    DecompositionRow{"aten.floor_divide.Scalar", floor_divide},
    DecompositionRow{"aten.floor_divide.default", floor_divide},
    DecompositionRow{"aten.frac.default", fraction},
    DecompositionRow{"aten.isfinite.default", is_finite},
    DecompositionRow{"aten.lerp.Scalar", interpolate},
    DecompositionRow{"aten.lerp.Tensor", interpolate},
    DecompositionRow{"aten.lift_fresh.default", itself},
    DecompositionRow{"aten.masked_fill.Scalar", masked_fill},
    DecompositionRow{"aten.masked_fill.Tensor", masked_fill},
    DecompositionRow{"aten.nan_to_num.default", replace_nan},
    DecompositionRow{"aten.positive.default", itself},
    DecompositionRow{"aten.resolve_conj.default", itself},
    DecompositionRow{"aten.resolve_neg.default", itself},
    DecompositionRow{"aten.rsub.Scalar", reverse_subtract},
    DecompositionRow{"aten.rsub.Tensor", reverse_subtract},
    DecompositionRow{"aten.square.default", square},
    DecompositionRow{"aten.where.Scalar", where},
    DecompositionRow{"aten.where.ScalarOther", where},
    DecompositionRow{"aten.where.ScalarSelf", where},
};

// These rows and the renamings.
constexpr auto kAll = [] {
  std::array<DecompositionRow, kValueDecompositions.size() + kRenamings.size()> all;
  std::ranges::copy(kValueDecompositions, all.begin());
  std::ranges::transform(kRenamings, all.begin() + kValueDecompositions.size(),
                         [](const Renaming& each) {
                           return DecompositionRow{each.from, rename};
                         });
  return all;
}();

}  // namespace

std::span<const DecompositionRow> value_decompositions() { return kAll; }

}  // namespace vitrine::aot
