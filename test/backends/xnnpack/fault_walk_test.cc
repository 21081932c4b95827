// Makes each allocation fail in turn while a program is loaded and then executed with three shapes.
// The allocations are those of the runtime, the kernels, the delegates and XNNPACK. Each call must
// either report lack of memory or compute correct outputs, and later calls must compute correct
// outputs.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xnnpack.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>

#include "backends/xnnpack/runtime/execution/memory_reserve.h"
#include "backends/xnnpack/runtime/execution/operator_times.h"
#include "backends/xnnpack/runtime/execution/xnnpack_backend.h"
#include "kernels/portable/portable_kernels.h"
#include "test/backends/xnnpack/fault_walk_models.h"
#include "test/support/allocation_counter.h"
#include "test/support/corpus.h"
#include "test/support/scratch_folder.h"
#include "test/support/tensor_factory.h"
#include "vitrine/kernels.h"
#include "vitrine/method.h"
#include "vitrine/shared_state.h"
#include "vitrine/thread_pool.h"

namespace vitrine::test {
namespace {

using Output = std::vector<std::byte>;

struct Model {
  const char* name;                  // name of the test
  const char* folder = "";           // folder of a sample, or
  const char* corpus = "";           // folder of a corpus case, or
  AlignedBytes (*make)() = nullptr;  // function that makes the program
  bool traced = false;               // true if the method has a tracer
  bool cache_file = false;
  bool optimized = false;  // true if optimized kernels are registered
  size_t threads = 1;
  // The minimum number of executions that allocate; 0 means that no execution may allocate.
  // Delegates with fixed sizes allocate only during loading.
  int allocating = 1;
  bool resizes_windows = false;
};

std::ostream& operator<<(std::ostream& out, const Model& model) { return out << model.name; }

constexpr Model kModels[] = {
    {"Portable", "digits_portable"},
    {.name = "Elementwise", .folder = "add_mul", .allocating = 0},
    {.name = "Delegated", .folder = "dynamic_batch_xnnpack", .allocating = 2},
    {.name = "DelegatedAndTraced", .folder = "dynamic_batch_xnnpack", .traced = true},
    {.name = "WeightsInAFile", .folder = "digits_xnnpack", .cache_file = true, .allocating = 0},
    {.name = "Quantized", .folder = "digits_xnnpack_q8", .allocating = 0},
    {.name = "OptimizedKernels", .folder = "digits_portable", .optimized = true},
    {.name = "TwoThreads", .folder = "digits_portable", .optimized = true, .threads = 2},
    {.name = "DelegatedOnTwoThreads", .folder = "digits_xnnpack", .threads = 2, .allocating = 0},
    {.name = "SharedState", .make = methods_that_share_state, .allocating = 0},
    {.name = "DynamicallyQuantizedLinear", .make = dynamically_quantized_linear, .allocating = 2},
    {.name = "DynamicallyQuantizedConvolutions",
     .make = dynamically_quantized_convolutions,
     .allocating = 3,
     .resizes_windows = true},
    {.name = "TwoDelegates", .make = two_delegates, .allocating = 2},
    {.name = "Windows", .make = windows, .allocating = 3, .resizes_windows = true},
    {.name = "Lstm", .make = lstm, .optimized = true},
    {.name = "ControlFlow", .make = two_branches, .allocating = 3},
    {.name = "TwoDelegatesOfStaticShape", .corpus = "split_concat_pool", .allocating = 0},
    {.name = "DynamicallyQuantizedLayers", .corpus = "mlp_dynq", .allocating = 0},
    {.name = "LstmInManyDelegates", .corpus = "ops_xnnpack/lstm__f32", .allocating = 0},
};

class SilentTracer final : public EventTracer {
 public:
  void begin_block(const char*) override {}
  void record(const TraceRecord&) override {}
};

class FaultWalkTest : public testing::TestWithParam<Model> {
 protected:
  void SetUp() override {
    const std::string corpus = GetParam().corpus;
    if (!corpus.empty()) VITRINE_NEEDS_CORPUS();
    if (GetParam().make != nullptr) {
      made_ = GetParam().make();
    } else {
      const auto folder =
          corpus.empty() ? samples_dir() / GetParam().folder : corpus_dir() / corpus;
      model_ = (folder / "model.pte").string();
      const bool exists = std::filesystem::exists(model_);
      ASSERT_TRUE(exists || !corpus.empty()) << model_;
      if (!exists) GTEST_SKIP() << "this corpus lacks " << model_;
    }
    if (GetParam().threads > 1) {
      auto pool = ThreadPool::create(GetParam().threads, ThreadPool::Use::kAlways);
      ASSERT_TRUE(pool.ok()) << pool.error().message();
      pool_ = std::move(*pool);
    }
    cache_path_ = (scratch_ / "weights").string();
    options_ = {{"XnnpackBackend", "packed_cache_path", std::string_view(cache_path_)}};
    ASSERT_TRUE(backends_.add(&xnnpack_backend()).ok());
    if (GetParam().optimized) {
      ASSERT_TRUE(kernels_.add("optimized", optimized::kernels()).ok());
    }
    ASSERT_TRUE(kernels_.add("portable", portable::kernels()).ok());
  }

  // Loads the method with a new shared state, which replaces the shared state in `state_`.
  Result<std::unique_ptr<Method>> load() {
    VITRINE_ASSIGN_OR_RETURN(std::unique_ptr<DataSource> file,
                             model_.empty() ? view_buffer(made_) : map_file(model_.c_str()));
    VITRINE_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program,
                             Program::load(std::move(file)));
    VITRINE_ASSIGN_OR_RETURN(state_, SharedState::create(program));
    MethodOptions options;
    options.shared_state = state_.get();
    options.pool = pool_.get();
    options.kernels = &kernels_;
    options.backends = &backends_;
    options.check_plan = &refuse_overlaps;
    if (GetParam().traced) options.tracer = &tracer_;
    if (GetParam().cache_file) options.backend_options = options_;
    return Method::load(std::move(program), "forward", options);
  }
  std::unique_ptr<Method> load_well() {
    Result<std::unique_ptr<Method>> method = load();
    EXPECT_TRUE(method.ok()) << method.error().message();
    return method.ok() ? std::move(*method) : nullptr;
  }

  // Makes the `fault`-th allocation of the execution fail; 0 means none.
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

  static void expect_lack_of_memory(const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::kMemoryAllocationFailed ||
                error.code() == ErrorCode::kDelegateMemoryAllocationFailed)
        << error_code_name(error.code()) << ": " << error.message();
    EXPECT_STRNE(error.message(), "");
  }

  void expect_right(Method& method, int32_t batch, const Output& expected) {
    Output output;
    const Error error = run(method, batch, 0, &output);
    EXPECT_TRUE(error.ok()) << error.message();
    EXPECT_EQ(output, expected);
  }

  // Returns true if the method rejects all calls after a failure. Builds without XNNPACK's private
  // headers do so, because they cannot make XNNPACK plan its memory again.
  bool is_dead(Method& method, int32_t batch) {
    Output ignored;
    return !xnnpack::operator_times_are_measured() &&
           run(method, batch, 0, &ignored).code() == ErrorCode::kInvalidState;
  }

  // Returns an input. Dim 0 of a dynamic tensor has the size `batch`. A bool is true if `batch` is
  // odd.
  const EValue& input(const MethodMeta& meta, size_t index, int32_t batch) {
    const auto key = std::pair(index, batch);
    if (const auto known = inputs_.find(key); known != inputs_.end()) return known->second;
    const TensorInfo info = meta.input_tensor(index);
    std::vector<int32_t> sizes(info.sizes.begin(), info.sizes.end());
    if (info.dynamism != ShapeDynamism::kStatic) sizes[0] = batch;
    Tensor& tensor = factory_.make(info.dtype, sizes);
    const bool is_true = info.dtype == ScalarType::kBool && batch % 2 == 1;
    std::memset(tensor.mutable_raw_data(), is_true ? 1 : 0, tensor.nbytes());
    for (int64_t k = 0; k < tensor.numel() && info.dtype == ScalarType::kFloat; ++k) {
      tensor.mutable_data<float>()[k] = static_cast<float>(k % 17) / 8 - 1;
    }
    return inputs_.emplace(key, EValue(&tensor)).first->second;
  }

  TensorFactory factory_;
  ScratchFolder scratch_;
  std::string model_;  // path of the model, or empty
  AlignedBytes made_;  // the program if it has no path
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<SharedState> state_;
  std::string cache_path_;
  std::vector<BackendOption> options_;
  KernelRegistry kernels_;
  BackendRegistry backends_;
  SilentTracer tracer_;
  std::map<std::pair<size_t, int32_t>, EValue> inputs_;
};

TEST_P(FaultWalkTest, LoadReportsFailedAllocations) {
  Output expected;
  ASSERT_TRUE(run(*load_well(), 1, 0, &expected).ok());
  int failures = 0;
  int rejections = 0;
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
      expect_lack_of_memory(method.error());
      ++rejections;
      if (n % 8 == 0) expect_right(*load_well(), 1, expected);
    }
    if (HasFailure()) return;
  }
  EXPECT_GE(rejections, 4);
  std::cout << GetParam() << ": " << failures << " allocations of loading failed, " << rejections
            << " rejections\n";
}

// Each load runs in a new process, because XNNPACK allocates tables only at the first load in a
// process. A crash ends only that process. Worker threads do not survive fork(), so the models have
// one thread.
class FirstLoadFaultWalkTest : public FaultWalkTest {};
TEST_P(FirstLoadFaultWalkTest, ReportsFailedAllocations) {
  // No allocation of this call may fail: if the call ran out of memory, XNNPACK would report an
  // unknown processor.
  ASSERT_EQ(xnn_initialize(&xnnpack::reserving_allocator()), xnn_status_success);
  constexpr int kNothingFailed = 2;
  int status = 0;
  for (int n = 1; WIFEXITED(status) && WEXITSTATUS(status) == 0; ++n) {
    SCOPED_TRACE(n);
    if (GetParam().cache_file) std::filesystem::remove(cache_path_);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      fail_allocation(n);
      const Result<std::unique_ptr<Method>> method = load();
      const bool failed = allocation_has_failed();
      fail_allocation(0);
      if (!method.ok()) expect_lack_of_memory(method.error());
      _exit(HasFailure() ? 1 : failed ? 0 : kNothingFailed);
    }
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  }
  EXPECT_EQ(WEXITSTATUS(status), kNothingFailed);
}

TEST_P(FaultWalkTest, ExecutionReportsFailedAllocations) {
  if (GetParam().resizes_windows && !xnnpack::operator_times_are_measured()) {
    GTEST_SKIP() << "needs XNNPACK's private headers";
  }
  constexpr std::array<int32_t, 3> kBatches = {1, 4, 3};
  std::array<Output, 3> expected;
  {
    auto pristine = load_well();
    for (size_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(run(*pristine, kBatches[i], 0, &expected[i]).ok());
    }
    const int before = allocation_count();
    pristine.reset();
    EXPECT_EQ(allocation_count(), before) << "unloading allocates";
  }
  std::array<int, 3> failures{};
  for (size_t faulty = 0; faulty < 3; ++faulty) {
    for (int n = 1;; ++n) {
      SCOPED_TRACE(n);
      const auto method = load_well();
      for (size_t i = 0; i < faulty; ++i) expect_right(*method, kBatches[i], expected[i]);
      Output output;
      bool failed = false;
      const Error error = run(*method, kBatches[faulty], n, &output, &failed);
      if (!failed) break;
      ++failures[faulty];
      if (error.ok()) {
        EXPECT_EQ(output, expected[faulty]);
      } else {
        expect_lack_of_memory(error);
      }
      const bool dead = is_dead(*method, kBatches[faulty]);
      for (size_t i = faulty; i < 3; ++i) {
        if (dead) {
          EXPECT_TRUE(is_dead(*method, kBatches[i]));
        } else {
          expect_right(*method, kBatches[i], expected[i]);
        }
      }
      if (HasFailure()) return;
    }
  }
  const auto allocating = std::ranges::count_if(failures, [](int count) { return count > 0; });
  EXPECT_GE(allocating, GetParam().allocating);
  if (GetParam().allocating == 0) {
    EXPECT_EQ(allocating, 0);
  }
  std::cout << GetParam() << ": " << testing::PrintToString(failures)
            << " allocations of three executions failed\n";
}

std::vector<Model> models_with_one_thread() {
  std::vector<Model> models;
  std::ranges::copy_if(kModels, std::back_inserter(models),
                       [](const Model& model) { return model.threads == 1; });
  return models;
}

std::string name_of(const testing::TestParamInfo<Model>& each) { return each.param.name; }
INSTANTIATE_TEST_SUITE_P(Models, FaultWalkTest, testing::ValuesIn(kModels), name_of);
INSTANTIATE_TEST_SUITE_P(Models, FirstLoadFaultWalkTest,
                         testing::ValuesIn(models_with_one_thread()), name_of);

}  // namespace
}  // namespace vitrine::test
