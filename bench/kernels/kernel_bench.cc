// Compares every kind of kernel, portable, optimised and XNNPACK's, with the machine's limits,
// measured in the same run.
//
//   kernel_bench [--threads=N] [--benchmark_filter=...]
//
// Counters: the medians of an optimised call in us; `vs_portable` and `vs_xnnpack` are ratios of
// times (below one: the optimised kernel is faster), measured in turn; `GB/s` and `of_copy` for
// kernels that move data, `GFLOP/s` and `of_fma` for those that compute.
#include <benchmark/benchmark.h>
#include <xnnpack.h>

#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "bench/kernels/kernel_cases.h"
#include "bench/kernels/machine.h"
#include "bench/paired.h"
#include "kernels/llm/llm_kernels.h"
#include "kernels/optimized/optimized_kernels.h"
#include "kernels/portable/portable_kernels.h"
#include "kernels/quantized/quantized_kernels.h"

namespace vitrine::bench {
namespace {

struct Machine {
  std::unique_ptr<ThreadPool> pool;
  double copy = 0;  // bytes in a second
  double fma = 0;   // operations in a second
};
Machine machine;

constexpr size_t kLarge = 16u << 20;  // elements: more than caches hold

void measure(benchmark::State& state, const std::string& name,
             const std::function<void(Setup&)>& prepare) {
  Setup setup;
  prepare(setup);
  KernelRegistry optimized_table;
  KernelRegistry plain_table;
  (void)optimized_table.add("optimized", optimized::kernels());
  (void)plain_table.add("portable", portable::kernels());
  (void)plain_table.add("quantized", quantized::kernels());
  (void)plain_table.add("llm", llm::kernels());
  const Kernel* const plain = plain_table.find(name).kernel;
  const Kernel* fast = optimized_table.find(name).kernel;
  if (fast == nullptr) fast = plain;  // data movement has only one implementation
  const auto run_fast = [&] { setup.call.run(*fast, machine.pool.get()); };
  const auto run_plain = [&] { setup.call.run(*plain, nullptr); };

  // Each side's second call in a row counts: the first one finds what the other side left in the
  // caches. The portable kernel may be a thousand times slower, so it gets few calls.
  std::vector<uint64_t> fast_times;
  std::vector<uint64_t> plain_times;
  std::vector<uint64_t> other_times;
  run_fast();
  uint64_t plain_total = 0;
  for (auto _ : state) {
    run_fast();
    fast_times.push_back(time_once(run_fast));
    if (setup.xnnpack) {
      auto run_other = [&] { setup.xnnpack->run(); };
      run_other();
      other_times.push_back(time_once(run_other));
    }
    if (plain != fast && (plain_times.size() < 2 || plain_total < 1'000'000'000)) {
      plain_times.push_back(time_once(run_plain));
      plain_total += plain_times.back();
    }
  }
  const double time = median_ns(std::move(fast_times));
  state.counters["us"] = time / 1000;
  if (!plain_times.empty()) {
    state.counters["vs_portable"] = time / median_ns(std::move(plain_times));
  }
  if (!other_times.empty()) state.counters["vs_xnnpack"] = time / median_ns(std::move(other_times));
  if (setup.bytes > 0) {
    state.counters["GB/s"] = setup.bytes / time;
    state.counters["of_copy"] = setup.bytes / time * 1e9 / machine.copy;
  }
  if (setup.operations > 0) {
    state.counters["GFLOP/s"] = setup.operations / time;
    state.counters["of_fma"] = setup.operations / time * 1e9 / machine.fma;
  }
}

}  // namespace

void add(const std::string& name, const std::string& what, std::function<void(Setup&)> prepare) {
  benchmark::RegisterBenchmark((name + "/" + what).c_str(),
                               [name, prepare = std::move(prepare)](benchmark::State& state) {
                                 measure(state, name, prepare);
                               })
      ->UseRealTime()
      ->MinTime(0.3)
      ->Unit(benchmark::kMicrosecond);
}

namespace {

XnnpackOp::Value value(Tensor& tensor, bool constant = false, bool output = false) {
  XnnpackOp::Value result{{}, tensor.mutable_raw_data(), constant, output};
  for (const int32_t size : tensor.sizes()) result.dims.push_back(static_cast<size_t>(size));
  return result;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// --- Element by element ---

void add_unary(const std::string& name, int xnnpack_type, std::vector<EValue> more = {}) {
  for (const size_t count : {size_t{1} << 16, kLarge}) {
    add("aten::" + name, count == kLarge ? "16M" : "64k", [=](Setup& s) {
      Tensor& in = s.call.floats({static_cast<int32_t>(count)});
      if (name == "log.out" || name == "rsqrt.out" || name == "sqrt.out") {
        for (size_t i = 0; i < count; ++i) in.mutable_data<float>()[i] += 2.0F;
      }
      Tensor& out = s.call.floats({static_cast<int32_t>(count)});
      std::vector<EValue> arguments{EValue(&in)};
      arguments.insert(arguments.end(), more.begin(), more.end());
      arguments.emplace_back(&out);
      s.call.set_arguments(arguments);
      s.bytes = 8.0 * static_cast<double>(count);
      if (xnnpack_type < 0) return;
      s.xnnpack = std::make_unique<XnnpackOp>(
          std::vector{value(in), value(out, false, true)},
          [xnnpack_type](xnn_subgraph* graph, const std::vector<uint32_t>& ids) {
            const xnn_unary_params parameters{.clamp = {0.0F, 6.0F}};
            return xnn_define_unary(graph, static_cast<xnn_unary_operator>(xnnpack_type),
                                    &parameters, ids[0], ids[1], 0);
          },
          *machine.pool);
    });
  }
}

void add_binary(const std::string& name, int xnnpack_type, bool alpha, bool gives_bool = false) {
  for (const bool broadcast : {false, true}) {
    add("aten::" + name, broadcast ? "16M+bias" : "16M", [=](Setup& s) {
      const int32_t rows = 4096;
      const auto columns = static_cast<int32_t>(kLarge / 4096);
      Tensor& a = s.call.floats({rows, columns});
      Tensor& b = broadcast ? s.call.floats({columns}) : s.call.floats({rows, columns});
      Tensor& out = gives_bool ? s.call.filled(ScalarType::kBool, {rows, columns}, 2)
                               : s.call.floats({rows, columns});
      std::vector<EValue> arguments{EValue(&a), EValue(&b)};
      if (alpha) arguments.emplace_back(int64_t{1});
      arguments.emplace_back(&out);
      s.call.set_arguments(arguments);
      s.bytes = static_cast<double>(kLarge) * ((broadcast ? 4.0 : 8.0) + (gives_bool ? 1.0 : 4.0));
      if (xnnpack_type < 0) return;
      s.xnnpack = std::make_unique<XnnpackOp>(
          std::vector{value(a), value(b), value(out, false, true)},
          [xnnpack_type](xnn_subgraph* graph, const std::vector<uint32_t>& ids) {
            return xnn_define_binary(graph, static_cast<xnn_binary_operator>(xnnpack_type), nullptr,
                                     ids[0], ids[1], ids[2], 0);
          },
          *machine.pool);
    });
  }
}

// --- Products ---

void add_mm(int32_t m, int32_t k, int32_t n) {
  add("aten::mm.out", std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n),
      [=](Setup& s) {
        Tensor& a = s.call.floats({m, k});
        Tensor& b = s.call.floats({k, n});
        Tensor& out = s.call.floats({m, n});
        s.call.set_arguments({EValue(&a), EValue(&b), EValue(&out)});
        s.operations = 2.0 * m * k * n;
        s.xnnpack = std::make_unique<XnnpackOp>(
            std::vector{value(a), value(b, true), value(out, false, true)},
            [](xnn_subgraph* graph, const std::vector<uint32_t>& ids) {
              return xnn_define_fully_connected(graph, -kInfinity, kInfinity, ids[0], ids[1],
                                                XNN_INVALID_VALUE_ID, ids[2],
                                                XNN_FLAG_TRANSPOSE_WEIGHTS);
            },
            *machine.pool);
      });
}

void add_linear(int32_t m, int32_t k, int32_t n) {
  add("aten::linear.out", std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n),
      [=](Setup& s) {
        Tensor& a = s.call.floats({m, k});
        Tensor& b = s.call.floats({n, k});
        Tensor& bias = s.call.floats({n});
        Tensor& out = s.call.floats({m, n});
        s.call.set_arguments({EValue(&a), EValue(&b), EValue(&bias), EValue(&out)});
        s.operations = 2.0 * m * k * n;
        s.xnnpack = std::make_unique<XnnpackOp>(
            std::vector{value(a), value(b, true), value(bias, true), value(out, false, true)},
            [](xnn_subgraph* graph, const std::vector<uint32_t>& ids) {
              return xnn_define_fully_connected(graph, -kInfinity, kInfinity, ids[0], ids[1],
                                                ids[2], ids[3], 0);
            },
            *machine.pool);
      });
}

struct Filter {
  const char* name;
  int32_t in_channels;
  int32_t out_channels;
  int32_t groups;
  int32_t side;
  int32_t kernel;
  int32_t stride;
  bool channels_last = false;
};

void add_convolution(const Filter& f) {
  add("aten::convolution.out", f.name, [=](Setup& s) {
    const int32_t padding = f.kernel / 2;
    const int32_t out_side = (f.side + 2 * padding - f.kernel) / f.stride + 1;
    const std::vector<uint8_t> order =
        f.channels_last ? std::vector<uint8_t>{0, 2, 3, 1} : std::vector<uint8_t>{};
    const int32_t group_in = f.in_channels / f.groups;
    Tensor& in = s.call.floats({1, f.in_channels, f.side, f.side}, order);
    Tensor& weight = s.call.floats({f.out_channels, group_in, f.kernel, f.kernel}, order);
    Tensor& bias = s.call.floats({f.out_channels});
    Tensor& out = s.call.floats({1, f.out_channels, out_side, out_side}, order);
    const EValue pad = s.call.ints({padding, padding});
    s.call.set_arguments({EValue(&in), EValue(&weight), EValue(&bias),
                          s.call.ints({f.stride, f.stride}), pad, s.call.ints({1, 1}),
                          EValue(false), s.call.ints({0, 0}), EValue(int64_t{f.groups}),
                          EValue(&out)});
    s.operations = 2.0 * out_side * out_side * f.out_channels * group_in * f.kernel * f.kernel;
    const auto size = [](int32_t number) { return static_cast<size_t>(number); };
    const auto u = [](int32_t number) { return static_cast<uint32_t>(number); };
    const XnnpackOp::Value image{
        {1, size(f.side), size(f.side), size(f.in_channels)},
        s.call
            .floats(in.sizes().size() == 4
                        ? std::vector<int32_t>(in.sizes().begin(), in.sizes().end())
                        : std::vector<int32_t>{})
            .mutable_raw_data()};
    const bool depthwise = f.groups == f.in_channels && f.groups > 1;
    const XnnpackOp::Value filter{
        depthwise ? std::vector<size_t>{1, size(f.kernel), size(f.kernel), size(f.out_channels)}
                  : std::vector<size_t>{size(f.out_channels), size(f.kernel), size(f.kernel),
                                        size(group_in)},
        weight.mutable_raw_data(), true};
    const XnnpackOp::Value result{
        {1, size(out_side), size(out_side), size(f.out_channels)},
        s.call.floats({1, out_side, out_side, f.out_channels}).mutable_raw_data(),
        false,
        true};
    s.xnnpack = std::make_unique<XnnpackOp>(
        std::vector{image, filter, value(bias, true), result},
        [=](xnn_subgraph* graph, const std::vector<uint32_t>& ids) {
          if (depthwise) {
            return xnn_define_depthwise_convolution_2d(
                graph, u(padding), u(padding), u(padding), u(padding), u(f.kernel), u(f.kernel),
                u(f.stride), u(f.stride), 1, 1, 1, size(f.in_channels), -kInfinity, kInfinity,
                ids[0], ids[1], ids[2], ids[3], 0);
          }
          return xnn_define_convolution_2d(graph, u(padding), u(padding), u(padding), u(padding),
                                           u(f.kernel), u(f.kernel), u(f.stride), u(f.stride), 1, 1,
                                           u(f.groups), size(group_in),
                                           size(f.out_channels / f.groups), -kInfinity, kInfinity,
                                           ids[0], ids[1], ids[2], ids[3], 0);
        },
        *machine.pool);
  });
}

// --- Lines ---

void add_lines() {
  const int32_t rows = 1024;
  const int32_t length = 1024;
  const double bytes = 8.0 * rows * length;
  add("aten::_softmax.out", "1024x1024", [=](Setup& s) {
    Tensor& in = s.call.floats({rows, length});
    Tensor& out = s.call.floats({rows, length});
    s.call.set_arguments({EValue(&in), EValue(int64_t{1}), EValue(false), EValue(&out)});
    s.bytes = bytes;
    s.xnnpack = std::make_unique<XnnpackOp>(
        std::vector{value(in), value(out, false, true)},
        [](xnn_subgraph* graph, const std::vector<uint32_t>& ids) {
          return xnn_define_softmax(graph, ids[0], ids[1], 0);
        },
        *machine.pool);
  });
  add("aten::_log_softmax.out", "1024x1024", [=](Setup& s) {
    s.call.set_arguments({EValue(&s.call.floats({rows, length})), EValue(int64_t{1}), EValue(false),
                          EValue(&s.call.floats({rows, length}))});
    s.bytes = bytes;
  });
  add("aten::native_layer_norm.out", "1024x1024", [=](Setup& s) {
    s.call.set_arguments({EValue(&s.call.floats({rows, length})), s.call.ints({length}),
                          EValue(&s.call.floats({length})), EValue(&s.call.floats({length})),
                          EValue(1e-5), EValue(&s.call.floats({rows, length})),
                          EValue(&s.call.floats({rows, 1})), EValue(&s.call.floats({rows, 1}))});
    s.bytes = bytes;
  });
  add("aten::native_group_norm.out", "8x64x4096", [=](Setup& s) {
    s.call.set_arguments({EValue(&s.call.floats({8, 64, 4096})), EValue(&s.call.floats({64})),
                          EValue(&s.call.floats({64})), EValue(int64_t{8}), EValue(int64_t{64}),
                          EValue(int64_t{4096}), EValue(int64_t{8}), EValue(1e-5),
                          EValue(&s.call.floats({8, 64, 4096})), EValue(&s.call.floats({8, 8})),
                          EValue(&s.call.floats({8, 8}))});
    s.bytes = 8.0 * 8 * 64 * 4096;
  });
  add("aten::_native_batch_norm_legit_no_training.out", "96x112x112", [=](Setup& s) {
    const auto parameter = [&] { return EValue(&s.call.filled(ScalarType::kFloat, {96}, 2)); };
    Tensor& variance = s.call.floats({96});
    for (int i = 0; i < 96; ++i) variance.mutable_data<float>()[i] = 1.0F;
    s.call.set_arguments({EValue(&s.call.floats({1, 96, 112, 112})), EValue(&s.call.floats({96})),
                          EValue(&s.call.floats({96})), EValue(&s.call.floats({96})),
                          EValue(&variance), EValue(0.1), EValue(1e-5),
                          EValue(&s.call.floats({1, 96, 112, 112})), parameter(), parameter()});
    s.bytes = 8.0 * 96 * 112 * 112;
  });
  struct Reduction {
    const char* name;
    bool dtype;
  };
  for (const auto& [name, dtype] : {Reduction{"sum.IntList_out", true}, Reduction{"mean.out", true},
                                    Reduction{"amax.out", false}}) {
    for (const int64_t dim : {1, 0}) {
      add(std::string("aten::") + name, dim == 1 ? "rows" : "columns", [=](Setup& s) {
        std::vector<EValue> arguments{EValue(&s.call.floats({4096, 4096})), s.call.ints({dim}),
                                      EValue(false)};
        if (dtype) arguments.emplace_back();
        arguments.emplace_back(&s.call.floats({4096}));
        s.call.set_arguments(arguments);
        s.bytes = 4.0 * 4096 * 4096;
      });
    }
  }
  add("aten::argmax.out", "rows", [=](Setup& s) {
    s.call.set_arguments({EValue(&s.call.floats({4096, 4096})), EValue(int64_t{1}), EValue(false),
                          EValue(&s.call.filled(ScalarType::kLong, {4096}, 2))});
    s.bytes = 4.0 * 4096 * 4096;
  });
  add("aten::var.correction_out", "rows", [=](Setup& s) {
    s.call.set_arguments({EValue(&s.call.floats({4096, 4096})), s.call.ints({1}),
                          EValue(int64_t{1}), EValue(false), EValue(&s.call.floats({4096}))});
    s.bytes = 4.0 * 4096 * 4096;
  });
}

void register_all() {
  add_unary("abs.out", xnn_unary_abs);
  add_unary("exp.out", xnn_unary_exp);
  add_unary("log.out", xnn_unary_log);
  add_unary("tanh.out", xnn_unary_tanh);
  add_unary("sigmoid.out", xnn_unary_sigmoid);
  add_unary("gelu.out", xnn_unary_gelu, {EValue(std::string_view("none"))});
  add_unary("hardtanh.out", xnn_unary_clamp, {EValue(0.0), EValue(6.0)});
  add_unary("rsqrt.out", xnn_unary_reciprocal_square_root);
  add_unary("pow.Tensor_Scalar_out", -1, {EValue(2.0)});
  add_binary("add.out", xnn_binary_add, true);
  add_binary("mul.out", xnn_binary_multiply, false);
  add_binary("div.out", xnn_binary_divide, false);
  add_binary("lt.Tensor_out", -1, false, true);
  add_mm(1, 1280, 1000);
  add_mm(128, 128, 128);
  add_mm(512, 512, 512);
  add_mm(196, 576, 96);
  add_linear(1, 768, 3072);
  add_linear(64, 768, 3072);
  static constexpr Filter kFilters[] = {
      {"3x3/2 3->32 @224", 3, 32, 1, 224, 3, 2},
      {"1x1 16->96 @112", 16, 96, 1, 112, 1, 1},
      {"1x1 96->576 @14", 96, 576, 1, 14, 1, 1},
      {"1x1 320->1280 @7", 320, 1280, 1, 7, 1, 1},
      {"3x3 64->64 @56", 64, 64, 1, 56, 3, 1},
      {"3x3 64->64 @56 NHWC", 64, 64, 1, 56, 3, 1, true},
      {"1x1 96->576 @14 NHWC", 96, 576, 1, 14, 1, 1, true},
      {"depthwise 3x3 144 @56", 144, 144, 144, 56, 3, 1},
      {"depthwise 3x3/2 144 @56", 144, 144, 144, 56, 3, 2},
      {"depthwise 3x3 144 @56 NHWC", 144, 144, 144, 56, 3, 1, true},
  };
  for (const Filter& filter : kFilters) add_convolution(filter);
  add_lines();
  add_movement();
  add_attentions();
}

}  // namespace
}  // namespace vitrine::bench

int main(int argc, char** argv) {
  using namespace vitrine;
  size_t threads = 1;
  for (int i = 1; i < argc; ++i) {
    constexpr std::string_view kThreads = "--threads=";
    const std::string_view argument = argv[i];
    if (!argument.starts_with(kThreads)) continue;
    threads = static_cast<size_t>(std::strtoul(argv[i] + kThreads.size(), nullptr, 10));
    std::rotate(argv + i, argv + i + 1, argv + argc);
    --argc;
    --i;
  }
  auto pool = ThreadPool::create(threads);
  if (!pool.ok()) {
    std::fprintf(stderr, "--threads: %s\n", pool.take_error().message());
    return 1;
  }
  bench::machine.pool = std::move(*pool);
  bench::machine.copy = bench::copy_bandwidth(*bench::machine.pool, 4 * bench::kLarge);
  bench::machine.fma = bench::fma_rate(*bench::machine.pool);
  std::printf("%zu threads: copies %.1f GB/s (read and written), multiply-adds %.1f GFLOP/s\n",
              bench::machine.pool->threads(), bench::machine.copy * 1e-9,
              bench::machine.fma * 1e-9);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  bench::register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
