// Tests pte_lower --quantize auto, from calibration data to the program that it writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "test/support/browser.h"
#include "test/support/corpus.h"
#include "test/support/read_text.h"
#include "test/tools/command.h"
#include "tools/common/files.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

fs::path searched_sample(const std::string& name) {
  return samples_dir() / "ptq_two_batches" / name;
}

CommandResult search(const std::string& options) {
  return run_tool(VITRINE_PTE_LOWER, searched_sample("model.pt2").string() + " --backend xnnpack " +
                                         "--no-debug-maps " + options);
}

std::string auto_options(const std::string& bound, const fs::path& program) {
  return "--quantize auto --calibrate " + searched_sample("").string() + ' ' + bound + " -o " +
         program.string();
}

// Returns the SQNR in dB of a program's outputs over all samples, relative to the outputs of
// `reference`.
double sqnr_over_samples(const fs::path& program, const fs::path& reference,
                         const std::vector<fs::path>& samples) {
  double signal = 0;
  double noise = 0;
  for (const fs::path& sample : samples) {
    const std::string inputs = " --inputs " + sample.string();
    const std::vector<float> expected = first_output(reference.string() + inputs);
    const std::vector<float> found = first_output(program.string() + inputs);
    for (size_t i = 0; i < expected.size(); ++i) {
      signal += std::pow(expected[i], 2);
      noise += std::pow(found[i] - expected[i], 2);
    }
  }
  return 10 * std::log10(signal / noise);
}

class AutoPrecisionTest : public testing::Test {
 protected:
  const ScratchFolder scratch;
};

// The digits classifier has trained weights. Its samples are images of the test set.
TEST_F(AutoPrecisionTest, PrintedCommandReproducesAProgramThatMeetsTheBound) {
  VITRINE_CORPUS_CASE(corpus, "");
  constexpr size_t kImageBytes = 256;
  const std::vector<std::byte> images = tools::read_file(corpus / "digits_test" / "images.bin");
  std::vector<fs::path> samples;
  std::string digits = (corpus / "digits_xnnpack" / "model.pt2").string() + " --backend xnnpack";
  std::string calibration;
  for (size_t i = 0; i < 4; ++i) {
    samples.push_back(scratch / (std::to_string(i) + ".bin"));
    tools::write_file(samples.back(), std::span(images).subspan(i * kImageBytes, kImageBytes));
    calibration += " --calibrate " + samples.back().string();
  }
  const auto lower = [&](const std::string& options, const std::string& name) {
    return succeeded(run_tool(VITRINE_PTE_LOWER,
                              digits + ' ' + options + " -o " + (scratch / name).string()))
        .out;
  };
  lower("", "float.pte");
  lower("--quantize int8" + calibration, "int8.pte");
  const double int8_db = sqnr_over_samples(scratch / "int8.pte", scratch / "float.pte", samples);
  // The bound is slightly above the SQNR of the int8 program. Some parts must therefore stay float,
  // but other parts can be int8.
  const double bound = int8_db + 2;
  const std::string search =
      "--quantize auto --at_least " + std::to_string(bound) + "dB" + calibration;
  const std::string out = lower(search, "a.pte");
  lower(search, "b.pte");
  const std::vector<std::byte> program = tools::read_file(scratch / "a.pte");
  EXPECT_EQ(tools::read_file(scratch / "b.pte"), program);
  EXPECT_LT(program.size(), fs::file_size(scratch / "float.pte"));
  EXPECT_GE(sqnr_over_samples(scratch / "a.pte", scratch / "float.pte", samples), bound);

  // The last line of the output is a pte_lower command that writes the same program again.
  const std::string tool = "\npte_lower ";
  const size_t command = out.rfind(tool);
  ASSERT_NE(command, std::string::npos);
  fs::remove(scratch / "a.pte");
  succeeded(run_tool(VITRINE_PTE_LOWER,
                     out.substr(command + tool.size(), out.rfind('\n') - command - tool.size())));
  EXPECT_EQ(tools::read_file(scratch / "a.pte"), program);
}

TEST_F(AutoPrecisionTest, RulesMixInt8Int4AndFloatInOneModel) {
  const auto lowered = [&](const std::string& options) {
    const fs::path program = scratch / "m.pte";
    const CommandResult result =
        succeeded(search(options + " -o " + program.string() + " --explain=places"));
    return std::pair(result.out, tools::read_file(program));
  };
  const std::string int8 = "--quantize int8 --calibrate " + searched_sample("").string();
  const auto [mixed, mixed_bytes] = lowered(int8 + " --keep fc=8da4w:0 --keep c1=float");
  EXPECT_THAT(mixed, HasSubstrs("--keep fc=8da4w:0", "--keep c1=float"));
  EXPECT_NE(mixed_bytes, lowered(int8 + " --keep fc=float --keep c1=float").second);
  // fc is the only linear layer, so both commands quantize the same layer.
  EXPECT_EQ(lowered("--quantize float --keep fc=8da4w:0").second,
            lowered("--quantize 8da4w:0").second);
  EXPECT_EQ(lowered("--quantize float").second, lowered("").second);
  // If several rules name a layer, the first one applies.
  EXPECT_EQ(lowered("--quantize 8da4w:0 --keep c1=float").second,
            lowered("--quantize 8da4w:0").second);
  EXPECT_THAT(search("--quantize 8da4w:0 --keep fc=float -o " + (scratch / "m.pte").string()).err,
              HasSubstr("no linear layer"));
}

TEST_F(AutoPrecisionTest, F16MakesLinearLayersSmallerAndKeepsThreeDigits) {
  const std::string model =
      sample("encoder_layer/model.pt2") + " --backend xnnpack --no-debug-maps ";
  const auto lower = [&](const std::string& options, const char* name) {
    succeeded(run_tool(VITRINE_PTE_LOWER, model + options + " -o " + (scratch / name).string()));
    return scratch / name;
  };
  const fs::path exact = lower("", "float.pte");
  const std::vector<fs::path> inputs = {sample("encoder_layer/input_0.bin")};
  const auto db = [&](const fs::path& program) {
    return sqnr_over_samples(program, exact, inputs);
  };
  // An f16 has 11 significant bits, so rounding has a relative error of at most 2^-11 (66 dB).
  for (const char* options : {"--quantize f16", "--quantize float --keep 'linear*=f16'"}) {
    const fs::path half = lower(options, "half.pte");
    EXPECT_GT(db(half), 55) << options;
    EXPECT_LT(db(half), 90) << options;
    EXPECT_LT(fs::file_size(half), fs::file_size(exact)) << options;
  }
  // A bf16 has 8 significant bits. If all calls compute in bf16, the SQNR is 18 dB less than with
  // f16.
  const double bf16 = db(lower("--quantize bf16 --backend-option enable_bf16", "bf16.pte"));
  EXPECT_GT(bf16, 37);
  EXPECT_LT(bf16, 72);
}

TEST_F(AutoPrecisionTest, F16AndInt8MixInOneProgram) {
  // Returns the first line of the summary, which counts the delegates.
  const auto delegates = [&](const std::string& options) {
    const CommandResult result =
        succeeded(search("--quantize int8 --calibrate " + searched_sample("").string() +
                         " --summary " + options + " -o " + (scratch / "m.pte").string()));
    return result.out.substr(0, result.out.find('\n'));
  };
  // A program in which one layer is f16 has the same delegates as a program in which this layer is
  // float.
  EXPECT_EQ(delegates("--keep c2=f16"), delegates("--keep c2=float"));
}

TEST_F(AutoPrecisionTest, RulesThatMatchNothingAreErrors) {
  const std::pair<const char*, const char*> cases[] = {
      {"--quantize float --keep c1=8da4w:0", "--keep c1=...: no linear layer of this part"},
      {"--quantize float --keep fc=8da4w:7", "is not a multiple of the group size 7"},
      {"--quantize float --keep fc=embedding:8", "no embedding of this part"},
      {"--quantize float --keep nothing=8da4w:0", "\"nothing\" matches no module"},
      {"--quantize float --keep fc=int8", "needs --quantize int8"},
      {"--quantize float,8da4w:0", "unknown scheme \"float\""},
      {"--keep fc=float", "--keep needs --quantize"},
      {"--quantize f16,bf16", "f16 or bf16 may be set only once"},
      {"--quantize float --keep nothing=f16", "\"nothing\" matches no module"},
      {"--quantize float --keep fc=float --keep fc=f16", "an earlier rule names all of them"},
  };
  for (const auto& [options, message] : cases) {
    EXPECT_THAT(search(options + (" -o " + (scratch / "m.pte").string())),
                Exits(testing::Ne(0), HasSubstr(message)))
        << options;
  }
  EXPECT_TRUE(fs::is_empty((scratch / "")));
}

TEST_F(AutoPrecisionTest, CtrlCPrintsTheBestCommandSoFarAndWritesNoProgram) {
  // When the accuracy command scores the first program, it interrupts pte_lower, which is the
  // parent process of the command's shell.
  EXPECT_THAT(search(auto_options("--at_least 0.5", scratch / "a.pte") + " --search_report " +
                     (scratch / "r.json").string() + " --accuracy 'kill -INT $PPID; echo 1; :'"),
              Exits(130, HasSubstr("--quantize auto: interrupted; no program was written"),
                    HasSubstr("program without a search:\npte_lower ")));
  EXPECT_FALSE(fs::exists(scratch / "a.pte"));
  EXPECT_TRUE(nlohmann::json::parse(read_text(scratch / "r.json")).at("interrupted"));
}

// JavaScript that reads the parts, points and command on the page, filters the parts, and changes
// the theme.
constexpr char kDrive[] = R"js(
  seen.rows = document.querySelectorAll('#table tbody tr').length;
  seen.first = document.querySelector('#table tbody td').textContent;
  seen.curves = document.querySelectorAll('.curve').length;
  seen.points = document.querySelectorAll('.curve .point').length;
  seen.cards = [...document.querySelectorAll('.card b')].map((each) => each.textContent);
  seen.command = document.getElementById('command').textContent;
  const filter = document.getElementById('filter');
  filter.value = 'fc';
  filter.dispatchEvent(new Event('input'));
  seen.filtered = document.querySelectorAll('#table tbody tr').length;
  document.getElementById('theme').click();
  seen.theme = document.documentElement.dataset.theme;
)js";

TEST_F(AutoPrecisionTest, PageShowsPartsCurvesAndTheCommand) {
  VITRINE_NEEDS_BROWSER();
  const fs::path report = scratch / "report.html";
  succeeded(search(auto_options("--at_least 30dB", scratch / "a.pte") + " --search_report " +
                   report.string()));
  const std::string page = read_text(report);
  const nlohmann::json data = page_data(page);
  size_t levels = 0;
  for (const auto& part : data.at("parts")) levels += part.at("levels").size();
  for (const char* window : {"1280,900", "390,844"}) {
    const nlohmann::json seen = drive(page, window, kDrive);
    EXPECT_EQ(seen.at("rows"), levels);
    EXPECT_EQ(seen.at("first"), data.at("parts").at(0).at("name"));
    EXPECT_EQ(seen.at("curves"), 2);
    EXPECT_EQ(seen.at("points"), 2 * (data.at("steps").size() + data.at("results").size()));
    EXPECT_EQ(seen.at("cards").at(0), "kept");
    EXPECT_EQ(seen.at("command"), data.at("command"));
    EXPECT_EQ(seen.at("filtered"), 4);  // f16, int8, int8_dynamic and 8da4w:0
  }
}

TEST_F(AutoPrecisionTest, UnreachableBoundWritesNoProgram) {
  EXPECT_THAT(search(auto_options("--at_most_bytes 1kB", scratch / "a.pte")),
              Exits(2, HasSubstr("more than 1000; no program was written")));
  EXPECT_TRUE(fs::is_empty((scratch / "")));
}

// Lowers the sample with `options` and writes a profile of the program.
void profile_sample(const std::string& options, const fs::path& input, const fs::path& profile) {
  const ScratchFolder scratch;
  const std::string program = (scratch / "a.pte").string();
  succeeded(run_tool(VITRINE_PTE_LOWER, searched_sample("model.pt2").string() +
                                            " --backend xnnpack " + options + " -o " + program));
  succeeded(executor_runner("--profile --num_executions 3 --format json " + program + " --inputs " +
                            input.string() + " -o " + profile.string()));
}

// Returns the time in ms of the profile's rows that belong to a module.
double row_ms(const nlohmann::json& profile, const std::string& module) {
  double ns = 0;
  for (const auto& row : profile.at("rows")) {
    const bool is_inside = !row.at("modules").empty() && row.at("modules").at(0) == module;
    if (is_inside) ns += row.at("time_ns").at("p50").get<double>();
  }
  return ns / 1e6;
}

TEST_F(AutoPrecisionTest, DeviceTimesComeFromTheProfiles) {
  const fs::path in_float = scratch / "float.json", in_int8 = scratch / "int8.json";
  const fs::path input = searched_sample("input_0.bin");
  profile_sample("", input, in_float);
  profile_sample("--quantize int8 --calibrate " + searched_sample("").string(), input, in_int8);
  const std::string int8_times = " --device_times int8=" + in_int8.string();
  const std::string times = " --device_times float=" + in_float.string() + int8_times;
  const fs::path program = scratch / "a.pte", report = scratch / "r.json";
  EXPECT_THAT(search(auto_options("--at_most_ms 1000", program) + times + " --search_report " +
                     report.string()),
              Exits(0, HasSubstr("it is not certain that the chosen program meets the bound"),
                    Not(HasSubstr("device_times"))));  // in the command without a search
  const nlohmann::json found = nlohmann::json::parse(read_text(report));
  const nlohmann::json a = nlohmann::json::parse(read_text(in_float));
  const nlohmann::json b = nlohmann::json::parse(read_text(in_int8));
  const auto wall_ms = [](const nlohmann::json& of) {
    return of.at("wall_ns").at("p50").get<double>() / 1e6;
  };
  EXPECT_NEAR(found.at("results").at(0).at("ms").get<double>(), wall_ms(a), 1e-9);
  ASSERT_EQ(found.at("results").at(1).at("name"), "int8");
  EXPECT_NEAR(found.at("results").at(1).at("ms").get<double>(), wall_ms(b), 1e-9);
  EXPECT_FALSE(found.at("is_certain"));
  size_t layers = 0;
  for (const auto& part : found.at("parts")) {
    ASSERT_EQ(part.at("levels").size(), 1u) << "int8 is the only scheme with a profile";
    const std::string name = part.at("name");
    if (name.starts_with("aten.")) continue;
    ++layers;
    EXPECT_NEAR(part.at("levels").at(0).at("ms_saved").get<double>(),
                row_ms(a, name) - row_ms(b, name), 1e-9)
        << name;
  }
  EXPECT_EQ(layers, 3u);  // c1, c2 and fc

  fs::remove(program);
  const fs::path other = scratch / "other.json";
  succeeded(executor_runner("--profile --num_executions 1 --format json " +
                            (samples_dir() / "linear_relu" / "model.pte").string() + " -o " +
                            other.string()));
  // Copies a profile. In the copy, the cost `figure` of each row of module c2 is 1.5 times as high,
  // as if the module were wider. Returns the path of the copy.
  const auto widened = [&](const fs::path& profile, const char* figure) {
    nlohmann::ordered_json wide = nlohmann::ordered_json::parse(read_text(profile));
    for (auto& row : wide.at("rows")) {
      if (row.at("modules").empty() || row.at("modules").at(0) != "c2") continue;
      row.at("cost").at(figure) = row.at("cost").at(figure).get<double>() * 1.5;
    }
    const fs::path file = scratch / (std::string(figure) + "_" + profile.filename().string());
    tools::write_file(file, wide.dump());
    return file.string();
  };
  const std::pair<std::string, const char*> cases[] = {
      {" --device_times float=" + widened(in_float, "flops") + int8_times, "c2 takes"},
      {" --device_times float=" + widened(in_float, "bytes") + int8_times,
       "bytes in the profile, but"},
      {" --device_times float=" + in_float.string() +
           " --device_times int8=" + widened(in_int8, "flops"),
       "FLOPs in the profile, but"},
      {" --device_times float=" + other.string() + int8_times, "the profile is of another model"},
      {" --device_times float=" + in_int8.string() + int8_times,
       "expected a profile of the model in float, but the profile has quantized operators"},
      {" --device_times int8=" + in_float.string(), "the profile has no quantized operators"},
      {" --device_times int9=" + in_int8.string(), "expected SCHEME=FILE; the schemes of this"},
      {times + int8_times, "int8 already has a profile"},
      {int8_times, "expected float=FILE and a profile of at least one other scheme"},
      {" --device_times float=" + searched_sample("model.pt2").string(),
       "expected the profile of a device (JSON)"},
  };
  for (const auto& [options, message] : cases) {
    EXPECT_THAT(search(auto_options("--at_most_ms 1000", program) + options),
                Exits(1, HasSubstr(message)))
        << options;
    EXPECT_FALSE(fs::exists(program));
  }
}

// The inputs are about 1e5, which overflows in f16.
TEST_F(AutoPrecisionTest, PartsThatOverflowInF16AreTriedInBf16) {
  std::vector<float> values = read_floats(sample("encoder_layer/input_0.bin"));
  for (float& value : values) value *= 1e5F;
  tools::write_file(scratch / "0.bin", std::as_bytes(std::span(values)));
  const fs::path report = scratch / "r.json";
  succeeded(run_tool(VITRINE_PTE_LOWER,
                     (samples_dir() / "encoder_layer" / "model.pt2").string() +
                         " --backend xnnpack --quantize auto --at_least 20dB --calibrate " +
                         (scratch / "0.bin").string() + " --search_report " + report.string() +
                         " -o " + (scratch / "a.pte").string()));
  size_t overflows = 0;
  const nlohmann::json found = nlohmann::json::parse(read_text(report));
  for (const auto& part : found.at("parts")) {
    std::map<std::string, bool> is_finite;
    for (const auto& level : part.at("levels")) {
      is_finite[level.at("scheme")] = level.at("db_alone").is_number();
    }
    EXPECT_EQ(is_finite.contains("bf16"), !is_finite.at("f16")) << part.at("name");
    EXPECT_TRUE(is_finite.at("f16") || is_finite.at("bf16")) << part.at("name");
    overflows += is_finite.at("f16") ? 0 : 1;
  }
  EXPECT_GT(overflows, 0u);
}

TEST_F(AutoPrecisionTest, ScoreOfTheAccuracyCommandReplacesTheSqnr) {
  // The command prints the score 1 and fails only for an empty program. Every program that is not
  // empty therefore meets the bound of 0.5.
  succeeded(search(auto_options("--at_least 0.5", scratch / "a.pte") +
                   " --accuracy 'echo score 1; test -s'"));
  EXPECT_TRUE(fs::exists(scratch / "a.pte"));
}

TEST_F(AutoPrecisionTest, InvalidOptionsAreErrors) {
  const fs::path out = scratch / "a.pte";
  const std::pair<std::string, const char*> cases[] = {
      {auto_options("", out), "needs one bound"},
      {auto_options("--at_least 3dB --at_most_ms 1", out), "needs one bound"},
      {auto_options("--at_least 35", out), "--at_least 35: expected decibels"},
      {auto_options("--at_least 0.9dB --accuracy true", out), "expected a score"},
      {auto_options("--at_most_bytes 2XB", out), "--at_most_bytes 2XB: expected a size"},
      {auto_options("--at_most_ms 0", out), "must be above 0"},
      {auto_options("--at_least 3dB --keep c1=float", out), "--keep cannot be combined with"},
      {auto_options("--at_least 1 --accuracy false", out), "the command failed with exit code 1"},
      {auto_options("--at_least 1 --accuracy 'echo no;:'", out), "found \"no\""},
      {"--quantize auto --at_least 3dB -o " + out.string(), "needs calibration data"},
      {"--at_least 3dB -o " + out.string(), "need --quantize auto"},
  };
  for (const auto& [options, message] : cases) {
    EXPECT_THAT(search(options), Exits(testing::Ne(0), HasSubstr(message))) << options;
  }
  EXPECT_TRUE(fs::is_empty((scratch / "")));
}

}  // namespace
}  // namespace vitrine::test
