#include "llm/profile/method_bytes.h"

#include <gtest/gtest.h>

#include "test/llm/lowered_models.h"
#include "test/support/wide_decoder.h"

namespace vitrine::llm {
namespace {

TEST(MethodBytes, CountsWideLayersWhoseScalesLieOutsideOfTheirPayload) {
  const test::AlignedBytes file = test::wide_decoder();
  const auto program = test::load_program(file);
  const MethodMeta method = *program->method_meta("forward");

  const std::vector<MethodBytes> bytes = read_method_bytes(*program, {{method}});
  double found = 0;
  for (const auto& [place, nodes] : bytes[0].nodes) {
    for (const double weights : nodes) found += weights;
  }
  // 4 bits an element and 16 for each 32. Keys and values have half of the features.
  EXPECT_NEAR(found, test::kWideDecoderWeights * (0.5 + 2.0 / 32), test::kWideDecoderWeights / 100);
}

}  // namespace
}  // namespace vitrine::llm
