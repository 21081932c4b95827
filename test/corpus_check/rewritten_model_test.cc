// Quantizes models or replaces their attention, and compares the results with PyTorch's. Each model
// keeps its state between the calls of a case.
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
  Case test_case = read_case(expected);
  EXPECT_TRUE(lower_case(test_case, model, form, backends, flags, scratch / ""));
  return run_case(test_case, {});
}

class RewrittenModel : public testing::TestWithParam<Backends> {
 protected:
  const fs::path corpus_ = test::corpus_llm_dir();
  void SetUp() override { VITRINE_NEEDS_CORPUS_LLM(); }
};

// The expected results are from the model that PyTorch's flow quantized.
TEST_P(RewrittenModel, MatchesQuantizationByPyTorch) {
  const CaseResult result = run_lowered(corpus_ / "kjv_8da4w", corpus_ / "kjv_f32", GetParam(),
                                        {.quantize = "8da4w:32,embedding:4:32"});
  EXPECT_EQ(result.status, CaseResult::Status::kPassed) << result.reason;
}

// A different scheme must fail, which shows that the comparison is sensitive enough.
TEST_P(RewrittenModel, FailsWithADifferentQuantizationScheme) {
  const CaseResult result = run_lowered(corpus_ / "kjv_8da4w", corpus_ / "kjv_f32", GetParam(),
                                        {.quantize = "8da4w:0:affine"});
  EXPECT_EQ(result.status, CaseResult::Status::kFailed);
}

// These models lack ExecuTorch's attention operators. Lowering must recognize their attention in
// the ATen operators, and replace it with ExecuTorch's operators.
TEST_P(RewrittenModel, MatchesExpectedResultsWithCustomAttention) {
  for (const char* name : {"llama_kv_static", "llama_8da4w_e8_static"}) {
    const CaseResult result = run_lowered(corpus_ / name, corpus_ / name, GetParam(),
                                          {.quantize = {}, .attention = "custom_sdpa"});
    EXPECT_EQ(result.status, CaseResult::Status::kPassed) << name << ": " << result.reason;
  }
  const fs::path others = test::corpus_dir();
  if (others.empty()) GTEST_SKIP() << "needs the corpus: set VITRINE_CORPUS";
  for (const char* name :
       {"kv_cache", "kv_cache_xnnpack", "encoder_layer_sdpa", "softmax_layernorm_attention"}) {
    const CaseResult result = run_lowered(others / name, others / name, GetParam(),
                                          {.quantize = {}, .attention = "custom_sdpa"});
    EXPECT_EQ(result.status, CaseResult::Status::kPassed) << name << ": " << result.reason;
  }
}

TEST_P(RewrittenModel, MatchesExpectedResultsWithAutomaticAttention) {
  const fs::path others = test::corpus_dir();
  if (others.empty()) GTEST_SKIP() << "needs the corpus: set VITRINE_CORPUS";
  for (const fs::path& model :
       {corpus_ / "llama_kv_static", corpus_ / "llama_8da4w_e8_static", others / "kv_cache",
        others / "encoder_layer_sdpa", others / "softmax_layernorm_attention"}) {
    const CaseResult result = run_lowered(model, model, GetParam(),
                                          {.quantize = {}, .attention = "auto", .optimize = true});
    EXPECT_EQ(result.status, CaseResult::Status::kPassed) << model << ": " << result.reason;
  }
}

// In models from run_decompositions(), only writes to the cache are replaced.
TEST_P(RewrittenModel, MatchesExpectedResultsIfOnlyCacheWritesAreReplaced) {
  const fs::path others = test::corpus_dir();
  if (others.empty()) GTEST_SKIP() << "needs the corpus: set VITRINE_CORPUS";
  const CaseResult result =
      run_lowered(others / "kv_cache", others / "kv_cache", GetParam(),
                  {.quantize = {}, .attention = "custom_sdpa"}, ExportedForm::kCoreAten);
  EXPECT_EQ(result.status, CaseResult::Status::kPassed) << result.reason;
}

INSTANTIATE_TEST_SUITE_P(Backends, RewrittenModel,
                         testing::Values(Backends{"xnnpack-dynamic", "xnnpack"}, Backends{}),
                         [](const auto& test) { return test.param.empty() ? "None" : "Xnnpack"; });

}  // namespace
}  // namespace vitrine::corpus
