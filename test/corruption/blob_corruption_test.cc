// Damaged XNNPACK payloads: an error or a run, never a crash, a leak, or an allocation of more than
// 64 MB at once (sanitizers watch). Tries over 200,000 of them (expect_tally requires at least
// 100,000): replaces every field and every byte by harmful values, exchanges parts of the graph,
// and damages at random.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "test/corruption/blob_attempt.h"
#include "test/corruption/sample_blobs.h"

// An allocation over the bound ends the test.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "max_allocation_size_mb=64"; }

namespace vitrine::test {
namespace {

struct Tally {
  size_t tried = 0;
  size_t loaded = 0;
  size_t done = 0;
};

class BlobCorruption : public testing::TestWithParam<SampleBlob> {
 protected:
  void attempt(std::span<const std::byte> blob) {
    const BlobOutcome outcome = attempt_blob(blob, nullptr);
    ++tally_.tried;
    tally_.loaded += outcome.stage != BlobStage::kLoad ? 1 : 0;
    tally_.done += outcome.stage == BlobStage::kDone ? 1 : 0;
    EXPECT_EQ(outcome.message.empty(), outcome.stage == BlobStage::kDone);
  }
  void attempt(BlobBuilder& builder) { attempt(builder.build()); }

  void expect_tally(size_t least) {
    EXPECT_GE(tally_.tried, least);
    // Not all damage is to what matters: constants, padding, handles. But most is.
    EXPECT_GT(tally_.loaded, 0u);
    EXPECT_LT(tally_.done, tally_.tried);
    RecordProperty("tried", static_cast<int>(tally_.tried));
    RecordProperty("loaded", static_cast<int>(tally_.loaded));
    RecordProperty("done", static_cast<int>(tally_.done));
  }

  Tally tally_;
};

TEST_P(BlobCorruption, TheSampleIsSound) {
  BlobBuilder builder = GetParam().builder;
  const BlobOutcome outcome = attempt_blob(builder.build(), nullptr);
  EXPECT_EQ(outcome.stage, BlobStage::kDone) << outcome.message;
}

constexpr uint32_t kWords[] = {0,
                               1,
                               2,
                               3,
                               4,
                               5,
                               7,
                               8,
                               16,
                               255,
                               256,
                               4096,
                               65535,
                               0x10000,
                               0x7fffffff,
                               0x80000000,
                               0xfffffffe,
                               0xffffffff,
                               0x7fc00000 /* NaN */,
                               0x7f800000 /* inf */,
                               0xff800000,
                               0x3f800000,
                               0x00000001 /* smallest float */,
                               0x7f7fffff /* largest */};

TEST_P(BlobCorruption, EveryWordReplaced) {
  BlobBuilder builder = GetParam().builder;
  std::vector<std::byte> blob = builder.build();
  for (size_t at = 0; at + 4 <= blob.size(); at += 4) {
    uint32_t sound;
    std::memcpy(&sound, blob.data() + at, sizeof sound);
    const auto replace = [&](uint32_t word) {
      std::memcpy(blob.data() + at, &word, sizeof word);
      attempt(blob);
    };
    for (const uint32_t word : kWords) replace(word);
    for (const uint32_t step : {1u, 4u, 0x01000000u}) {
      replace(sound + step);
      replace(sound - step);
    }
    std::memcpy(blob.data() + at, &sound, sizeof sound);
  }
  expect_tally(3'000);
}

TEST_P(BlobCorruption, EveryByteReplaced) {
  BlobBuilder builder = GetParam().builder;
  std::vector<std::byte> blob = builder.build();
  for (std::byte& byte : blob) {
    const std::byte sound = byte;
    for (const int value : {0, 1, 0x7f, 0x80, 0xff, std::to_integer<int>(sound) + 1,
                            std::to_integer<int>(sound) - 1}) {
      byte = static_cast<std::byte>(value);
      attempt(blob);
    }
    byte = sound;
  }
  for (size_t left = 0; left < blob.size(); left += 3) attempt(std::span(blob).first(left));
  expect_tally(3'000);
}

// Replaces each field of each value in the graph and writes it again: well-formed nonsense.
TEST_P(BlobCorruption, EveryFieldReplaced) {
  const BlobBuilder sound = GetParam().builder;
  const auto with = [&](const auto& change) {
    BlobBuilder changed = sound;
    change(changed);
    attempt(changed);
  };
  const auto count = static_cast<uint32_t>(sound.values.size());
  for (size_t i = 0; i < count; ++i) {
    for (int type = 0; type <= static_cast<int>(Type::MAX); ++type) {
      with([&](BlobBuilder& b) { b.values[i].type = static_cast<Type>(type); });
      with([&](BlobBuilder& b) { b.values[i].dq_type = static_cast<Type>(type); });
    }
    for (const uint32_t number : {0u, 1u, 2u, 3u, count - 1, count, 255u, 4096u, kInvalidId}) {
      with([&](BlobBuilder& b) { b.values[i].id = number; });
      with([&](BlobBuilder& b) { b.values[i].constant = number; });
      with([&](BlobBuilder& b) { b.values[i].external_id = number; });
      with([&](BlobBuilder& b) { b.values[i].flags = number; });
      with([&](BlobBuilder& b) { b.values[i].scale_constant = number; });
      with([&](BlobBuilder& b) { b.values[i].scale_count = number; });
      with([&](BlobBuilder& b) { b.values[i].nonbatch_dims = static_cast<int32_t>(number); });
      with([&](BlobBuilder& b) { b.values[i].dims.assign(number % 8, 1); });
      with([&](BlobBuilder& b) { b.values[i].dims.push_back(number); });
      for (size_t dim = 0; dim < sound.values[i].dims.size(); ++dim) {
        with([&](BlobBuilder& b) { b.values[i].dims[dim] = number; });
      }
    }
    for (const float scale : {0.0f, -1.0f, 1e-40f, 1e38f, INFINITY, NAN}) {
      for (const int32_t zero_point : {-129, 0, 128, INT32_MAX}) {
        with([&](BlobBuilder& b) { b.values[i].per_tensor = PerTensor{scale, zero_point}; });
      }
      with([&](BlobBuilder& b) { b.values[i].per_channel = PerChannel{{scale, 1}, 1, false}; });
    }
    for (size_t other = 0; other < count; ++other) {
      with([&](BlobBuilder& b) {
        b.values[i] = sound.values[other];
        b.values[other] = sound.values[i];
      });
      with([&](BlobBuilder& b) { b.values[i] = b.values[other]; });
    }
    with(
        [&](BlobBuilder& b) { b.values.erase(b.values.begin() + static_cast<std::ptrdiff_t>(i)); });
  }
  for (size_t i = 0; i < sound.node_count(); ++i) {
    with([&](BlobBuilder& b) { b.drop_node(i); });
    with([&](BlobBuilder& b) { b.repeat_node(i); });
    for (size_t other = 0; other < sound.node_count(); ++other) {
      with([&](BlobBuilder& b) { b.swap_nodes(i, other); });
    }
    for (int tag = 0; tag <= static_cast<int>(Tag::MAX); ++tag) {
      with([&](BlobBuilder& b) { b.retag_node(i, static_cast<Tag>(tag)); });
    }
  }
  for (size_t i = 0; i < sound.constants.size(); ++i) {
    with([&](BlobBuilder& b) { b.constants[i].clear(); });
    with([&](BlobBuilder& b) { b.constants[i].pop_back(); });
    with([&](BlobBuilder& b) { b.constants[i].resize(100'000); });
  }
  expect_tally(500);
}

TEST_P(BlobCorruption, ManyPlacesAtOnce) {
  BlobBuilder builder = GetParam().builder;
  const std::vector<std::byte> sound = builder.build();
  std::mt19937 random(20241108);
  const auto below = [&random](size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random);
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> blob = sound;
    for (size_t times = 1 + below(4); times-- > 0;) {
      const size_t at = below(blob.size() / 4) * 4;
      const size_t from = below(blob.size() / 4) * 4;
      if (below(2) == 0) {
        std::memcpy(blob.data() + at, &kWords[below(std::size(kWords))], 4);
      } else {
        const size_t length =
            std::min({size_t{4} << below(4), blob.size() - at, blob.size() - from});
        std::memmove(blob.data() + at, blob.data() + from, length);
      }
    }
    attempt(blob);
  }
  expect_tally(3000);
}

INSTANTIATE_TEST_SUITE_P(Samples, BlobCorruption, testing::ValuesIn(sample_blobs()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace vitrine::test
