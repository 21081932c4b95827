// Measures the time of lowering a model to a .pte file, and its memory relative to the weights. The
// model is MobileNetV2, built here, or a .pt2 file.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "aot/pipeline/lower.h"
#include "examples/models/mobilenet_v2.h"
#include "host/files.h"
#include "runtime/platform/memory.h"
#include "test/support/scratch_folder.h"
#include "tools/pte_lower/backends.h"

namespace vitrine::bench {
namespace {

uint64_t weight_bytes(const aot::Methods& methods) {
  uint64_t bytes = 0;
  for (const auto& [name, program] : methods) {
    for (const auto& [key, data] : program.state_dict) {
      bytes += static_cast<uint64_t>(data.numel()) * element_size(data.dtype);
    }
  }
  return bytes;
}

using Source = std::function<aot::Methods()>;

// The peak is that of the whole process, so it is valid for the first lowering only, which runs
// before all others.
void lower_model(benchmark::State& state, const Source& source, const char* backend) {
  const test::ScratchFolder scratch;
  uint64_t weights = 0;
  const uint64_t before = platform::resident_memory().now;
  for (auto _ : state) {
    aot::LowerOptions options;
    if (backend != nullptr) {
      options.partitioners.push_back(tools::lowering_backend(backend).make_partitioner());
    }
    aot::Methods methods = source();
    if (weights == 0) weights = weight_bytes(methods);
    tools::NewFile program(scratch / "model.pte");
    options.sink = [&](std::span<const std::byte> bytes) { program.append(bytes); };
    aot::LoweredModel model = aot::lower(std::move(methods), options);
    program.commit();
    benchmark::DoNotOptimize(model.program_bytes);
  }
  const uint64_t peak = platform::resident_memory().peak;
  state.counters["weights_MB"] = static_cast<double>(weights) / 1e6;
  state.counters["peak_over_weights"] =
      static_cast<double>(peak - before) / static_cast<double>(weights);
}

aot::Methods built_mobilenet() {
  aot::Methods methods;
  methods.emplace("forward", examples::mobilenet_v2());
  return methods;
}

}  // namespace
}  // namespace vitrine::bench

// lower_bench [model.pt2]
int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  vitrine::bench::Source source = vitrine::bench::built_mobilenet;
  std::string name = "build_and_lower_mv2";
  if (argc > 1) {
    const std::filesystem::path file = argv[1];
    source = [file] { return vitrine::aot::import_methods({{"forward", file}}); };
    name = "lower/" + file.parent_path().filename().string();
  }
  constexpr std::pair<const char*, const char*> kBackends[] = {{"xnnpack", "xnnpack"},
                                                               {"none", nullptr}};
  for (const auto& row : kBackends) {
    const std::string label = name + "/" + row.first;
    benchmark::RegisterBenchmark(label.c_str(), [source,
                                                 backend = row.second](benchmark::State& state) {
      vitrine::bench::lower_model(state, source, backend);
    })->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
