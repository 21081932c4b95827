// Compares the results of decomposed operators on f16 and bf16 with those of the same operators on
// f64. The f64 results are rounded to f16 or bf16 before the comparison.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>

#include "operators/operator.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/support/read_text.h"
#include "vitrine/half.h"

namespace vitrine::aot::half {
namespace {

// Ranges of input values. The first two ranges reach the limits of the dtype.
enum class Range : uint8_t {
  kAny,
  kPositive,
  kSquarable,  // in bf16, squares of values must fit into f32
  kSmall,      // -8 to 8
  kUnit,       // 0 to 1
  kNearOne,    // 0.75 to 1.25
  kIndices,    // i64: 0, 1, 0, 1...
  kDistinct,   // i64: 0, 1, 2, 3...
  kSigns,      // 1 and -1
};
using enum Range;

struct Input {
  Range range = kAny;
  std::vector<int64_t> sizes;
};

struct Case {
  const char* target = nullptr;
  std::vector<Input> inputs;
  std::vector<SymInt> sizes;
  ArgumentList args = {};  // as for one(): "$" is the next input
  ArgumentMap kwargs = {};
  std::optional<size_t> item = {};       // index of the result to compare, if there are several
  std::optional<ScalarType> dtype = {};  // dtype of the result if it differs from the inputs'
};

double round_to(ScalarType dtype, double value) {
  const auto narrow = static_cast<float>(value);
  if (dtype == ScalarType::kHalf) return static_cast<float>(Half(narrow));
  return static_cast<float>(BFloat16(narrow));
}

double value_at(Range range, ScalarType dtype, size_t i, size_t seed) {
  const bool is_f16 = dtype == ScalarType::kHalf;
  const double largest = is_f16 ? 65504 : range == kSquarable ? 0x1p63 : 0x1.fep127;
  const double smallest = is_f16 ? 0x1p-24 : range == kSquarable ? 0x1p-60 : 0x1p-126;
  double whole = 0;
  const double u =
      std::modf(static_cast<double>(i + 1) * 0.618034 + static_cast<double>(seed) * 0.37, &whole);
  switch (range) {
    case kSmall:
      return (u - 0.5) * 16;
    case kUnit:
      return u;
    case kNearOne:
      return 0.75 + u / 2;
    case kIndices:
      return static_cast<double>(i % 2);
    case kDistinct:
      return static_cast<double>(i);
    case kSigns:
      return i % 2 == 0 ? 1 : -1;
    default:
      break;
  }
  const double low = std::log2(smallest);
  const double high = std::log2(largest);
  // The magnitudes include both ends of the range. Many magnitudes are below 8, where most
  // functions are curved.
  const size_t kind = (i + seed) % 4;
  const double magnitude = i == 1      ? largest
                           : i == 2    ? smallest
                           : kind == 0 ? 8 * u
                                       : std::min(largest, std::exp2(low + u * (high - low)));
  return i % 2 == 0 || range == kPositive ? magnitude : -magnitude;
}

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto at = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  bytes.insert(bytes.end(), at.begin(), at.end());
}

// Makes an input of `dtype`, or an f64 input whose values `dtype` can represent.
TensorData input_of(const Input& input, ScalarType dtype, bool is_wide, size_t seed) {
  size_t count = 1;
  for (const int64_t size : input.sizes) count *= static_cast<size_t>(size);
  const bool is_integer = input.range == kIndices || input.range == kDistinct;
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < count; ++i) {
    const double value = round_to(dtype, value_at(input.range, dtype, i, seed));
    if (is_integer) {
      append(bytes, static_cast<int64_t>(value));
    } else if (is_wide) {
      append(bytes, value);
    } else if (dtype == ScalarType::kHalf) {
      append(bytes, Half(static_cast<float>(value)).bits);
    } else {
      append(bytes, BFloat16(static_cast<float>(value)).bits);
    }
  }
  const ScalarType made = is_integer ? ScalarType::kLong : is_wide ? ScalarType::kDouble : dtype;
  return make_tensor_data(made, input.sizes, std::move(bytes));
}

Values results_of(const Case& test, ScalarType dtype, bool is_wide) {
  std::vector<TensorData> inputs;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    inputs.push_back(input_of(test.inputs[i], dtype, is_wide, i));
  }
  const ScalarType computed = is_wide ? ScalarType::kDouble : dtype;
  const ScalarType result = test.dtype.value_or(computed);
  if (test.item) {
    const TensorSpec spec = contiguous_spec(result, test.sizes);
    return values_of(lowered_item(test.target, inputs, test.args, {spec, spec}, *test.item));
  }
  ArgumentMap kwargs = test.kwargs;
  if (inputs.empty()) kwargs.emplace_back("dtype", computed);
  return values_of(lowered(test.target, inputs, test.args, test.sizes, kwargs, result));
}

// Returns the distance between a and b in steps between adjacent values of the dtype.
int64_t units_between(ScalarType dtype, double a, double b) {
  const auto position = [&](double x) {
    const auto narrow = static_cast<float>(x);
    const uint16_t bits = dtype == ScalarType::kHalf ? Half(narrow).bits : BFloat16(narrow).bits;
    return (bits & 0x8000) != 0 ? -int64_t{bits & 0x7fff} : int64_t{bits};
  };
  return std::abs(position(a) - position(b));
}

std::vector<Case> cases() {
  const std::vector<int64_t> row = {61};
  const std::vector<SymInt> line = {61};
  std::vector<Case> all;
  const auto add = [&](const char* target, const std::vector<Input>& inputs,
                       const std::vector<SymInt>& sizes, const ArgumentList& args = {},
                       const ArgumentMap& kwargs = {}, std::optional<size_t> item = {}) {
    all.push_back({target, inputs, sizes, args, kwargs, item});
  };
  const auto unary = [&](const char* target, Range range = kAny, const ArgumentList& rest = {},
                         const ArgumentMap& kwargs = {}) {
    add(target, {{range, row}}, line, rest, kwargs);
  };
  const auto binary = [&](const char* target, Range a = kAny, Range b = kAny,
                          const ArgumentList& rest = {}) {
    add(target, {{a, row}, {b, row}}, line, rest);
  };
  unary("aten.deg2rad.default");
  unary("aten.hardsigmoid.default");
  unary("aten.hardswish.default", kSquarable);
  unary("aten.log_sigmoid.default");
  unary("aten.logit.default", kUnit);
  unary("aten.logit.default", kUnit, {0.1});
  unary("aten.mish.default");
  unary("aten.rad2deg.default", kSquarable);
  unary("aten.round.decimals", kSquarable, {}, {{"decimals", 2}});
  unary("aten.silu.default");
  unary("aten.sinc.default", kUnit);
  unary("aten.softplus.default");
  unary("aten.softplus.default", kSquarable, {2.0, 10});
  unary("aten.softshrink.default", kAny, {0.3});
  unary("aten.special_entr.default", kSquarable);
  unary("aten.special_ndtr.default", kSmall);
  unary("aten.special_sinc.default", kUnit);
  unary("aten.xlogy.Scalar_Other", kAny, {3.0});
  unary("aten.special_xlogy.other_scalar", kAny, {3.0});
  unary("aten.special_xlog1py.other_scalar", kAny, {3.0});
  for (const char* target : {"aten.xlogy.Scalar_Self", "aten.special_xlogy.self_scalar",
                             "aten.special_xlog1py.self_scalar"}) {
    add(target, {{kPositive, row}}, line, {0.1, "$"});
  }
  binary("aten.hypot.default", kSquarable, kSquarable);
  binary("aten.isclose.default", kAny, kAny, {0.1});
  all.back().dtype = ScalarType::kBool;
  binary("aten.ldexp.Tensor", kAny, kSmall);
  binary("aten.lerp.Scalar", kSquarable, kSquarable, {0.3});
  binary("aten.lerp.Scalar", kSquarable, kSquarable, {0.7});
  add("aten.lerp.Tensor", {{kSquarable, row}, {kSquarable, row}, {kUnit, row}}, line);
  binary("aten.logaddexp.default");
  binary("aten.logaddexp2.default");
  binary("aten.sigmoid_backward.default", kAny, kUnit);
  binary("aten.special_xlog1py.default", kSquarable, kPositive);
  binary("aten.special_xlogy.default", kSquarable, kPositive);
  binary("aten.xlogy.Tensor", kSquarable, kPositive);
  for (const char* target : {"aten.addcmul.default", "aten.addcdiv.default"}) {
    add(target, {{kAny, row}, {kSquarable, row}, {kSquarable, row}}, line, {}, {{"value", 0.01}});
  }
  add("aten.glu.default", {{kAny, {2, 62}}}, {2, 31});
  add("aten.linspace.default", {}, {4099}, {-3, 5, 4099});
  add("aten.logspace.default", {}, {4099}, {-3, 4, 4099});

  // Reductions.
  const std::vector<int64_t> matrix = {4, 40};
  const auto reduction = [&](const char* target, const ArgumentList& rest,
                             const ArgumentMap& kwargs = {}, Range range = kSquarable,
                             const std::vector<SymInt>& sizes = {4}) {
    add(target, {{range, matrix}}, sizes, rest, kwargs);
  };
  reduction("aten.std.default", {}, {}, kSquarable, {});
  reduction("aten.std.dim", {Dims{1}});
  reduction("aten.std.correction", {Dims{1}}, {{"correction", 0}});
  for (const size_t item : {size_t{0}, size_t{1}}) {
    add("aten.std_mean.default", {{kSquarable, matrix}}, {}, {}, {}, item);
    add("aten.std_mean.dim", {{kSquarable, matrix}}, {4}, {Dims{1}}, {}, item);
    add("aten.std_mean.correction", {{kSquarable, matrix}}, {4}, {Dims{1}}, {}, item);
  }
  for (const double order : {0.0, 0.5, 1.0, 2.0, kInfinity, -kInfinity}) {
    reduction("aten.linalg_vector_norm.default", {order, Dims{1}});
  }
  reduction("aten.linalg_vector_norm.default", {3, Dims{1}}, {}, kSmall);
  reduction("aten.norm.Scalar", {2}, {}, kSquarable, {});
  reduction("aten.norm.ScalarOpt_dim", {2, Dims{1}});
  reduction("aten.norm.ScalarOpt_dim_dtype", {2, Dims{1}, false}, {{"dtype", ScalarType::kFloat}});
  reduction("aten.norm.ScalarOpt_dtype", {2}, {{"dtype", ScalarType::kFloat}}, kSquarable, {});
  for (Case& test : all) {
    if (test.kwargs.size() == 1 && test.kwargs[0].second == Argument(ScalarType::kFloat)) {
      test.dtype = ScalarType::kFloat;
    }
  }
  reduction("aten.logsumexp.default", {Dims{1}});
  reduction("aten.logcumsumexp.default", {1}, {}, kSmall, {4, 40});
  reduction("aten.cumprod.default", {1}, {}, kNearOne, {4, 40});
  reduction("aten.nansum.default", {Dims{1}});
  reduction("aten.nanmean.default", {Dims{1}});
  reduction("aten.trapezoid.dx", {}, {{"dx", 0.1}});
  reduction("aten.trapz.dx", {}, {{"dx", 0.1}});
  reduction("aten.cumulative_trapezoid.dx", {}, {{"dx", 0.1}}, kSquarable, {4, 39});
  const auto pair = [&](const char* target, const ArgumentList& rest,
                        const std::vector<SymInt>& sizes) {
    add(target, {{kSquarable, matrix}, {kSmall, matrix}}, sizes, rest);
  };
  pair("aten.trapezoid.x", {}, {4});
  pair("aten.trapz.x", {}, {4});
  pair("aten.cumulative_trapezoid.x", {}, {4, 39});
  pair("aten.cosine_similarity.default", {1}, {4});
  pair("aten.dist.default", {}, {});
  pair("aten.pairwise_distance.default", {}, {4});

  // Products.
  pair("aten.linalg_vecdot.default", {}, {4});
  for (const char* target : {"aten.dot.default", "aten.vdot.default"}) {
    add(target, {{kSquarable, row}, {kSmall, row}}, {});
  }
  add("aten.mv.default", {{kSquarable, matrix}, {kSmall, {40}}}, {4});
  for (const char* target : {"aten.cross.default", "aten.linalg_cross.default"}) {
    add(target, {{kSquarable, {5, 3}}, {kSmall, {5, 3}}}, {5, 3});
  }
  const ArgumentMap factors = {{"beta", 0.3}, {"alpha", 0.01}};
  add("aten.addmv.default", {{kAny, {4}}, {kSquarable, matrix}, {kSmall, {40}}}, {4}, {}, factors);
  add("aten.addr.default", {{kAny, {4, 5}}, {kSquarable, {4}}, {kSmall, {5}}}, {4, 5}, {}, factors);
  add("aten.addbmm.default", {{kAny, {4, 5}}, {kSquarable, {2, 4, 6}}, {kSmall, {2, 6, 5}}}, {4, 5},
      {}, factors);
  add("aten.baddbmm.default", {{kAny, {2, 4, 5}}, {kSquarable, {2, 4, 6}}, {kSmall, {2, 6, 5}}},
      {2, 4, 5}, {}, factors);
  add("aten.bilinear.default",
      {{kSmall, {3, 4}}, {kSquarable, {3, 5}}, {kSmall, {2, 4, 5}}, {kAny, {2}}}, {3, 2});
  add("aten.scaled_dot_product_attention.default",
      {{kSquarable, {1, 2, 3, 4}}, {kSmall, {1, 2, 5, 4}}, {kAny, {1, 2, 5, 4}}}, {1, 2, 3, 4});

  // Layers and operators on images.
  add("aten._weight_norm.default", {{kSquarable, matrix}, {kSmall, {4, 1}}}, {4, 40});
  add("aten.rms_norm.default", {{kSquarable, matrix}, {kSmall, {40}}}, {4, 40},
      {"$", Dims{40}, "$"});
  const std::vector<int64_t> volume = {1, 2, 4, 5, 6};
  add("aten._adaptive_avg_pool3d.default", {{kSquarable, volume}}, {1, 2, 2, 2, 2},
      {Dims{2, 2, 2}});
  add("aten.adaptive_avg_pool3d.default", {{kSquarable, volume}}, {1, 2, 2, 2, 2}, {Dims{2, 2, 2}});
  add("aten.avg_pool3d.default", {{kSquarable, volume}}, {1, 2, 2, 2, 3}, {Dims{2, 2, 2}});
  add("aten.affine_grid_generator.default", {{kUnit, {1, 2, 3}}}, {1, 5, 7, 2},
      {Dims{1, 1, 5, 7}, false});
  add("aten.col2im.default", {{kSquarable, {1, 8, 9}}}, {1, 2, 4, 4},
      {Dims{4, 4}, Dims{2, 2}, Dims{1, 1}, Dims{0, 0}, Dims{1, 1}});
  add("aten.upsample_bicubic2d.vec", {{kSquarable, {1, 2, 4, 5}}}, {1, 2, 7, 3},
      {Dims{7, 3}, false, Argument()});
  add("aten.upsample_trilinear3d.vec", {{kSquarable, volume}}, {1, 2, 5, 3, 8},
      {Dims{5, 3, 8}, true, Argument()});

  // Losses.
  for (const int64_t reduction_kind : {0, 1, 2}) {
    const std::vector<SymInt> sizes = reduction_kind == 0 ? line : std::vector<SymInt>();
    for (const char* target : {"aten.mse_loss.default", "aten.l1_loss.default",
                               "aten.smooth_l1_loss.default", "aten.huber_loss.default"}) {
      add(target, {{kSquarable, row}, {kSmall, row}}, sizes, {reduction_kind});
    }
  }
  add("aten.binary_cross_entropy.default", {{kUnit, row}, {kUnit, row}}, {});
  add("aten.binary_cross_entropy_with_logits.default", {{kSquarable, row}, {kUnit, row}}, {});
  add("aten.kl_div.default", {{kSmall, row}, {kUnit, row}}, {});
  add("aten.soft_margin_loss.default", {{kSmall, row}, {kSigns, row}}, {});
  add("aten.margin_ranking_loss.default", {{kSquarable, row}, {kSmall, row}, {kSigns, row}}, {},
      {0.1});
  add("aten.hinge_embedding_loss.default", {{kSquarable, row}, {kSigns, row}}, {});
  add("aten.cosine_embedding_loss.default", {{kSmall, matrix}, {kSmall, matrix}, {kSigns, {4}}},
      {});
  add("aten.triplet_margin_loss.default",
      {{kSquarable, matrix}, {kSmall, matrix}, {kSmall, matrix}}, {});
  add("aten.poisson_nll_loss.default", {{kSmall, row}, {kPositive, row}}, {},
      {true, true, 1e-8, 1});
  add("aten.cross_entropy_loss.default", {{kSquarable, matrix}, {kIndices, {4}}}, {});
  add("aten.cross_entropy_loss.default", {{kSmall, matrix}, {kIndices, {4}}, {kUnit, {40}}}, {},
      {1, -100, 0.1});
  for (const char* target : {"aten.nll_loss.default", "aten.nll_loss_nd.default"}) {
    add(target, {{kSquarable, matrix}, {kIndices, {4}}, {kUnit, {40}}}, {});
  }
  add("aten.nll_loss2d.default", {{kSquarable, {2, 3, 4, 5}}, {kIndices, {2, 4, 5}}}, {});
  for (const size_t item : {size_t{0}, size_t{1}}) {
    add("aten.nll_loss_forward.default", {{kSquarable, matrix}, {kIndices, {4}}, {kUnit, {40}}}, {},
        {1, -100}, {}, item);
    add("aten.nll_loss2d_forward.default", {{kSquarable, {2, 3, 4, 5}}, {kIndices, {2, 4, 5}}}, {},
        {Argument(), 1, -100}, {}, item);
  }

  // Operators that write at indices.
  add("aten.index_add.default", {{kSquarable, {4, 5}}, {kDistinct, {3}}, {kSquarable, {3, 5}}},
      {4, 5}, {"$", 0, "$", "$"}, {{"alpha", 0.1}});
  add("aten.scatter.reduce", {{kSmall, {4, 5}}, {kIndices, {4, 5}}, {kSmall, {4, 5}}}, {4, 5},
      {"$", 0, "$", "$"}, {{"reduce", "multiply"}});
  add("aten.scatter.value_reduce", {{kSmall, {4, 5}}, {kIndices, {4, 5}}}, {4, 5},
      {"$", 0, "$", 1.5}, {{"reduce", "add"}});
  return all;
}

TEST(HalfPrecision, DecompositionsRoundResultsOnlyOnce) {
  for (const Case& test : cases()) {
    for (const ScalarType dtype : {ScalarType::kHalf, ScalarType::kBFloat16}) {
      SCOPED_TRACE(std::string(test.target) + " " + scalar_type_name(dtype));
      const Values found = results_of(test, dtype, false);
      const Values expected = results_of(test, dtype, true);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        const double rounded = round_to(dtype, expected[i]);
        if (std::isnan(rounded) && std::isnan(found[i])) continue;
        // The decomposition computes in f32. If the exact result is near the midpoint of two values
        // of `dtype`, the f32 result may be rounded to the other value.
        EXPECT_LE(units_between(dtype, found[i], rounded), 1)
            << "element " << i << ": expected " << rounded << ", found " << found[i];
      }
    }
  }
}

// Returns the operators that operators/operators.inc marks with OPMATH.
std::set<std::string> opmath_targets() {
  struct Row {
    bool uses_opmath = false;
    constexpr Row opmath() const { return {true}; }
  };
  constexpr Row kRows[] = {
#define OP(signature, ...) Row() __VA_ARGS__,
#define OPMATH .opmath()
#include "operators/operators.inc"
  };
  std::set<std::string> targets;
  for (size_t i = 0; i < operators().size(); ++i) {
    if (kRows[i].uses_opmath) targets.insert(operators()[i].target);
  }
  return targets;
}

TEST(HalfPrecision, TestCasesCoverAllOperatorsInTheTable) {
  std::set<std::string> covered;
  for (const Case& test : cases()) covered.insert(test.target);
  EXPECT_EQ(covered, opmath_targets());
}

// Returns the operators in the table of docs/kernels.md.
std::set<std::string> documented_operators() {
  const std::string page =
      vitrine::test::read_text(std::string(VITRINE_SOURCE_DIR) + "/docs/kernels.md");
  const size_t begin = page.find("operators computed in f32 |");
  std::istringstream table(page.substr(begin, page.find("\n\n", begin) - begin));
  std::set<std::string> names;
  std::string quoted;
  for (bool is_quoted = false; std::getline(table, quoted, '`'); is_quoted = !is_quoted) {
    std::istringstream words(is_quoted ? quoted : "");
    for (std::string word; words >> word;) names.insert(word);
  }
  return names;
}

TEST(HalfPrecision, DocumentationListsAllOperatorsInTheTable) {
  std::set<std::string> names;
  for (const std::string& name : opmath_targets()) {
    const Target target = Target::of(name);
    const bool is_round = target.op() == "round";
    names.insert(is_round ? "round.decimals" : std::string(target.op()));
  }
  EXPECT_EQ(documented_operators(), names);
}

}  // namespace
}  // namespace vitrine::aot::half
