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

class RewrittenModel : public testing::TestWithParam<Backends> {
 protected:
  void SetUp() override { VITRINE_NEEDS_CORPUS_LLM(); }

  CaseResult run_lowered(const fs::path& expected, const fs::path& model,
                         const LoweringFlags& flags, ExportedForm form = ExportedForm::kTraining) {
    const test::ScratchFolder scratch;
    Case test_case = read_case(expected);
    EXPECT_TRUE(lower_case(test_case, model, form, GetParam(), flags, scratch / ""));
    return run_case(test_case, {});
  }
  void expect_match(const fs::path& model, const LoweringFlags& flags,
                    ExportedForm form = ExportedForm::kTraining) {
    const CaseResult result = run_lowered(model, model, flags, form);
    EXPECT_EQ(result.status, CaseResult::Status::kPassed) << model << ": " << result.reason;
  }

  const fs::path corpus_ = test::corpus_llm_dir();
};

// The expected results are from the model that PyTorch's flow quantized.
TEST_P(RewrittenModel, MatchesQuantizationByPyTorch) {
  const CaseResult result = run_lowered(corpus_ / "kjv_8da4w", corpus_ / "kjv_f32",
                                        {.quantize = "8da4w:32,embedding:4:32"});
  EXPECT_EQ(result.status, CaseResult::Status::kPassed) << result.reason;
}

// A different scheme must fail, which shows that the comparison is sensitive enough.
TEST_P(RewrittenModel, FailsWithADifferentQuantizationScheme) {
  const CaseResult result =
      run_lowered(corpus_ / "kjv_8da4w", corpus_ / "kjv_f32", {.quantize = "8da4w:0:affine"});
  EXPECT_EQ(result.status, CaseResult::Status::kFailed);
}

// These models lack ExecuTorch's attention operators. Lowering must recognize their attention in
// the ATen operators, and replace it with ExecuTorch's operators.
TEST_P(RewrittenModel, MatchesExpectedResultsWithCustomAttention) {
  for (const char* name : {"llama_kv_static", "llama_8da4w_e8_static"}) {
    expect_match(corpus_ / name, {.quantize = {}, .attention = "custom_sdpa"});
  }
  VITRINE_CORPUS_CASE(others, "");
  for (const char* name :
       {"kv_cache", "kv_cache_xnnpack", "encoder_layer_sdpa", "softmax_layernorm_attention"}) {
    expect_match(others / name, {.quantize = {}, .attention = "custom_sdpa"});
  }
}

TEST_P(RewrittenModel, MatchesExpectedResultsWithAutomaticAttention) {
  VITRINE_CORPUS_CASE(others, "");
  for (const fs::path& model :
       {corpus_ / "llama_kv_static", corpus_ / "llama_8da4w_e8_static", others / "kv_cache",
        others / "encoder_layer_sdpa", others / "softmax_layernorm_attention"}) {
    expect_match(model, {.quantize = {}, .attention = "auto", .optimize = true});
  }
}

// In models from run_decompositions(), only writes to the cache are replaced.
TEST_P(RewrittenModel, MatchesExpectedResultsIfOnlyCacheWritesAreReplaced) {
  VITRINE_CORPUS_CASE(kv_cache, "kv_cache");
  expect_match(kv_cache, {.quantize = {}, .attention = "custom_sdpa"}, ExportedForm::kCoreAten);
}

INSTANTIATE_TEST_SUITE_P(Backends, RewrittenModel,
                         testing::Values(Backends{"xnnpack-dynamic", "xnnpack"}, Backends{}),
                         [](const auto& test) { return test.param.empty() ? "None" : "Xnnpack"; });

}  // namespace
}  // namespace vitrine::corpus
