#include "inspector/report/read_whole_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/host_error.h"
#include "inspector/report/report_json.h"
#include "test/inspector/compare/compared_sides.h"

namespace vitrine::test {
namespace {

using inspector::Profile;
using nlohmann::json;
using testing::HasSubstr;

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
