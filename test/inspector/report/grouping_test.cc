#include "inspector/report/grouping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vitrine::inspector {
namespace {

using testing::ElementsAre;

ProfileRow row(const std::string& op, const std::string& module, double first, double second) {
  ProfileRow row;
  row.where = Where::kDelegate;
  row.delegate = "XnnpackBackend";
  row.delegate_name = "XNNPACK";
  row.partition = 0;
  row.join = Join::kExact;
  row.source_ops = {op};
  row.modules = {module};
  row.source_lines = {"conv.py:1"};
  row.model_lines = {"net/" + module + ".py:1"};
  row.calls = 1;
  row.samples = {{0, first}, {1, second}};
  row.time.avg = row.time.p50 = (first + second) / 2;
  row.share = row.time.p50 / 70;
  return row;
}

Profile nested_profile() {
  Profile profile;
  profile.runs = 2;
  profile.rows = {row("aten.convolution.default", "a.b.c", 10, 30),
                  row("aten.add.Tensor", "a.b", 1, 3), row("aten.convolution.default", "d", 40, 40),
                  row("aten.x.default", "", 5, 5)};
  ProfileRow& layout = profile.rows[3];
  layout.is_inserted = true;
  layout.inserted_for_row = 3;
  layout.source_ops.clear();
  layout.modules.clear();
  profile.wall.avg = 70;
  profile.unattributed.avg = 3;
  return profile;
}

std::vector<std::string> names(const Grouping& grouping) {
  std::vector<std::string> names;
  for (const Group& group : grouping.groups) {
    names.push_back(std::string(group.depth, ' ') + group.name);
  }
  return names;
}

TEST(Grouping, BuildsAModuleTreeWithTotals) {
  const Grouping grouping =
      group_rows(nested_profile(), {.by = GroupBy::kModule, .top = 0, .filter = {}});
  EXPECT_THAT(names(grouping), ElementsAre("(model)", " a", "  a.b", "   a.b.c", " d"));
  EXPECT_DOUBLE_EQ(grouping.groups[0].time.avg, 67);
  EXPECT_DOUBLE_EQ(grouping.groups[0].own_avg, 0);
  EXPECT_DOUBLE_EQ(grouping.groups[1].time.avg, 22);
  EXPECT_DOUBLE_EQ(grouping.groups[1].share, 22.0 / 70);
  EXPECT_DOUBLE_EQ(grouping.groups[1].own_share, 0);
  EXPECT_DOUBLE_EQ(grouping.groups[2].own_avg, 2);
  EXPECT_DOUBLE_EQ(grouping.groups[2].own_share, 2.0 / 70);
  EXPECT_DOUBLE_EQ(grouping.groups[3].time.avg, 20);
  EXPECT_DOUBLE_EQ(grouping.groups[4].time.avg, 45) << "includes the layout change that serves it";
  EXPECT_DOUBLE_EQ(grouping.groups[1].time.max, 33) << "statistics are computed from sums per run";
  EXPECT_DOUBLE_EQ(grouping.groups[1].time.first, 11);
  EXPECT_EQ(grouping.groups[4].num_rows, 2u);
}

TEST(Grouping, GroupsByOpDelegateOrLine) {
  const auto grouped = [](GroupBy by) {
    return group_rows(nested_profile(), {.by = by, .top = 0, .filter = {}});
  };
  EXPECT_THAT(names(grouped(GroupBy::kOp)), ElementsAre("convolution", "layout change", "add"));
  EXPECT_THAT(grouped(GroupBy::kOp).groups[0].rows, ElementsAre(0, 2));
  EXPECT_THAT(names(grouped(GroupBy::kDelegate)), ElementsAre("XNNPACK", " XNNPACK partition 0"));
  EXPECT_THAT(names(grouped(GroupBy::kLine)),
              ElementsAre("net/d.py:1", "net/a.b.c.py:1", "net/a.b.py:1"));
}

TEST(Grouping, ReportsRowsThatTheFilterAndTopOptionsOmit) {
  const Grouping grouping =
      group_rows(nested_profile(), {.by = GroupBy::kModule, .top = 2, .filter = "CONVOLUTION"});
  EXPECT_THAT(names(grouping), ElementsAre("(model)", " d"));
  EXPECT_THAT(grouping.filtered_rows, ElementsAre(1, 3));
  EXPECT_THAT(grouping.other_rows, ElementsAre(0));
  EXPECT_DOUBLE_EQ(grouping.filtered.avg, 7);
  EXPECT_DOUBLE_EQ(grouping.others.avg, 20);
}

}  // namespace
}  // namespace vitrine::inspector
