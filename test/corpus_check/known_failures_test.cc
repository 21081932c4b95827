#include "test/corpus_check/known_failures.h"

#include <stdexcept>
#include <utility>

#include "test/support/expect_error.h"

namespace vitrine::corpus {
namespace {

constexpr char kOne[] =
    R"([{"cases": ["ops/max__nan"], "runs": ["core"], "backends": ["xnnpack"],
         "says": "expected nan", "why": "XNNPACK drops it"}])";

TEST(KnownFailures, FindsOnlyEntriesThatMatchTheWholeRun) {
  const KnownFailures known = KnownFailures::parse(kOne, "list");
  ASSERT_NE(known.find({"/corpus/ops/max__nan", "core", "xnnpack"}), nullptr);
  EXPECT_EQ(known.find({"/corpus/ops/max__nan", "core", "xnnpack"})->says, "expected nan");
  EXPECT_NE(known.find({"ops/max__nan", "core", "xnnpack"}), nullptr);
  EXPECT_EQ(known.find({"/corpus/ops/argmax__nan", "core", "xnnpack"}), nullptr);
  EXPECT_EQ(known.find({"/corpus/flops/max__nan", "core", "xnnpack"}), nullptr);
  EXPECT_EQ(known.find({"/corpus/ops/max__nan", "training", "xnnpack"}), nullptr);
  EXPECT_EQ(known.find({"/corpus/ops/max__nan", "core", "none"}), nullptr);
}

TEST(KnownFailures, AppliesToAllBackendsByDefault) {
  const KnownFailures known = KnownFailures::parse(
      R"([{"cases": ["a"], "runs": ["program", "core"], "says": "b", "why": "c"}])", "list");
  EXPECT_NE(known.find({"x/a", "program", ""}), nullptr);
  EXPECT_NE(known.find({"x/a", "core", "none"}), nullptr);
}

TEST(KnownFailures, IgnoresEntriesForOtherMachines) {
  const KnownFailures known = KnownFailures::parse(
      R"([{"cases": ["a"], "machine": "arm32", "runs": ["core"], "says": "b", "why": "c"}])",
      "list");
  EXPECT_EQ(known.find({"x/a", "core", "none"}) != nullptr, sizeof(void*) == 4);
}

TEST(KnownFailures, ErrorsNameFileAndEntry) {
  const std::pair<const char*, const char*> invalid[] = {
      {"[", "list: entry 0: "},
      {"[{}]", "cases"},
      {R"([{"cases": ["a"], "runs": ["all"], "says": "b", "why": "c"}])", "unknown run \"all\""},
      {R"([{"cases": ["a"], "machine": "vax", "runs": ["core"], "says": "b", "why": "c"}])",
       "arm32"},
      {R"([{"cases": ["a"], "runs": ["core"], "says": "b", "why": ""}])", "empty"}};
  for (const auto& list : invalid) {
    SCOPED_TRACE(list.first);
    EXPECT_ERROR(std::runtime_error, KnownFailures::parse(list.first, "list"), list.second);
  }
  EXPECT_ERROR(std::runtime_error, KnownFailures::read("/nowhere.json"), "/nowhere.json");
}

TEST(KnownFailures, AcceptsTheListInTheRepository) {
  EXPECT_NO_THROW(KnownFailures::read(VITRINE_KNOWN_FAILURES));
}

}  // namespace
}  // namespace vitrine::corpus
