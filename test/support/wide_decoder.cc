#include "test/support/wide_decoder.h"

#include "aot/pipeline/lower.h"
#include "backends/xnnpack/aot/partitioner.h"
#include "examples/models/llama_decoder.h"

namespace vitrine::test {

AlignedBytes wide_decoder() {
  const examples::LlamaOptions wide = {
      .layers = 1, .features = 256, .hidden = 4096, .words = 64, .length = 8};
  aot::LowerOptions options;
  options.partitioners = {std::make_shared<aot::XnnpackPartitioner>()};
  aot::Methods methods;
  methods.emplace("forward", examples::llama_decoder(wide));
  const std::vector<std::byte> pte = aot::lower(std::move(methods), options).emitted.pte;
  return {pte.begin(), pte.end()};
}

}  // namespace vitrine::test
