#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/host_error.h"
#include "inspector/report/read_profile.h"
#include "inspector/report/read_whole_profile.h"
#include "inspector/report/report_comparison.h"
#include "inspector/report/report_json.h"
#include "test/inspector/compare/compared_sides.h"

namespace vitrine::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

using inspector::Profile;

Profile stored(const Profile& profile) {
  return inspector::read_profile(inspector::report_json(profile), "p.json", {});
}

std::string error_of(const json& changed) try {
  (void)inspector::read_profile(changed.dump(), "p.json", {});
  return "";
} catch (const HostError& error) {
  return error.what();
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
  const json valid = json::parse(inspector::report_json(delegated_net().profile));
  EXPECT_EQ(error_of(valid), "");
  EXPECT_THAT(error_of(json::array()), HasSubstr("p.json: is not an object"));
  json changed = valid;
  changed["schema_version"] = 2;
  EXPECT_THAT(error_of(changed), HasSubstr("is 2, but this tool reads version 3"));
  changed = valid;
  changed.erase("wall_samples_ns");
  EXPECT_THAT(error_of(changed), HasSubstr("record the profile again"));
  changed = valid;
  changed["rows"][0]["samples_ns"].push_back(1);
  EXPECT_THAT(error_of(changed), HasSubstr("rows[0].samples_ns: has "));
  changed = valid;
  changed["rows"][0]["samples_ns"][0] = 1e300;
  EXPECT_THAT(error_of(changed), HasSubstr("is not a number between -1e18 and 1e18"));
  changed = valid;
  changed["wall_samples_ns"][0] = "NaN";
  EXPECT_THAT(error_of(changed), HasSubstr("wall_samples_ns[0]: is not a number"));
  changed = valid;
  changed["rows"][1]["main_op"] = 99;
  EXPECT_THAT(error_of(changed), HasSubstr("lists of ops, modules and source lines"));
  changed = valid;
  changed["rows"][0]["inserted_for"] = json::array();
  changed["rows"][0]["inserted_for_row"] = 99;
  EXPECT_THAT(error_of(changed), HasSubstr("a layout change refers to row 99"));
  changed = valid;
  changed["rows"][0]["where"] = "elsewhere";
  EXPECT_THAT(error_of(changed),
              HasSubstr("rows[0].where: is not \"delegate\", \"kernel\" or \"control\""));
}

using inspector::Profile;

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

std::string whole_error(const json& changed) try {
  (void)inspector::read_whole_profile(changed.dump(), "p.json", {});
  return "";
} catch (const HostError& error) {
  return error.what();
}

TEST(ReadWholeProfile, KeepsEverythingInTheReport) {
  const Profile before = profile_with_facts();
  const Profile after = inspector::read_whole_profile(inspector::report_json(before), "p.json", {});
  EXPECT_EQ(after.run.load_ns, 5u);
  EXPECT_EQ(after.run.init_ns, 7u);
  EXPECT_EQ(after.run.open_ns, 2u);
  EXPECT_EQ(after.run.pack_ns, 4u);
  EXPECT_EQ(after.run.plan_ns, 1u);
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
  const json valid = json::parse(inspector::report_json(profile_with_facts()));
  ASSERT_EQ(whole_error(valid), "");
  json changed = valid;
  changed["rows"][0]["share"] = 1.5;
  EXPECT_THAT(whole_error(changed), HasSubstr("rows[0].share: is not between 0 and 1"));
  changed = valid;
  changed["machine"]["flops_per_s"] = -1;
  EXPECT_THAT(whole_error(changed), HasSubstr("machine.flops_per_s: is not a number between"));
  changed = valid;
  changed["rows"][0]["cost"]["bytes"] = "NaN";
  EXPECT_THAT(whole_error(changed), HasSubstr("rows[0].cost.bytes"));
  changed = valid;
  changed["delegate_calls"] = 1;
  EXPECT_THAT(whole_error(changed), HasSubstr("delegate_calls: is not a list"));
}

}  // namespace
}  // namespace vitrine::test
