#include "aot/passes/attention_cost.h"

#include <gtest/gtest.h>

namespace vitrine::aot {
namespace {

struct CostCase {
  const char* name;
  AttentionShape shape;
  bool is_faster;
};

const SymInt kShortSize(Expression::symbol("short"));    // 1 to 32
const SymInt kLongSize(Expression::symbol("long"));      // 128 to 512
const SymInt kAnySize(Expression::symbol("unbounded"));  // 1 or more

std::vector<CostCase> cost_cases() {
  return {
      {"SmallKernels", {.queries = 32, .keys = 32}, true},
      {"LargeKernels", {.queries = 33, .keys = 33}, false},
      {"SmallDelegated", {.queries = 6, .keys = 6, .is_delegated = true}, false},
      {"FourKeysPerQuery", {.queries = 64, .keys = 256, .is_delegated = true}, true},
      {"FewerKeysPerQuery", {.queries = 64, .keys = 255, .is_delegated = true}, false},
      {"Token", {.queries = 1, .keys = 4, .is_delegated = true}, true},
      {"LongCausal", {.queries = 128, .keys = 128, .is_causal = true}, true},
      {"ShortCausal", {.queries = 127, .keys = 127, .is_causal = true}, false},
      {"PartOfCache", {.queries = kAnySize, .keys = 256, .reads_part_of_cache = true}, true},
      {"BoundedKernels", {.queries = kShortSize, .keys = kShortSize}, true},
      {"BoundedKeys", {.queries = kShortSize, .keys = kLongSize, .is_delegated = true}, true},
      {"BoundedFewerKeys",
       {.queries = kShortSize, .keys = kShortSize, .is_delegated = true},
       false},
      {"BoundedCausal", {.queries = kLongSize, .keys = kLongSize, .is_causal = true}, true},
      {"UnknownCausal", {.queries = kAnySize, .keys = kAnySize, .is_causal = true}, false},
      {"UnknownQueries", {.queries = kAnySize, .keys = 1 << 20}, false},
  };
}

class AttentionCost : public testing::TestWithParam<CostCase> {};

TEST_P(AttentionCost, PredictsWhetherASingleAttentionOperatorIsFaster) {
  const RangeConstraints ranges = {
      {"short", {1, 32}}, {"long", {128, 512}}, {"unbounded", {1, std::nullopt}}};
  EXPECT_EQ(is_faster_as_operator(GetParam().shape, ranges), GetParam().is_faster);
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionCost, testing::ValuesIn(cost_cases()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace vitrine::aot
