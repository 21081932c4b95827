// Tests pte_lower --quantize int8. The program that it writes must return the results of PyTorch's
// quantized model, and errors must name the file of calibration data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "test/support/corpus.h"
#include "test/support/expect_near.h"
#include "test/support/read_text.h"
#include "test/tools/command.h"
#include "test/tools/npy_file.h"
#include "tools/common/files.h"
#include "tools/pte_lower/auto/choose.h"
#include "tools/pte_lower/auto/measure.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using tools::Choice;
using tools::Goal;
using enum Goal::Kind;
using tools::Measured;
using tools::PartFigures;
using tools::Selection;

fs::path ptq_sample(const std::string& name) { return samples_dir() / "ptq_two_batches" / name; }

CommandResult quantize_sample(const std::string& calibration, const fs::path& program,
                              const std::string& more = "") {
  return run_tool(VITRINE_PTE_LOWER, ptq_sample("model.pt2").string() + " --quantize int8" +
                                         calibration + more + " -o " + program.string());
}

std::string calibrate(const fs::path& path) { return " --calibrate " + path.string(); }

// A .npy file with zeros.
std::string npy_of(const std::string& dtype, const std::string& shape, size_t bytes) {
  return npy_file(dtype, shape, std::string(bytes, '\0'));
}

// Runs the program on both inputs of the sample. The outputs must match PyTorch's quantized model
// to within one quantization step.
void expect_pytorch_outputs(const fs::path& program) {
  const double step = 0.0334329;  // the scale of the output
  for (const std::string call : {"", "_c1"}) {
    const std::string input = ptq_sample("input_0" + call + ".bin");
    expect_near(first_output(program.string() + " --inputs " + input),
                read_floats(ptq_sample("expected_0" + call + ".bin")), 1.01 * step, 0);
  }
}

TEST(CalibrationTest, ProgramsMatchPyTorch) {
  const ScratchFolder scratch;
  for (const std::string backend : {"none", "xnnpack"}) {
    EXPECT_THAT(quantize_sample(calibrate(ptq_sample("")), scratch / "m.pte",
                                " --explain=places --backend " + backend),
                Prints(HasSubstrs(
                    "Int8: 7 calls. In float: 1.",
                    "1 x aten.sum.dim_IntList: int8 does not cover this operator\n    sum_1\n")));
    expect_pytorch_outputs(scratch / "m.pte");
  }
}

TEST(CalibrationTest, ReadsFoldersListFilesAndSingleFiles) {
  const ScratchFolder scratch;
  fs::create_directories(scratch / "data/1");
  fs::create_directories(scratch / "data/2");
  fs::copy_file(ptq_sample("calib_0_0.bin"), scratch / "data/1/x.bin");
  fs::copy_file(ptq_sample("calib_1_0.bin"), scratch / "data/2/x.bin");
  tools::write_file(scratch / "list.txt",
                    std::string_view("# two files\ndata/1/x.bin\ndata/2/x.bin\n"));
  const std::string ways[] = {
      calibrate(ptq_sample("")), calibrate(scratch / "data"), calibrate(scratch / "list.txt"),
      calibrate(ptq_sample("calib_0_0.bin")) + calibrate(ptq_sample("calib_1_0.bin"))};
  std::vector<std::byte> first;
  for (const std::string& way : ways) {
    EXPECT_THAT(quantize_sample(way, scratch / "m.pte"), Exits(0, ""))
        << "progress is only for terminals";
    const std::vector<std::byte> program = tools::read_file(scratch / "m.pte");
    if (first.empty()) first = program;
    EXPECT_TRUE(program == first) << way;
  }
}

TEST(CalibrationTest, RejectsInvalidCalibrationFiles) {
  const ScratchFolder scratch;
  struct BadFile {
    const char* name;
    std::string content;
    const char* error;
  };
  std::string nan(1024, '\0');
  std::memcpy(nan.data() + 8, "\x00\x00\xc0\x7f", 4);
  const BadFile files[] = {
      {"short.bin", std::string(1000, '\0'),
       "short.bin: the file has 1000 bytes, but the input x is f32[2, 2, 8, 8] and needs 1024"},
      {"nan.bin", nan, "nan.bin: the values of the input x contain NaN"},
      {"shape.npy", npy_of("<f4", "2, 128", 1024),
       "shape.npy: the array has the shape [2, 128], but the input x is f32[2, 2, 8, 8]"},
      {"dtype.npy", npy_of("<i8", "2, 2, 8, 8", 2048),
       "dtype.npy: the array is i64, but the input x is f32[2, 2, 8, 8]"},
      {"complex.npy", npy_of("<c8", "2, 2, 8, 8", 2048), "the dtype \"<c8\" is not supported"},
      {"cut.npy", npy_of("<f4", "2, 2, 8, 8", 1000), "expected 1024 bytes of elements, found 1000"},
      {"text.npy", "hello", "text.npy: expected a NumPy array (.npy), found other bytes"},
      {"image.png", "png", "image.png: expected a .bin, .npy or .npz file"}};
  for (const BadFile& bad : files) {
    tools::write_file(scratch / bad.name, bad.content);
    EXPECT_THAT(quantize_sample(calibrate(scratch / bad.name), scratch / "m.pte"),
                Exits(1, HasSubstr(bad.error)))
        << bad.name;
    EXPECT_FALSE(fs::exists(scratch / "m.pte"));
  }
}

TEST(CalibrationTest, RejectsMissingFilesAndEmptyFolders) {
  const ScratchFolder scratch;
  fs::create_directories(scratch / "empty");
  EXPECT_THAT(quantize_sample(calibrate(scratch / "empty"), scratch / "m.pte").err,
              HasSubstr("empty: the folder has no .bin, .npy or .npz files"));
  EXPECT_THAT(quantize_sample(calibrate(scratch / "none"), scratch / "m.pte").err,
              HasSubstr("none: the file does not exist"));
  tools::write_file(scratch / "list.txt", std::string_view("\n"));
  EXPECT_THAT(quantize_sample(calibrate(scratch / "list.txt"), scratch / "m.pte").err,
              HasSubstr("list.txt: the list has no files"));
}

TEST(CalibrationTest, GroupsFilesIntoSamplesForModelsWithSeveralInputs) {
  const ScratchFolder scratch;
  const fs::path sample = samples_dir() / "add_mul";
  const auto lower = [&](const fs::path& data) {
    return run_tool(VITRINE_PTE_LOWER, (sample / "model.pt2").string() + " --quantize int8" +
                                           calibrate(data) + " -o " + (scratch / "m.pte").string());
  };
  fs::create_directories(scratch / "data");
  fs::copy_file(sample / "input_0.bin", scratch / "data/1_a.bin");
  EXPECT_THAT(lower(scratch / "data").err,
              HasSubstr("data/1: expected a file for each input, but the input b has none"));
  fs::copy_file(sample / "input_1.bin", scratch / "data/1_b.bin");
  succeeded(lower(scratch / "data"));
  fs::copy_file(sample / "input_1.bin", scratch / "data/other.bin");
  EXPECT_THAT(lower(scratch / "data").err,
              HasSubstr("other.bin: the model has the inputs a, b; "
                        "end each file's name with its input, such as _a or _0"));
}

TEST(CalibrationTest, AcceptsNumpyFiles) {
  const ScratchFolder scratch;
  for (const char* shape : {"2, 2, 8, 8", "2, 2, 8, 8,"}) {
    tools::write_file(scratch / "x.npy", npy_of("<f4", shape, 1024));
    succeeded(quantize_sample(calibrate(scratch / "x.npy"), scratch / "m.pte"));
  }
}

// Tests how pte_lower --quantize auto chooses the parts to quantize from given measurements, and
// how it computes ratios of times.

PartFigures part(const std::string& name, double noise, double saved) {
  return {.name = name, .levels = {{"int8", noise, saved}}};
}

// A model in which the noise and the savings of the quantized parts add up.
struct AdditiveModel {
  std::vector<PartFigures> parts;
  double float_cost = 100;
  std::vector<Selection> measured = {};

  Measured measure(const Selection& selection) {
    measured.push_back(selection);
    double noise = 1e-12;
    double cost = float_cost;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (selection[i] == 0) continue;
      noise += parts[i].levels[selection[i] - 1].noise;
      cost -= parts[i].levels[selection[i] - 1].saved;
    }
    return {.quality = -10 * std::log10(noise), .cost = cost};
  }
  Choice choose(Goal goal, size_t max_swaps = 8) {
    return tools::choose(parts, goal, max_swaps,
                         [&](const Selection& each) { return measure(each); });
  }
};

std::vector<std::pair<size_t, size_t>> steps_of(const std::vector<PartFigures>& parts) {
  std::vector<std::pair<size_t, size_t>> steps;
  for (const tools::Step& step : tools::greedy_steps(parts)) {
    steps.emplace_back(step.part, step.level);
  }
  return steps;
}

TEST(AutoChoiceTest, OrdersModelPartsByGainRelativeToNoise) {
  EXPECT_THAT(steps_of({part("b", 1e-3, 10), part("a", 1e-3, 10), part("larger", 1e-3, 20),
                        part("quieter", 5e-4, 5), part("grows", 1e-6, -1), part("exact", 0, 1)}),
              ElementsAre(Pair(5, 1), Pair(2, 1), Pair(3, 1), Pair(1, 1), Pair(0, 1), Pair(4, 1)));
}

TEST(AutoChoiceTest, EachPartStepsThroughTheLevelsOnItsConvexHull) {
  const PartFigures layer{.name = "layer",
                          .levels = {{"8da4w:32", 1e-3, 70},      // 20 more for 9e-4
                                     {"int8", 2e-4, 45},          // worse than int8_dynamic
                                     {"int8_dynamic", 1e-4, 50},  // 50 for 1e-4
                                     {"broken", INFINITY, 99}}};
  EXPECT_THAT(steps_of({layer}), ElementsAre(Pair(0, 3), Pair(0, 1)));
  // Steps with higher savings per unit of noise come first: 50 / 1e-4, 30 / 1e-3, 20 / 9e-4.
  EXPECT_THAT(steps_of({layer, part("other", 1e-3, 30)}),
              ElementsAre(Pair(0, 3), Pair(1, 1), Pair(0, 1)));
  // Both levels of this part have negative savings, so the only step leads to the level with less
  // noise.
  EXPECT_THAT(steps_of({{.name = "grows", .levels = {{"a", 1e-3, -1}, {"b", 1e-4, -2}}}}),
              ElementsAre(Pair(0, 2)));
  EXPECT_THAT(steps_of({{.name = "broken", .levels = {{"a", INFINITY, 9}}}}), IsEmpty());
}

TEST(AutoChoiceTest, QuantizesAsManyPartsAsTheQualityAllows) {
  AdditiveModel model{
      .parts = {part("a", 1e-4, 30), part("b", 1e-4, 20), part("c", 1e-3, 30), part("d", 1e-3, 5)}};
  // If a and b are quantized, the noise is 2e-4 (37.0 dB). If a, b and c are quantized, it is
  // 1.2e-3 (29.2 dB).
  EXPECT_EQ(model.choose({kAtLeastQuality, 35}).selection, Selection({1, 1, 0, 0}));
  EXPECT_EQ(model.choose({kAtLeastQuality, 29}).selection, Selection({1, 1, 1, 0}));
  EXPECT_EQ(model.choose({kAtLeastQuality, 20}).selection, Selection({1, 1, 1, 1}));
  EXPECT_EQ(model.choose({kAtLeastQuality, 90}).selection, Selection(4));
}

TEST(AutoChoiceTest, MixesInt8AndInt4) {
  const auto layer = [](const char* name, double noise) {
    return PartFigures{.name = name, .levels = {{"int8", noise, 30}, {"8da4w:32", 20 * noise, 35}}};
  };
  AdditiveModel model{.parts = {layer("a", 1e-6), layer("b", 1e-5), layer("c", 1e-3)}};
  // If all parts are int8, the noise is 1.011e-3 (29.95 dB). If a and b are int4 instead, it is
  // 1.22e-3 (29.1 dB).
  EXPECT_EQ(model.choose({kAtLeastQuality, 29}).selection, Selection({2, 2, 1}));
  EXPECT_EQ(model.choose({kAtLeastQuality, 35}).selection, Selection({2, 2, 0}));
  EXPECT_EQ(model.choose({kAtMostCost, 5}).selection, Selection({2, 1, 1}));
}

TEST(AutoChoiceTest, TriesOneSchemeInAllParts) {
  // Each part saves less with int8 than with int8_dynamic if only this part is quantized. The model
  // is fastest if both parts are int8.
  const std::vector<PartFigures> parts = {
      {.name = "a", .levels = {{"int8", 1e-3, 1}, {"int8_dynamic", 1e-4, 2}}},
      {.name = "b", .levels = {{"int8", 1e-3, 1}, {"int8_dynamic", 1e-4, 2}}}};
  const Choice choice = tools::choose(parts, {kAtLeastQuality, 10}, 0, [](const Selection& each) {
    const bool is_int8 = each == Selection({1, 1});
    return Measured{.quality = 20, .cost = is_int8 ? 1.0 : 10.0};
  });
  EXPECT_EQ(choice.selection, Selection({1, 1}));
}

TEST(AutoChoiceTest, SkipsAPartThatDoesNotFitAndAddsASmallerPart) {
  AdditiveModel model{.parts = {part("big", 1e-2, 90), part("small", 1e-4, 0.1)}};
  EXPECT_EQ(model.choose({kAtLeastQuality, 35}).selection, Selection({0, 1}));
  EXPECT_EQ(model.choose({kAtLeastQuality, 35}, 0).selection, Selection(2));
}

TEST(AutoChoiceTest, QuantizesAsFewPartsAsTheCostBoundRequires) {
  AdditiveModel model{.parts = {part("a", 1e-4, 30), part("b", 1e-4, 20), part("c", 1e-3, 30)}};
  EXPECT_EQ(model.choose({kAtMostCost, 100}).selection, Selection(3));
  EXPECT_EQ(model.choose({kAtMostCost, 70}).selection, Selection({1, 0, 0}));
  EXPECT_EQ(model.choose({kAtMostCost, 55}).selection, Selection({1, 1, 0}));
  // Quantizing a, b and c meets the bound, but so does quantizing only a and c.
  EXPECT_EQ(model.choose({kAtMostCost, 40}).selection, Selection({1, 0, 1}));
}

TEST(AutoChoiceTest, LeavesOutPartsThatAddCostIfTheBoundIsTight) {
  AdditiveModel model{
      .parts = {part("slower", 1e-6, -10), part("a", 1e-4, 30), part("b", 1e-3, 20)}};
  EXPECT_EQ(model.choose({kAtMostCost, 50}).selection, Selection({0, 1, 1}));
  EXPECT_EQ(model.choose({kAtMostCost, 70}).selection, Selection({0, 1, 0}));
}

TEST(AutoChoiceTest, UnreachableBoundGivesTheClosestProgram) {
  AdditiveModel model{.parts = {part("a", 1e-4, 30), part("b", 1e-4, 20)}};
  const Choice small = model.choose({kAtMostCost, 10});
  EXPECT_FALSE(small.is_met);
  EXPECT_EQ(small.selection, Selection({1, 1}));
  const Choice exact = model.choose({kAtLeastQuality, 200});
  EXPECT_FALSE(exact.is_met);
  EXPECT_EQ(exact.selection, Selection(2));
  const Choice broken = tools::choose(model.parts, {kAtLeastQuality, 0}, 8, [](const Selection&) {
    return Measured{.quality = NAN, .cost = 1};
  });
  EXPECT_FALSE(broken.is_met);
}

TEST(AutoChoiceTest, TighterQualityBoundNeverLowersTheCost) {
  AdditiveModel model{.parts = {}};
  for (int i = 1; i <= 60; ++i) {
    model.parts.push_back(part("p" + std::to_string(i), 1e-6 * (i * 37 % 61), 1.0 * (i * 17 % 59)));
  }
  model.float_cost = 5000;
  double cost = 0;
  for (const double bound : {25, 30, 35, 40, 50}) {
    model.measured.clear();
    const Choice choice = model.choose({kAtLeastQuality, bound}, 0);
    EXPECT_TRUE(choice.is_met);
    EXPECT_GE(choice.measured.quality, bound);
    EXPECT_GE(choice.measured.cost, cost);
    EXPECT_LE(model.measured.size(), 9U);  // float, all, and a bisection of 60
    cost = choice.measured.cost;
  }
}

TEST(AutoChoiceTest, EachProgramIsMeasuredOnce) {
  AdditiveModel model{.parts = {part("a", 1e-4, 30), part("b", 1e-4, 20), part("c", 1e-3, 30)}};
  model.choose({kAtMostCost, 40});
  const std::set<Selection> different(model.measured.begin(), model.measured.end());
  EXPECT_EQ(different.size(), model.measured.size());
}

TEST(AutoChoiceTest, MeasuredQualityOverridesPredictedQuality) {
  // Any one part can be quantized. If several parts are quantized, the measured quality of the
  // model is too low.
  const std::vector<PartFigures> parts = {part("a", 1e-6, 30), part("b", 1e-6, 20),
                                          part("c", 1e-6, 10)};
  const Choice choice = tools::choose(parts, {kAtLeastQuality, 35}, 8, [](const Selection& each) {
    const auto count = static_cast<double>(std::ranges::count(each, 1U));
    return Measured{.quality = count > 1 ? 10.0 : 50.0, .cost = 100 - 30 * count};
  });
  EXPECT_EQ(choice.selection, Selection({1, 0, 0}));
}

TEST(AutoChoiceTest, StoppedSearchReturnsTheBestProgramSoFar) {
  AdditiveModel model{.parts = {part("a", 1e-4, 30), part("b", 1e-4, 20), part("c", 1e-3, 30)}};
  const Choice choice = tools::choose(
      model.parts, {kAtLeastQuality, 20}, 8,
      [&](const Selection& each) { return model.measure(each); },
      [&] { return model.measured.size() == 2; });
  EXPECT_EQ(model.measured.size(), 2U);
  EXPECT_TRUE(choice.is_met);
  EXPECT_EQ(choice.selection, Selection({1, 1, 1}));
}

TEST(TimeRatio, IgnoresRareSlowRunsAndReportsOnlyClearDifferences) {
  std::vector<double> faster(100, 0.9);
  std::fill_n(faster.begin(), 20, 30.0);
  EXPECT_EQ(tools::time_ratio_of(faster).ratio, 0.9);
  EXPECT_TRUE(tools::time_ratio_of(faster).is_significant);
  // If 24 of 40 blocks are faster, the difference may be chance. If 28 of 40 blocks are faster, the
  // difference is significant.
  std::vector<double> mixed(400, 1.1);
  std::fill_n(mixed.begin(), 240, 0.9);
  EXPECT_FALSE(tools::time_ratio_of(mixed).is_significant);
  std::fill_n(mixed.begin(), 280, 0.9);
  EXPECT_TRUE(tools::time_ratio_of(mixed).is_significant);
  EXPECT_FALSE(tools::time_ratio_of({0.5, 0.5, 0.5}).is_significant) << "too few pairs";
}

TEST(TimeRatio, IntervalIsWiderIfRatiosChangeInPhases) {
  // Both lists contain the same ratios. In `mixed`, 0.8 and 1.2 alternate. In `phases`, the first
  // half is 0.8 and the second half is 1.2.
  std::vector<double> mixed, phases;
  for (int i = 0; i < 4000; ++i) {
    mixed.push_back(i % 2 == 0 ? 0.8 : 1.2);
    phases.push_back(i < 2000 ? 0.8 : 1.2);
  }
  const auto width = [](const tools::TimeRatio& of) { return of.repeated.high - of.repeated.low; };
  EXPECT_LT(width(tools::time_ratio_of(mixed)), 0.11) << "the median of each block is 1";
  EXPECT_GT(width(tools::time_ratio_of(phases)), 0.15);
}

TEST(TimeRatio, UncertaintiesOfRatioAndTimeAddInQuadrature) {
  // On a logarithmic scale, the two intervals have the half widths 0.03 and 0.04. The interval of
  // the product has the half width sqrt(0.03^2 + 0.04^2) = 0.05.
  const tools::TimeRatio ratio{.ratio = 0.5,
                               .repeated = {0.5 * std::exp(-0.03), 0.5 * std::exp(0.03)}};
  const tools::Milliseconds time =
      tools::time_of(ratio, {.median = 8, .repeated = {8 * std::exp(-0.04), 8 * std::exp(0.04)}});
  EXPECT_DOUBLE_EQ(time.median, 4);
  EXPECT_NEAR(time.repeated.low, 4 * std::exp(-0.05), 1e-9);
  EXPECT_NEAR(time.repeated.high, 4 * std::exp(0.05), 1e-9);
}

}  // namespace
}  // namespace vitrine::test
