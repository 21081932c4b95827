// Damaged XNNPACK payloads must either cause an error or execute. They must not cause a crash, a
// leak, or a single allocation of more than 64 MB; sanitizers check this. The tests try over
// 200,000 payloads (expect_tally requires at least 100,000). They replace every field and every
// byte with harmful values, swap parts of the graph, and damage payloads at random.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "test/corruption/payload_attempt.h"
#include "test/corruption/sample_payloads.h"

// A larger allocation aborts the test.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "max_allocation_size_mb=64"; }

namespace vitrine::test {
namespace {

struct Tally {
  size_t tried = 0;
  size_t loaded = 0;
  size_t done = 0;
};

class PayloadCorruption : public testing::TestWithParam<SamplePayload> {
 protected:
  void attempt(std::span<const std::byte> payload) {
    const PayloadOutcome outcome = attempt_payload(payload, nullptr);
    ++tally_.tried;
    tally_.loaded += outcome.stage != PayloadStage::kLoad ? 1 : 0;
    tally_.done += outcome.stage == PayloadStage::kDone ? 1 : 0;
    EXPECT_EQ(outcome.message.empty(), outcome.stage == PayloadStage::kDone);
  }
  void attempt(PayloadBuilder& builder) { attempt(builder.build()); }

  void expect_tally(size_t min_tried) {
    EXPECT_GE(tally_.tried, min_tried);
    // Some damage is harmless, for example damage to padding, so some payloads must load. Others
    // must fail.
    EXPECT_GT(tally_.loaded, 0u);
    EXPECT_LT(tally_.done, tally_.tried);
    RecordProperty("tried", static_cast<int>(tally_.tried));
    RecordProperty("loaded", static_cast<int>(tally_.loaded));
    RecordProperty("done", static_cast<int>(tally_.done));
  }

  Tally tally_;
};

TEST_P(PayloadCorruption, AcceptsValidSample) {
  PayloadBuilder builder = GetParam().builder;
  const PayloadOutcome outcome = attempt_payload(builder.build(), nullptr);
  EXPECT_EQ(outcome.stage, PayloadStage::kDone) << outcome.message;
}

// The last six words are the floats NaN, infinity, -infinity, 1, the smallest and the largest.
constexpr uint32_t kWords[] = {
    0,          1,          2,          3,          4,          5,          7,          8,
    16,         255,        256,        4096,       65535,      0x10000,    0x7fffffff, 0x80000000,
    0xfffffffe, 0xffffffff, 0x7fc00000, 0x7f800000, 0xff800000, 0x3f800000, 0x00000001, 0x7f7fffff};

TEST_P(PayloadCorruption, SurvivesReplacementOfEveryWord) {
  PayloadBuilder builder = GetParam().builder;
  std::vector<std::byte> payload = builder.build();
  for (size_t at = 0; at + 4 <= payload.size(); at += 4) {
    uint32_t original;
    std::memcpy(&original, payload.data() + at, sizeof original);
    const auto replace = [&](uint32_t word) {
      std::memcpy(payload.data() + at, &word, sizeof word);
      attempt(payload);
    };
    for (const uint32_t word : kWords) replace(word);
    for (const uint32_t step : {1u, 4u, 0x01000000u}) {
      replace(original + step);
      replace(original - step);
    }
    std::memcpy(payload.data() + at, &original, sizeof original);
  }
  expect_tally(3'000);
}

TEST_P(PayloadCorruption, SurvivesReplacementOfEveryByte) {
  PayloadBuilder builder = GetParam().builder;
  std::vector<std::byte> payload = builder.build();
  for (std::byte& byte : payload) {
    const std::byte original = byte;
    for (const int value : {0, 1, 0x7f, 0x80, 0xff, std::to_integer<int>(original) + 1,
                            std::to_integer<int>(original) - 1}) {
      byte = static_cast<std::byte>(value);
      attempt(payload);
    }
    byte = original;
  }
  for (size_t left = 0; left < payload.size(); left += 3) attempt(std::span(payload).first(left));
  expect_tally(3'000);
}

// Makes one change to the values, nodes or constants of the original graph, and serializes the
// changed graph. The payload is well-formed, but its content may be invalid.
TEST_P(PayloadCorruption, SurvivesReplacementOfEveryField) {
  const PayloadBuilder original = GetParam().builder;
  const auto with = [&](const auto& change) {
    PayloadBuilder changed = original;
    change(changed);
    attempt(changed);
  };
  const auto count = static_cast<uint32_t>(original.values.size());
  for (size_t i = 0; i < count; ++i) {
    for (int type = 0; type <= static_cast<int>(Type::MAX); ++type) {
      with([&](PayloadBuilder& b) { b.values[i].type = static_cast<Type>(type); });
      with([&](PayloadBuilder& b) { b.values[i].dq_type = static_cast<Type>(type); });
    }
    for (const uint32_t number : {0u, 1u, 2u, 3u, count - 1, count, 255u, 4096u, kInvalidId}) {
      with([&](PayloadBuilder& b) { b.values[i].id = number; });
      with([&](PayloadBuilder& b) { b.values[i].constant = number; });
      with([&](PayloadBuilder& b) { b.values[i].external_id = number; });
      with([&](PayloadBuilder& b) { b.values[i].flags = number; });
      with([&](PayloadBuilder& b) { b.values[i].scale_constant = number; });
      with([&](PayloadBuilder& b) { b.values[i].scale_count = number; });
      with([&](PayloadBuilder& b) { b.values[i].nonbatch_dims = static_cast<int32_t>(number); });
      with([&](PayloadBuilder& b) { b.values[i].dims.assign(number % 8, 1); });
      with([&](PayloadBuilder& b) { b.values[i].dims.push_back(number); });
      for (size_t dim = 0; dim < original.values[i].dims.size(); ++dim) {
        with([&](PayloadBuilder& b) { b.values[i].dims[dim] = number; });
      }
    }
    for (const float scale : {0.0f, -1.0f, 1e-40f, 1e38f, INFINITY, NAN}) {
      for (const int32_t zero_point : {-129, 0, 128, INT32_MAX}) {
        with([&](PayloadBuilder& b) { b.values[i].per_tensor = PerTensor{scale, zero_point}; });
      }
      with([&](PayloadBuilder& b) { b.values[i].per_channel = PerChannel{{scale, 1}, 1}; });
    }
    for (size_t other = 0; other < count; ++other) {
      with([&](PayloadBuilder& b) {
        b.values[i] = original.values[other];
        b.values[other] = original.values[i];
      });
      with([&](PayloadBuilder& b) { b.values[i] = b.values[other]; });
    }
    with([&](PayloadBuilder& b) {
      b.values.erase(b.values.begin() + static_cast<std::ptrdiff_t>(i));
    });
  }
  for (size_t i = 0; i < original.node_count(); ++i) {
    with([&](PayloadBuilder& b) { b.drop_node(i); });
    with([&](PayloadBuilder& b) { b.repeat_node(i); });
    for (size_t other = 0; other < original.node_count(); ++other) {
      with([&](PayloadBuilder& b) { b.swap_nodes(i, other); });
    }
    for (int tag = 0; tag <= static_cast<int>(Tag::MAX); ++tag) {
      with([&](PayloadBuilder& b) { b.retag_node(i, static_cast<Tag>(tag)); });
    }
  }
  for (size_t i = 0; i < original.constants.size(); ++i) {
    with([&](PayloadBuilder& b) { b.constants[i].clear(); });
    with([&](PayloadBuilder& b) { b.constants[i].pop_back(); });
    with([&](PayloadBuilder& b) { b.constants[i].resize(100'000); });
  }
  expect_tally(500);
}

TEST_P(PayloadCorruption, SurvivesDamageAtManyOffsets) {
  PayloadBuilder builder = GetParam().builder;
  const std::vector<std::byte> original = builder.build();
  std::mt19937 random(20241108);
  const auto below = [&random](size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random);
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> payload = original;
    for (size_t times = 1 + below(4); times-- > 0;) {
      const size_t at = below(payload.size() / 4) * 4;
      const size_t from = below(payload.size() / 4) * 4;
      if (below(2) == 0) {
        std::memcpy(payload.data() + at, &kWords[below(std::size(kWords))], 4);
      } else {
        const size_t length =
            std::min({size_t{4} << below(4), payload.size() - at, payload.size() - from});
        std::memmove(payload.data() + at, payload.data() + from, length);
      }
    }
    attempt(payload);
  }
  expect_tally(3000);
}

INSTANTIATE_TEST_SUITE_P(Samples, PayloadCorruption, testing::ValuesIn(sample_payloads()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace vitrine::test
