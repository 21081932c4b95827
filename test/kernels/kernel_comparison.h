// Calls an optimized kernel and the portable kernel with the same random arguments, and compares
// the results.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/optimized/optimized_kernels.h"
#include "kernels/util/convert.h"
#include "test/kernels/kernel_call.h"
#include "vitrine/thread_pool.h"

namespace vitrine::test {

using Sizes = std::vector<int32_t>;
using Order = std::vector<uint8_t>;

// A registry that programs would use: its optimized kernels override its portable kernels.
inline const KernelRegistry& optimized_kernels() {
  static const KernelRegistry* const kRegistry = [] {
    auto* made = new KernelRegistry;
    EXPECT_TRUE(made->add("optimized", optimized::kernels()).ok());
    EXPECT_TRUE(made->add("portable", portable::kernels()).ok());
    EXPECT_TRUE(made->add("quantized", quantized::kernels()).ok());
    EXPECT_TRUE(made->add("llm", llm::kernels()).ok());
    return made;
  }();
  return *kRegistry;
}

// Two bounds for the difference between two results. A difference must be within at least one of
// them. `ulps` counts units in the last place of the output's dtype. `absolute` is for results that
// are small because larger terms cancel.
struct Bound {
  double ulps = 0;
  double absolute = 0;
};

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}

  int64_t integer(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  bool chance(double probability) { return std::bernoulli_distribution(probability)(engine_); }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  // Returns a random float. All signs, exponents and special values occur.
  double any() {
    using Limits = std::numeric_limits<float>;
    constexpr float kInf = Limits::infinity(), kNan = Limits::quiet_NaN();
    constexpr float kTiny = Limits::denorm_min(), kMin = Limits::min(), kMax = Limits::max();
    static constexpr float kSpecial[] = {0.0F, -0.0F, 1.0F, -1.0F, 0.5F,   2.5F, 88.8F, -104.5F,
                                         kInf, -kInf, kNan, kTiny, -kTiny, kMin, kMax,  -kMax};
    // Uses only one random number per element, because tests create millions of elements.
    const uint64_t bits = engine_();
    const uint64_t kind = bits % 128;
    const uint64_t low = (bits >> 7) % 1024;
    if (kind < 13) return static_cast<double>(kSpecial[low % std::size(kSpecial)]);
    const double unit = static_cast<double>(static_cast<int64_t>(bits)) * 0x1p-63;
    if (kind < 36) return std::ldexp(unit, static_cast<int>(low % 268) - 140);
    return 12 * unit;
  }

 private:
  std::mt19937_64 engine_;
};

enum class Values : uint8_t { kAny, kUnit, kPositive };

// A call that is made to two kernels. Each kernel has its own copy of the tensors.
class Comparison {
 public:
  Comparison(uint32_t seed, ThreadPool* pool) : random(seed) {
    fast_.registry = &optimized_kernels();
    fast_.pool = pool;
  }

  struct Pair {
    Tensor* fast;
    Tensor* plain;
  };

  Pair tensor(ScalarType dtype, const Sizes& sizes, const Order& order = {},
              Values values = Values::kAny) {
    Pair pair{&fast_.make(dtype, sizes, order), &plain_.make(dtype, sizes, order)};
    std::vector<double> elements(static_cast<size_t>(pair.plain->numel()));
    for (double& element : elements) {
      element = values == Values::kAny    ? random.any()
                : values == Values::kUnit ? random.real(-1, 1)
                                          : random.real(0.01, 2);
    }
    convert_run(ScalarType::kDouble, dtype)(elements.data(), 1,
                                            pair.plain->unchecked_mutable_data<std::byte>(), 1,
                                            pair.plain->numel());
    std::copy_n(pair.plain->unchecked_data<std::byte>(), pair.plain->nbytes(),
                pair.fast->unchecked_mutable_data<std::byte>());
    return pair;
  }
  // Replaces the elements of both tensors by those that make() returns.
  template <class T, class Make>
  static void fill(const Pair& pair, const Make& make) {
    for (int64_t i = 0; i < pair.plain->numel(); ++i) {
      pair.plain->mutable_data<T>()[i] = pair.fast->mutable_data<T>()[i] = static_cast<T>(make());
    }
  }
  Pair out(ScalarType dtype, const Sizes& sizes, const Order& order = {}) {
    outputs_.push_back({&fast_.make(dtype, sizes, order, ShapeDynamism::kDynamicBound),
                        &plain_.make(dtype, sizes, order, ShapeDynamism::kDynamicBound)});
    return outputs_.back();
  }

  // Runs both kernels and compares the outputs. If an argument is a Pair, each kernel gets its own
  // tensor of the Pair.
  template <class... Args>
  void run(const std::string& name, const Bound& bound, const Args&... args) {
    if (fast_.derived != nullptr) (void)fast_.run(name, side(args, true)...);
    const Error fast = fast_.run(name, side(args, true)...);
    const Error plain = plain_.run(name, side(args, false)...);
    ASSERT_EQ(fast.ok(), plain.ok()) << name << ": " << (fast.ok() ? plain : fast).message();
    if (!plain.ok()) return;
    for (const Pair& pair : outputs_) compare(name, *pair.fast, *pair.plain, bound);
  }

  // Marks a tensor as constant. run() then runs the optimized kernel twice, so that the second run
  // can use data that the first run derived from the constant.
  void make_constant(const Pair& pair) {
    pair.fast->set_constant();
    fast_.derived = &derived_;
  }

  EValue ints(const std::vector<int64_t>& values) { return shared_.ints(values); }

  Random random;
  double worst_ulps = 0;

 private:
  static Tensor& side(const Pair& pair, bool fast) { return fast ? *pair.fast : *pair.plain; }
  template <class T>
  static const T& side(const T& value, bool) {
    return value;
  }

  static std::vector<double> elements_of(const Tensor& tensor) {
    std::vector<double> result(static_cast<size_t>(tensor.numel()));
    convert_run(tensor.dtype(), ScalarType::kDouble)(tensor.unchecked_data<std::byte>(), 1,
                                                     result.data(), 1, tensor.numel());
    return result;
  }
  // The difference of a and b in units in the last place of the dtype.
  static double distance(ScalarType dtype, double a, double b) {
    const int digits = dtype == ScalarType::kHalf ? 11 : dtype == ScalarType::kBFloat16 ? 8 : 24;
    const int lowest = dtype == ScalarType::kHalf       ? -24
                       : dtype == ScalarType::kBFloat16 ? -133
                                                        : -149;
    int exponent = 0;
    std::frexp(std::max(std::abs(a), std::abs(b)), &exponent);
    return std::abs(a - b) / std::ldexp(1.0, std::max(exponent - digits, lowest));
  }

  void compare(const std::string& name, const Tensor& fast, const Tensor& plain,
               const Bound& bound) {
    ASSERT_TRUE(fast.same_sizes(plain)) << name;
    if (fast.nbytes() == 0 || std::memcmp(fast.raw_data(), plain.raw_data(), fast.nbytes()) == 0) {
      return;
    }
    const std::vector<double> fast_elements = elements_of(fast);
    const std::vector<double> plain_elements = elements_of(plain);
    for (size_t i = 0; i < plain_elements.size(); ++i) {
      const double a = fast_elements[i];
      const double b = plain_elements[i];
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      if (std::abs(a - b) <= bound.absolute) continue;
      const double ulps = distance(plain.dtype(), a, b);
      if (std::isfinite(ulps)) worst_ulps = std::max(worst_ulps, ulps);
      ASSERT_LE(ulps, bound.ulps) << name << ", element " << i << ": optimized " << a
                                  << ", portable " << b;
    }
  }

  KernelCall fast_;
  KernelCall plain_;
  KernelCall shared_;
  std::vector<Pair> outputs_;
  Budget budget_;
  DerivedData derived_{budget_};
};

inline Sizes random_sizes(Random& random, int64_t rank, int64_t max_size) {
  Sizes sizes;
  for (int64_t i = 0; i < rank; ++i) {
    sizes.push_back(static_cast<int32_t>(random.chance(0.03) ? 0 : random.integer(1, max_size)));
  }
  return sizes;
}
// Returns a random shape, sometimes with a long last dimension, so that full vectors, blocks and
// threads are used.
inline Sizes random_shape(Random& random) {
  Sizes sizes = random_sizes(random, random.integer(0, 4), 7);
  if (!sizes.empty() && random.chance(0.3))
    sizes.back() = static_cast<int32_t>(random.integer(1, 6000));
  return sizes;
}
inline Order random_order(Random& random, size_t rank) {
  if (rank == 4 && random.chance(0.3)) return {0, 2, 3, 1};
  if (rank == 3 && random.chance(0.2)) return {0, 2, 1};
  return {};
}
inline ScalarType random_float(Random& random) {
  static constexpr ScalarType kTypes[] = {ScalarType::kFloat, ScalarType::kFloat,
                                          ScalarType::kFloat, ScalarType::kHalf,
                                          ScalarType::kBFloat16};
  return kTypes[random.integer(0, 4)];
}
// Returns a random dtype. Most calls return one of random_float(), and some return Int or Double.
inline ScalarType random_dtype(Random& random) {
  if (random.chance(0.1)) return random.chance(0.5) ? ScalarType::kInt : ScalarType::kDouble;
  return random_float(random);
}
// Returns sizes that broadcast to `sizes`. Some sizes are replaced by 1, and leading sizes may be
// missing.
inline Sizes broadcastable(Random& random, const Sizes& sizes) {
  Sizes result = sizes;
  for (int32_t& size : result) {
    if (random.chance(0.25)) size = 1;
  }
  if (random.chance(0.25) && !result.empty()) {
    result.erase(result.begin(),
                 result.begin() + random.integer(0, static_cast<int64_t>(result.size())));
  }
  return result;
}

}  // namespace vitrine::test
