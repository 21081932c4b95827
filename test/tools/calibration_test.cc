// Tests pte_lower --quantize int8. The program that it writes must return the results of PyTorch's
// quantized model, and errors must name the file of calibration data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "test/support/corpus.h"
#include "test/support/read_text.h"
#include "test/tools/command.h"
#include "test/tools/npy_file.h"
#include "tools/common/files.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

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

// Runs the program with both inputs and compares with PyTorch's quantized model.
void expect_pytorch_outputs(const fs::path& program) {
  const ScratchFolder scratch;
  for (const std::string call : {"", "_c1"}) {
    succeeded(executor_runner(program.string() + " --inputs " +
                              ptq_sample("input_0" + call + ".bin").string() + " --output_file " +
                              (scratch / "y").string()));
    const std::vector<float> found = read_floats(scratch / "y-0.bin");
    const std::vector<float> expected = read_floats(ptq_sample("expected_0" + call + ".bin"));
    ASSERT_EQ(found.size(), expected.size());
    const float step = 0.0334329F;  // the scale of the output
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 1.01F * step) << "element " << i;
    }
  }
}

TEST(CalibrationTest, ProgramsMatchPyTorch) {
  const ScratchFolder scratch;
  for (const std::string backend : {"none", "xnnpack"}) {
    EXPECT_THAT(
        quantize_sample(calibrate(ptq_sample("")), scratch / "m.pte",
                        " --explain=places --backend " + backend),
        Prints(testing::AllOf(
            HasSubstr("Int8: 7 calls. In float: 1."),
            HasSubstr(
                "1 x aten.sum.dim_IntList: int8 does not cover this operator\n    sum_1\n"))));
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
  EXPECT_THAT(lower(scratch / "data").err, HasSubstr("other.bin: the model has the inputs a, b; "
                                                     "end the name with _a or _0"));
}

TEST(CalibrationTest, AcceptsNumpyFiles) {
  const ScratchFolder scratch;
  for (const char* shape : {"2, 2, 8, 8", "2, 2, 8, 8,"}) {
    tools::write_file(scratch / "x.npy", npy_of("<f4", shape, 1024));
    succeeded(quantize_sample(calibrate(scratch / "x.npy"), scratch / "m.pte"));
  }
}

}  // namespace
}  // namespace vitrine::test
