// Lowering MobileNetV2 from its .pt2 file to a .pte in memory: time, and memory against the
// weights.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>

#include "runtime/platform/memory.h"
#include "test/support/corpus.h"
#include "test/support/scratch_folder.h"
#include "tools/files.h"
#include "tools/pte_lower/backends.h"
#include "tools/pte_lower/lower.h"

namespace vitrine::bench {
namespace {

namespace fs = std::filesystem;

uint64_t weight_bytes(const aot::Methods& methods) {
  uint64_t bytes = 0;
  for (const auto& [name, program] : methods) {
    for (const auto& [key, data] : program.state_dict) {
      bytes += static_cast<uint64_t>(data.numel()) * element_size(data.dtype);
    }
  }
  return bytes;
}

// The peak is of the whole process: it tells of the first lowering, which runs before all others.
void lower_model(benchmark::State& state, const fs::path& file, const char* backend) {
  const test::ScratchFolder scratch;
  uint64_t weights = 0;
  const uint64_t before = platform::resident_memory().now;
  for (auto _ : state) {
    tools::LowerOptions options;
    if (backend != nullptr) {
      options.partitioners.push_back(tools::lowering_backend(backend).make_partitioner());
    }
    aot::Methods methods = tools::import_methods({{"forward", file}});
    if (weights == 0) weights = weight_bytes(methods);
    tools::NewFile program(scratch / "model.pte");
    options.sink = [&](std::span<const std::byte> bytes) { program.append(bytes); };
    const tools::LoweredModel model = tools::lower(std::move(methods), options);
    program.commit();
    benchmark::DoNotOptimize(model.program_bytes);
  }
  const uint64_t peak = platform::resident_memory().peak;
  state.counters["weights_MB"] = static_cast<double>(weights) / 1e6;
  state.counters["peak_over_weights"] =
      static_cast<double>(peak - before) / static_cast<double>(weights);
}

}  // namespace
}  // namespace vitrine::bench

int main(int argc, char** argv) {
  const std::filesystem::path file = vitrine::test::corpus_dir() / "mv2_xnnpack/model.pt2";
  if (vitrine::test::corpus_dir().empty() || !std::filesystem::exists(file)) {
    std::puts("no exported MobileNetV2: set VITRINE_CORPUS");
    return 0;
  }
  for (const char* backend : {"xnnpack", "none"}) {
    const bool is_none = std::string_view(backend) == "none";
    benchmark::RegisterBenchmark(("lower_mv2/" + std::string(backend)).c_str(),
                                 [=](benchmark::State& state) {
                                   vitrine::bench::lower_model(state, file,
                                                               is_none ? nullptr : backend);
                                 })
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
