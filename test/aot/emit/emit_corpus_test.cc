// Compares emitted programs with those that ExecuTorch's emitter wrote for the same models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "aot/emit/emit.h"
#include "aot/graph/aot_error.h"
#include "aot/import/pt2.h"
#include "aot/passes/pipelines.h"
#include "test/aot/emit/program_text.h"
#include "test/support/corpus.h"
#include "test/support/file_bytes.h"

namespace vitrine::aot {
namespace {

namespace fs = std::filesystem;

// True if ExecuTorch wrote the case with settings that differ from the defaults of our passes, or
// with a dim order that no kernel writes.
bool has_other_settings(const std::string& name) {
  return name.find("_keep") != std::string::npos || name.ends_with("reinplace") ||
         name == "floor_divide__f32" || name == "var__dim" || name.ends_with("skipdo") ||
         name.ends_with("view_copy") || name == "cfg_view_copy_kept" ||
         // The result is stored column by column. No kernel writes this dim order.
         name == "nonzero__f32";
}

// Returns the options with which to_executorch was called for this case.
EmitOptions options_of(const std::string& name) {
  EmitOptions options;
  options.emit_debug_maps = false;
  if (name == "cfg_io_not_planned") {
    options.memory_planning.alloc_graph_input = false;
    options.memory_planning.alloc_graph_output = false;
  }
  if (name == "cfg_tensor_align_64") options.constant_tensor_alignment = 64;
  if (name == "cfg_stacktrace") options.emit_stacktrace = true;
  if (name == "ptd_weights") options.external_constants = true;
  return options;
}

std::vector<fs::path> portable_cases() {
  std::vector<fs::path> cases;
  for (const fs::path& file : test::files_below(test::corpus_dir(), "model.pte")) {
    const fs::path folder = file.parent_path();
    if (test::is_compat(file) || has_other_settings(folder.filename().string())) continue;
    cases.push_back(folder);
  }
  return cases;
}

Methods lowered_methods(const fs::path& folder) {
  Methods methods;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.path().string().ends_with("_core_aten.pt2")) continue;
    ExportedProgram program = import_pt2(entry.path());
    to_edge(program);
    to_executable(program);
    methods.emplace(test::method_of(entry.path()), std::move(program));
  }
  return methods;
}

bool has_delegate(const std::vector<std::string>& text) {
  return std::ranges::any_of(text, [](const auto& line) { return line.starts_with("delegate"); });
}

// Compares values, instructions, memory plan, constants and segments.
TEST(EmitCorpus, ProgramsMatchExecuTorch) {
  VITRINE_NEEDS_CORPUS();
  size_t same = 0;
  size_t all = 0;
  for (const fs::path& folder : portable_cases()) {
    const test::AlignedBytes file = test::read_file_bytes(folder / "model.pte");
    const std::vector<std::string> theirs = test::program_text(file);
    if (has_delegate(theirs)) continue;
    SCOPED_TRACE(folder.string());
    try {
      const Methods methods = lowered_methods(folder);
      if (methods.empty()) continue;
      ++all;
      const EmittedProgram emitted = emit(methods, options_of(folder.filename().string()));
      const std::vector<std::string> ours = test::program_text(emitted.pte);
      if (ours == theirs) {
        ++same;
        continue;
      }
      const auto [at, expected] = std::ranges::mismatch(ours, theirs);
      ADD_FAILURE() << "line " << at - ours.begin() << ":\n  " << (at == ours.end() ? "-" : *at)
                    << "\nnot\n  " << (expected == theirs.end() ? "-" : *expected);
    } catch (const AotError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  std::printf("%zu of %zu programs equal ExecuTorch's\n", same, all);
  EXPECT_GE(same, 401U);
}

}  // namespace
}  // namespace vitrine::aot
