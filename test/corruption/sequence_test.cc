#include "test/corruption/sequence.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "test/corruption/random_program.h"
#include "test/fuzz/registries.h"
#include "test/support/corpus.h"
#include "test/support/file_bytes.h"
#include "test/support/program_builder.h"
#include "vitrine/kernel.h"

namespace vitrine::test {
namespace {

// Checks only that sequences execute programs. Sanitizers and guard pages detect errors.
class SequenceTest : public testing::TestWithParam<const char*> {};
TEST_P(SequenceTest, ExecutesValidPrograms) {
  const Registries all;
  const AlignedBytes file = read_file_bytes(samples_dir() / GetParam() / "model.pte");
  int loads = 0;
  int executions = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const SequenceCounts counts = run_sequence(file, seed, 40, all.kernels, all.backends);
    loads += counts.loads;
    executions += counts.executions;
  }
  EXPECT_GE(loads, 100);
  EXPECT_GE(executions, 15);  // many fail, since inputs may have invalid sizes
}
INSTANTIATE_TEST_SUITE_P(Samples, SequenceTest,
                         testing::Values("add_mul", "digits_portable", "digits_xnnpack_q8",
                                         "dynamic_batch_xnnpack"));

// Counts the calls of the kernel test::look. `guarded`, `poison` and `kept` count the calls whose
// output ends at a guard page, is filled with poison, or has kept its content.
struct MemoryCounts {
  int calls = 0;
  int guarded = 0;
  int poison = 0;
  int poison_with_valid_input = 0;
  int kept = 0;
};
MemoryCounts counts_of_look;

bool all_are(const Tensor& tensor, uint8_t byte) {
  const auto* bytes = static_cast<const uint8_t*>(tensor.raw_data());
  return std::all_of(bytes, bytes + tensor.nbytes(), [&](uint8_t b) { return b == byte; });
}

void inspect_memory(KernelContext&, const Tensor& in, Tensor& out) {
  constexpr uint8_t kPoison = 0xA5;
  const auto end = reinterpret_cast<uintptr_t>(out.raw_data()) + out.nbytes();
  ++counts_of_look.calls;
  if (end % static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE)) == 0) ++counts_of_look.guarded;
  // Marks the output, so that the next execution finds kMark if the memory is kept. Poisoned memory
  // is not kept, so no execution may find kMarkOfPoison.
  constexpr uint8_t kMark = 1;
  constexpr uint8_t kMarkOfPoison = 2;
  const bool is_poison = all_are(out, kPoison);
  if (is_poison) ++counts_of_look.poison;
  if (is_poison && !all_are(in, kPoison)) ++counts_of_look.poison_with_valid_input;
  if (all_are(out, 0) || all_are(out, kMark)) ++counts_of_look.kept;
  std::memset(out.mutable_raw_data(), is_poison ? kMarkOfPoison : kMark, out.nbytes());
}
VITRINE_KERNEL(sequence_look, "test::look.out", inspect_memory);

TEST(SequenceTest, PoisonsPlannedMemoryOrKeepsItsContent) {
  ProgramBuilder builder;
  MethodSpec& forward = builder.method("forward");
  forward.buffer_sizes = {0, 32};
  const int in = forward.tensor({.sizes = {4}, .planned = Planned{1, 0}});
  const int out = forward.tensor({.sizes = {4}, .planned = Planned{1, 16}});
  forward.inputs = {in};
  forward.kernel_call(forward.op("test::look", "out"), {in, out, out});
  const Kernel* const kernels[] = {&kernel_sequence_look};
  KernelRegistry registry;
  ASSERT_TRUE(registry.add("test", {kernels}).ok());
  const AlignedBytes file = builder.build();
  counts_of_look = {};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    run_sequence(file, seed, 40, registry, BackendRegistry());
  }
  EXPECT_EQ(counts_of_look.guarded, counts_of_look.calls);
  EXPECT_EQ(counts_of_look.poison + counts_of_look.kept, counts_of_look.calls);
  EXPECT_GT(counts_of_look.poison_with_valid_input, 0);
  EXPECT_GT(counts_of_look.kept, 0);
}

TEST(SequenceTest, ExecutesRandomPrograms) {
  const Registries all;
  int loads = 0;
  int executions = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    std::mt19937 random(seed);
    std::vector<uint8_t> choices(24 + random() % 200);
    std::ranges::generate(choices, random);
    const KernelRegistry& kernels = seed % 2 == 0 ? all.kernels : all.optimized_kernels;
    const SequenceCounts counts =
        run_sequence(random_program(choices, kernels), seed, 40, kernels, all.backends);
    loads += counts.loads;
    executions += counts.executions;
  }
  EXPECT_GE(loads, 1000);
  EXPECT_GE(executions, 1000);
}

}  // namespace
}  // namespace vitrine::test
