// Lowers a model from C++: builds or imports it, chooses a backend and writes the program.
//
//   lower_a_model mobilenet_v2 model.pte [delegation.csv]
//
// executor_runner can run and profile the program. The program contains its ETRecord, so a profile
// does not need a separate record file.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "aot/emit/emit.h"
#include "aot/lowering/delegation_info.h"
#include "aot/lowering/to_backend.h"
#include "aot/passes/pipelines.h"
#include "backends/xnnpack/aot/partitioner.h"
#include "examples/models/llama_decoder.h"
#include "examples/models/mobilenet_v2.h"
#include "examples/models/quantized_mlp.h"
#include "examples/models/transformer.h"
#include "tools/common/files.h"

using namespace vitrine;  // NOLINT(google-build-using-namespace)

namespace {

struct Model {
  std::string_view name;
  aot::ExportedProgram (*build)();
};
// Builds a language model whose cached values in layer 1 have magnitudes of up to 1e5. f16 cannot
// represent the largest of these values (docs/numerics.md).
template <ScalarType cache>
aot::ExportedProgram large_values() {
  return examples::llama_decoder({.group = 0, .cache = cache, .value_factor = 1 << 15});
}

// For your own model, use aot::import_pt2("model.pt2") or examples/models/model_builder.h.
constexpr Model kModels[] = {
    {"mobilenet_v2", [] { return examples::mobilenet_v2(); }},
    {"quantized_mlp", [] { return examples::quantized_mlp(); }},
    {"transformer_encoder", [] { return examples::transformer_encoder(); }},
    {"cached_decoder", [] { return examples::cached_decoder(); }},
    {"large_values_f32", &large_values<ScalarType::kFloat>},
    {"large_values_f16", &large_values<ScalarType::kHalf>},
    {"large_values_bf16", &large_values<ScalarType::kBFloat16>},
    {"large_values_int8", &large_values<ScalarType::kChar>},
};

// Lowers the program and writes it to `file`. The delegation table goes to `table`, if not null.
void lower(aot::ExportedProgram program, const char* file, const char* table) {
  const aot::XnnpackPartitioner xnnpack;
  aot::EdgeOptions edge;
  edge.ops_to_keep.push_back(xnnpack.ops_to_keep(program));
  aot::to_edge(program, edge);
  aot::to_backend(program, xnnpack);

  const delegation::DelegationInfo info = delegation::delegation_info(*program.graph);
  std::printf("%s%s", delegation::format_summary(info).c_str(),
              delegation::format_grid(info).c_str());
  if (table != nullptr) tools::write_file(table, delegation::format_csv(info));

  aot::to_executable(program);
  aot::Methods methods;
  methods.emplace("forward", std::move(program));
  tools::NewFile pte(file);
  aot::emit_to([&](std::span<const std::byte> bytes) { pte.append(bytes); }, methods);
  pte.commit();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc == 3 || argc == 4 ? argv[1] : "";
  const auto* model = std::ranges::find(kModels, name, &Model::name);
  if (model == std::end(kModels)) {
    std::fprintf(stderr, "usage: lower_a_model MODEL model.pte [delegation.csv]\nmodels:");
    for (const Model& each : kModels) std::fprintf(stderr, " %s", std::string(each.name).c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  try {
    lower(model->build(), argv[2], argv[3]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
