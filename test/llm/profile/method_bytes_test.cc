#include "llm/profile/method_bytes.h"

#include <gtest/gtest.h>

#include "aot/pipeline/lower.h"
#include "backends/xnnpack/aot/partitioner.h"
#include "examples/models/llama_decoder.h"
#include "test/llm/lowered_models.h"

namespace vitrine::llm {
namespace {

// The payload of a wide layer counts more scales than it has bytes: they lie outside of it.
TEST(MethodBytes, CountsWideLayersWhoseScalesLieOutsideOfTheirPayload) {
  const examples::LlamaOptions wide = {
      .layers = 1, .features = 256, .hidden = 4096, .words = 64, .length = 8};
  aot::LowerOptions options;
  options.partitioners = {std::make_shared<aot::XnnpackPartitioner>()};
  aot::Methods methods;
  methods.emplace("forward", examples::llama_decoder(wide));
  const std::vector<std::byte> pte = aot::lower(std::move(methods), options).emitted.pte;
  const test::AlignedBytes file(pte.begin(), pte.end());
  const auto program = test::load_program(file);
  const MethodMeta method = *program->method_meta("forward");

  const std::vector<MethodBytes> bytes = read_method_bytes(*program, {{method}});
  double found = 0;
  for (const auto& [place, nodes] : bytes[0].nodes) {
    for (const double weights : nodes) found += weights;
  }
  // 4 bits an element and 16 for each 32. Keys and values have half of the features.
  constexpr double kElements = 256 * (256 + 128 + 128 + 256 + 3 * 4096 + 64);
  EXPECT_NEAR(found, kElements * (0.5 + 2.0 / 32), kElements / 100);
}

}  // namespace
}  // namespace vitrine::llm
