#include "inspector/report/difference_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/text_layout.h"

namespace vitrine::inspector {
namespace {

using testing::AllOf;
using testing::HasSubstr;

OutputDifference of_one_element() {
  OutputDifference output;
  output.index = 3;
  output.a = output.b = "f32[4]";
  output.figures.elements = 4;
  output.figures.mismatches = 1;
  output.figures.max_abs = 0.5;
  output.figures.mean_abs = 0.125;
  output.figures.sqnr_db = 42;
  return output;
}

TEST(DifferenceTexts, PrintsFiguresForADifferentOutput) {
  EXPECT_THAT(output_lines({of_one_element()}, 200),
              AllOf(HasSubstr("output 3"), HasSubstr("f32[4]"), HasSubstr("max diff 0.5"),
                    HasSubstr("mean diff 0.125"), HasSubstr("SQNR 42.0 dB"),
                    HasSubstr("1 of 4 elements differ")));
  OutputDifference same;
  same.a = same.b = "f32[4]";
  EXPECT_THAT(output_lines({same}, 200), HasSubstr("the same in all elements"));
}

TEST(DifferenceTexts, PrintsWhyOutputsAreNotCompared) {
  OutputDifference other;
  other.b = "f32[2\x1b]";
  other.why_not = "the shapes\ndiffer";
  EXPECT_THAT(output_lines({other}, 200),
              AllOf(HasSubstr("f32[2?]"), HasSubstr("not compared: the shapes?differ")));
  const auto object = output_json(other);
  EXPECT_EQ(object.at("not_compared"), other.why_not);
  EXPECT_FALSE(object.contains("max_abs"));
}

TEST(DifferenceTexts, WrapsLinesAtTheWidth) {
  const std::string lines = output_lines({of_one_element()}, 40);
  size_t from = 0, count = 0;
  for (size_t end = lines.find('\n'); end != std::string::npos; end = lines.find('\n', from)) {
    EXPECT_LE(display_width(lines.substr(from, end - from)), 40u);
    from = end + 1;
    ++count;
  }
  EXPECT_GT(count, 1u);
}

// JSON has no infinity, so the SQNR of equal tensors is null.
TEST(DifferenceTexts, WritesInfiniteFiguresAsJsonNull) {
  OutputDifference same;
  same.figures.elements = 4;
  const auto list = outputs_json({same, of_one_element()});
  ASSERT_EQ(list.size(), 2u);
  EXPECT_TRUE(list[0].at("sqnr_db").is_null());
  EXPECT_EQ(list[0].at("different"), 0);
  EXPECT_EQ(list[1].at("index"), 3);
  EXPECT_EQ(list[1].at("sqnr_db"), 42);
  EXPECT_EQ(list[1].at("elements"), 4);
}

}  // namespace
}  // namespace vitrine::inspector
