// Tests the C API and the C++ API while each allocation fails in turn. Loads a module, calls it and
// writes its profile. Each step must either succeed or report an error. After an error, the test
// continues with the same module and expects the correct outputs and profile.
#include <gtest/gtest.h>

#include <iostream>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/support/allocation_counter.h"
#include "test/support/corpus.h"
#include "test/support/program_builder.h"
#include "vitrine.h"
#include "vitrine/module.h"

namespace vitrine::test {
namespace {

// The outcome of a run: whether an allocation failed, and whether all calls succeeded. walk() calls
// `run(n)` for n = 0, 1, 2, ... until a run with n > 0 has no failed allocation. `run(n)` must make
// its n-th allocation fail; `run(0)` must make none fail.
struct Outcome {
  bool failed = false;
  bool went_well = false;
};
template <class Run>
void walk(const Run& run) {
  int failures = 0;
  int refusals = 0;
  ASSERT_TRUE(run(0).went_well);
  for (int n = 1;; ++n) {
    SCOPED_TRACE(n);
    const Outcome outcome = run(n);
    if (!outcome.failed) {
      EXPECT_TRUE(outcome.went_well);
      break;
    }
    ++failures;
    refusals += outcome.went_well ? 0 : 1;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GE(refusals, 4);
  std::cout << failures << " allocations failed, " << refusals << " errors reported\n";
}

Outcome end_of_faults(bool went_well) {
  const bool failed = allocation_has_failed();
  fail_allocation(0);
  return {failed, went_well};
}

// The following helpers use the C API.

bool took(vitrine_error* error) {
  const bool went_well = error == nullptr;
  if (!went_well) {
    const auto code = static_cast<ErrorCode>(vitrine_error_code(error));
    EXPECT_TRUE(code == ErrorCode::kMemoryAllocationFailed ||
                code == ErrorCode::kDelegateMemoryAllocationFailed)
        << vitrine_error_message(error);
    EXPECT_STRNE(vitrine_error_message(error), "");
  }
  vitrine_error_free(error);
  return went_well;
}

struct Steps {
  vitrine_options options = VITRINE_OPTIONS_INIT;
  vitrine_module* module = nullptr;
  vitrine_value input{};
  vitrine_value output{};
  char* json = nullptr;

  ~Steps() {
    vitrine_string_free(json);
    vitrine_value_clear(&output);
    vitrine_value_clear(&input);
    vitrine_module_free(module);
  }

  // Finishes loading, makes a call, and writes the profile of the call.
  bool go(const char* path) {
    vitrine_info info{};
    input.kind = VITRINE_ARRAY;
    return (module != nullptr || took(vitrine_module_load_file(path, &options, &module))) &&
           (input.as.array != nullptr ||
            (took(vitrine_method_input(module, "forward", 0, &info)) &&
             took(vitrine_array_new(info.dtype, info.sizes, info.rank, &input.as.array)))) &&
           call() && (options.profile == 0 || write_profile());
  }
  bool call() {
    vitrine_value_clear(&output);
    return took(vitrine_module_call(module, "forward", &input, 1, &output, 1));
  }
  bool write_profile() {
    vitrine_string_free(std::exchange(json, nullptr));
    return took(vitrine_module_profile_json(module, &json));
  }
  // Returns the profile without its times.
  std::string profile() const {
    return std::regex_replace(json == nullptr ? "" : json, std::regex("_ns\": *[0-9]+"), "");
  }
  std::string_view output_bytes() const {
    return {static_cast<const char*>(vitrine_array_data(output.as.array)),
            vitrine_array_nbytes(output.as.array)};
  }
};

void walk_c(const char* sample_name, int profile) {
  const std::string path = sample(std::string(sample_name) + "/model.pte");
  const vitrine_backend_option cache = {
      "XnnpackBackend", "weight_cache_enabled", VITRINE_BOOLEAN, {1}};
  std::string output;
  std::string profile_json;
  int incomplete = 0;
  walk([&](int n) {
    Steps steps;
    steps.options.threads = 1;
    steps.options.profile = profile;
    steps.options.backend_options = &cache;
    steps.options.num_backend_options = 1;
    fail_allocation(n);
    const Outcome outcome = end_of_faults(steps.go(path.c_str()));
    if (!outcome.went_well) {
      if (profile != 0 && steps.module != nullptr) {
        if (!steps.write_profile()) {  // the profile lacks a row, and later calls do not add it
          ++incomplete;
          EXPECT_TRUE(steps.call());
          EXPECT_FALSE(steps.write_profile());
        }
        EXPECT_TRUE(took(vitrine_module_profile_reset(steps.module)));
      }
      EXPECT_TRUE(steps.go(path.c_str()));
    }
    if (n == 0) {
      output = steps.output_bytes();
      profile_json = steps.profile();
    }
    EXPECT_EQ(steps.output_bytes(), output);
    EXPECT_EQ(steps.profile(), profile_json);
    return outcome;
  });
  EXPECT_EQ(incomplete > 0, profile != 0);
}

TEST(ApiFaultTest, KernelsReportEachFailedAllocation) { walk_c("linear_relu", 0); }
TEST(ApiFaultTest, ProfiledKernelsReportEachFailedAllocation) { walk_c("linear_relu", 1); }
TEST(ApiFaultTest, DelegateReportsEachFailedAllocation) { walk_c("digits_xnnpack", 0); }
TEST(ApiFaultTest, ProfiledDelegateReportsEachFailedAllocation) { walk_c("digits_xnnpack", 1); }

TEST(ApiFaultTest, LoadingDataFilesReportsEachFailedAllocation) {
  const std::string path = sample("linear_relu/model.pte");
  const char* const files[] = {path.c_str()};
  for (int n = 1;; ++n) {
    vitrine_options options = VITRINE_OPTIONS_INIT;
    options.data_files = files;
    options.num_data_files = 1;
    vitrine_module* module = nullptr;
    fail_allocation(n);
    vitrine_error* error = vitrine_module_load_file(path.c_str(), &options, &module);
    const bool failed = end_of_faults(true).failed;
    EXPECT_NE(error, nullptr);
    vitrine_error_free(error);
    if (!failed) break;
  }
}

// The strings are too long for the internal buffer of a std::string, so they are allocated.
AlignedBytes program_of_strings() {
  ProgramBuilder builder;
  MethodSpec& method = builder.method("forward");
  method.buffer_sizes = {0, 32};
  const int x = method.tensor({.sizes = {2}, .planned = Planned{1, 0}});
  method.inputs = {x, method.string("the string that it was exported with")};
  method.outputs = {x, method.string("a string that comes out of it"), method.integer(3)};
  return builder.build();
}

TEST(ApiFaultTest, CModulesWithStringsReportEachFailedAllocation) {
  const AlignedBytes program = program_of_strings();
  walk([&](int n) {
    vitrine_module* module = nullptr;
    const int32_t size = 2;
    vitrine_value inputs[2] = {};
    vitrine_value outputs[3] = {};
    inputs[0].kind = VITRINE_ARRAY;
    inputs[1].kind = VITRINE_STRING;
    char text[] = "the string that it was exported with";
    inputs[1].as.string = text;
    vitrine_options options = VITRINE_OPTIONS_INIT;
    options.threads = 1;
    outputs[2].kind = VITRINE_OTHER;
    const auto go = [&] {
      vitrine_array*& array = inputs[0].as.array;
      return (module != nullptr || took(vitrine_module_load_memory(program.data(), program.size(),
                                                                   &options, &module))) &&
             (array != nullptr || took(vitrine_array_new(VITRINE_F32, &size, 1, &array))) &&
             took(vitrine_module_call(module, "forward", inputs, 2, outputs, 3));
    };
    fail_allocation(n);
    const Outcome outcome = end_of_faults(go());
    if (!outcome.went_well) {
      EXPECT_EQ(outputs[2].kind, VITRINE_OTHER);  // a failed call must not change outputs
      EXPECT_TRUE(go());
    }
    EXPECT_STREQ(outputs[1].as.string, "a string that comes out of it");
    EXPECT_EQ(outputs[2].as.integer, 3);
    for (vitrine_value& output : outputs) vitrine_value_clear(&output);
    vitrine_array_free(inputs[0].as.array);
    vitrine_module_free(module);
    return outcome;
  });
}

TEST(ApiFaultTest, CppModulesReportEachFailedAllocation) {
  const AlignedBytes program = program_of_strings();
  walk([&](int n) {
    const Value text = "the string that it was exported with";
    std::vector<Value> inputs = {Value(), text};
    fail_allocation(n);
    auto array = Array::zeros(ScalarType::kFloat, {2});
    auto module = Module::load(program, {.threads = 1});
    if (!array.ok() || !module.ok()) {
      EXPECT_EQ((array.ok() ? module.error() : array.error()).code(),
                ErrorCode::kMemoryAllocationFailed);
      return end_of_faults(false);
    }
    inputs[0] = *array;
    auto outputs = module->forward(inputs);
    const Outcome outcome = end_of_faults(outputs.ok());
    if (!outcome.went_well) {
      EXPECT_EQ(outputs.error().code(), ErrorCode::kMemoryAllocationFailed);
      outputs = module->forward(inputs);
    }
    EXPECT_TRUE(outputs.ok());
    if (!outputs.ok()) return outcome;
    EXPECT_EQ(*outputs->at(1).string(), "a string that comes out of it");
    return outcome;
  });
}

}  // namespace
}  // namespace vitrine::test
