// Makes random calls to kernels for pooling, resampling, gather and permute.
#pragma once

#include <string>
#include <vector>

#include "test/kernels/kernel_comparison.h"

namespace vitrine::test {

inline void pool(Comparison& c, const std::string& name) {
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

inline void upsample(Comparison& c, const std::string& name) {
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

inline void gather(Comparison& c, const std::string& name) {
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
  Comparison::fill<int64_t>(index,
                            [&] { return random.integer(wrong ? -1 : 0, sizes[along] - 1); });
  c.run(name, {}, c.tensor(dtype, sizes), EValue(dim), index, EValue(false), c.out(dtype, picked));
}

// Some permutations are invalid, because they name a dimension twice.
inline void permute(Comparison& c, const std::string& name) {
  Random& random = c.random;
  const ScalarType dtype = random.chance(0.8) ? ScalarType::kFloat : ScalarType::kLong;
  const Sizes sizes = random_sizes(random, random.integer(1, 4), 24);
  const auto rank = static_cast<int64_t>(sizes.size());
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < rank; ++i) dims.insert(dims.begin() + random.integer(0, i), i);
  if (random.chance(0.05)) dims[0] = dims.back();
  Sizes permuted;
  for (int64_t& dim : dims) {
    permuted.push_back(sizes[static_cast<size_t>(dim)]);
    if (random.chance(0.3)) dim -= rank;
  }
  c.run(name, {}, c.tensor(dtype, sizes), c.ints(dims), c.out(dtype, permuted));
}

}  // namespace vitrine::test
