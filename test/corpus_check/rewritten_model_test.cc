// Models that are quantised here, or get other attention, run against what PyTorch gave: all calls
// of a case, over one state.
#include <gtest/gtest.h>

#include "test/corpus_check/case_runner.h"
#include "test/corpus_check/lowering.h"
#include "test/support/corpus.h"
#include "test/support/scratch_folder.h"

namespace vitrine::corpus {
namespace {

namespace fs = std::filesystem;
using Backends = std::vector<std::string>;

CaseResult run_lowered(const fs::path& expected, const fs::path& model, const Backends& backends,
                       const LoweringFlags& flags, ExportedForm form = ExportedForm::kTraining) {
  const test::ScratchFolder scratch;
  Case which = read_case(expected);
  EXPECT_TRUE(lower_case(which, model, form, backends, flags, scratch / ""));
  return run_case(which, {});
}

class RewrittenModel : public testing::TestWithParam<Backends> {
 protected:
  const fs::path corpus_ = test::corpus_llm_dir();
  void SetUp() override {
    if (corpus_.empty()) GTEST_SKIP() << "set VITRINE_CORPUS_LLM";
  }
};

// The same model as the stock flow quantised it.
TEST_P(RewrittenModel, QuantisedHere) {
  const CaseResult result = run_lowered(corpus_ / "kjv_8da4w", corpus_ / "kjv_f32", GetParam(),
                                        {.quantise = "8da4w:32,embedding:4:32"});
  EXPECT_EQ(result.status, CaseResult::Status::kPassed) << result.reason;
}

// The comparison can tell schemes apart.
TEST_P(RewrittenModel, QuantisedOtherwise) {
  const CaseResult result = run_lowered(corpus_ / "kjv_8da4w", corpus_ / "kjv_f32", GetParam(),
                                        {.quantise = "8da4w:0:affine"});
  EXPECT_EQ(result.status, CaseResult::Status::kFailed);
}

// Stock models without ExecuTorch's operators: a table as mask, keys repeated by query head, a
// cache that index_put writes; attention spelled out. All calls, from an empty cache on.
TEST_P(RewrittenModel, WithCustomAttention) {
  for (const char* name : {"llama_kv_static", "llama_8da4w_e8_static"}) {
    const CaseResult result = run_lowered(corpus_ / name, corpus_ / name, GetParam(),
                                          {.quantise = {}, .attention = "custom_sdpa"});
    EXPECT_EQ(result.status, CaseResult::Status::kPassed) << name << ": " << result.reason;
  }
  const fs::path others = test::corpus_dir();
  if (others.empty()) GTEST_SKIP() << "set VITRINE_CORPUS";
  for (const char* name :
       {"kv_cache", "kv_cache_xnnpack", "encoder_layer_sdpa", "softmax_layernorm_attention"}) {
    const CaseResult result = run_lowered(others / name, others / name, GetParam(),
                                          {.quantise = {}, .attention = "custom_sdpa"});
    EXPECT_EQ(result.status, CaseResult::Status::kPassed) << name << ": " << result.reason;
  }
}

TEST_P(RewrittenModel, WithAttentionWhereItPays) {
  const fs::path others = test::corpus_dir();
  if (others.empty()) GTEST_SKIP() << "set VITRINE_CORPUS";
  for (const fs::path& model :
       {corpus_ / "llama_kv_static", corpus_ / "llama_8da4w_e8_static", others / "kv_cache",
        others / "encoder_layer_sdpa", others / "softmax_layernorm_attention"}) {
    const CaseResult result = run_lowered(model, model, GetParam(),
                                          {.quantise = {}, .attention = "auto", .optimise = true});
    EXPECT_EQ(result.status, CaseResult::Status::kPassed) << model << ": " << result.reason;
  }
}

// After run_decompositions() only writes to the cache are recognised.
TEST_P(RewrittenModel, WithWritesToCachesInCoreAten) {
  const fs::path others = test::corpus_dir();
  if (others.empty()) GTEST_SKIP() << "set VITRINE_CORPUS";
  const CaseResult result =
      run_lowered(others / "kv_cache", others / "kv_cache", GetParam(),
                  {.quantise = {}, .attention = "custom_sdpa"}, ExportedForm::kCoreAten);
  EXPECT_EQ(result.status, CaseResult::Status::kPassed) << result.reason;
}

INSTANTIATE_TEST_SUITE_P(Backends, RewrittenModel,
                         testing::Values(Backends{"xnnpack-dynamic", "xnnpack"}, Backends{}),
                         [](const auto& test) { return test.param.empty() ? "None" : "Xnnpack"; });

}  // namespace
}  // namespace vitrine::corpus
