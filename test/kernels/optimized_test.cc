// Compares every optimized kernel with the portable kernel, for random shapes, dtypes, dim orders
// and values.
#include "kernels/optimized/optimized_kernels.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>

#include "test/kernels/image_cases.h"
#include "test/kernels/kernel_comparison.h"
#include "test/kernels/llm_cases.h"
#include "test/kernels/product_cases.h"
#include "vitrine/thread_pool.h"

namespace vitrine {
namespace {

using namespace test;

using Generator = std::function<void(Comparison&, const std::string&)>;

// --- Element by element ---

Generator unary(Bound bound, bool integers = true) {
  return [=](Comparison& c, const std::string& name) {
    const Sizes sizes = random_shape(c.random);
    const Order order = random_order(c.random, sizes.size());
    const ScalarType dtype = integers ? random_dtype(c.random) : random_float(c.random);
    const bool keeps_dtype = name == "aten::abs.out" || name == "aten::neg.out" ||
                             name == "aten::relu.out" || name == "aten::ceil.out" ||
                             name == "aten::floor.out" || name == "aten::trunc.out" ||
                             name == "aten::round.out";
    const ScalarType result =
        dtype == ScalarType::kInt && !keeps_dtype ? ScalarType::kFloat : dtype;
    c.run(name, bound, c.tensor(dtype, sizes, order), c.out(result, sizes, order));
  };
}

Generator binary(Bound bound, bool scalar, bool alpha, bool returns_bool) {
  return [=](Comparison& c, const std::string& name) {
    const Sizes sizes = random_shape(c.random);
    const ScalarType dtype =
        name.find("div") != std::string::npos ? random_float(c.random) : random_dtype(c.random);
    const Order order = random_order(c.random, sizes.size());
    const auto self = c.tensor(dtype, sizes, order);
    const auto out = c.out(returns_bool ? ScalarType::kBool : dtype, sizes, order);
    const EValue factor(c.random.integer(-3, 3));
    if (scalar) {
      const EValue other(c.random.chance(0.5) || dtype == ScalarType::kInt
                             ? EValue(c.random.integer(-3, 3))
                             : EValue(c.random.real(-3, 3)));
      return alpha ? c.run(name, bound, self, other, factor, out)
                   : c.run(name, bound, self, other, out);
    }
    const Sizes other_sizes = broadcastable(c.random, sizes);
    const auto other = c.tensor(dtype, other_sizes, random_order(c.random, other_sizes.size()));
    return alpha ? c.run(name, bound, self, other, factor, out)
                 : c.run(name, bound, self, other, out);
  };
}

void where(Comparison& c, const std::string& name) {
  const Sizes sizes = random_shape(c.random);
  const ScalarType dtype = random_dtype(c.random);
  c.run(name, {},
        c.tensor(c.random.chance(0.7) ? ScalarType::kBool : ScalarType::kByte,
                 broadcastable(c.random, sizes)),
        c.tensor(dtype, sizes), c.tensor(dtype, broadcastable(c.random, sizes)),
        c.out(dtype, sizes));
}

void clamp(Comparison& c, const std::string& name) {
  const Sizes sizes = random_shape(c.random);
  const Order order = random_order(c.random, sizes.size());
  const ScalarType dtype = random_dtype(c.random);
  const bool is_integer = dtype == ScalarType::kInt;
  EValue low(is_integer ? EValue(c.random.integer(-3, 3)) : EValue(c.random.real(-3, 3)));
  EValue high(is_integer ? EValue(c.random.integer(0, 6)) : EValue(c.random.real(-3, 6)));
  if (name == "aten::clamp.out" && c.random.chance(0.3)) low = EValue();
  c.run(name, {}, c.tensor(dtype, sizes, order), low, high, c.out(dtype, sizes, order));
}

void leaky_relu(Comparison& c, const std::string& name) {
  const Sizes sizes = random_shape(c.random);
  const ScalarType dtype = random_float(c.random);
  c.run(name, {1}, c.tensor(dtype, sizes), EValue(0.01), c.out(dtype, sizes));
}

void elu(Comparison& c, const std::string& name) {
  const Sizes sizes = random_shape(c.random);
  const ScalarType dtype = random_float(c.random);
  c.run(name, {8}, c.tensor(dtype, sizes), EValue(c.random.real(0.1, 2)),
        EValue(c.random.real(0.5, 2)), EValue(c.random.real(0.5, 2)), c.out(dtype, sizes));
}

void gelu(Comparison& c, const std::string& name) {
  const Sizes sizes = random_shape(c.random);
  const ScalarType dtype = random_float(c.random);
  // GELU multiplies by 1 + erf(...) or by 1 + tanh(...). For negative x, the two terms of this sum
  // cancel, so the difference needs an absolute bound.
  c.run(name, {32, 1e-5}, c.tensor(dtype, sizes),
        EValue(std::string_view(c.random.chance(0.5) ? "none" : "tanh")), c.out(dtype, sizes));
}

void pow_scalar(Comparison& c, const std::string& name) {
  static constexpr double kExponents[] = {2, 3, 0.5, -1, -0.5, -2, 1.7, 0, 4};
  const Sizes sizes = random_shape(c.random);
  const ScalarType dtype = random_float(c.random);
  c.run(name, {3}, c.tensor(dtype, sizes), EValue(kExponents[c.random.integer(0, 8)]),
        c.out(dtype, sizes));
}

// --- Reductions and normalizations ---

Generator reduction(bool index, bool dtype_argument, bool exact, const char* extra = nullptr) {
  return [=](Comparison& c, const std::string& name) {
    Random& random = c.random;
    const Sizes sizes = random_shape(random);
    const ScalarType dtype = random_float(random);
    const auto rank = static_cast<int64_t>(sizes.size());
    uint32_t mask = 0;
    std::vector<int64_t> dims;
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (!random.chance(0.4) || (index && !dims.empty())) continue;
      dims.push_back(random.chance(0.5) ? dim : dim - rank);
      mask |= 1u << dim;
    }
    const bool keepdim = random.chance(0.5);
    Sizes result;
    for (int64_t dim = 0; dim < rank; ++dim) {
      const bool reduced = dims.empty() || ((mask >> dim) & 1u) != 0;
      if (!reduced) result.push_back(sizes[static_cast<size_t>(dim)]);
      if (reduced && keepdim) result.push_back(1);
    }
    int64_t count = 1;
    for (const int32_t size : sizes) count *= size;
    const auto self = c.tensor(dtype, sizes, random_order(random, sizes.size()),
                               exact ? Values::kAny : Values::kUnit);
    const auto out = c.out(index ? ScalarType::kLong : dtype, result);
    const Bound bound{exact ? 0.0 : 2.0, exact ? 0.0 : 2e-7 * static_cast<double>(count)};
    const EValue all_or_one = dims.empty() ? EValue() : EValue(dims[0]);
    if (index) return c.run(name, bound, self, all_or_one, EValue(keepdim), out);
    if (extra != nullptr && std::string(extra) == "unbiased") {
      return c.run(name, {64, 2e-6}, self, c.ints(dims), EValue(random.chance(0.5)),
                   EValue(keepdim), out);
    }
    if (extra != nullptr) {
      return c.run(name, {64, 2e-6}, self, c.ints(dims), EValue(random.integer(0, 1)),
                   EValue(keepdim), out);
    }
    if (dtype_argument)
      return c.run(name, bound, self, c.ints(dims), EValue(keepdim), EValue(), out);
    c.run(name, bound, self, c.ints(dims), EValue(keepdim), out);
  };
}

void mean_of_all(Comparison& c, const std::string& name) {
  const Sizes sizes = random_shape(c.random);
  c.run(name, {4, 1e-6}, c.tensor(ScalarType::kFloat, sizes, {}, Values::kUnit), EValue(),
        c.out(ScalarType::kFloat, {}));
}

void softmax(Comparison& c, const std::string& name) {
  const Sizes sizes = random_shape(c.random);
  const Order order = random_order(c.random, sizes.size());
  const ScalarType dtype = random_dtype(c.random);
  const auto rank = static_cast<int64_t>(sizes.size());
  const int64_t dim = rank == 0 ? 0 : c.random.integer(-rank, rank - 1);
  c.run(name, {16, 2e-6}, c.tensor(dtype, sizes, order), EValue(dim), EValue(false),
        c.out(dtype, sizes, order));
}

void layer_norm(Comparison& c, const std::string& name) {
  const int32_t rows = static_cast<int32_t>(c.random.integer(1, 20));
  const int32_t length = static_cast<int32_t>(c.random.integer(1, 2000));
  const ScalarType dtype =
      random_dtype(c.random) == ScalarType::kHalf ? ScalarType::kHalf : ScalarType::kFloat;
  const auto input = c.tensor(dtype, {rows, length}, {}, Values::kUnit);
  const auto weight = c.tensor(dtype, {length}, {}, Values::kUnit);
  const auto bias = c.tensor(dtype, {length}, {}, Values::kUnit);
  const auto out = c.out(dtype, {rows, length});
  const auto mean = c.out(dtype, {rows, 1});
  const auto rstd = c.out(dtype, {rows, 1});
  const Bound bound{32, 1e-4};
  if (c.random.chance(0.3)) {
    return c.run(name, bound, input, c.ints({length}), EValue(), EValue(), EValue(1e-3), out, mean,
                 rstd);
  }
  c.run(name, bound, input, c.ints({length}), weight, bias, EValue(1e-3), out, mean, rstd);
}

void group_norm(Comparison& c, const std::string& name) {
  const int64_t groups = c.random.integer(1, 4);
  const int64_t channels = groups * c.random.integer(1, 4);
  const auto n = static_cast<int32_t>(c.random.integer(1, 3));
  const auto plane = static_cast<int32_t>(c.random.integer(2, 300));
  const ScalarType dtype = ScalarType::kFloat;
  const Sizes sizes{n, static_cast<int32_t>(channels), plane};
  const auto input = c.tensor(dtype, sizes, {}, Values::kUnit);
  const auto weight = c.tensor(dtype, {sizes[1]}, {}, Values::kUnit);
  const auto bias = c.tensor(dtype, {sizes[1]}, {}, Values::kUnit);
  c.run(name, {32, 1e-4}, input, weight, bias, EValue(int64_t{n}), EValue(channels),
        EValue(int64_t{plane}), EValue(groups), EValue(1e-3), c.out(dtype, sizes),
        c.out(dtype, {n, static_cast<int32_t>(groups)}),
        c.out(dtype, {n, static_cast<int32_t>(groups)}));
}

void batch_norm(Comparison& c, const std::string& name) {
  Sizes sizes = random_sizes(c.random, 4, 12);
  const Order order = random_order(c.random, 4);
  const ScalarType dtype = random_float(c.random);
  const Sizes channels{sizes[1]};
  const ScalarType statistics = c.random.chance(0.5) ? dtype : ScalarType::kFloat;
  const auto parameter = [&] { return c.tensor(statistics, channels, {}, Values::kPositive); };
  c.run(name, {4, 4e-6}, c.tensor(dtype, sizes, order, Values::kUnit), parameter(), parameter(),
        parameter(), parameter(), EValue(0.1), EValue(1e-3), c.out(dtype, sizes, order),
        c.out(dtype, {0}), c.out(dtype, {0}));
}

void batch_norm_of_batch(Comparison& c, const std::string& name) {
  const Sizes sizes{static_cast<int32_t>(c.random.integer(1, 3)),
                    static_cast<int32_t>(c.random.integer(1, 5)),
                    static_cast<int32_t>(c.random.integer(2, 300))};
  const Order order = random_order(c.random, 3);
  const ScalarType dtype = ScalarType::kFloat;
  const auto parameter = [&] { return c.tensor(dtype, {sizes[1]}, {}, Values::kUnit); };
  c.run(name, {32, 1e-4}, c.tensor(dtype, sizes, order, Values::kUnit), parameter(), parameter(),
        EValue(true), EValue(0.1), EValue(1e-3), c.out(dtype, sizes, order),
        c.out(dtype, {sizes[1]}), c.out(dtype, {sizes[1]}));
}

// --- Quantization ---

void quantization(Comparison& c, const std::string& name) {
  Random& random = c.random;
  const bool back = name.find("dequantize") != std::string::npos;
  const bool channels = name.find("channel") != std::string::npos;
  const bool tensors = channels || name.find("Tensor") != std::string::npos;
  const ScalarType bytes = random.chance(0.45)  ? ScalarType::kChar
                           : random.chance(0.8) ? ScalarType::kByte
                                                : ScalarType::kShort;
  const ScalarType real = random.chance(0.85) ? ScalarType::kFloat : ScalarType::kHalf;
  Sizes sizes = random_shape(random);
  if (channels && sizes.empty()) sizes = {5};
  const auto rank = static_cast<int64_t>(sizes.size());
  const int64_t axis = channels ? random.integer(-rank, rank - 1) : 0;
  const int32_t count = channels ? sizes[static_cast<size_t>(axis < 0 ? axis + rank : axis)] : 1;
  const Order order = channels ? Order{} : random_order(random, sizes.size());
  const int64_t low = bytes == ScalarType::kByte ? 0 : -128 + random.integer(0, 1);
  const int64_t high = bytes == ScalarType::kByte ? 255 : 127;
  const auto from = c.tensor(back ? bytes : real, sizes, order);
  const auto out = c.out(back ? real : bytes, sizes, order);
  const EValue dtype(static_cast<int64_t>(bytes));
  const auto call = [&](const auto&... parameters) {
    if (back) {
      return c.run(name, {}, from, parameters..., EValue(low), EValue(high), dtype, EValue(), out);
    }
    c.run(name, {}, from, parameters..., EValue(low), EValue(high), dtype, out);
  };
  if (!tensors) return call(EValue(random.real(0.01, 0.2)), EValue(random.integer(-20, 120)));
  const auto scales = c.tensor(ScalarType::kDouble, {count}, {}, Values::kPositive);
  const auto zero_points = c.tensor(ScalarType::kLong, {count});
  Comparison::fill<int64_t>(zero_points, [&] { return random.integer(-20, 120); });
  if (channels) return call(scales, zero_points, EValue(axis));
  call(scales, zero_points);
}

const std::map<std::string, Generator>& generators() {
  static const auto* const kGenerators = [] {
    auto* table = new std::map<std::string, Generator>;
    const auto put = [&](const char* name, Generator generator) {
      (*table)["aten::" + std::string(name)] = std::move(generator);
    };
    for (const char* name : {"abs.out", "ceil.out", "floor.out", "neg.out", "relu.out", "round.out",
                             "trunc.out", "sqrt.out", "reciprocal.out"}) {
      put(name, unary({}, std::string(name) != "ceil.out"));
    }
    put("rsqrt.out", unary({2}));
    put("exp.out", unary({2}));
    put("expm1.out", unary({6}));
    put("log.out", unary({4}));
    put("log1p.out", unary({4}));
    put("tanh.out", unary({6}));
    put("sigmoid.out", unary({4}));
    put("sin.out", unary({2}));
    put("cos.out", unary({2}));
    put("erf.out", unary({12}));
    put("clamp.out", clamp);
    put("hardtanh.out", clamp);
    put("leaky_relu.out", leaky_relu);
    put("elu.out", elu);
    put("gelu.out", gelu);
    put("pow.Tensor_Scalar_out", pow_scalar);
    for (const char* name : {"add", "sub"}) {
      put((std::string(name) + ".out").c_str(), binary({}, false, true, false));
      put((std::string(name) + ".Scalar_out").c_str(), binary({}, true, true, false));
    }
    put("rsub.Scalar_out", binary({}, true, true, false));
    for (const char* name : {"mul.out", "div.out", "maximum.out", "minimum.out"}) {
      put(name, binary({}, false, false, false));
    }
    for (const char* name : {"mul.Scalar_out", "div.Scalar_out"}) {
      put(name, binary({}, true, false, false));
    }
    for (const std::string name : {"eq", "ne", "lt", "le", "gt", "ge"}) {
      put((name + ".Tensor_out").c_str(), binary({}, false, false, true));
      put((name + ".Scalar_out").c_str(), binary({}, true, false, true));
    }
    put("where.self_out", where);
    put("mm.out", mm);
    put("bmm.out", bmm);
    put("addmm.out", addmm);
    put("linear.out", linear);
    put("convolution.out", convolution);
    put("amax.out", reduction(false, false, true));
    put("amin.out", reduction(false, false, true));
    put("argmax.out", reduction(true, false, true));
    put("argmin.out", reduction(true, false, true));
    put("sum.IntList_out", reduction(false, true, false));
    put("mean.out", reduction(false, true, false));
    put("mean.dtype_out", mean_of_all);
    put("var.out", reduction(false, false, false, "unbiased"));
    put("var.correction_out", reduction(false, false, false, "correction"));
    put("_softmax.out", softmax);
    put("_log_softmax.out", softmax);
    put("native_layer_norm.out", layer_norm);
    put("native_group_norm.out", group_norm);
    put("_native_batch_norm_legit_no_training.out", batch_norm);
    put("_native_batch_norm_legit.no_stats_out", batch_norm_of_batch);
    put("max_pool2d_with_indices.out", pool);
    put("avg_pool2d.out", pool);
    put("upsample_bilinear2d.vec_out", upsample);
    put("upsample_nearest2d.vec_out", upsample);
    put("gather.out", gather);
    put("permute_copy.out", permute);
    (*table)["quantized_decomposed::choose_qparams_per_token_asymmetric.out"] = choose_per_token;
    table->emplace("llama::custom_sdpa.out", custom_sdpa);
    table->emplace("llama::sdpa_with_kv_cache.out", sdpa_with_kv_cache);
    table->emplace("llama::custom_quantized_sdpa.out", custom_quantized_sdpa);
    for (const char* direction : {"quantize", "dequantize"}) {
      (*table)["quantized_decomposed::" + std::string(direction) + "_per_token.out"] =
          quantize_per_token;
      for (const char* overload : {"per_tensor.out", "per_tensor.Tensor_out", "per_channel.out"}) {
        (*table)["quantized_decomposed::" + std::string(direction) + "_" + overload] = quantization;
      }
    }
    return table;
  }();
  return *kGenerators;
}

class Optimized : public testing::TestWithParam<std::string> {};

TEST_P(Optimized, MatchesPortableKernels) {
  const std::string& name = GetParam();
  const auto generator = generators().find(name);
  ASSERT_NE(generator, generators().end()) << "no cases for " << name;
  const auto pool = require(ThreadPool::create(3, ThreadPool::Use::kAlways));
  double worst = 0;
  const uint32_t cases = name.starts_with("llama::") ? 100 : 300;  // the reference is slow
  for (uint32_t seed = 0; seed < cases && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("case " + std::to_string(seed));
    Comparison c(seed, seed % 2 == 0 ? pool.get() : nullptr);
    generator->second(c, name);
    worst = std::max(worst, c.worst_ulps);
  }
  RecordProperty("worst_ulps", std::to_string(worst));
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const Kernel* kernel : optimized::kernels().kernels) result.emplace_back(kernel->name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Table, Optimized, testing::ValuesIn(names()), [](const auto& tested) {
  std::string name = tested.param.substr(tested.param.find("::") + 2);
  for (char& letter : name) {
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  }
  return name;
});

// This transposed convolution multiplies each of 2^31 inputs by each of 2^31 weights. The size in
// bytes of all 2^62 products overflows. The input and the weight share 8 GB of address space, which
// is reserved without physical memory.
TEST(OptimizedConvolution, RejectsTemporaryMemorySizeThatOverflows) {
  constexpr int32_t kHeight = 1 << 15;
  constexpr int32_t kWidth = 1 << 16;
  constexpr size_t kBytes = size_t{kHeight} * kWidth * sizeof(float);
  void* const zeros =
      mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (zeros == MAP_FAILED) GTEST_SKIP() << "cannot reserve 8 GB of address space";
  std::array<int32_t, 4> sizes{1, 1, kHeight, kWidth};
  std::array<uint8_t, 4> order{0, 1, 2, 3};
  std::array<int64_t, 4> strides{};
  Tensor image(ScalarType::kFloat, sizes, order, strides, zeros);
  KernelCall call;
  call.registry = &optimized_kernels();
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 1, 1});
  // Padding removes all but one element of the result.
  EXPECT_TRUE(fails(call.run("aten::convolution.out", image, image, KernelCall::none(),
                             call.ints({1, 1}), call.ints({kHeight - 1, kWidth - 1}),
                             call.ints({1, 1}), true, call.ints({0, 0}), 1, out),
                    ErrorCode::kMemoryAllocationFailed, "the size of temporary memory overflows"));
  munmap(zeros, kBytes);
}

}  // namespace
}  // namespace vitrine
