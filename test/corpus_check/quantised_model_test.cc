// A model that is quantised here, run against what PyTorch gave for the same model as the stock
// flow quantised it: all calls of the case, over one state.
#include <gtest/gtest.h>

#include "test/corpus_check/case_runner.h"
#include "test/corpus_check/lowering.h"
#include "test/support/corpus.h"
#include "test/support/scratch_folder.h"

namespace vitrine::corpus {
namespace {

constexpr char kScheme[] = "8da4w:32,embedding:4:32";

CaseResult run_quantised(const std::string& scheme, const std::vector<std::string>& backends) {
  const test::ScratchFolder scratch;
  Case which = read_case(test::corpus_llm_dir() / "kjv_8da4w");
  EXPECT_TRUE(lower_case(which, test::corpus_llm_dir() / "kjv_f32", ExportedForm::kTraining,
                         backends, {.quantise = scheme}, scratch / ""));
  return run_case(which, {});
}

class QuantisedModel : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(QuantisedModel, GivesWhatTheStockFlowsGives) {
  if (test::corpus_llm_dir().empty()) GTEST_SKIP() << "set VITRINE_CORPUS_LLM";
  const CaseResult result = run_quantised(kScheme, GetParam());
  EXPECT_EQ(result.status, CaseResult::Status::kPassed) << result.reason;
}

INSTANTIATE_TEST_SUITE_P(Backends, QuantisedModel,
                         testing::Values(std::vector<std::string>{"xnnpack-dynamic", "xnnpack"},
                                         std::vector<std::string>{}),
                         [](const auto& test) { return test.param.empty() ? "None" : "Xnnpack"; });

// Quantised otherwise, the model gives something else: the comparison can tell.
TEST(QuantisedModelComparison, OtherSchemesGiveOtherResults) {
  if (test::corpus_llm_dir().empty()) GTEST_SKIP() << "set VITRINE_CORPUS_LLM";
  const CaseResult result = run_quantised("8da4w:0:affine", {"xnnpack"});
  EXPECT_EQ(result.status, CaseResult::Status::kFailed);
}

}  // namespace
}  // namespace vitrine::corpus
