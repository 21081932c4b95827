// Every optimised kernel against the portable one, over random shapes, dtypes, dim orders and
// values.
#include "kernels/optimized/optimized_kernels.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "test/kernels/kernel_comparison.h"
#include "test/kernels/llm_cases.h"
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
    const bool keeps = name == "aten::abs.out" || name == "aten::neg.out" ||
                       name == "aten::relu.out" || name == "aten::ceil.out" ||
                       name == "aten::floor.out" || name == "aten::trunc.out" ||
                       name == "aten::round.out";
    const ScalarType result = dtype == ScalarType::kInt && !keeps ? ScalarType::kFloat : dtype;
    c.run(name, bound, c.tensor(dtype, sizes, order), c.out(result, sizes, order));
  };
}

Generator binary(Bound bound, bool scalar, bool alpha, bool gives_bool) {
  return [=](Comparison& c, const std::string& name) {
    const Sizes sizes = random_shape(c.random);
    const ScalarType dtype =
        name.find("div") != std::string::npos ? random_float(c.random) : random_dtype(c.random);
    const Order order = random_order(c.random, sizes.size());
    const auto self = c.tensor(dtype, sizes, order);
    const auto out = c.out(gives_bool ? ScalarType::kBool : dtype, sizes, order);
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
  const bool whole = dtype == ScalarType::kInt;
  EValue low(whole ? EValue(c.random.integer(-3, 3)) : EValue(c.random.real(-3, 3)));
  EValue high(whole ? EValue(c.random.integer(0, 6)) : EValue(c.random.real(-3, 6)));
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
  // 1 + erf(x) and 1 + tanh(x) cancel for negative x; the lost precision is relative to x.
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

// --- Sums of products: errors grow with the depth; all values are below one ---

Bound product_bound(ScalarType dtype, int64_t depth) {
  return {dtype == ScalarType::kFloat ? 2.0 : 1.0, 3e-7 * static_cast<double>(depth + 4)};
}

int32_t random_side(Random& random) {
  if (random.chance(0.05)) return 0;
  const int64_t most = random.chance(0.03) ? 1500 : random.chance(0.2) ? 220 : 40;
  return static_cast<int32_t>(random.integer(1, most));
}
Order maybe_transposed(Random& random, bool batch = false) {
  if (random.chance(0.6)) return {};
  return batch ? Order{0, 2, 1} : Order{1, 0};
}

void mm(Comparison& c, const std::string& name) {
  const ScalarType dtype = random_dtype(c.random);
  const int32_t m = random_side(c.random);
  const int32_t k = random_side(c.random);
  const int32_t n = random_side(c.random);
  const auto left = c.tensor(dtype, {m, k}, maybe_transposed(c.random), Values::kUnit);
  const auto right = c.tensor(dtype, {k, n}, maybe_transposed(c.random), Values::kUnit);
  c.run(name, product_bound(dtype, k), left, right,
        c.out(dtype, {m, n}, maybe_transposed(c.random)));
}

void bmm(Comparison& c, const std::string& name) {
  const ScalarType dtype = random_dtype(c.random);
  const int32_t b = static_cast<int32_t>(c.random.integer(1, 4));
  const int32_t m = random_side(c.random);
  const int32_t k = random_side(c.random);
  const int32_t n = random_side(c.random);
  const auto left = c.tensor(dtype, {b, m, k}, maybe_transposed(c.random, true), Values::kUnit);
  const auto right = c.tensor(dtype, {b, k, n}, maybe_transposed(c.random, true), Values::kUnit);
  c.run(name, product_bound(dtype, k), left, right, c.out(dtype, {b, m, n}));
}

void addmm(Comparison& c, const std::string& name) {
  const ScalarType dtype = random_dtype(c.random);
  const int32_t m = random_side(c.random);
  const int32_t k = random_side(c.random);
  const int32_t n = random_side(c.random);
  const Sizes added[] = {{n}, {m, n}, {m, 1}, {1}};
  const auto self = c.tensor(dtype, added[c.random.integer(0, 3)], {}, Values::kUnit);
  const auto left = c.tensor(dtype, {m, k}, maybe_transposed(c.random), Values::kUnit);
  const auto right = c.tensor(dtype, {k, n}, maybe_transposed(c.random), Values::kUnit);
  c.run(name, product_bound(dtype, k), self, left, right, EValue(c.random.integer(0, 1)),
        EValue(c.random.integer(0, 1)), c.out(dtype, {m, n}));
}

void linear(Comparison& c, const std::string& name) {
  const ScalarType dtype = random_dtype(c.random);
  const int32_t m = random_side(c.random);
  const int32_t k = random_side(c.random);
  const int32_t n = random_side(c.random);
  const auto input = c.tensor(dtype, {m, k}, {}, Values::kUnit);
  const auto weight = c.tensor(dtype, {n, k}, {}, Values::kUnit);
  const auto out = c.out(dtype, {m, n});
  if (c.random.chance(0.5)) {
    return c.run(name, product_bound(dtype, k), input, weight, EValue(), out);
  }
  c.run(name, product_bound(dtype, k), input, weight, c.tensor(dtype, {n}, {}, Values::kUnit), out);
}

void convolution(Comparison& c, const std::string& name) {
  Random& random = c.random;
  const ScalarType dtype = random_dtype(random);
  const auto spatial = static_cast<size_t>(random.chance(0.7) ? 2 : random.integer(1, 3));
  const bool transposed = random.chance(0.25);
  const int64_t groups = random.chance(0.5) ? 1 : random.integer(2, 5);
  const bool depthwise = random.chance(0.3);
  const bool pointwise = random.chance(0.3);
  const bool deep = groups == 1 && pointwise && random.chance(0.2);  // as in real models
  const int64_t group_in = depthwise ? 1 : random.integer(1, deep ? 700 : 6);
  const int64_t group_out =
      depthwise && random.chance(0.7) ? 1 : random.integer(1, deep ? 120 : 20);
  Sizes input{static_cast<int32_t>(random.integer(1, 2)), static_cast<int32_t>(groups * group_in)};
  Sizes weight =
      transposed ? Sizes{static_cast<int32_t>(groups * group_in), static_cast<int32_t>(group_out)}
                 : Sizes{static_cast<int32_t>(groups * group_out), static_cast<int32_t>(group_in)};
  Sizes output{input[0], static_cast<int32_t>(groups * group_out)};
  std::vector<int64_t> stride;
  std::vector<int64_t> padding;
  std::vector<int64_t> dilation;
  std::vector<int64_t> output_padding;
  int64_t depth = group_in;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t size = random.integer(1, spatial == 3 || deep ? 6
                                           : random.chance(0.2) ? 120
                                                                : 18);
    const int64_t kernel = pointwise ? 1 : random.chance(0.5) ? 3 : random.integer(1, 5);
    stride.push_back(random.integer(1, 3));
    padding.push_back(pointwise && random.chance(0.8) ? 0 : random.integer(0, 3));
    dilation.push_back(random.chance(0.7) ? 1 : random.integer(1, 3));
    output_padding.push_back(transposed ? random.integer(0, std::max(stride[i], dilation[i]) - 1)
                                        : 0);
    if (pointwise && random.chance(0.7)) stride[i] = 1;
    const int64_t reach = dilation[i] * (kernel - 1);
    const int64_t result =
        transposed ? (size - 1) * stride[i] - 2 * padding[i] + reach + output_padding[i] + 1
                   : (size + 2 * padding[i] - reach - 1 + stride[i]) / stride[i];
    input.push_back(static_cast<int32_t>(size));
    weight.push_back(static_cast<int32_t>(kernel));
    output.push_back(static_cast<int32_t>(std::max<int64_t>(result, 0)));
    depth *= kernel;
  }
  const auto some_order = [&](double probability) {
    return spatial == 2 && random.chance(probability) ? Order{0, 2, 3, 1} : Order{};
  };
  const double last = random.chance(0.5) ? 0.9 : 0.05;  // mostly equal
  const auto image = c.tensor(dtype, input, some_order(last), Values::kUnit);
  const auto filter = c.tensor(dtype, weight, some_order(last), Values::kUnit);
  const auto out = c.out(dtype, output, some_order(last));
  const Bound bound = product_bound(dtype, depth);
  const auto run = [&](const auto& bias) {
    c.run(name, bound, image, filter, bias, c.ints(stride), c.ints(padding), c.ints(dilation),
          EValue(transposed), c.ints(output_padding), EValue(groups), out);
  };
  if (random.chance(0.5)) return run(EValue());
  run(c.tensor(dtype, {static_cast<int32_t>(groups * group_out)}, {}, Values::kUnit));
}

// --- Reductions and normalisations ---

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

// --- Images ---

void pool(Comparison& c, const std::string& name) {
  Random& random = c.random;
  const ScalarType dtype = random.chance(0.8) ? ScalarType::kFloat : ScalarType::kHalf;
  Sizes sizes{static_cast<int32_t>(random.integer(1, 4)),
              static_cast<int32_t>(random.integer(3, 60)),
              static_cast<int32_t>(random.integer(3, 60))};
  if (random.chance(0.5)) sizes.insert(sizes.begin(), 2);
  const Order order = sizes.size() == 4 && random.chance(0.2) ? Order{0, 2, 3, 1} : Order{};
  std::vector<int64_t> kernel;
  std::vector<int64_t> stride;
  std::vector<int64_t> padding;
  std::vector<int64_t> dilation;
  const bool largest = name.find("max") != std::string::npos;
  const bool ceil_mode = random.chance(0.3);
  Sizes result = sizes;
  for (size_t i = 0; i < 2; ++i) {
    kernel.push_back(random.integer(1, 3));
    stride.push_back(random.integer(1, 3));
    dilation.push_back(largest && random.chance(0.3) ? 2 : 1);
    const int64_t reach = (kernel[i] - 1) * dilation[i] + 1;
    padding.push_back(random.integer(0, kernel[i] / 2));
    const int64_t size = sizes[sizes.size() - 2 + i];
    const int64_t room = size + 2 * padding[i] - reach;
    if (room < 0) return;
    int64_t count = (room + (ceil_mode ? stride[i] - 1 : 0)) / stride[i] + 1;
    if (ceil_mode && (count - 1) * stride[i] >= size + padding[i]) --count;
    result[result.size() - 2 + i] = static_cast<int32_t>(count);
  }
  const auto image = c.tensor(dtype, sizes, order, largest ? Values::kAny : Values::kUnit);
  const auto out = c.out(dtype, result, order);
  if (largest) {
    return c.run(name, {}, image, c.ints(kernel), c.ints(stride), c.ints(padding), c.ints(dilation),
                 EValue(ceil_mode), out, c.out(ScalarType::kLong, result));
  }
  const EValue divisor = random.chance(0.2) ? EValue(int64_t{3}) : EValue();
  c.run(name, {}, image, c.ints(kernel), c.ints(stride), c.ints(padding), EValue(ceil_mode),
        EValue(random.chance(0.5)), divisor, out);
}

void upsample(Comparison& c, const std::string& name) {
  Random& random = c.random;
  const ScalarType dtype = random.chance(0.8) ? ScalarType::kFloat : ScalarType::kBFloat16;
  const auto side = [&] { return static_cast<int32_t>(random.integer(1, 30)); };
  const Sizes sizes{2, 3, side(), side()};
  const Sizes result{2, 3, side(), side()};
  const Order order = random_order(random, 4);
  const auto image = c.tensor(dtype, sizes, order);
  const auto out = c.out(dtype, result, order);
  const EValue size = c.ints({result[2], result[3]});
  if (name.find("nearest") != std::string::npos) {
    return c.run(name, {}, image, size, EValue(), out);
  }
  c.run(name, {}, image, size, EValue(random.chance(0.5)), EValue(), out);
}

void gather(Comparison& c, const std::string& name) {
  Random& random = c.random;
  static constexpr ScalarType kTypes[] = {ScalarType::kFloat, ScalarType::kHalf, ScalarType::kLong,
                                          ScalarType::kByte, ScalarType::kDouble};
  const ScalarType dtype = kTypes[random.integer(0, 4)];
  Sizes sizes = random_sizes(random, random.integer(1, 3), 20);
  for (int32_t& size : sizes) size = std::max(size, 1);
  Sizes picked = sizes;
  const auto rank = static_cast<int64_t>(sizes.size());
  const int64_t dim = random.integer(-rank, rank - 1);
  const auto along = static_cast<size_t>(dim < 0 ? dim + rank : dim);
  picked[along] = static_cast<int32_t>(random.integer(0, 40));
  const auto index = c.tensor(ScalarType::kLong, picked);
  const bool wrong = random.chance(0.1);
  for (int64_t i = 0; i < index.plain->numel(); ++i) {
    const int64_t value = random.integer(wrong ? -1 : 0, sizes[along] - 1);
    index.plain->mutable_data<int64_t>()[i] = value;
    index.fast->mutable_data<int64_t>()[i] = value;
  }
  c.run(name, {}, c.tensor(dtype, sizes), EValue(dim), index, EValue(false), c.out(dtype, picked));
}

// --- Quantisation ---

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
  const auto call = [&](const auto& scale, const auto& zero_point) {
    if (channels && back) {
      return c.run(name, {}, from, scale, zero_point, EValue(axis), EValue(low), EValue(high),
                   dtype, EValue(), out);
    }
    if (channels) {
      return c.run(name, {}, from, scale, zero_point, EValue(axis), EValue(low), EValue(high),
                   dtype, out);
    }
    if (back) {
      return c.run(name, {}, from, scale, zero_point, EValue(low), EValue(high), dtype, EValue(),
                   out);
    }
    c.run(name, {}, from, scale, zero_point, EValue(low), EValue(high), dtype, out);
  };
  if (!tensors) return call(EValue(random.real(0.01, 0.2)), EValue(random.integer(-20, 120)));
  const auto scales = c.tensor(ScalarType::kDouble, {count}, {}, Values::kPositive);
  const auto zero_points = c.tensor(ScalarType::kLong, {count});
  for (int64_t i = 0; i < count; ++i) {
    const int64_t value = random.integer(-20, 120);
    zero_points.plain->mutable_data<int64_t>()[i] = value;
    zero_points.fast->mutable_data<int64_t>()[i] = value;
  }
  call(scales, zero_points);
}

const std::map<std::string, Generator>& generators() {
  static const auto* const kGenerators = [] {
    auto* table = new std::map<std::string, Generator>;
    const auto put = [&](const char* name, Generator generator) {
      (*table)["aten::" + std::string(name)] = std::move(generator);
    };
    for (const char* name : {"abs.out", "ceil.out", "floor.out", "neg.out", "relu.out", "round.out",
                             "trunc.out", "sqrt.out", "reciprocal.out", "rsqrt.out"}) {
      put(name, unary({}, std::string(name) != "ceil.out"));
    }
    put("exp.out", unary({2}));
    put("expm1.out", unary({6}));
    put("log.out", unary({4}));
    put("log1p.out", unary({4}));
    put("tanh.out", unary({6}));
    put("sigmoid.out", unary({4}));
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
    put("max_pool2d_with_indices.out", pool);
    put("avg_pool2d.out", pool);
    put("upsample_bilinear2d.vec_out", upsample);
    put("upsample_nearest2d.vec_out", upsample);
    put("gather.out", gather);
    for (const char* direction : {"quantize", "dequantize"}) {
      (*table)["quantized_decomposed::" + std::string(direction) + "_per_token.out"] = by_token;
    }
    (*table)["quantized_decomposed::choose_qparams_per_token_asymmetric.out"] = choose_per_token;
    table->emplace("llama::custom_sdpa.out", custom_sdpa);
    table->emplace("llama::sdpa_with_kv_cache.out", sdpa_with_kv_cache);
    table->emplace("llama::custom_quantized_sdpa.out", custom_quantized_sdpa);
    for (const char* direction : {"quantize", "dequantize"}) {
      for (const char* overload : {"per_tensor.out", "per_tensor.Tensor_out", "per_channel.out"}) {
        (*table)["quantized_decomposed::" + std::string(direction) + "_" + overload] = quantization;
      }
    }
    return table;
  }();
  return *kGenerators;
}

class Optimized : public testing::TestWithParam<std::string> {};

TEST_P(Optimized, EqualsPortable) {
  const std::string& name = GetParam();
  const auto generator = generators().find(name);
  ASSERT_NE(generator, generators().end()) << "no cases for " << name;
  auto pool = ThreadPool::create(3);
  ASSERT_TRUE(pool.ok());
  double worst = 0;
  const uint32_t cases = name.starts_with("llama::") ? 100 : 300;  // the reference is slow
  for (uint32_t seed = 0; seed < cases && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("case " + std::to_string(seed));
    Comparison c(seed, seed % 2 == 0 ? pool->get() : nullptr);
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

// The parts of a transposed convolution are 2^62 floats here, whose bytes do not fit a number.
// Input and weight are 8 GB of addresses without memory.
TEST(OptimizedConvolution, SizeOfTemporaryMemoryThatOverflowsIsRefused) {
  constexpr int32_t kHeight = 1 << 15;
  constexpr int32_t kWidth = 1 << 16;
  constexpr size_t kBytes = size_t{kHeight} * kWidth * sizeof(float);
  void* const zeros =
      mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (zeros == MAP_FAILED) GTEST_SKIP() << "no 8 GB of addresses";
  std::array<int32_t, 4> sizes{1, 1, kHeight, kWidth};
  std::array<uint8_t, 4> order{0, 1, 2, 3};
  std::array<int64_t, 4> strides{};
  Tensor image(ScalarType::kFloat, sizes, order, strides, zeros);
  KernelRegistry registry;
  ASSERT_TRUE(registry.add("optimized", optimized::kernels()).ok());
  KernelCall call;
  call.registry = &registry;
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 1, 1});
  // All but the middle of the result is cut off.
  EXPECT_TRUE(fails(call.run("aten::convolution.out", image, image, KernelCall::none(),
                             call.ints({1, 1}), call.ints({kHeight - 1, kWidth - 1}),
                             call.ints({1, 1}), true, call.ints({0, 0}), 1, out),
                    ErrorCode::kMemoryAllocationFailed, "more bytes than can be counted"));
  munmap(zeros, kBytes);
}

}  // namespace
}  // namespace vitrine
