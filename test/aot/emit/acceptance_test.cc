// Checks that emitted .pte files follow ExecuTorch's rules for the format, for several sets of
// options. The checker of these rules is tested with files that ExecuTorch wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "aot/emit/emit.h"
#include "aot/import/pt2.h"
#include "aot/lowering/to_backend.h"
#include "aot/passes/pipelines.h"
#include "backends/xnnpack/aot/partitioner.h"
#include "demo_backend/lowering.h"
#include "test/support/acceptance.h"
#include "test/support/corpus.h"
#include "test/support/file_bytes.h"
#include "vitrine/program.h"

namespace vitrine::aot {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// These cases cover all features of the format: constants, states, delegates, branches, dynamic
// sizes, quantized tensors, several methods.
constexpr std::array kCases = {"add_mul",
                               "cond_model",
                               "conv_relu_tan",
                               "digits_xnnpack_q8",
                               "dynamic_batch_xnnpack",
                               "kv_cache",
                               "mlp_dynq",
                               "linear_relu",
                               "mutable_acc_init",
                               "multi_method",
                               "f16_conv",
                               "mlp_qb4w",
                               "channels_last_conv",
                               "split_concat_pool",
                               "softmax_layernorm_attention"};

std::shared_ptr<const Partitioner> xnnpack() { return std::make_shared<XnnpackPartitioner>(); }
std::shared_ptr<const Partitioner> demo_backend() {
  return std::make_shared<demo::DemoPartitioner>();
}

Methods lowered(const fs::path& folder, const std::shared_ptr<const Partitioner>& partitioner) {
  Methods methods;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path& file = entry.path();
    if (file.extension() != ".pt2" || file.stem().string().ends_with("_core_aten")) continue;
    ExportedProgram program = import_pt2(file);
    EdgeOptions options;
    if (partitioner) options.ops_to_keep.push_back(partitioner->ops_to_keep(program));
    to_edge(program, options);
    if (partitioner) to_backend(program, *partitioner);
    to_executable(program);
    methods.emplace(test::method_of(file), std::move(program));
  }
  return methods;
}

void expect_accepted(const std::vector<std::byte>& pte, const test::AcceptanceOptions& options) {
  const test::AlignedBytes bytes(pte.begin(), pte.end());
  EXPECT_THAT(test::violated_rules(bytes, options), IsEmpty());
  const auto program = Program::load(*view_buffer(bytes), Verification::kFull);
  EXPECT_TRUE(program.ok()) << program.error().message();
}

TEST(Acceptance, AcceptsEmittedPrograms) {
  VITRINE_NEEDS_CORPUS();
  std::vector<EmitOptions> all(5);
  all[1].segment_alignment = 4096;
  all[1].constant_tensor_alignment = 64;
  all[2].extract_delegate_segments = false;
  all[2].delegate_alignment = 64;
  all[3].emit_debug_maps = false;
  all[3].emit_stacktrace = true;
  all[3].memory_planning.alloc_graph_input = false;
  all[3].memory_planning.alloc_graph_output = false;
  all[4].external_constants = true;
  all[4].memory_planning.greedy = false;
  size_t accepted = 0;
  for (const char* name : kCases) {
    for (const auto& partitioner :
         {std::shared_ptr<const Partitioner>(), xnnpack(), demo_backend()}) {
      // This model has operators that only XNNPACK supports.
      if (std::string_view(name) == "mlp_qb4w" && partitioner == nullptr) continue;
      SCOPED_TRACE(name);
      Methods methods;
      try {
        methods = lowered(test::corpus_dir() / name, partitioner);
        for (const EmitOptions& options : all) {
          // The methods have different weights with the same name. A .ptd file can store only one
          // of them.
          if (options.external_constants && methods.size() > 1) continue;
          test::AcceptanceOptions rules;
          rules.segment_alignment = options.segment_alignment;
          rules.constant_tensor_alignment = std::max<size_t>(options.constant_tensor_alignment, 16);
          rules.delegate_alignment = std::max<size_t>(options.delegate_alignment, 16);
          expect_accepted(emit(methods, options).pte, rules);
          ++accepted;
        }
      } catch (const std::exception& error) {
        if (std::string_view(name) != "mlp_qb4w") ADD_FAILURE() << error.what();
      }
    }
  }
  EXPECT_GE(accepted, kCases.size() * 3);
}

TEST(Acceptance, AcceptsProgramsFromExecuTorch) {
  VITRINE_NEEDS_CORPUS();
  for (const char* name : kCases) {
    SCOPED_TRACE(name);
    const test::AlignedBytes file = test::read_file_bytes(test::corpus_dir() / name / "model.pte");
    EXPECT_THAT(test::violated_rules(file), IsEmpty());
  }
}

TEST(Acceptance, ReportsViolatedRules) {
  VITRINE_CORPUS_CASE(folder, "linear_relu");
  const test::AlignedBytes file = test::read_file_bytes(folder / "model.pte");
  struct Violation {
    size_t offset;
    uint8_t value;
    const char* rule;
  };
  for (const Violation& violation : {Violation{7, '1', "identifier"}, Violation{12, 24, "32 bytes"},
                                     Violation{25, 1, "next aligned offset"},
                                     Violation{32, 1, "file's end"}, Violation{3, 255, "root"}}) {
    test::AlignedBytes broken = file;
    broken[violation.offset] = static_cast<std::byte>(violation.value);
    EXPECT_THAT(test::violated_rules(broken), Contains(HasSubstr(violation.rule)));
  }
}

// The emitted program must not depend on the addresses of nodes, for example on the order of
// pointers in a set. The test allocates memory between the runs, so that nodes get other addresses.
TEST(Acceptance, EqualModelsProduceEqualPrograms) {
  VITRINE_NEEDS_CORPUS();
  std::vector<std::unique_ptr<std::byte[]>> blocks;
  for (const char* name : kCases) {
    SCOPED_TRACE(name);
    const auto first = emit(lowered(test::corpus_dir() / name, xnnpack())).pte;
    for (size_t i = 1; i < 4000; ++i) blocks.push_back(std::make_unique<std::byte[]>(i % 700 + 1));
    for (size_t i = 0; i < blocks.size(); i += 3) blocks[i].reset();
    EXPECT_EQ(first, emit(lowered(test::corpus_dir() / name, xnnpack())).pte);
  }
}

}  // namespace
}  // namespace vitrine::aot
