#include "tools/llm_runner/profile/method_bytes.h"

#include <gtest/gtest.h>

#include "test/llm/lowered_models.h"
#include "test/support/program_builder.h"
#include "test/support/wide_decoder.h"

namespace vitrine::llm {
namespace {

TEST(MethodBytes, CountsWeightsWhoseScalesAreOutsideOfThePayload) {
  const test::AlignedBytes file = test::wide_decoder();
  const auto program = test::load_program(file);
  const MethodMeta method = *program->method_meta("forward");

  const std::vector<MethodBytes> bytes = read_method_bytes(*program, {{method}});
  double found = 0;
  for (const auto& [node, node_weights] : bytes[0].nodes) {
    for (const double weights : node_weights) found += weights;
  }
  // Weights have 4 bits per element, and a 16-bit scale for each 32 elements. Keys and values are
  // half as wide as queries.
  EXPECT_NEAR(found, test::kWideDecoderWeights * (0.5 + 2.0 / 32), test::kWideDecoderWeights / 100);
}

// Makes a program that calls the attention operator `name` on caches of keys and values, f32[1,
// length, 1, 4]. Returns the counts of bytes that this call reads or writes. If the operator only
// reads the caches, the program also calls llama::update_cache to write them.
KernelBytes attention_bytes(const std::string& name, bool has_mask, int32_t length) {
  test::ProgramBuilder builder;
  test::MethodSpec& forward = builder.method("forward");
  const int64_t cache_bytes = int64_t{length} * 4 * 4;
  forward.buffer_sizes = {0, 2 * cache_bytes + 1024};
  const auto planned = [](int64_t offset) {
    return test::Planned{1, static_cast<uint64_t>(offset)};
  };
  const int keys = forward.tensor({.sizes = {1, length, 1, 4}, .planned = planned(0)});
  const int values = forward.tensor({.sizes = {1, length, 1, 4}, .planned = planned(cache_bytes)});
  const int row = forward.tensor({.sizes = {1, 1, 1, 4}, .planned = planned(2 * cache_bytes)});
  const int out = forward.tensor({.sizes = {1, 1, 1, 4}, .planned = planned(2 * cache_bytes + 64)});
  const int position = forward.integer(0);
  const int none = forward.none();
  const int mask = has_mask ? forward.tensor({.sizes = {1, length}}) : none;
  forward.inputs = {row};
  if (has_mask) forward.inputs.push_back(mask);
  forward.outputs = {out};
  const int no = forward.boolean(false), zero = forward.real(0);
  int32_t instruction = 0;
  if (name == "llama::sdpa_with_kv_cache") {
    forward.kernel_call(forward.op(name, "out"),
                        {row, row, row, keys, values, position, forward.integer(1), mask, zero, no,
                         none, out, out});
  } else {
    const int update = forward.op("llama::update_cache", "out");
    for (const int cache : {keys, values}) {
      forward.kernel_call(update, {row, cache, position, out, out});
    }
    instruction = 2;
    forward.kernel_call(forward.op(name, "out"),
                        {row, keys, values, position, mask, zero, no, none, out, out});
  }
  const test::AlignedBytes file = builder.build();
  const auto program = test::load_program(file);
  return read_method_bytes(*program, {{*program->method_meta("forward")}})[0].kernels.at(
      instruction);
}

// If there is a mask, the kernels read each position of the cache once.
TEST(MethodBytes, MaskedAttentionCountsAllPositions) {
  for (const char* name :
       {"llama::custom_sdpa", "llama::custom_quantized_sdpa", "llama::sdpa_with_kv_cache"}) {
    SCOPED_TRACE(name);
    for (const int32_t length : {8, 32}) {
      const KernelBytes causal = attention_bytes(name, false, length);
      EXPECT_EQ(causal.cache, 0);
      EXPECT_EQ(causal.cache_per_position, 2 * 4 * 4);
      const KernelBytes masked = attention_bytes(name, true, length);
      EXPECT_EQ(masked.cache, length * 2 * 4 * 4);
      EXPECT_EQ(masked.cache_per_position, 0);
      EXPECT_TRUE(masked.is_attention);
    }
  }
}

}  // namespace
}  // namespace vitrine::llm
