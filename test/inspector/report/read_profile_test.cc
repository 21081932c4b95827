#include "inspector/report/read_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/host_error.h"
#include "inspector/report/report_comparison.h"
#include "inspector/report/report_json.h"
#include "test/inspector/compare/compared_sides.h"

namespace vitrine::test {
namespace {

using inspector::Profile;
using nlohmann::json;
using testing::HasSubstr;

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
  EXPECT_THAT(error_of(changed), HasSubstr("lists of ops, modules and lines"));
  changed = valid;
  changed["rows"][0]["inserted_for"] = json::array();
  changed["rows"][0]["inserted_for_row"] = 99;
  EXPECT_THAT(error_of(changed), HasSubstr("a layout change is for row 99"));
  changed = valid;
  changed["rows"][0]["where"] = "elsewhere";
  EXPECT_THAT(error_of(changed),
              HasSubstr("rows[0].where: is not \"delegate\", \"kernel\" or \"control\""));
}

}  // namespace
}  // namespace vitrine::test
