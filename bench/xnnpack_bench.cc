// Measures what Vitrine adds to XNNPACK: delegates compared with bare XNNPACK runtimes of the same
// graphs, loading with and without a file of packed weights, and the memory of a process.
// Models: $VITRINE_BENCH_MODEL, else some of the corpus, else the sample mv2_025_xnnpack.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <vector>

#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "bench/bare_xnnpack.h"
#include "bench/paired.h"
#include "formats/etdump/trace_buffer.h"
#include "host/session.h"
#include "host/tensors.h"
#include "host/tool_error.h"
#include "schema/program_generated.h"
#include "test/support/corpus.h"
#include "test/support/scratch_folder.h"

namespace vitrine::bench {
namespace {

namespace fs = std::filesystem;
using tools::check;

// Examples of convolutional f32, convolutional int8, dynamic quantisation, and attention.
std::vector<fs::path> models() {
  if (const char* set = std::getenv("VITRINE_BENCH_MODEL")) return {set};
  const fs::path corpus = test::corpus_dir();
  if (corpus.empty()) return {test::samples_dir() / "mv2_025_xnnpack" / "model.pte"};
  std::vector<fs::path> paths;
  for (const char* name :
       {"mv2_xnnpack", "mv2_xnnpack_q8", "mlp_dynq", "softmax_layernorm_attention"}) {
    paths.push_back(corpus / name / "model.pte");
  }
  return paths;
}

// Runs the same through the backend, on the same memory.
class OwnDelegate {
 public:
  OwnDelegate(const Program& program, const DataBuffer& payload, ThreadPool& pool,
              std::vector<Array>& arguments) {
    BackendInitContext context;
    context.named_data = &program.named_data();
    context.pool = &pool;
    context.program = &program;
    delegate_ = check(xnnpack_backend().init(context, payload.bytes(), {}));
    for (Array& argument : arguments) values_.emplace_back(&argument.mutable_tensor());
    for (EValue& value : values_) arguments_.push_back(&value);
  }
  void execute() { check(delegate_->execute({}, arguments_)); }

 private:
  std::unique_ptr<Delegate> delegate_;
  std::deque<EValue> values_;
  std::vector<EValue*> arguments_;
};

// All delegates of a model, one after the other.
void bm_delegates_over_bare_xnnpack(benchmark::State& state, const fs::path& model) {
  const auto program = check(Program::load(check(map_file(model.c_str()))));
  const auto pool = check(ThreadPool::create(static_cast<size_t>(state.range(0))));
  const std::vector<DataBuffer> payloads = delegate_payloads(*program);
  std::deque<BareXnnpack> bare;
  std::deque<OwnDelegate> own;
  for (const DataBuffer& payload : payloads) {
    bare.emplace_back(*program, payload, pool->handle()).set_up();
    own.emplace_back(*program, payload, *pool, bare.back().arguments());
  }
  run_paired(
      state,
      [&] {
        for (BareXnnpack& each : bare) each.invoke();
      },
      [&] {
        for (OwnDelegate& each : own) each.execute();
      });
}

class LoadedModel {
 public:
  LoadedModel(const fs::path& model, size_t threads, EventTracer* tracer)
      : session_({model, {}, threads}), method_(session_.load_method("forward", tracer)) {
    for (size_t i = 0; i < method_->num_inputs(); ++i) {
      inputs_.push_back(tools::zeros_like(method_->meta().input_tensor(i)));
    }
  }
  void run(EventTracer* tracer) {
    // Each time: an execution may use the inputs' memory.
    for (size_t i = 0; i < inputs_.size(); ++i) {
      check(method_->set_input(i, EValue(&inputs_[i].mutable_tensor())));
    }
    method_->set_tracer(tracer);
    check(method_->execute());
  }

 private:
  tools::Session session_;
  std::unique_ptr<Method> method_;
  std::vector<Array> inputs_;
};

// Method::execute with and without a tracer, on the same instance.
void bm_traced_over_untraced(benchmark::State& state, const fs::path& model) {
  TraceBuffer trace(size_t{1} << 20);
  LoadedModel loaded(model, static_cast<size_t>(state.range(0)), &trace);
  run_paired(
      state, [&] { loaded.run(nullptr); }, [&] { loaded.run(&trace); });
}

void load_and_run(const fs::path& model, const std::string& weights_cache, bool run) {
  const BackendOption option{xnnpack::kBackendId, "packed_cache_path", weights_cache};
  tools::SessionOptions options{model, {}, 1};
  if (!weights_cache.empty()) options.backend_options = {option};
  tools::Session session(options);
  const std::unique_ptr<Method> method = session.load_method("forward");
  if (!run) return;
  std::vector<Array> inputs;
  for (size_t i = 0; i < method->num_inputs(); ++i) {
    inputs.push_back(tools::zeros_like(method->meta().input_tensor(i)));
    check(method->set_input(i, EValue(&inputs.back().mutable_tensor())));
  }
  check(method->execute());
}

struct Child {
  uint64_t load_ns = 0;
  uint64_t peak_bytes = 0;
};

// Runs in a separate process, as an app starts: with new memory, and files in the page cache.
Child in_new_process(const fs::path& model, const std::string& weights_cache, bool run) {
  int channel[2];
  if (pipe(channel) != 0) throw std::runtime_error("pipe");
  const pid_t child = fork();
  if (child == 0) {
    const uint64_t start = platform::now_ns();
    load_and_run(model, weights_cache, run);
    const uint64_t elapsed = platform::now_ns() - start;
    const bool written = write(channel[1], &elapsed, sizeof elapsed) == sizeof elapsed;
    _exit(written ? 0 : 1);
  }
  Child result;
  const bool read_all = read(channel[0], &result.load_ns, sizeof result.load_ns) ==
                        static_cast<ssize_t>(sizeof result.load_ns);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  close(channel[0]);
  close(channel[1]);
  if (!read_all || status != 0) throw std::runtime_error("the child process failed");
  result.peak_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  return result;
}

// Session and Method::load with a file of packed weights, compared with writing the file; also
// without one.
void bm_warm_over_cold_load(benchmark::State& state, const fs::path& model) {
  const test::ScratchFolder folder;
  const std::string cache = (folder / "weights").string();
  load_and_run(model, cache, false);
  std::vector<uint64_t> without;
  std::vector<uint64_t> cold;
  std::vector<uint64_t> warm;
  for (auto _ : state) {
    without.push_back(in_new_process(model, "", false).load_ns);
    fs::remove(cache);
    cold.push_back(in_new_process(model, cache, false).load_ns);
    warm.push_back(in_new_process(model, cache, false).load_ns);
  }
  const double base = median_ns(std::move(cold));
  const double own = median_ns(std::move(warm));
  state.counters["without_us"] = median_ns(std::move(without)) / 1000;
  state.counters["cold_us"] = base / 1000;
  state.counters["warm_us"] = own / 1000;
  state.counters["ratio"] = own / base;
}

// The peak memory of a process that loads and runs once; the program itself loads nothing.
void bm_peak_memory(benchmark::State& state, const fs::path& model) {
  const test::ScratchFolder folder;
  const std::string cache = (folder / "weights").string();
  load_and_run(model, cache, false);
  std::vector<uint64_t> without;
  std::vector<uint64_t> with;
  for (auto _ : state) {
    without.push_back(in_new_process(model, "", true).peak_bytes);
    with.push_back(in_new_process(model, cache, true).peak_bytes);
  }
  state.counters["without_MB"] = median_ns(std::move(without)) / 1e6;
  state.counters["with_cache_MB"] = median_ns(std::move(with)) / 1e6;
}

using Function = void (*)(benchmark::State&, const fs::path&);

benchmark::internal::Benchmark* add(const char* name, Function function, const fs::path& model) {
  const std::string full = std::string(name) + "/" + model.parent_path().filename().string();
  return benchmark::RegisterBenchmark(full.c_str(),
                                      [=](benchmark::State& state) { function(state, model); });
}

void register_all() {
  // Runs first, before this process has threads and much memory, because it forks.
  for (const fs::path& model : models()) {
    add("warm_over_cold_load", bm_warm_over_cold_load, model)->Iterations(40);
    add("peak_memory", bm_peak_memory, model)->Iterations(5);
  }
  for (const fs::path& model : models()) {
    for (const int threads : {1, 2}) {
      add("delegates_over_bare_xnnpack", bm_delegates_over_bare_xnnpack, model)
          ->Arg(threads)
          ->ArgName("threads")
          ->MinTime(3);
    }
  }
  for (const fs::path& model : models()) {
    for (const int threads : {1, 2}) {
      add("traced_over_untraced", bm_traced_over_untraced, model)
          ->Arg(threads)
          ->ArgName("threads")
          ->MinTime(2);
    }
  }
}

}  // namespace
}  // namespace vitrine::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  vitrine::bench::register_all();
  benchmark::RunSpecifiedBenchmarks();
}
