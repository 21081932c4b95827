// Makes random calls to kernels that sum products. All values are below 1, and errors grow with the
// number of products in a sum.
#pragma once

#include <string>

#include "test/kernels/kernel_comparison.h"

namespace vitrine::test {

inline Bound product_bound(ScalarType dtype, int64_t depth) {
  return {dtype == ScalarType::kFloat ? 2.0 : 1.0, 3e-7 * static_cast<double>(depth + 4)};
}

inline int32_t random_side(Random& random) {
  if (random.chance(0.05)) return 0;
  const int64_t max_size = random.chance(0.03) ? 1500 : random.chance(0.2) ? 220 : 40;
  return static_cast<int32_t>(random.integer(1, max_size));
}
inline Order maybe_transposed(Random& random, bool batch = false) {
  if (random.chance(0.6)) return {};
  return batch ? Order{0, 2, 1} : Order{1, 0};
}

inline void mm(Comparison& c, const std::string& name) {
  const ScalarType dtype = random_dtype(c.random);
  const int32_t m = random_side(c.random);
  const int32_t k = random_side(c.random);
  const int32_t n = random_side(c.random);
  const auto left = c.tensor(dtype, {m, k}, maybe_transposed(c.random), Values::kUnit);
  const auto right = c.tensor(dtype, {k, n}, maybe_transposed(c.random), Values::kUnit);
  if (c.random.chance(0.5)) c.make_constant(right);
  c.run(name, product_bound(dtype, k), left, right,
        c.out(dtype, {m, n}, maybe_transposed(c.random)));
}

inline void bmm(Comparison& c, const std::string& name) {
  const ScalarType dtype = random_dtype(c.random);
  const int32_t b = static_cast<int32_t>(c.random.integer(1, 4));
  const int32_t m = random_side(c.random);
  const int32_t k = random_side(c.random);
  const int32_t n = random_side(c.random);
  const auto left = c.tensor(dtype, {b, m, k}, maybe_transposed(c.random, true), Values::kUnit);
  const auto right = c.tensor(dtype, {b, k, n}, maybe_transposed(c.random, true), Values::kUnit);
  if (c.random.chance(0.5)) c.make_constant(right);
  c.run(name, product_bound(dtype, k), left, right, c.out(dtype, {b, m, n}));
}

inline void addmm(Comparison& c, const std::string& name) {
  const ScalarType dtype = random_dtype(c.random);
  const int32_t m = random_side(c.random);
  const int32_t k = random_side(c.random);
  const int32_t n = random_side(c.random);
  const Sizes added[] = {{n}, {m, n}, {m, 1}, {1}};
  const auto self = c.tensor(dtype, added[c.random.integer(0, 3)], {}, Values::kUnit);
  const auto left = c.tensor(dtype, {m, k}, maybe_transposed(c.random), Values::kUnit);
  const auto right = c.tensor(dtype, {k, n}, maybe_transposed(c.random), Values::kUnit);
  if (c.random.chance(0.5)) c.make_constant(right);
  c.run(name, product_bound(dtype, k), self, left, right, EValue(c.random.integer(0, 1)),
        EValue(c.random.integer(0, 1)), c.out(dtype, {m, n}));
}

inline void linear(Comparison& c, const std::string& name) {
  const ScalarType dtype = random_dtype(c.random);
  const int32_t m = random_side(c.random);
  const int32_t k = random_side(c.random);
  const int32_t n = random_side(c.random);
  const auto input = c.tensor(dtype, {m, k}, {}, Values::kUnit);
  const auto weight = c.tensor(dtype, {n, k}, {}, Values::kUnit);
  if (c.random.chance(0.5)) c.make_constant(weight);
  const auto out = c.out(dtype, {m, n});
  if (c.random.chance(0.5)) {
    return c.run(name, product_bound(dtype, k), input, weight, EValue(), out);
  }
  c.run(name, product_bound(dtype, k), input, weight, c.tensor(dtype, {n}, {}, Values::kUnit), out);
}

inline void convolution(Comparison& c, const std::string& name) {
  Random& random = c.random;
  const ScalarType dtype = random_dtype(random);
  const auto spatial = static_cast<size_t>(random.chance(0.7) ? 2 : random.integer(1, 3));
  const bool transposed = random.chance(0.25);
  const int64_t groups = random.chance(0.5) ? 1 : random.integer(2, 5);
  const bool depthwise = random.chance(0.3);
  const bool pointwise = random.chance(0.3);
  const bool deep = groups == 1 && pointwise && random.chance(0.2);  // as deep as in real models
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
  const double last = random.chance(0.5) ? 0.9 : 0.05;  // the tensors mostly have the same order
  const auto image = c.tensor(dtype, input, some_order(last), Values::kUnit);
  const auto filter = c.tensor(dtype, weight, some_order(last), Values::kUnit);
  if (random.chance(0.7)) c.make_constant(filter);
  const auto out = c.out(dtype, output, some_order(last));
  const Bound bound = product_bound(dtype, depth);
  const auto run = [&](const auto& bias) {
    c.run(name, bound, image, filter, bias, c.ints(stride), c.ints(padding), c.ints(dilation),
          EValue(transposed), c.ints(output_padding), EValue(groups), out);
  };
  if (random.chance(0.5)) return run(EValue());
  run(c.tensor(dtype, {static_cast<int32_t>(groups * group_out)}, {}, Values::kUnit));
}

}  // namespace vitrine::test
