// Damages single arguments of the corpus's programs. Passes must succeed or throw AotErrors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "aot/graph/aot_error.h"
#include "aot/import/pt2.h"
#include "aot/passes/pipelines.h"
#include "test/support/corpus.h"

namespace vitrine::aot {
namespace {

namespace fs = std::filesystem;

std::vector<Argument> damages() {
  return {Argument(),
          Argument(std::numeric_limits<int64_t>::min()),
          Argument(std::numeric_limits<int64_t>::max()),
          Argument(-1),
          Argument(0.5),
          Argument("text"),
          Argument::list({}),
          Argument::list({std::numeric_limits<int64_t>::max()}),
          Argument::list({Argument()})};
}

size_t num_changes(const ExportedProgram& program) {
  size_t arguments = 0;
  for (const Node& node : program.graph->nodes()) {
    if (node.is_call()) arguments += node.args().size();
  }
  return arguments * (damages().size() + 1);
}

void damage(ExportedProgram& program, size_t number) {
  const std::vector<Argument> all = damages();
  for (Node& node : program.graph->nodes()) {
    if (!node.is_call()) continue;
    const size_t count = node.args().size() * (all.size() + 1);
    if (number >= count) {
      number -= count;
      continue;
    }
    const size_t index = number / (all.size() + 1);
    const size_t kind = number % (all.size() + 1);
    if (kind < all.size()) {
      node.set_arg(index, all[kind]);
    } else {  // remove the arguments from `index` on
      ArgumentList args = node.args();
      args.resize(index);
      node.set_args(std::move(args));
    }
    return;
  }
}

// Returns the maximum number of changes to try for each program. The number is unlimited unless
// VITRINE_DAMAGE_COUNT is set (docs/fuzzing.md).
size_t most_changes() {
  const char* count = std::getenv("VITRINE_DAMAGE_COUNT");
  return count == nullptr ? std::numeric_limits<size_t>::max() : std::strtoul(count, nullptr, 10);
}

TEST(DamagedProgram, IsLoweredOrRejected) {
  VITRINE_NEEDS_CORPUS();
  size_t rejected = 0;
  size_t lowered = 0;
  for (const auto& entry : fs::directory_iterator(test::corpus_dir() / "ops_portable")) {
    const fs::path file = entry.path() / "model.pt2";
    if (!fs::exists(file)) continue;
    const ExportedProgram original = import_pt2(file);
    const size_t possible = num_changes(original);
    const size_t tried = std::min(possible, most_changes());
    for (size_t i = 0; i < tried; ++i) {
      const size_t number = i * possible / tried;  // spread over the program
      ExportedProgram program = original.copy();
      damage(program, number);
      SCOPED_TRACE(entry.path().filename().string() + " " + std::to_string(number));
      try {
        to_edge(program);
        to_executable(program);
        ++lowered;
      } catch (const AotError&) {
        ++rejected;
      } catch (const std::exception& error) {
        ADD_FAILURE() << "not an AotError: " << error.what();
      }
    }
  }
  std::printf("%zu damaged programs rejected, %zu lowered\n", rejected, lowered);
  EXPECT_GT(rejected, 1000U);
}

}  // namespace
}  // namespace vitrine::aot
