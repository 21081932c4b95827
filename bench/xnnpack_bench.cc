// What Vitrine adds to XNNPACK: a delegated model against the bare XNNPACK runtime of its graph.
// Model: $VITRINE_BENCH_MODEL, else the corpus's mv2_xnnpack, else the sample mv2_025_xnnpack.
#include <benchmark/benchmark.h>
#include <xnnpack.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <vector>

#include "backends/xnnpack/runtime/blob.h"
#include "backends/xnnpack/runtime/constants.h"
#include "backends/xnnpack/runtime/graph_reader.h"
#include "backends/xnnpack/runtime/shape_inference.h"
#include "backends/xnnpack/runtime/subgraph.h"
#include "bench/paired.h"
#include "devtools/etdump/trace_buffer.h"
#include "test/support/corpus.h"
#include "tools/session.h"
#include "tools/tool_error.h"

namespace vitrine::bench {
namespace {

namespace fs = std::filesystem;
using tools::check;

fs::path model_path() {
  if (const char* set = std::getenv("VITRINE_BENCH_MODEL")) return set;
  const fs::path corpus = test::corpus_dir();
  return (corpus.empty() ? test::samples_dir() / "mv2_025_xnnpack" : corpus / "mv2_xnnpack") /
         "model.pte";
}

// The graph of a program's first delegate, run by XNNPACK and nothing else.
class BareRuntime {
 public:
  BareRuntime(const Program& program, pthreadpool_t pool) {
    if (xnn_initialize(nullptr) != xnn_status_success) throw std::runtime_error("xnn_initialize");
    const auto& delegate = *program.root().execution_plan()->Get(0)->delegates()->Get(0);
    const DataBuffer data = check(program.delegate_data(*delegate.processed()));
    const xnnpack::Blob blob = check(xnnpack::open_blob(data.bytes()));
    graph_ = check(xnnpack::read_graph(*blob.graph));
    check(constants_.load(blob, &program.named_data(), nullptr, limits_, graph_));
    std::vector<xnnpack::Shape> shapes;
    for (const xnnpack::Value& value : graph_.values) shapes.push_back(value.shape);
    check(xnnpack::infer_shapes(graph_, shapes, limits_));
    xnn_workspace_t workspace = nullptr;
    if (xnn_create_workspace(&workspace) != xnn_status_success)
      throw std::runtime_error("workspace");
    const xnnpack::WorkspaceHandle handle(workspace);
    runtime_ = std::move(
        check(xnnpack::build_runtime({graph_, shapes, workspace, nullptr, pool, /*profiling=*/false}))
            .runtime);
    constants_.release_packed();
    shapes_ = std::move(shapes);
  }

  // Memory for the externals, and XNNPACK's set-up.
  void set_up() {
    std::vector<xnn_external_value> externals;
    for (uint32_t i = 0; i < graph_.external_count; ++i) {
      if (graph_.externals[i] == xnnpack::kNone) continue;
      const xnnpack::Shape& shape = shapes_[graph_.externals[i]];
      size_t elements = XNN_EXTRA_BYTES;
      size_t product = 1;
      for (size_t d = 0; d < shape.rank; ++d) product *= shape[d];
      elements += product;
      buffers_.emplace_back(elements, 0.5f);
      externals.push_back({i, buffers_.back().data()});
    }
    if (xnn_reshape_runtime(runtime_.get()) != xnn_status_success ||
        xnn_setup_runtime_v2(runtime_.get(), externals.size(), externals.data()) !=
            xnn_status_success) {
      throw std::runtime_error("XNNPACK's set-up failed");
    }
  }

  void invoke() { xnn_invoke_runtime(runtime_.get()); }

 private:
  xnnpack::Limits limits_;
  xnnpack::Graph graph_;
  xnnpack::Constants constants_;
  xnnpack::RuntimeHandle runtime_;
  std::vector<xnnpack::Shape> shapes_;
  std::vector<std::vector<float>> buffers_;
};

class LoadedModel {
 public:
  explicit LoadedModel(size_t threads, EventTracer* tracer = nullptr)
      : session_({model_path(), {}, threads}),
        method_(session_.load_method("forward", tracer)),
        input_(method_->meta().input_tensor(0).dtype, method_->meta().input_tensor(0).sizes,
               method_->meta().input_tensor(0).dim_order) {
    set_input();
  }
  void set_input() { check(method_->set_input(0, EValue(&input_.tensor()))); }
  Method& method() { return *method_; }
  tools::Session& session() { return session_; }

 private:
  tools::Session session_;
  std::unique_ptr<Method> method_;
  tools::HostTensor input_;
};

// Method::execute over xnn_invoke_runtime.
void BM_ExecuteOverBareXnnpack(benchmark::State& state) {
  LoadedModel model(static_cast<size_t>(state.range(0)));
  BareRuntime bare(*model.session().program(), model.session().pool().handle());
  bare.set_up();
  run_paired(
      state, [&] { bare.invoke(); }, [&] { check(model.method().execute()); });
}

// Method::execute with a tracer over without, the same instance.
void BM_TracedOverUntraced(benchmark::State& state) {
  TraceBuffer trace(size_t{1} << 20);
  LoadedModel model(static_cast<size_t>(state.range(0)), &trace);
  run_paired(
      state,
      [&] {
        model.method().set_tracer(nullptr);
        check(model.method().execute());
      },
      [&] {
        model.method().set_tracer(&trace);
        check(model.method().execute());
      });
}

// Program::load and Method::load of the file over creating the bare XNNPACK runtime of its graph.
void BM_LoadOverBareXnnpack(benchmark::State& state) {
  tools::Session session({model_path(), {}, 1});
  run_paired(
      state, [&] { BareRuntime bare(*session.program(), nullptr); },
      [&] {
        tools::Session loaded({model_path(), {}, 1});
        const std::unique_ptr<Method> method = loaded.load_method("forward");
      });
}

BENCHMARK(BM_ExecuteOverBareXnnpack)
    ->Arg(1)
    ->Arg(2)
    ->ArgName("threads")
    ->Iterations(300)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_TracedOverUntraced)
    ->Arg(1)
    ->Arg(2)
    ->ArgName("threads")
    ->Iterations(300)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_LoadOverBareXnnpack)->Iterations(30)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vitrine::bench

BENCHMARK_MAIN();
