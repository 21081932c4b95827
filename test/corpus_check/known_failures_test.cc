#include "test/corpus_check/known_failures.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace vitrine::corpus {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

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
  const auto parse = [](const char* text) { return [=] { KnownFailures::parse(text, "list"); }; };
  EXPECT_THAT(parse("["), ThrowsMessage<std::runtime_error>(HasSubstr("list: entry 0: ")));
  EXPECT_THAT(parse("[{}]"), ThrowsMessage<std::runtime_error>(HasSubstr("cases")));
  EXPECT_THAT(parse(R"([{"cases": ["a"], "runs": ["all"], "says": "b", "why": "c"}])"),
              ThrowsMessage<std::runtime_error>(HasSubstr("unknown run \"all\"")));
  EXPECT_THAT(
      parse(R"([{"cases": ["a"], "machine": "vax", "runs": ["core"], "says": "b", "why": "c"}])"),
      ThrowsMessage<std::runtime_error>(HasSubstr("arm32")));
  EXPECT_THAT(parse(R"([{"cases": ["a"], "runs": ["core"], "says": "b", "why": ""}])"),
              ThrowsMessage<std::runtime_error>(HasSubstr("empty")));
  EXPECT_THAT([] { KnownFailures::read("/nowhere.json"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("/nowhere.json")));
}

TEST(KnownFailures, AcceptsTheListInTheRepository) {
  EXPECT_NO_THROW(KnownFailures::read(VITRINE_KNOWN_FAILURES));
}

}  // namespace
}  // namespace vitrine::corpus
