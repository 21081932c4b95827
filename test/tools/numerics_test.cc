// Tests executor_runner --numerics. The first operator below the SQNR limit must be the one that
// the test damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>

#include "test/support/browser.h"
#include "test/support/corpus.h"
#include "test/support/delegated_layers.h"
#include "test/support/read_json.h"
#include "test/support/read_text.h"
#include "test/tools/command.h"
#include "tools/common/files.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

// A program with one delegate, and the reference model with which --numerics compares the program.
struct DelegatedModel {
  const char* name;
  const char* folder;     // of the program, in the samples or the corpus
  const char* reference;  // in the samples or the corpus
  bool is_int8;
  const char* limit;    // all operators of the sound program are above it
  size_t num_layers;    // convolutions and linear layers
  size_t min_measured;  // operators whose error is measured
};
void PrintTo(const DelegatedModel& model, std::ostream* out) { *out << model.name; }

fs::path find(const std::string& path) {
  const fs::path of_sample = samples_dir() / path;
  return fs::exists(of_sample) || corpus_dir().empty() ? of_sample : corpus_dir() / path;
}

class Numerics : public testing::TestWithParam<DelegatedModel> {
 protected:
  void SetUp() override {
    const fs::path folder = find(GetParam().folder);
    reference_ = find(GetParam().reference);
    if (!fs::exists(folder) || !fs::exists(reference_)) {
      GTEST_SKIP() << "needs the corpus: set VITRINE_CORPUS";
    }
    input_ = folder / "input_0.bin";
    record_ = folder / "etrecord.bin";
    program_.emplace(folder / "model.pte");
    ASSERT_EQ(program_->layers.size(), GetParam().num_layers);
  }

  CommandResult measure(const std::string& extra) {
    tools::write_file(scratch_ / "damaged.pte", program_->bytes);
    std::string records;
    if (fs::exists(record_)) records += " --etrecord " + record_.string();
    const fs::path reference_record = reference_.parent_path() / "etrecord.bin";
    if (reference_.extension() == ".pte" && fs::exists(reference_record)) {
      records += " --reference_etrecord " + reference_record.string();
    }
    return executor_runner("--numerics " + (scratch_ / "damaged.pte").string() + " --reference " +
                           reference_.string() + records + " --inputs " + input_.string() +
                           " --cpu_threads 1 " + extra);
  }

  // Expects that the first row below the limit runs `layer`, and returns the row.
  json expect_first(const DelegatedLayer& layer) {
    const CommandResult result =
        measure(std::string("--format json --fail_below ") + GetParam().limit);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    const json report = json::parse(result.out);
    if (report.at("first_below").is_null()) {
      ADD_FAILURE() << "no row is below the limit";
      return {};
    }
    const json row = report.at("rows").at(report.at("first_below").get<size_t>());
    EXPECT_EQ(row.at("debug_handles").at(0), layer.debug_handle) << row;
    return row;
  }

  ScratchFolder scratch_;
  fs::path reference_, input_, record_;
  std::optional<DelegatedProgram> program_;
};

class FloatNumerics : public Numerics {};
class Int8Numerics : public Numerics {};

constexpr DelegatedModel kFloatModels[] = {
    {"Digits", "digits_xnnpack", "digits_portable/model.pte", false, "100dB", 5, 6},
    {"MobileNetV2", "mv2_xnnpack", "mv2_xnnpack/model.pt2", false, "80dB", 53, 64}};
constexpr DelegatedModel kInt8Models[] = {
    {"DigitsInt8", "digits_xnnpack_q8", "digits_portable/model.pte", true, "25dB", 5, 5},
    {"MobileNetV2Int8", "mv2_xnnpack_q8", "mv2_xnnpack_q8/model.pt2", true, "30dB", 53, 30}};

std::string name_of(const testing::TestParamInfo<DelegatedModel>& test) { return test.param.name; }
INSTANTIATE_TEST_SUITE_P(Float, Numerics, testing::ValuesIn(kFloatModels), name_of);
INSTANTIATE_TEST_SUITE_P(Int8, Numerics, testing::ValuesIn(kInt8Models), name_of);
INSTANTIATE_TEST_SUITE_P(All, FloatNumerics, testing::ValuesIn(kFloatModels), name_of);
INSTANTIATE_TEST_SUITE_P(All, Int8Numerics, testing::ValuesIn(kInt8Models), name_of);

TEST_P(Numerics, CorrectProgramReachesTheSqnrLimit) {
  const json report =
      json_of(measure(std::string("--format json --fail_below ") + GetParam().limit));
  EXPECT_TRUE(report.at("first_below").is_null());
  EXPECT_TRUE(report.at("first_not_finite").is_null());
  size_t measured = 0;
  for (const json& row : report.at("rows")) {
    const bool has_figures = !row.at("made_here").is_null();
    EXPECT_EQ(has_figures, row.at("not_measured") == "") << row;
    measured += has_figures ? 1 : 0;
  }
  EXPECT_GE(measured, GetParam().min_measured);
}

TEST_P(Numerics, ReportsLayerWithWrongWeight) {
  // The first layers have few weights, so a single wrong weight matters. MobileNetV2 gets fewer
  // cases, since each run takes seconds.
  for (size_t index = 0; index < (GetParam().num_layers < 10 ? 3 : 2); ++index) {
    SCOPED_TRACE(index);
    const DelegatedLayer& layer = program_->layers[index];
    const std::vector<std::byte> sound = program_->bytes;
    if (GetParam().is_int8) {
      const size_t at = layer.weights.offset + layer.weights.bytes / 2;
      program_->write<int8_t>(at, program_->read<int8_t>(at) > 0 ? -127 : 127);
    } else {
      const size_t at = layer.weights.offset + layer.weights.bytes / 8 * 4;
      program_->write(at, program_->read<float>(at) + 1);
    }
    expect_first(layer);
    program_->bytes = sound;
  }
}

TEST_P(Int8Numerics, ReportsLayerWithWrongScaleOrZeroPoint) {
  const DelegatedLayer& layer = program_->layers[2];
  ASSERT_TRUE(layer.scale_offset && layer.zero_point_offset);
  const auto scale = program_->read<float>(*layer.scale_offset);
  program_->write(*layer.scale_offset, scale / 8);
  EXPECT_GT(expect_first(layer).at("saturated").get<size_t>(), 0u);
  program_->write(*layer.scale_offset, scale);
  const auto zero_point = program_->read<int32_t>(*layer.zero_point_offset);
  program_->write(*layer.zero_point_offset, zero_point > 0 ? zero_point - 100 : zero_point + 100);
  EXPECT_GT(expect_first(layer).at("saturated").get<size_t>(), 0u);
}

TEST_P(FloatNumerics, ReportsLayerWithNanInBias) {
  const DelegatedLayer& layer = program_->layers[3];
  program_->write(layer.bias.offset, std::numeric_limits<float>::quiet_NaN());
  const json row = expect_first(layer);
  EXPECT_GT(row.at("nan").get<size_t>(), 0u);
  const CommandResult table = succeeded(measure(""));  // no limit was given
  EXPECT_THAT(table.out, HasSubstr("first NaN or infinity  #" +
                                   std::to_string(row.at("row").get<size_t>() + 1) + " "));
}

std::string linear_relu_with(const std::string& extra, const std::string& inputs) {
  return "--numerics " + sample("linear_relu/model.pte") + " --etrecord " +
         sample("linear_relu/etrecord.bin") + " --inputs " + inputs + " " + extra;
}

const std::string kReference = " --reference " + sample("linear_relu/model.pt2");

std::string linear_relu(const std::string& extra) {
  return linear_relu_with(extra, sample("linear_relu/input_0.bin"));
}

TEST(NumericsCommand, LowersAnExportedModelAsReference) {
  EXPECT_THAT(executor_runner(linear_relu(kReference)),
              Prints(HasSubstrs("measured 2 of 2 operator values",
                                "no operator's own SQNR is below 30 dB")));
}

TEST(NumericsCommand, WritesCsv) {
  const CommandResult result = succeeded(executor_runner(linear_relu("--format csv" + kReference)));
  EXPECT_EQ(result.out.find("row,result,op,module,ran_in,type,stored_as,scale,zero_point,"), 0u);
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 3);
}

// JavaScript that clicks and types like a reader of the page.
constexpr char kDrive[] = R"(
const all = (query) => [...document.querySelectorAll(query)];
const rows = () => all('#table tbody tr:not(.detail)');
const head = (text) => all('#table th button').find((button) => button.textContent === text);
seen.title = document.title;
seen.cards = all('.card b').map((card) => card.textContent);
seen.rows = rows().length;
seen.columns = all('#table th').map((title) => title.textContent);
seen.panels = all('#depth .panel').length;
head('time').click();
const time_column = all('#table th').findIndex((title) => title.textContent === 'time');
const times = rows().map((row) => row.children[time_column].textContent);
seen.times = times.filter(Boolean).length;
rows()[0].click();
seen.detail = all('tr.detail dd').map((fact) => fact.textContent).join('|');
const input = document.getElementById('filter');
input.value = 'RELU';
input.dispatchEvent(new Event('input'));
seen.filtered = rows().length;
seen.outputs = all('#outputs tbody tr').length;
const theme = document.documentElement.dataset.theme;
document.getElementById('theme').click();
seen.theme = [theme, document.documentElement.dataset.theme].sort().join();
)";

TEST(NumericsCommand, WritesAnHtmlPage) {
  VITRINE_NEEDS_BROWSER();
  const ScratchFolder scratch;
  const fs::path file = scratch / "errors.html";  // the extension implies the format
  succeeded(executor_runner(linear_relu("--num_executions 3 --warmup 1 --reference " +
                                        sample("linear_relu/model.pt2") + " -o " + file.string())));
  const std::string page = read_text(file);
  const json data = page_data(page);
  for (const char* window : {"1280,900", "390,844"}) {
    SCOPED_TRACE(window);
    const json seen = drive(page, window, kDrive);
    EXPECT_EQ(seen.at("rows"), data.at("rows").size());
    EXPECT_EQ(seen.at("times"), data.at("rows").size());
    // The panels show errors, times and bytes.
    expect_members(seen, R"({"title": "model.pte · forward · numerics", "panels": 3, "filtered": 1,
                             "outputs": 1, "theme": "dark,light"})");
    EXPECT_EQ(seen.at("cards").at(0), "none");
    EXPECT_EQ(seen.at("cards").at(2), "2 of 2");
    EXPECT_THAT(seen.at("detail").get<std::string>(), HasSubstr("f32[4,"));
  }
}

// The details of a row link to the operator's node in the graph, and the node links back to the
// row. The error of the operator determines the node's color.
TEST(NumericsCommand, DrawsTheGraphColoredByError) {
  VITRINE_NEEDS_BROWSER();
  const ScratchFolder scratch;
  const fs::path folder = samples_dir() / "digits_xnnpack_q8", file = scratch / "errors.html";
  succeeded(executor_runner("--numerics --num_executions 1 --warmup 0 --etrecord " +
                            (folder / "etrecord.bin").string() + " --reference " +
                            sample("digits_portable/model.pte") + " --reference_etrecord " +
                            sample("digits_portable/etrecord.bin") + " -o " + file.string() + " " +
                            (folder / "model.pte").string()));
  const std::string page = read_text(file);
  const json rows = page_data(page).at("rows");
  const auto measured =
      std::ranges::find_if(rows, [](const json& row) { return row.at("made_here").is_object(); });
  ASSERT_NE(measured, rows.end());
  const json seen = drive(page, "1280,900",
                          visit_graph("document.querySelectorAll('#table tbody tr')[" +
                                          std::to_string(measured - rows.begin()) +
                                          "].click(); document.querySelector('.to-graph').click();",
                                      "document.querySelector('tr.detail').previousSibling"));
  const size_t row = measured->at("row");
  expect_members(seen, R"({"color": "figure", "hidden": [true, false]})");
  EXPECT_EQ(seen.at("row"), std::to_string(row + 1));
  EXPECT_EQ(seen.at("selected").at(1), row);
  EXPECT_EQ(seen.at("figures").at(0), measured->at("made_here").at("sqnr_db"));
  EXPECT_THAT(seen.at("panel").get<std::string>(), HasSubstr("error made here"));
}

// JavaScript that clicks like a reader of the page for two programs.
constexpr char kDrivePair[] = R"(
const all = (query) => [...document.querySelectorAll(query)];
const rows = () => all('#table tbody tr:not(.detail)');
seen.rows = rows().length;
seen.panels = all('#depth .panel').length;
seen.lines = all('#depth .panel:first-child path').filter((path) => /L/.test(path.getAttribute('d'))).length;
seen.marked = rows().filter((row) => row.className === 'marked').map((row) => Number(row.dataset.rows));
const both = rows().find((row) => !row.children[0].textContent.includes('–') && !row.children[1].textContent.includes('–'));
both.click();
seen.detail = all('tr.detail dl > *').map((fact) => fact.textContent).join('|');
seen.outputs = all('#outputs tbody tr').map((row) => row.children[0].textContent);
const theme = document.documentElement.dataset.theme;
document.getElementById('theme').click();
seen.theme = [theme, document.documentElement.dataset.theme].sort().join();
)";

TEST(NumericsCommand, ComparesTwoLowerings) {
  const json report = json_of(executor_runner(
      linear_relu("--format json" + kReference + " --compare " + sample("linear_relu/model.pte") +
                  " --compare_etrecord " + sample("linear_relu/etrecord.bin"))));
  ASSERT_EQ(report.at("rows").size(), 2u);
  for (const json& row : report.at("rows")) {
    ASSERT_TRUE(row.at("a").is_object());
    EXPECT_EQ(row.at("a"), row.at("b")) << "the programs are the same";
  }
  EXPECT_EQ(report.at("a").at("outputs"), report.at("b").at("outputs"));
}

TEST(NumericsCommand, ComparesTwoLoweringsOnAPage) {
  VITRINE_NEEDS_BROWSER();
  const ScratchFolder scratch;
  const fs::path file = scratch / "errors.html";
  const auto etrecord = [](const std::string& option, const std::string& folder) {
    return " --" + option + " " + sample(folder + "/etrecord.bin");
  };
  const CommandResult result = executor_runner(
      "--numerics " + sample("digits_xnnpack/model.pte") + etrecord("etrecord", "digits_xnnpack") +
      " --compare " + sample("digits_xnnpack_q8/model.pte") +
      etrecord("compare_etrecord", "digits_xnnpack_q8") + " --reference " +
      sample("digits_portable/model.pte") + etrecord("reference_etrecord", "digits_portable") +
      " --inputs " + sample("digits_xnnpack/input_0.bin") +
      " --num_executions 3 --warmup 1 --fail_below 40dB -o " + file.string());
  ASSERT_EQ(result.exit_code, 2) << result.err;
  const std::string page = read_text(file);
  const json data = page_data(page);
  const json& rows = data.at("rows");
  const auto has_times = [&](const char* side) {
    return std::ranges::all_of(rows, [&](const json& row) {
      return row.at(side).is_null() || row.at(side).at("time_ns").is_number();
    });
  };
  EXPECT_TRUE(has_times("a") && has_times("b"));
  const auto below = std::ranges::find_if(rows, [&](const json& row) {
    return row.at("b").is_object() && row.at("b").at("row") == data.at("b").at("first_below_row");
  });
  for (const char* window : {"1280,900", "390,844"}) {
    SCOPED_TRACE(window);
    const json seen = drive(page, window, kDrivePair);
    ASSERT_NE(below, rows.end()) << "a convolution in int8 is below 40 dB";
    // The panels show errors, times of A and times of B. Each program has a line for its total
    // error.
    expect_members(seen, R"({"panels": 3, "outputs": ["A", "B"], "lines": 2,
                             "theme": "dark,light"})");
    EXPECT_EQ(seen.at("rows"), rows.size());
    EXPECT_EQ(seen.at("marked"), json({below - rows.begin() + 1}));
    EXPECT_THAT(seen.at("detail").get<std::string>(), HasSubstrs("A made here|", "B made here|"));
  }
}

TEST(NumericsCommand, ComparisonNeedsAProgramWithTheSameInputs) {
  const ScratchFolder scratch;
  const std::string stored = (scratch / "p.json").string();
  succeeded(executor_runner("--profile --num_executions 1 " + sample("linear_relu/model.pte") +
                            " -o " + stored));
  const std::string start = kReference + " --compare ";
  EXPECT_THAT(executor_runner(linear_relu(start + stored)).err,
              HasSubstr("a stored profile contains no values; give a program for --numerics"));
  EXPECT_THAT(executor_runner(linear_relu(start + sample("add_mul/model.pte"))).err,
              HasSubstr("they cannot run on the same inputs"));
}

TEST(NumericsCommand, ExplainsThatReferenceOpsInsideDelegatesAreNotMeasured) {
  EXPECT_THAT(
      executor_runner(linear_relu("--reference " + sample("linear_relu/model.pte") +
                                  " --reference_etrecord " + sample("linear_relu/etrecord.bin"))),
      Prints(HasSubstrs("the reference runs this op inside a delegate",
                        "no operator was measured: only the outputs were compared")));
}

class NumericsSamples : public testing::Test {
 protected:
  NumericsSamples() {
    fs::create_directory(scratch_ / "data");
    std::vector<std::byte> input = tools::read_file(sample("linear_relu/input_0.bin"));
    tools::write_file(scratch_ / "data/2.bin", input);
    for (size_t i = 0; i < input.size(); i += sizeof(float)) {
      float value = 0;
      std::memcpy(&value, &input[i], sizeof value);
      value *= -3;
      std::memcpy(&input[i], &value, sizeof value);
    }
    tools::write_file(scratch_ / "data/10.bin", input);
  }

  json measure(const std::string& inputs) {
    return json_of(executor_runner(linear_relu_with("--format json" + kReference, inputs)));
  }

  ScratchFolder scratch_;
};

TEST_F(NumericsSamples, RowsCoverAllSamplesAndNameTheWorstSample) {
  const std::string folder = (scratch_ / "data").string();
  const json all = measure(folder);
  EXPECT_EQ(all.at("samples"), (json{folder + "/2.bin", folder + "/10.bin"}));
  EXPECT_EQ(all.at("program").at("origin").at("input_values"), "2 samples of " + folder);
  const json one[] = {measure(folder + "/2.bin"), measure(folder + "/10.bin")};
  ASSERT_EQ(all.at("rows").size(), one[0].at("rows").size());
  for (size_t i = 0; i < all.at("rows").size(); ++i) {
    SCOPED_TRACE(i);
    const json& row = all.at("rows")[i];
    const json& first = one[0].at("rows")[i];
    const json& second = one[1].at("rows")[i];
    EXPECT_EQ(row.at("elements").get<size_t>(),
              first.at("elements").get<size_t>() + second.at("elements").get<size_t>());
    const auto max_abs = [](const json& of) {
      return of.at("made_here").at("max_abs").get<double>();
    };
    EXPECT_DOUBLE_EQ(max_abs(row), std::max(max_abs(first), max_abs(second)));
    // An infinite SQNR is null in JSON.
    const auto db = [](const json& figures) {
      const json& value = figures.at("sqnr_db");
      return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
    };
    const double dbs[] = {db(first.at("made_here")), db(second.at("made_here"))};
    const size_t worst = dbs[1] < dbs[0] ? 1 : 0;
    EXPECT_EQ(row.at("worst").at("sample"), worst);
    EXPECT_DOUBLE_EQ(db(row.at("worst")), dbs[worst]);
    const double together = db(row.at("made_here"));
    EXPECT_GE(together, std::min(dbs[0], dbs[1]));
    EXPECT_LE(together, std::max(dbs[0], dbs[1]));
  }
}

TEST_F(NumericsSamples, TableShowsTheWorstSample) {
  EXPECT_THAT(executor_runner(linear_relu_with("--fail_below 500dB --width 120" + kReference,
                                               (scratch_ / "data").string())),
              Exits(2, testing::_,
                    HasSubstrs("inputs: 2 samples of ", " dB in " + (scratch_ / "data").string())));
}

TEST_F(NumericsSamples, AnInputFolderNeedsFilesAndTheNumericsOption) {
  const std::string folder = (scratch_ / "data").string();
  EXPECT_THAT(executor_runner(sample("linear_relu/model.pte") + " --inputs " + folder),
              Exits(64, HasSubstr(folder + ": folders, lists (.txt) and .npz files of samples need "
                                           "--numerics")));
  fs::create_directory(scratch_ / "empty");
  EXPECT_THAT(executor_runner(linear_relu_with(kReference, (scratch_ / "empty").string())),
              Exits(1, HasSubstr("the folder has no .bin, .npy or .npz files")));
}

TEST(NumericsCommand, RejectsInvalidCommandLines) {
  const struct {
    std::string arguments, message;
  } cases[] = {
      {linear_relu(""), "--numerics: needs --reference"},
      {sample("linear_relu/model.pte") + " --fail_below 30dB", "--fail_below: needs --numerics"},
      {linear_relu("--fail_below 30kB" + kReference), "30kB: expected a number of dB, as in 30dB"},
      {linear_relu("--profile" + kReference), "--numerics: cannot be used with --profile"},
      {linear_relu("--format svg" + kReference),
       "with --numerics, expected csv, html, table or json"},
      {linear_relu("--fail_above 1.1" + kReference + " --compare " +
                   sample("linear_relu/model.pte")),
       "--numerics: cannot be used with --fail_above"},
      {sample("linear_relu/model.pte") + " --value_summaries --format html",
       "with --value_summaries, expected csv, table or json"}};
  for (const auto& each : cases) {
    EXPECT_THAT(executor_runner(each.arguments), Exits(64, HasSubstr(each.message)))
        << each.arguments;
  }
}

TEST(NumericsCommand, RejectsReferencesOfOtherModels) {
  for (const char* reference : {"add_mul/model.pt2", "linear_relu/input_0.bin"}) {
    EXPECT_THAT(executor_runner(linear_relu("--reference " + sample(reference))),
                Exits(1, testing::Not(testing::IsEmpty())))
        << reference;
  }
}

}  // namespace
}  // namespace vitrine::test
