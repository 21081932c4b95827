// Measures a step of the executor, untraced and traced, on a chain of 1000 one-element additions.
#include <benchmark/benchmark.h>

#include <cstring>

#include "bench/chain_program.h"
#include "bench/paired.h"
#include "formats/etdump/trace_buffer.h"
#include "host/host_tensor.h"
#include "host/tool_error.h"
#include "kernels/portable/portable_kernels.h"
#include "vitrine/method.h"

namespace vitrine::bench {
namespace {

using tools::check;

constexpr int kSteps = 1000;

class Chain {
 public:
  explicit Chain(EventTracer* tracer) : bytes_(make_chain_program(kSteps)) {
    std::memcpy(aligned_.owned_data(), bytes_.data(), bytes_.size());
    check(kernels_.add("portable", portable::kernels()));
    MethodOptions options;
    options.kernels = &kernels_;
    options.tracer = tracer;
    const auto program = check(Program::load(check(view_buffer(aligned_.bytes()))));
    method_ = check(Method::load(program, "forward", options));
    for (size_t i = 0; i < 2; ++i) check(method_->set_input(i, EValue(&one_.tensor())));
  }
  Method& method() { return *method_; }

 private:
  flatbuffers::DetachedBuffer bytes_;
  DataBuffer aligned_ = check(DataBuffer::allocate(bytes_.size()));
  KernelRegistry kernels_;
  tools::HostTensor one_{ScalarType::kFloat, std::array<int32_t, 1>{1}, std::array<uint8_t, 1>{0}};
  std::unique_ptr<Method> method_;
};

void BM_Step(benchmark::State& state) {
  Chain chain(nullptr);
  for (auto _ : state) check(chain.method().execute());
  state.counters["ns_per_step"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kSteps * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// ns_more: the cost of tracing per step.
void BM_TracedStep(benchmark::State& state) {
  TraceBuffer trace(2 * kSteps);
  Chain chain(&trace);
  run_paired(
      state,
      [&] {
        chain.method().set_tracer(nullptr);
        check(chain.method().execute());
      },
      [&] {
        trace.clear();
        chain.method().set_tracer(&trace);
        check(chain.method().execute());
      });
  state.counters["ns_more_per_step"] =
      (state.counters["subject_us"] - state.counters["baseline_us"]) * 1000 / kSteps;
}

BENCHMARK(BM_Step);
BENCHMARK(BM_TracedStep)->Iterations(2000);

}  // namespace
}  // namespace vitrine::bench

BENCHMARK_MAIN();
