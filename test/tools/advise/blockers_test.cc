// Tests advice for models that cannot be lowered. The models are samples in which some operators
// have been renamed to names that Vitrine does not know.
#include "tools/advise/blockers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "aot/pipeline/lower.h"
#include "test/aot/import/pt2_writer.h"
#include "test/support/corpus.h"
#include "test/support/scratch_folder.h"
#include "test/tools/command.h"
#include "tools/common/files.h"

namespace vitrine::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using tools::Blockers;
using tools::find_blockers;

using Renaming = std::pair<std::string, std::string>;

// Writes the sample conv_relu_tan with renamed operators. The sample calls conv2d, relu, conv2d,
// relu and tan. Returns the path of the written model.
std::string renamed_model(const ScratchFolder& folder, const std::vector<Renaming>& names) {
  ArchiveMembers members = read_zip(sample("conv_relu_tan/model.pt2"));
  for (auto& [member, text] : members) {
    if (!member.ends_with("/model.json")) continue;
    for (const auto& [from, to] : names) {
      for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
        text.replace(at, from.size(), to);
        at += to.size();
      }
    }
  }
  const std::string path = (folder / "model.pt2").string();
  tools::write_file(path, write_zip(members));
  return path;
}

Blockers blockers_of(const std::string& model) {
  const aot::Methods methods = aot::import_methods({{"forward", model}});
  return find_blockers(methods.begin()->second);
}

const std::vector<Renaming> kTwoOperators = {
    {"torch.ops.aten.tan.default", "torch.ops.aten.bincount.default"},
    {"torch.ops.aten.relu.default", "torch.ops.my.act.default"}};

TEST(Blockers, ListOperatorsWithCallsSourceLinesAndRemedies) {
  const ScratchFolder folder;
  const Blockers found = blockers_of(renamed_model(folder, kTwoOperators));
  ASSERT_THAT(found.all, SizeIs(2));
  EXPECT_EQ(found.all[0].op, "my.act.default");
  EXPECT_EQ(found.all[0].calls, 2u);
  EXPECT_THAT(found.all[0].lines, SizeIs(2));
  EXPECT_THAT(found.all[0].lines[0], HasSubstr(".py:"));
  EXPECT_THAT(found.all[0].remedy, HasSubstr("--operator"));
  EXPECT_EQ(found.all[1].op, "aten.bincount.default");
  EXPECT_THAT(found.all[1].remedy, HasSubstr("one_hot"));
  EXPECT_THAT(found.other_error, IsEmpty());
  EXPECT_FALSE(found.is_incomplete);
}

TEST(Blockers, SearchStopsAfterTheGivenTime) {
  const ScratchFolder folder;
  const aot::Methods methods =
      aot::import_methods({{"forward", renamed_model(folder, kTwoOperators)}});
  const Blockers found = find_blockers(methods.begin()->second, 0);
  EXPECT_TRUE(found.is_incomplete);
  EXPECT_THAT(found.all, IsEmpty());
  EXPECT_THAT(found.other_error, HasSubstr("my.act"));
}

// The search lowers each call in a model separately. It must accept every model that lowering
// accepts.
TEST(Blockers, LowerableModelsHaveNoBlockers) {
  size_t models = 0;
  for (const auto& folder : {samples_dir(), corpus_dir()}) {
    for (const std::filesystem::path& model : files_below(folder, "model.pt2")) {
      if (file_size(model) > 1 << 20) continue;
      SCOPED_TRACE(model.string());
      const Blockers found = blockers_of(model.string());
      EXPECT_THAT(found.other_error, IsEmpty());
      for (const tools::Blocker& blocker : found.all) {
        ADD_FAILURE() << blocker.op << ": " << blocker.reason;
      }
      ++models;
    }
  }
  EXPECT_GE(models, 4u);
}

TEST(Blockers, RemediesDependOnTheOperatorAndTheReason) {
  EXPECT_THAT(tools::remedy_for("aten.linalg_inv.default", ""), HasSubstr("keep the result"));
  EXPECT_THAT(tools::remedy_for("torchvision.nms.default", ""), HasSubstr("on these outputs"));
  EXPECT_THAT(tools::remedy_for("my.op.default",
                                "my.op.default is unknown, so declare it with "
                                "--operator"),
              HasSubstr("torch.ops.my.op.default._schema"));
  EXPECT_THAT(tools::remedy_for("aten.lgamma.default", "no kernel"), HasSubstr("docs/kernels.md"));
}

TEST(AdviseCommand, GivesAdviceForAModelThatCannotBeLowered) {
  const ScratchFolder folder;
  const std::string model = renamed_model(folder, kTwoOperators);
  EXPECT_THAT(run_tool(VITRINE_COMMAND, "advise " + model),
              Prints(HasSubstrs("#1  replace my.act.default",
                                "2 calls: ", "#2  replace aten.bincount.default",
                                "Without these calls, the model can be lowered.")));
  const auto parsed = json_of(run_tool(VITRINE_COMMAND, "advise --format json " + model));
  EXPECT_EQ(parsed["is_lowerable"], false);
  EXPECT_EQ(parsed["advice"][1]["op"], "aten.bincount.default");
  EXPECT_THAT(run_tool(VITRINE_COMMAND, "advise --apply 1 " + model),
              Exits(1, HasSubstr("the model cannot be lowered")));
  // The program can run, although its source model cannot be lowered. The program gets the advice
  // that does not require lowering.
  EXPECT_THAT(run_tool(VITRINE_COMMAND, "advise --no_trials --source " + model + " " +
                                            sample("linear_relu/model.pte")),
              Prints(HasSubstrs("as it is", "because that model cannot be lowered")));
}

}  // namespace
}  // namespace vitrine::test
