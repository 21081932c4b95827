#include "tools/llm_runner/numerics/cache_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tools/llm_runner/numerics/language_numerics.h"
#include "vitrine/evalue.h"

namespace vitrine::llm {
namespace {

constexpr int32_t kPositions = 4;
constexpr int32_t kHeads = 2;
constexpr PositionRange kAllPositions[] = {{0, kPositions}};

// A tensor of shape [1, positions, heads, size] with its memory.
template <class T>
class CacheTensor {
 public:
  CacheTensor(int32_t size, std::vector<T> values)
      : values_(std::move(values)),
        sizes_{1, kPositions, kHeads, size},
        tensor_(scalar_type_of<T>, sizes_, kOrder, strides_, values_.data()) {}
  CacheTensor(const CacheTensor&) = delete;
  CacheTensor& operator=(const CacheTensor&) = delete;
  Tensor& tensor() { return tensor_; }

 private:
  static constexpr std::array<uint8_t, 4> kOrder = {0, 1, 2, 3};
  std::vector<T> values_;
  std::array<int32_t, 4> sizes_;
  std::array<int64_t, 4> strides_{};
  Tensor tensor_;
};

// The exact value of element `i` of a cache.
float real(size_t i, float sign) { return sign * static_cast<float>(1 + i % 7); }

std::vector<float> reals(float sign) {
  std::vector<float> values(kPositions * kHeads * 3);
  for (size_t i = 0; i < values.size(); ++i) values[i] = real(i, sign);
  return values;
}

FoundCache found(Tensor& tensor, const std::string& layer = "", CacheRole role = {}) {
  return {.instruction = 0, .tensor = &tensor, .layer = layer, .role = role};
}

// Returns the SQNR of b in dB. The reference is a.
double sqnr(const std::vector<double>& a, const std::vector<double>& b) {
  double signal = 0, noise = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    signal += a[i] * a[i];
    noise += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return 10 * std::log10(signal / noise);
}

TEST(CacheErrors, Int8CacheIsComparedAfterDequantization) {
  CacheTensor<float> expected(3, reals(1));
  std::vector<int8_t> quantized, zero_points;
  std::vector<float> scales;
  std::vector<double> a, b;
  for (size_t row = 0; row < kPositions * kHeads; ++row) {
    scales.push_back(0.3F + 0.01F * static_cast<float>(row));
    zero_points.push_back(static_cast<int8_t>(row) - 4);
    for (size_t i = row * 3; i < row * 3 + 3; ++i) {
      const auto value = static_cast<int>(std::lround(real(i, 1) / scales[row])) + zero_points[row];
      quantized.push_back(static_cast<int8_t>(value));
      a.push_back(real(i, 1));
      b.push_back(double{scales[row]} * (value - zero_points[row]));
    }
  }
  CacheTensor<int8_t> values(3, quantized), zeros(1, zero_points);
  CacheTensor<float> row_scales(1, scales);
  const FoundCache reference[] = {found(expected.tensor())};
  const FoundCache program[] = {found(row_scales.tensor()), found(values.tensor()),
                                found(zeros.tensor())};
  const PositionRange ranges[] = {{0, 1}, {1, 4}};
  std::string why_not;
  const auto errors = compare_caches(reference, program, kPositions, ranges, why_not);
  ASSERT_EQ(errors.size(), 1u) << why_not;
  EXPECT_EQ(errors[0].why_not, "");
  ASSERT_EQ(errors[0].ranges.size(), 2u);
  const auto part = [](const std::vector<double>& all, size_t begin, size_t end) {
    return std::vector(all.begin() + static_cast<ptrdiff_t>(begin),
                       all.begin() + static_cast<ptrdiff_t>(end));
  };
  EXPECT_NEAR(errors[0].ranges[0].sqnr_db, sqnr(part(a, 0, 6), part(b, 0, 6)), 1e-6);
  EXPECT_NEAR(errors[0].ranges[1].sqnr_db, sqnr(part(a, 6, 24), part(b, 6, 24)), 1e-6);

  const auto without =
      compare_caches(reference, std::span(program).subspan(1, 1), kPositions, ranges, why_not);
  EXPECT_EQ(without.at(0).why_not, "no scales were found for i8[1,4,2,3]");
}

TEST(CacheErrors, PairsCachesByErrorOnlyIfRolesAreUnknown) {
  CacheTensor<float> keys_a(3, reals(1)), values_a(3, reals(-1));
  CacheTensor<float> keys_b(3, reals(1)), values_b(3, reals(-1));
  std::string why_not;
  const FoundCache a[] = {found(keys_a.tensor()), found(values_a.tensor())};
  const FoundCache swapped[] = {found(values_b.tensor()), found(keys_b.tensor())};
  auto errors = compare_caches(a, swapped, kPositions, kAllPositions, why_not);
  ASSERT_EQ(errors.size(), 2u);
  for (const CacheError& error : errors) {
    EXPECT_EQ(error.ranges.at(0).noise, 0);
    EXPECT_TRUE(error.is_paired_by_noise);
    EXPECT_EQ(error.layer, "attention 0");
  }
  // Caches are paired by their roles, even if another pairing has closer values.
  const FoundCache named_a[] = {found(keys_a.tensor(), "layers.0", CacheRole::kKeys),
                                found(values_a.tensor(), "layers.0", CacheRole::kValues)};
  const FoundCache named_b[] = {found(keys_b.tensor(), "layers.0", CacheRole::kValues),
                                found(values_b.tensor(), "layers.0", CacheRole::kKeys)};
  errors = compare_caches(named_a, named_b, kPositions, kAllPositions, why_not);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].role, CacheRole::kKeys);
  EXPECT_NEAR(errors[0].ranges.at(0).sqnr_db, 10 * std::log10(0.25), 1e-9);  // b = -a
  EXPECT_FALSE(errors[0].is_paired_by_noise);
}

TEST(CacheErrors, ReportsCachesThatCannotBeCompared) {
  CacheTensor<float> cache(3, reals(1)), other(3, reals(1));
  const FoundCache one[] = {found(cache.tensor())};
  const FoundCache two[] = {found(cache.tensor()), found(other.tensor())};
  std::string why_not;
  EXPECT_TRUE(compare_caches(one, two, kPositions, kAllPositions, why_not).empty());
  EXPECT_EQ(why_not, "the reference has 1 caches, but the program has 2");
  EXPECT_EQ(compare_caches(one, one, 99, kAllPositions, why_not).at(0).why_not,
            "no dimension has 99 positions");
  EXPECT_TRUE(compare_caches({}, {}, 4, kAllPositions, why_not).empty());
  EXPECT_EQ(why_not, "no operator that writes a cache was found");
}

TEST(CacheErrors, FindsEachWrittenCacheOnce) {
  CacheTensor<float> cache(3, reals(1));
  EValue value(&cache.tensor());
  EValue* const arguments[] = {&value, &value, &value};
  CacheFinder finder;
  for (const int32_t instruction : {5, 9}) {
    TraceRecord step;
    step.kind = TraceRecord::Kind::kKernelCall;
    step.name = "llama::update_cache.out";
    step.instruction_id = instruction;
    finder.record_results(step, arguments, nullptr);
    step.name = "aten::add.out";
    finder.record_results(step, arguments, nullptr);
  }
  ASSERT_EQ(finder.caches().size(), 1u);
  EXPECT_EQ(finder.caches()[0].instruction, 5);
}

TEST(LanguageNumerics, IsBelowIsTrueForNanAndFalseForEqualTensors) {
  const std::vector<float> zeros = {0, 0}, ones = {1, 1};
  const std::vector<float> nans(2, std::numeric_limits<float>::quiet_NaN());
  const auto difference = [&](const std::vector<float>& actual) {
    return inspector::measure_difference({ScalarType::kFloat, std::as_bytes(std::span(actual))},
                                         {ScalarType::kFloat, std::as_bytes(std::span(ones))});
  };
  LanguageNumerics numerics;
  numerics.layers.push_back({});
  EXPECT_FALSE(is_below(numerics, 1)) << "a layer without figures";
  numerics.layers[0].output = difference(ones);
  EXPECT_FALSE(is_below(numerics, 1000));
  numerics.layers[0].attention = difference(zeros);  // 0 dB
  EXPECT_TRUE(is_below(numerics, 1));
  EXPECT_FALSE(is_below(numerics, -1));
  numerics.layers[0].attention = difference(nans);
  EXPECT_TRUE(is_below(numerics, -1));
}

TEST(LanguageNumerics, PositionsAreSplitIntoEqualRanges) {
  EXPECT_THAT(split_positions(7, 3),
              testing::ElementsAre(testing::Pair(0, 2), testing::Pair(2, 4), testing::Pair(4, 7)));
  EXPECT_EQ(split_positions(2, 6).size(), 2u);
}

}  // namespace
}  // namespace vitrine::llm
