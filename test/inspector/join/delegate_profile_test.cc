// Tests that delegate profiles determine how traces are interpreted.
#include "inspector/join/delegate_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "inspector/join/make_profile.h"
#include "inspector/report/row_texts.h"
#include "test/support/joined_profile.h"
#include "test/support/record_builder.h"
#include "test/support/trace_builder.h"

namespace vitrine::inspector {
namespace {

using etrecord::EtRecord;
using test::TraceBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A backend whose operators have ten times the op's debug handle as their identifier. A layout
// change has the identifier -2. The backend's kernel "mover" can run a permutation.
class TenfoldProfile final : public DelegateProfile {
 public:
  std::string_view backend_id() const override { return "TenfoldBackend"; }
  std::string_view name() const override { return "Tenfold"; }
  std::string_view short_name() const override { return "x10"; }
  OperatorIdentity identify(int32_t id, std::string_view) const override {
    using Kind = OperatorIdentity::Kind;
    if (id == -2) return {Kind::kLayoutChange};
    if (id > 0) return {Kind::kDebugHandle, static_cast<uint32_t>(id / 10)};
    return {Kind::kUnknown};
  }
  bool may_run(std::string_view kernel, std::string_view op) const override {
    return kernel == "mover" && op == "permute_copy";
  }
};

const TenfoldProfile kTenfold;

Profile profile(const std::string& backend, const std::vector<TraceBuilder::Operator>& operators,
                DelegateProfiles delegates, const std::string& map = "{}") {
  TraceBuilder trace;
  trace.delegate(0, backend, operators);
  const EtRecord names = test::record_of(
      {{"p", "aten.permute_copy.default", 1, {}, ""}, {"r", "aten.relu.default", 2, {"p"}, ""}},
      R"({"0": [1, 2]})", R"({"0": {"name": ")" + backend + R"(", "delegate_map": )" + map + "}}");
  return make_profile(trace.dump(), &names, {.delegates = delegates});
}

const std::array<const DelegateProfile*, 1> kDelegates = {&kTenfold};

TEST(DelegateProfile, InterpretsIdentifiersOfTheBackend) {
  const Profile made =
      profile("TenfoldBackend", {{.id = -2, .ns = 1}, {.id = 10, .ns = 2}, {.id = 20, .ns = 3}},
              kDelegates);
  ASSERT_EQ(made.rows.size(), 3u);
  EXPECT_TRUE(made.rows[0].is_inserted);
  EXPECT_EQ(made.rows[0].inserted_for_row, 2u);
  EXPECT_THAT(made.rows[1].source_ops, ElementsAre("aten.permute_copy.default"));
  EXPECT_THAT(made.rows[2].source_ops, ElementsAre("aten.relu.default"));
  EXPECT_EQ(made.rows[2].join, Join::kExact);
}

TEST(DelegateProfile, RowsShowTheNameOfTheDelegate) {
  const std::vector<TraceBuilder::Operator> operators = {{.id = 10, .ns = 2}};
  const Profile known = profile("TenfoldBackend", operators, kDelegates);
  EXPECT_EQ(row_texts(known.rows[0]).place, "x10 0");
  EXPECT_EQ(place_type(known.rows[0]), "Tenfold");
  const Profile other = profile("OtherBackend", operators, kDelegates);
  EXPECT_EQ(row_texts(other.rows[0]).place, "Other 0");
  EXPECT_EQ(place_type(other.rows[0]), "OtherBackend");
}

TEST(DelegateProfile, DeterminesWhichKernelsCanRunAnOp) {
  const std::vector<TraceBuilder::Operator> operators = {{.name = "mover", .ns = 2}};
  for (const char* backend : {"TenfoldBackend", "OtherBackend"}) {
    const Profile made = profile(backend, operators, kDelegates);
    EXPECT_EQ(made.rows[0].join, Join::kInferred) << backend;
    EXPECT_THAT(made.rows[0].source_ops, ElementsAre("aten.permute_copy.default")) << backend;
  }
  EXPECT_TRUE(profile("TenfoldBackend", operators, {}).rows[0].has_all_ops_of_call);
}

// Two delegates and a kernel run ops with the same debug handle.
TEST(DelegateProfile, OpsThatShareAHandleAreCountedOnce) {
  const EtRecord names = test::record_of({{"p", "aten.permute_copy.default", 1, {}, ""},
                                          {"m", "aten.mul.Tensor", 1, {"p"}, ""},
                                          {"a", "aten.add.Tensor", 1, {"m"}, ""},
                                          {"r", "aten.relu.default", 2, {"p"}, ""},
                                          {"s", "aten.sub.Tensor", 3, {"a"}, ""}},
                                         R"({"0": [1, 2], "1": 1, "2": [1, 3]})",
                                         R"({"0": {"name": "TenfoldBackend", "delegate_map": {}},
                                             "2": {"name": "TenfoldBackend", "delegate_map": {}}})");
  TraceBuilder trace;
  trace.delegate(0, "TenfoldBackend", {{.id = 10, .ns = 1}, {.id = 20, .ns = 2}});
  trace.kernel(1, "aten::mul.out", 5);
  trace.delegate(2, "TenfoldBackend", {{.id = 10, .ns = 3}, {.id = 30, .ns = 4}});
  const Profile made = make_profile(trace.dump(), &names, {.delegates = kDelegates});
  ASSERT_EQ(made.delegate_calls.size(), 2u);
  EXPECT_THAT(made.delegate_calls[0].source_ops,
              ElementsAre("aten.permute_copy.default", "aten.add.Tensor", "aten.relu.default"));
  EXPECT_THAT(made.delegate_calls[1].source_ops, ElementsAre("aten.sub.Tensor"));
}

TEST(DelegateProfile, UsesTheDelegateMapWithoutAProfile) {
  const Profile made = profile("TenfoldBackend", {{.id = 10, .ns = 2}}, {}, R"({"10": [2]})");
  EXPECT_THAT(made.rows[0].source_ops, ElementsAre("aten.relu.default"));
  EXPECT_EQ(made.rows[0].delegate_name, "");
}

TEST(DelegateProfile, ReadsOperatorMapsOfKnownBackendsOnly) {
  TraceBuilder trace;
  trace.operator_map(0, "nonsense");
  trace.delegate(0, "XnnpackBackend", {{.id = 2, .ns = 2}});
  EXPECT_THAT(make_profile(trace.dump(), nullptr).notes, IsEmpty());
  EXPECT_THAT(test::joined_profile(trace.dump(), nullptr).notes,
              ElementsAre(HasSubstr("the XNNPACK operator map of instruction 0 is not used")));
}

// The demo backend logs the names of operators with their identifiers, so it does not need the map.
TEST(DelegateProfile, JoinsDemoBackendRowsByNameWithoutADelegateMap) {
  const EtRecord without_map = test::record_of({{"c", "aten.convolution.default", 1, {}, ""},
                                                {"r", "aten.relu.default", 2, {"c"}, ""},
                                                {"t", "aten.tan.default", 3, {"r"}, ""}},
                                               R"({"0": [1, 2, 3]})");
  TraceBuilder trace;
  trace.delegate(0, "BackendWithDelegateMappingDemo",
                 {{.id = 0, .metadata = "conv_relu_op", .ns = 5},
                  {.id = 1, .metadata = "sin_decomp_from_tan", .ns = 5},
                  {.id = 2, .metadata = "cos_decomp_from_tan", .ns = 5},
                  {.id = 3, .metadata = "div_decomp_from_tan", .ns = 5}});
  const Profile made = test::joined_profile(trace.dump(), &without_map);
  ASSERT_EQ(made.rows.size(), 4u);
  EXPECT_THAT(made.rows[0].source_ops, ElementsAre("aten.convolution.default"));
  EXPECT_THAT(made.rows[0].folded_ops, ElementsAre("aten.relu.default"));
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_THAT(made.rows[i].source_ops, ElementsAre("aten.tan.default")) << i;
    EXPECT_EQ(made.rows[i].join, Join::kInferred) << i;
  }
}

}  // namespace
}  // namespace vitrine::inspector
