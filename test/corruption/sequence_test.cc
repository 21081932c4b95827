#include "test/corruption/sequence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "test/corruption/random_program.h"
#include "test/fuzz/registries.h"
#include "test/support/corpus.h"
#include "test/support/file_bytes.h"

namespace vitrine::test {
namespace {

// That sequences are harmless is for sanitizers and guard pages to say; here, that they do run.
class SequenceTest : public testing::TestWithParam<const char*> {};
TEST_P(SequenceTest, RunsWhatIsSound) {
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
  EXPECT_GE(executions, 15);  // most programs are refused: their meaning is damaged
}
INSTANTIATE_TEST_SUITE_P(Samples, SequenceTest,
                         testing::Values("add_mul", "digits_portable", "digits_xnnpack_q8",
                                         "dynamic_batch_xnnpack"));

TEST(SequenceTest, RunsRandomPrograms) {
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
