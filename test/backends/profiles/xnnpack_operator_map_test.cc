#include "backends/profiles/xnnpack_operator_map.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "backends/xnnpack/runtime/reader/identifiers.h"
#include "inspector/join/profile.h"
#include "test/support/results.h"

namespace vitrine::xnnpack {
namespace {

using inspector::InspectorError;
using inspector::OperatorMap;
using Role = OperatorMap::Role;
using testing::HasSubstr;

constexpr char kSample[] =
    "xnnpack-plan 1 derived\n"
    "0 StaticTranspose 65535 op=0 1\n"
    "1 Conv2d 5 op=1 -\n"
    "2 Clamp 8 in=1 -\n"
    "3 Copy 9 none -\n"
    "4 Add 10 op=3 -\n";

TEST(OperatorMapParser, ReadsNodesAndOperators) {
  const OperatorMap map = parse_operator_map(kSample);
  EXPECT_THAT(map.derived_times, HasSubstr("only durations"));
  ASSERT_EQ(map.nodes.size(), 5u);
  EXPECT_EQ(map.num_operators, 4u) << "operator 2 has no node";
  EXPECT_EQ(map.nodes[0].type, "StaticTranspose");
  EXPECT_EQ(map.nodes[0].debug_handle, kInsertedHandle);
  EXPECT_EQ(map.nodes[0].role, Role::kOperator);
  EXPECT_EQ(map.nodes[0].serves, 1u);
  EXPECT_EQ(map.nodes[1].serves, std::nullopt);
  EXPECT_EQ(map.nodes[2].role, Role::kFused);
  EXPECT_EQ(map.nodes[2].op, 1u);
  EXPECT_EQ(map.nodes[3].role, Role::kElided);
  EXPECT_EQ(map.nodes[4].op, 3u);
  EXPECT_EQ(parse_operator_map("xnnpack-plan 1 measured").derived_times, "");
}

std::string error_of(const std::string& text) {
  return test::thrown<InspectorError>([&] { parse_operator_map(text); });
}

TEST(OperatorMapParser, ErrorNamesTheInvalidLine) {
  const std::string head = "xnnpack-plan 1 measured\n";
  EXPECT_THAT(error_of(""), HasSubstr("line 1"));
  EXPECT_THAT(error_of("xnnpack-plan 2 measured\n"), HasSubstr("line 1"));
  EXPECT_THAT(error_of(head + "1 Add 1 op=0 -\n"), HasSubstr("line 2: expected node 0"));
  EXPECT_THAT(error_of(head + "0 Add 1 op=0\n"), HasSubstr("fewer than 5"));
  EXPECT_THAT(error_of(head + "0 Add 1 op=0 - -\n"), HasSubstr("more than 5"));
  EXPECT_THAT(error_of(head + "0 Add x op=0 -\n"), HasSubstr("\"x\" is not a number"));
  EXPECT_THAT(error_of(head + "0 Add 4294967296 op=0 -\n"), HasSubstr("is not a number"));
  EXPECT_THAT(error_of(head + "0 Add 1 at=0 -\n"), HasSubstr("is not op=, in= or none"));
  EXPECT_THAT(error_of(head + "0 Add 1 op=0 1\n"), HasSubstr("names node 1, which does not exist"));
  EXPECT_THAT(error_of(head + "0 Add 1 op=0 -\n1 Add 2 op=0 -\n"), HasSubstr("two nodes"));
  EXPECT_THAT(error_of(head + "\n"), HasSubstr("line 2"));
}

TEST(OperatorMapParser, SurvivesDamagedText) {
  const std::string sample = kSample;
  size_t refused = 0;
  for (size_t size = 0; size < sample.size(); ++size) {
    const std::vector<char> part(sample.begin(), sample.begin() + static_cast<long>(size));
    refused += error_of({part.data(), part.size()}).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, sample.size() / 2);
  for (size_t i = 0; i < sample.size(); ++i) {
    for (const char c : {' ', '\n', '9', 'x', '\0', '\xff', '-'}) {
      std::string damaged = sample;
      damaged[i] = c;
      error_of(damaged);
    }
  }
}

}  // namespace
}  // namespace vitrine::xnnpack
