// Every allocation of a program's life fails in turn: of the runtime, its kernels, its delegates
// and XNNPACK, while it is loaded, in three executions with other shapes in between, and when it is
// unloaded. Each failure is an error that says something, after which the same method gives the
// right outputs.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>

#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "kernels/portable/portable_kernels.h"
#include "test/support/allocation_counter.h"
#include "test/support/corpus.h"
#include "test/support/scratch_folder.h"
#include "test/support/tensor_factory.h"
#include "vitrine/method.h"

namespace vitrine::test {
namespace {

using Output = std::vector<std::byte>;

struct Model {
  const char* name;  // of the test
  const char* folder;
  bool is_sample = true;  // else of the corpus
  bool traced = false;    // delegates log their plan, and time their operators
  bool cache_file = false;
};

std::ostream& operator<<(std::ostream& out, const Model& model) { return out << model.name; }

constexpr Model kModels[] = {
    {"Portable", "digits_portable"},
    {"Elementwise", "add_mul"},
    {"Delegated", "dynamic_batch_xnnpack"},
    {"DelegatedAndTraced", "dynamic_batch_xnnpack", true, true},
    {"WeightsInAFile", "digits_xnnpack", true, false, true},
    {"Quantised", "digits_xnnpack_q8"},
    {"DynamicBatch", "dynamic_batch_portable", false},
    {"TwoDelegatesInAWorkspace", "split_concat_pool", false},
    {"DynamicallyQuantised", "mlp_dynq", false},
    {"Lstm", "lstm_portable", false},
    {"LstmInManyDelegates", "ops_xnnpack/lstm__f32", false},
    {"ControlFlow", "cond_model", false},
};

class SilentTracer final : public EventTracer {
 public:
  void begin_block(const char*) override {}
  void record(const TraceRecord&) override {}
};

class FaultWalkTest : public testing::TestWithParam<Model> {
 protected:
  void SetUp() override {
    if (!GetParam().is_sample) VITRINE_NEEDS_CORPUS();
    const auto root = GetParam().is_sample ? samples_dir() : corpus_dir();
    model_ = (root / GetParam().folder / "model.pte").string();
    const bool is_there = std::filesystem::exists(model_);
    ASSERT_TRUE(is_there || !GetParam().is_sample) << model_;
    if (!is_there) GTEST_SKIP() << "this corpus lacks " << model_;
    cache_path_ = (scratch_ / "weights").string();
    options_ = {{"XnnpackBackend", "packed_cache_path", std::string_view(cache_path_)}};
    ASSERT_TRUE(backends_.add(&xnnpack_backend()).ok());
    ASSERT_TRUE(kernels_.add("portable", portable::kernels()).ok());
  }

  Result<std::unique_ptr<Method>> load() {
    VITRINE_ASSIGN_OR_RETURN(std::unique_ptr<DataSource> file, map_file(model_.c_str()));
    VITRINE_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program,
                             Program::load(std::move(file)));
    MethodOptions options;
    options.kernels = &kernels_;
    options.backends = &backends_;
    options.check_plan = refuse_overlaps;
    if (GetParam().traced) options.tracer = &tracer_;
    if (GetParam().cache_file) options.backend_options = options_;
    return Method::load(std::move(program), "forward", options);
  }
  std::unique_ptr<Method> load_well() {
    Result<std::unique_ptr<Method>> method = load();
    EXPECT_TRUE(method.ok()) << method.error().message();
    return method.ok() ? std::move(*method) : nullptr;
  }

  // Of a batch if that may change. The `fault`-th allocation of the execution fails; 0: none.
  Error run(Method& method, int32_t batch, int fault, Output* output, bool* failed = nullptr) {
    for (size_t i = 0; i < method.num_inputs(); ++i) {
      VITRINE_RETURN_IF_ERROR(method.set_input(i, input(method.meta(), i, batch)));
    }
    fail_allocation(fault);
    Error error = method.execute();
    if (failed != nullptr) *failed = allocation_has_failed();
    fail_allocation(0);
    output->clear();
    for (size_t i = 0; error.ok() && i < method.num_outputs(); ++i) {
      if (!method.output(i).is_tensor()) continue;
      const Tensor& result = method.output(i).unchecked_tensor();
      const auto* bytes = static_cast<const std::byte*>(result.raw_data());
      output->insert(output->end(), bytes, bytes + result.nbytes());
    }
    return error;
  }

  void expect_right(Method& method, int32_t batch, const Output& expected) {
    Output output;
    const Error error = run(method, batch, 0, &output);
    EXPECT_TRUE(error.ok()) << error.message();
    EXPECT_EQ(output, expected);
  }

  const EValue& input(const MethodMeta& meta, size_t index, int32_t batch) {
    const auto key = std::pair(index, batch);
    if (const auto known = inputs_.find(key); known != inputs_.end()) return known->second;
    const TensorInfo info = meta.input_tensor(index);
    std::vector<int32_t> sizes(info.sizes.begin(), info.sizes.end());
    if (index == 0 && info.dynamism != ShapeDynamism::kStatic) sizes[0] = batch;
    Tensor& tensor = factory_.make(info.dtype, sizes);
    std::memset(tensor.mutable_raw_data(), 0, tensor.nbytes());
    for (int64_t k = 0; k < tensor.numel() && info.dtype == ScalarType::kFloat; ++k) {
      tensor.mutable_data<float>()[k] = static_cast<float>(k % 17) / 8 - 1;
    }
    return inputs_.emplace(key, EValue(&tensor)).first->second;
  }

  TensorFactory factory_;
  ScratchFolder scratch_;
  std::string model_;
  std::string cache_path_;
  std::vector<BackendOption> options_;
  KernelRegistry kernels_;
  BackendRegistry backends_;
  SilentTracer tracer_;
  std::map<std::pair<size_t, int32_t>, EValue> inputs_;
};

TEST_P(FaultWalkTest, Loading) {
  Output expected;
  ASSERT_TRUE(run(*load_well(), 1, 0, &expected).ok());
  int failures = 0;
  int refusals = 0;
  for (int n = 1;; ++n) {
    SCOPED_TRACE(n);
    if (GetParam().cache_file) std::filesystem::remove(cache_path_);
    fail_allocation(n);
    Result<std::unique_ptr<Method>> method = load();
    const bool failed = allocation_has_failed();
    fail_allocation(0);
    if (!failed) break;
    ++failures;
    if (method.ok()) {
      expect_right(**method, 1, expected);
    } else {
      EXPECT_NE(method.error().code(), ErrorCode::kOk);
      ++refusals;
      if (n % 8 == 0) expect_right(*load_well(), 1, expected);
    }
    if (HasFailure()) return;
  }
  EXPECT_GE(refusals, 4);
  std::cout << GetParam() << ": " << failures << " allocations of loading failed, " << refusals
            << " refusals\n";
}

TEST_P(FaultWalkTest, ExecutingAndUnloading) {
  constexpr std::array<int32_t, 3> kBatches = {1, 4, 2};
  std::array<Output, 3> expected;
  const auto pristine = load_well();
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(run(*pristine, kBatches[i], 0, &expected[i]).ok());
  }
  int failures = 0;
  for (size_t faulty = 0; faulty < 3; ++faulty) {
    for (int n = 1;; ++n) {
      SCOPED_TRACE(n);
      const auto method = load_well();
      for (size_t i = 0; i < faulty; ++i) expect_right(*method, kBatches[i], expected[i]);
      Output output;
      bool failed = false;
      const Error error = run(*method, kBatches[faulty], n, &output, &failed);
      if (!failed) break;
      ++failures;
      EXPECT_EQ(output, error.ok() ? expected[faulty] : Output());
      for (size_t i = faulty; i < 3; ++i) expect_right(*method, kBatches[i], expected[i]);
      if (HasFailure()) return;
    }
  }
  int unloading = 0;
  for (bool failed = true; failed; unloading += failed ? 1 : 0) {
    auto method = load_well();
    fail_allocation(unloading + 1);
    method.reset();
    failed = allocation_has_failed();
    fail_allocation(0);
  }
  expect_right(*load_well(), 1, expected[0]);
  std::cout << GetParam() << ": " << failures << " allocations of three executions failed, "
            << unloading << " of unloading\n";
}

INSTANTIATE_TEST_SUITE_P(Models, FaultWalkTest, testing::ValuesIn(kModels),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace vitrine::test
