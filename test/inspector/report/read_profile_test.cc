#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/host_error.h"
#include "inspector/report/read_profile.h"
#include "inspector/report/read_whole_profile.h"
#include "inspector/report/report_comparison.h"
#include "inspector/report/report_json.h"
#include "test/inspector/compare/compared_sides.h"
#include "test/support/expect_error.h"

namespace vitrine::test {
namespace {

using nlohmann::json;

using inspector::Profile;

Profile stored(const Profile& profile) {
  return inspector::read_profile(inspector::report_json(profile), "p.json", {});
}

// Changes a stored profile, so that reading it with `read` must fail with a certain error. `at` is
// the JSON pointer of the changed value.
struct InvalidValue {
  const char* at;
  json value;
  const char* error;
};
template <class Read>
void expect_errors(const Profile& profile, Read read, const std::vector<InvalidValue>& cases) {
  const json valid = json::parse(inspector::report_json(profile));
  EXPECT_NO_THROW(read(valid.dump(), "p.json", inspector::DelegateProfiles()));
  for (const InvalidValue& invalid : cases) {
    SCOPED_TRACE(invalid.at);
    json changed = valid;
    changed[json::json_pointer(invalid.at)] = invalid.value;
    EXPECT_ERROR(HostError, read(changed.dump(), "p.json", inspector::DelegateProfiles()),
                 invalid.error);
  }
}

TEST(ReadProfile, KeepsEverythingThatComparisonsUse) {
  const TracedSide side = delegated_net();
  const Profile& before = side.profile;
  const Profile after = stored(before);
  EXPECT_EQ(after.method, before.method);
  EXPECT_EQ(after.runs, before.runs);
  EXPECT_EQ(after.run.model, before.run.model);
  EXPECT_NEAR(after.wall.p50, before.wall.p50, 1e-3);
  ASSERT_EQ(after.rows.size(), before.rows.size());
  for (size_t i = 0; i < after.rows.size(); ++i) {
    EXPECT_EQ(after.rows[i].kernel, before.rows[i].kernel);
    EXPECT_EQ(after.rows[i].source_ops, before.rows[i].source_ops);
    EXPECT_EQ(after.rows[i].debug_handles, before.rows[i].debug_handles);
    EXPECT_EQ(after.rows[i].inserted_for_row, before.rows[i].inserted_for_row);
    EXPECT_NEAR(after.rows[i].time.p50, before.rows[i].time.p50, 1e-3);
  }
}

TEST(ReadProfile, StoredProfileComparesLikeTheOriginal) {
  const TracedSide a = delegated_net(), b = portable_net();
  const auto direct = inspector::compare_profiles(a.profile, b.profile, false);
  const Profile stored_a = stored(a.profile), stored_b = stored(b.profile);
  const auto read = inspector::compare_profiles(stored_a, stored_b, false);
  EXPECT_EQ(json::parse(inspector::report_comparison_json(read, stored_a, stored_b))["ops"],
            json::parse(inspector::report_comparison_json(direct, a.profile, b.profile))["ops"]);
}

TEST(ReadProfile, RejectsInvalidFiles) {
  const Profile profile = delegated_net().profile;
  expect_errors(profile, inspector::read_profile,
                {{"", json::array(), "p.json: is not an object"},
                 {"/schema_version", 2, "is 2, but this tool reads version 3"},
                 {"/rows/0/samples_ns/-", 1, "rows[0].samples_ns: has "},
                 {"/rows/0/samples_ns/0", 1e300, "is not a number between -1e18 and 1e18"},
                 {"/wall_samples_ns/0", "NaN", "wall_samples_ns[0]: is not a number"},
                 {"/rows/1/main_op", 99, "lists of ops, modules and source lines"},
                 {"/rows/0/inserted_for_row", 99, "a layout change refers to row 99"},
                 {"/rows/0/where", "elsewhere",
                  "rows[0].where: is not \"delegate\", \"kernel\" or \"control\""}});
  json lacking = json::parse(inspector::report_json(profile));
  lacking.erase("wall_samples_ns");
  EXPECT_ERROR(HostError, inspector::read_profile(lacking.dump(), "p.json", {}),
               "record the profile again");
}

Profile profile_with_facts() {
  Profile profile = delegated_net().profile;
  profile.run.load_ns = 5;
  profile.run.init_ns = 7;
  profile.run.open_ns = 2;
  profile.run.pack_ns = 4;
  profile.run.plan_ns = 1;
  profile.run.memory = inspector::MemoryInfo{.planned = 1, .workspace = 2, .packed_weights = 3};
  profile.run.limits = {.flops_per_s = 4e9, .bytes_per_s = 2e9, .threads = 2, .machine = "chip"};
  profile.rows[0].cost = inspector::Cost{.flops = 100, .bytes = 60};
  return profile;
}

TEST(ReadWholeProfile, KeepsEverythingInTheReport) {
  const Profile before = profile_with_facts();
  const Profile after = inspector::read_whole_profile(inspector::report_json(before), "p.json", {});
  EXPECT_THAT((std::vector{after.run.load_ns, after.run.init_ns, after.run.open_ns,
                           after.run.pack_ns, after.run.plan_ns}),
              testing::ElementsAre(5u, 7u, 2u, 4u, 1u));
  ASSERT_TRUE(after.run.memory.has_value());
  EXPECT_EQ(after.run.memory->packed_weights, 3u);
  ASSERT_TRUE(after.run.limits.has_value());
  EXPECT_EQ(after.run.limits->bytes_per_s, 2e9);
  EXPECT_EQ(after.run.limits->machine, "chip");
  ASSERT_TRUE(after.rows[0].cost.has_value());
  EXPECT_EQ(after.rows[0].cost->flops, 100);
  ASSERT_EQ(after.delegate_calls.size(), before.delegate_calls.size());
  ASSERT_FALSE(after.delegate_calls.empty());
  EXPECT_NEAR(after.delegate_calls[0].time.p50, before.delegate_calls[0].time.p50, 1e-3);
  EXPECT_EQ(after.delegate_calls[0].source_ops, before.delegate_calls[0].source_ops);
  EXPECT_NEAR(after.unattributed_share(), before.unattributed_share(), 1e-9);
}

TEST(ReadWholeProfile, RejectsFiguresOutOfRange) {
  expect_errors(profile_with_facts(), inspector::read_whole_profile,
                {{"/rows/0/share", 1.5, "rows[0].share: is not between 0 and 1"},
                 {"/machine/flops_per_s", -1, "machine.flops_per_s: is not a number between"},
                 {"/rows/0/cost/bytes", "NaN", "rows[0].cost.bytes"},
                 {"/delegate_calls", 1, "delegate_calls: is not a list"}});
}

}  // namespace
}  // namespace vitrine::test
