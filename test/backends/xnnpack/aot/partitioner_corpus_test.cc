// Compares the delegation reports with those of ExecuTorch's own lowering.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "aot/graph/aot_error.h"
#include "aot/lowering/delegation_info.h"
#include "aot/lowering/to_backend.h"
#include "test/backends/xnnpack/aot/corpus_cases.h"
#include "test/support/corpus.h"
#include "test/support/read_text.h"

namespace vitrine::aot::test {
namespace {

// Compares the reports of each case with ExecuTorch's, byte for byte. One report is a CSV table.
// The other consists of the summary, an empty line and the grid.
void expect_same_reports(const std::vector<XnnpackCase>& cases) {
  size_t summaries = 0;
  for (const XnnpackCase& each : cases) {
    SCOPED_TRACE(each.exported.string());
    try {
      const auto partitioners = partitioners_of(each);
      ExportedProgram program = edge_program(each, partitioners);
      for (const Rejection& rejection : to_backend(program, partitioners)) {
        EXPECT_FALSE(rejection.rule.empty()) << rejection.node->name();
      }
      const delegation::DelegationInfo info = delegation::delegation_info(*program.graph);
      EXPECT_EQ(delegation::format_csv(info), vitrine::test::read_text(each.table));
      if (!std::filesystem::exists(each.summary)) continue;
      ++summaries;
      EXPECT_EQ(delegation::format_summary(info) + "\n" + delegation::format_grid(info),
                vitrine::test::read_text(each.summary));
    } catch (const AotError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  std::printf("%zu tables, %zu summaries\n", cases.size(), summaries);
}

TEST(XnnpackPartitionerCorpus, ReportsMatchExecuTorch) {
  VITRINE_CORPUS_CASE(corpus, "");
  expect_same_reports(xnnpack_cases());
}

// Skips models with attention, because they contain views, clones and gelu. ExecuTorch 0.5 did not
// delegate these operators.
TEST(XnnpackPartitionerCorpus, ReportsOfOlderModelsMatchExecuTorch) {
  VITRINE_CORPUS_CASE(corpus, "");
  constexpr std::array<std::string_view, 3> kWithAttention = {
      "encoder_layer_sdpa", "kv_cache_xnnpack", "softmax_layernorm_attention"};
  std::vector<XnnpackCase> cases = xnnpack_cases(LoweredBy::kOlderVersions);
  std::erase_if(cases, [&](const XnnpackCase& each) {
    return std::ranges::count(kWithAttention, each.folder.filename().string()) != 0;
  });
  EXPECT_GE(cases.size(), 13U);
  expect_same_reports(cases);
}

}  // namespace
}  // namespace vitrine::aot::test
