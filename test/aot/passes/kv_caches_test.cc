// Models whose caches are written by llama::update_cache must return the same results, and leave
// the same values in the caches, as the original models.
#include "aot/passes/kv_caches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "aot/graph/lint.h"
#include "aot/passes/pipelines.h"
#include "aot/passes/replace_attention.h"
#include "examples/models/seeded_weights.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/passes/decoder_step.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<TensorData> inputs_of(const StepForm& form, int64_t start) {
  const int64_t count = form.count;
  const auto rows = [&](const char* name, int64_t heads) {
    return seeded_weights(name, 7, {form.batch, heads, count, kStepWidth}, 2);
  };
  const bool is_list =
      !form.counted && form.write != StepWrite::kNarrowCopy && form.write != StepWrite::kSliceCopy;
  std::vector<int64_t> positions(static_cast<size_t>(is_list ? count : 1));
  std::iota(positions.begin(), positions.end(), start);
  const auto listed = static_cast<int64_t>(positions.size());
  return {rows("q", form.heads), rows("k", form.key_heads), rows("v", form.key_heads),
          integers({listed}, positions)};
}

// Runs both programs at the first, a middle and the last position. Expects the same results and
// caches from both.
void expect_same(const StepForm& form, const ExportedProgram& own,
                 const ExportedProgram& replaced) {
  const int64_t last = kStepLength - form.count;
  for (const int64_t start : {int64_t{0}, last / 2, last}) {
    expect_same_results(replaced, own, inputs_of(form, start));
  }
}

// Forms of the decoder step whose graphs show that the mask is causal.
std::vector<StepForm> causal_forms() {
  return {
      {.name = "IndexPut"},
      {.name = "IndexCopy", .write = StepWrite::kIndexCopy, .mask = StepMask::kCompared},
      {.name = "CopyOfIndexCopy",
       .write = StepWrite::kCopyOfIndexCopy,
       .mask = StepMask::kInverted},
      {.name = "Narrow",
       .write = StepWrite::kNarrowCopy,
       .mask = StepMask::kNarrowedTable,
       .count = 3},
      {.name = "NarrowOfAnyLength",
       .write = StepWrite::kNarrowCopy,
       .mask = StepMask::kNarrowedTable,
       .count = 2,
       .is_symbolic = true},
      {.name = "Select", .write = StepWrite::kSelectCopy, .mask = StepMask::kAddedTable},
      {.name = "Counted",
       .write = StepWrite::kIndexCopy,
       .mask = StepMask::kCompared,
       .repeat = StepRepeat::kExpand,
       .count = 3,
       .is_symbolic = true,
       .counted = true},
      {.name = "PositionsFirst", .positions_first = true},
      {.name = "PositionsFirstInOneCall",
       .write = StepWrite::kNarrowCopy,
       .mask = StepMask::kNarrowedTable,
       .repeat = StepRepeat::kExpand,
       .positions_first = true,
       .count = 4},
      {.name = "Expanded", .mask = StepMask::kInverted, .repeat = StepRepeat::kExpand},
      {.name = "Shared", .repeat = StepRepeat::kShared, .heads = 6},
      {.name = "OneKeyHead", .repeat = StepRepeat::kShared, .heads = 3, .key_heads = 1},
      {.name = "KeyHeadPerQueryHead", .repeat = StepRepeat::kNone, .heads = 3, .key_heads = 3},
      {.name = "Batch", .batch = 2},
      {.name = "Spelled", .is_spelled = true},
      {.name = "SpelledWithTheLowestNumber", .is_spelled = true, .fill = kLowestFloat},
      {.name = "SpelledWithAddedMask", .mask = StepMask::kInverted, .is_spelled = true},
      {.name = "Multiplied", .mask = StepMask::kMultiplied},
      {.name = "MultipliedTriangle",
       .write = StepWrite::kIndexCopy,
       .mask = StepMask::kMultiplied,
       .repeat = StepRepeat::kExpand,
       .count = 3,
       .is_symbolic = true,
       .counted = true},
      {.name = "PrefixOfOneQuery",
       .write = StepWrite::kNarrowCopy,
       .mask = StepMask::kNone,
       .takes_prefix = true},
      {.name = "PrefixWithATable",
       .write = StepWrite::kNarrowCopy,
       .mask = StepMask::kNarrowedTable,
       .positions_first = true,
       .count = 2,
       .is_symbolic = true,
       .takes_prefix = true},
      {.name = "PrefixWithAJoinedMask",
       .write = StepWrite::kNarrowCopy,
       .mask = StepMask::kJoined,
       .repeat = StepRepeat::kShared,
       .count = 3,
       .takes_prefix = true},
      {.name = "PrefixSpelled",
       .write = StepWrite::kNarrowCopy,
       .mask = StepMask::kJoined,
       .positions_first = true,
       .count = 2,
       .is_spelled = true,
       .takes_prefix = true},
      {.name = "BatchPositionsFirst", .positions_first = true, .batch = 3},
      {.name = "BatchInOneCall",
       .write = StepWrite::kNarrowCopy,
       .mask = StepMask::kNarrowedTable,
       .batch = 2,
       .count = 3},
  };
}

class CausalCache : public testing::TestWithParam<StepForm> {};

TEST_P(CausalCache, ReplacementHasSameResults) {
  ExportedProgram replaced = DecoderStep(GetParam()).build();
  StepForm plain = GetParam();
  // Without replace_attention(), the lowering does not support writes at a computed index.
  if (plain.write == StepWrite::kSelectCopy) plain.write = StepWrite::kIndexPut;
  // Without replace_attention(), the lowering does not support tensors with computed sizes. The
  // plain form therefore reads all keys, and its mask hides the keys after the last query.
  if (plain.takes_prefix) {
    plain.takes_prefix = false;
    plain.mask = StepMask::kNarrowedTable;
  }
  ExportedProgram own = DecoderStep(plain).build();
  const AttentionResult result = replace_attention(replaced);
  EXPECT_EQ(result.replaced, 1U);
  EXPECT_EQ(result.writes, 2U);
  EXPECT_THAT(result.kept, IsEmpty());
  lint(replaced);
  to_edge(own);
  to_edge(replaced);
  expect_same(GetParam(), own, replaced);
  // The passes must have removed the mask and the copies of the cache for each head.
  EXPECT_THAT(calls(replaced), Not(Contains("where.self")));
  EXPECT_THAT(calls(replaced), Not(Contains("index.Tensor")));
  EXPECT_THAT(calls(replaced), Not(Contains("expand_copy")));
  to_executable(replaced);
  EXPECT_EQ(std::ranges::count(calls(replaced), "update_cache"), 2);
  EXPECT_THAT(calls(replaced), Not(Contains("copy_")));
}

INSTANTIATE_TEST_SUITE_P(Forms, CausalCache, testing::ValuesIn(causal_forms()),
                         [](const auto& test) { return std::string(test.param.name); });

// Forms of the decoder step whose mask the passes must keep, because the mask is not causal or too
// little is known about it.
std::vector<StepForm> masked_forms() {
  return {
      {.name = "Window", .mask = StepMask::kWindow},
      {.name = "SpelledWindow", .mask = StepMask::kWindow, .is_spelled = true},
      {.name = "ListOfPositions", .mask = StepMask::kCompared, .count = 3},
      {.name = "ListOfPositionsInABatch", .mask = StepMask::kTable, .batch = 2, .count = 2},
      {.name = "ListOfAnyLength",
       .write = StepWrite::kIndexCopy,
       .mask = StepMask::kCompared,
       .positions_first = true,
       .count = 2,
       .is_symbolic = true},
  };
}

class MaskedCache : public testing::TestWithParam<StepForm> {};

// Replaces the attention and the cache writes of a decoder step. Expects the same results as
// before. Returns the reasons for what was not replaced.
std::vector<std::string> expect_replaced(const StepForm& form) {
  ExportedProgram own = DecoderStep(form).build();
  ExportedProgram replaced = own.copy();
  const AttentionResult result = replace_attention(replaced);
  EXPECT_EQ(result.replaced, 1U);
  EXPECT_EQ(result.writes, 2U);
  to_edge(own);
  to_edge(replaced);
  expect_same(form, own, replaced);
  return result.kept;
}

TEST_P(MaskedCache, ReplacementHasSameResults) {
  EXPECT_THAT(expect_replaced(GetParam()), ElementsAre(HasSubstr("mask kept")));
}

INSTANTIATE_TEST_SUITE_P(Forms, MaskedCache, testing::ValuesIn(masked_forms()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(KvCaches, ReplacesWriteAtFixedPosition) {
  expect_replaced({.name = "",
                   .write = StepWrite::kSliceCopy,
                   .mask = StepMask::kNone,
                   .repeat = StepRepeat::kShared,
                   .count = 2});
}

TEST(KvCaches, RejectsPositionsOutOfRange) {
  const StepForm form = {.name = ""};
  ExportedProgram replaced = DecoderStep(form).build();
  replace_attention(replaced);
  to_edge(replaced);
  EXPECT_ANY_THROW(evaluate(replaced, inputs_of(form, -1)));
  EXPECT_ANY_THROW(evaluate(replaced, inputs_of(form, kStepLength)));
}

}  // namespace
}  // namespace vitrine::aot
