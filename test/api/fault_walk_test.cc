// Every allocation of loading a module, calling it and writing its profile fails in turn, by the
// API for C and by that for C++. Each failure is an error, after which the same steps give the
// right outputs.
#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <iostream>
#include <string>
#include <vector>

#include "test/support/allocation_counter.h"
#include "test/support/corpus.h"
#include "test/support/program_builder.h"
#include "vitrine.h"
#include "vitrine/module.h"

namespace vitrine::test {
namespace {

// Lets the allocations of `run(n)` fail one by one. It gives whether the n-th, 0 being none, has
// failed, and whether all went well.
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
    if (n % 8 == 0) {
      EXPECT_TRUE(run(0).went_well);
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GE(refusals, 4);
  std::cout << failures << " allocations failed, " << refusals << " refusals\n";
}

Outcome end_of_faults(bool went_well) {
  const bool failed = allocation_has_failed();
  fail_allocation(0);
  return {failed, went_well};
}

// From here on in C's terms.

bool took(vitrine_error* error) {
  const bool went_well = error == nullptr;
  vitrine_error_free(error);
  return went_well;
}

struct Step {
  vitrine_module* module = nullptr;
  vitrine_value input{};
  vitrine_value output{};
  char* profile = nullptr;

  bool go(const char* path, const vitrine_options& options) {
    vitrine_info info{};
    return took(vitrine_module_load_file(path, &options, &module)) &&
           took(vitrine_method_input(module, "forward", 0, &info)) &&
           took(vitrine_array_new(info.dtype, info.sizes, info.rank, &input.as.array)) &&
           took(vitrine_module_call(module, "forward", &input, 1, &output, 1)) &&
           (options.profile == 0 || took(vitrine_module_profile_json(module, &profile)));
  }
};

void walk_c(const char* sample_name, int profile) {
  const std::string path = sample(std::string(sample_name) + "/model.pte");
  std::vector<char> expected;
  walk([&](int n) {
    vitrine_options options = VITRINE_OPTIONS_INIT;
    options.threads = 1;
    options.profile = profile;
    const vitrine_backend_option cache = {
        "XnnpackBackend", "weight_cache_enabled", VITRINE_BOOLEAN, {1}};
    options.backend_options = &cache;
    options.num_backend_options = 1;
    Step step;
    step.input.kind = VITRINE_ARRAY;
    fail_allocation(n);
    const Outcome outcome = end_of_faults(step.go(path.c_str(), options));
    if (step.output.kind == VITRINE_ARRAY) {
      const auto* bytes = static_cast<const char*>(vitrine_array_data(step.output.as.array));
      std::vector<char> got(bytes, bytes + vitrine_array_nbytes(step.output.as.array));
      if (expected.empty()) expected = got;
      EXPECT_EQ(got, expected);
    }
    EXPECT_EQ(step.profile != nullptr, profile != 0 && outcome.went_well);
    vitrine_string_free(step.profile);
    vitrine_value_clear(&step.output);
    vitrine_value_clear(&step.input);
    vitrine_module_free(step.module);
    return outcome;
  });
}

TEST(ApiFaultTest, Kernels) { walk_c("linear_relu", 0); }
TEST(ApiFaultTest, KernelsWithAProfile) { walk_c("linear_relu", 1); }
TEST(ApiFaultTest, ADelegate) { walk_c("digits_xnnpack", 0); }
TEST(ApiFaultTest, ADelegateWithAProfile) { walk_c("digits_xnnpack", 1); }

TEST(ApiFaultTest, ErrorsOfDataFiles) {
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

// Strings are longer than what a std::string holds in itself.
AlignedBytes program_of_strings() {
  ProgramBuilder builder;
  MethodSpec& method = builder.method("forward");
  method.buffer_sizes = {0, 32};
  const int x = method.tensor({.sizes = {2}, .planned = Planned{1, 0}});
  method.inputs = {x, method.string("the string that it was exported with")};
  method.outputs = {x, method.string("a string that comes out of it"), method.integer(3)};
  return builder.build();
}

TEST(ApiFaultTest, StringsInC) {
  const AlignedBytes program = program_of_strings();
  walk([&](int n) {
    Step step;
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
    fail_allocation(n);
    const bool went_well =
        took(vitrine_module_load_memory(program.data(), program.size(), &options, &step.module)) &&
        took(vitrine_array_new(VITRINE_F32, &size, 1, &inputs[0].as.array)) &&
        took(vitrine_module_call(step.module, "forward", inputs, 2, outputs, 3));
    const Outcome outcome = end_of_faults(went_well);
    if (went_well) {
      EXPECT_STREQ(outputs[1].as.string, "a string that comes out of it");
      EXPECT_EQ(outputs[2].as.integer, 3);
    } else {
      EXPECT_EQ(outputs[2].kind, VITRINE_OTHER);  // unchanged
    }
    for (vitrine_value& output : outputs) vitrine_value_clear(&output);
    vitrine_array_free(inputs[0].as.array);
    vitrine_module_free(step.module);
    return outcome;
  });
}

TEST(ApiFaultTest, ModulesInCpp) {
  const AlignedBytes program = program_of_strings();
  walk([&](int n) {
    const std::vector<Value> strings = {"the string that it was exported with"};
    std::vector<Value> inputs = {Value(), strings[0]};
    bool went_well = false;
    fail_allocation(n);
    {
      auto array = Array::zeros(ScalarType::kFloat, {2});
      auto module = Module::load(program, {.threads = 1});
      if (array.ok() && module.ok()) {
        inputs[0] = *array;
        const auto outputs = module->forward(inputs);
        went_well = outputs.ok();
        const Outcome outcome = end_of_faults(went_well);
        if (went_well) {
          EXPECT_EQ(*outputs->at(1).string(), "a string that comes out of it");
        } else {
          EXPECT_EQ(outputs.error().code(), ErrorCode::kMemoryAllocationFailed);
        }
        return outcome;
      }
    }
    return end_of_faults(went_well);
  });
}

}  // namespace
}  // namespace vitrine::test
