#include "bench/suite/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>
#include <string_view>

#include "bench/suite/facts.h"
#include "bench/suite/loaded_program.h"
#include "bench/suite/lowered.h"
#include "examples/models/layers.h"
#include "kernels/optimized/simd/gemm.h"
#include "tools/common/files.h"
#include "tools/common/tool_error.h"
#include "vitrine/event_tracer.h"

namespace vitrine::bench {
namespace {

using aot::ModelBuilder;
using aot::Node;
namespace fs = std::filesystem;
namespace nn = aot::nn;

constexpr size_t kMinPairs = 25;
constexpr size_t kMaxPairs = 400;
constexpr double kPairsNs = 25e6;

// Parameters of a case. The meaning of the parameters depends on the case.
struct CaseSizes {
  int64_t a, b, c;
};
using SizeList = std::vector<int64_t>;

// An operator with kernels of Vitrine and XNNPACK, measured with all combinations of the values in
// `a`, `b` and `c`.
struct ChoiceCase {
  Node* (*build)(ModelBuilder& build, const CaseSizes& sizes);
  SizeList a, b, c;
  bool is_image = false;  // the row is dim 1, because XNNPACK puts the channels last
};

Node* float_input(ModelBuilder& build, const char* name, std::vector<int64_t> sizes) {
  return build.input(name, ScalarType::kFloat, {sizes.begin(), sizes.end()});
}
std::vector<int64_t> pair_of(int64_t value) { return {value, value}; }

// Adds an input image with `a` channels and sides of `stride` * `b` pixels. An operator with this
// stride returns `b` x `b` pixels.
Node* image_input(ModelBuilder& build, const CaseSizes& sizes, int64_t stride = 1) {
  return float_input(build, "x", {1, sizes.a, stride * sizes.b, stride * sizes.b});
}

constexpr const char* kFunctions[] = {"aten.exp.default", "aten.sin.default", "aten.cos.default"};

const ChoiceCase kChoiceCases[] = {
    {[](ModelBuilder& b, const CaseSizes& s) {
       return b.call(kFunctions[s.c], {float_input(b, "x", {s.b, s.a})});
     },
     {16, 64},
     {1, 16, 256, 4096},
     {0, 1, 2}},
    {[](ModelBuilder& b, const CaseSizes& s) {
       return b.call("aten.softmax.int", {float_input(b, "x", {s.b, s.a}), -1});
     },
     {4, 16, 64, 65, 96, 128, 197, 1024},
     {1, 16, 512},
     {0}},
    {[](ModelBuilder& b, const CaseSizes& s) {
       return b.call("aten.add.Tensor",
                     {float_input(b, "x", {s.b, s.a}), float_input(b, "y", {s.a})});
     },
     {3, 16, 64},
     {16, 1024},
     {0}},
    // Matrix products: [a, c] times [c, b].
    {[](ModelBuilder& b, const CaseSizes& s) {
       return b.call("aten.bmm.default",
                     {float_input(b, "x", {4, s.a, s.c}), float_input(b, "y", {4, s.c, s.b})});
     },
     {1, 4, 16, 32, 48, 64, 128, 256},
     {1, 16, 64, 256},
     {64, 256}},
    // Linear layers with `a` rows of `c` inputs and with `b` outputs.
    {[](ModelBuilder& b, const CaseSizes& s) {
       return nn::linear(b, "linear", float_input(b, "x", {s.a, s.c}), s.b);
     },
     {2, 3, 4, 5, 6, 8, 12, 15, 16, 17, 23, 32, 49, 64},
     {16, 64, 256},
     {64, 256}},
    {[](ModelBuilder& b, const CaseSizes& s) {
       return nn::batch_norm2d(b, "norm", image_input(b, s));
     },
     {4, 16, 64, 256},
     {4, 14, 56},
     {0},
     true},
    {[](ModelBuilder& b, const CaseSizes& s) {
       return b.call("aten.max_pool2d.default",
                     {image_input(b, s, 2), pair_of(3), pair_of(2), pair_of(1)});
     },
     {16, 32, 64, 256},
     {4, 14, 28},
     {0},
     true},
    {[](ModelBuilder& b, const CaseSizes& s) {
       return b.call("aten.avg_pool2d.default",
                     {image_input(b, s, 2), pair_of(2), pair_of(2), pair_of(0), false, false});
     },
     {16, 32, 64, 256},
     {4, 14, 28},
     {0},
     true},
    {[](ModelBuilder& b, const CaseSizes& s) {
       const std::vector<int64_t> size = pair_of(2 * s.b);
       return b.call("aten.upsample_bilinear2d.vec",
                     {image_input(b, s), size, false, aot::Argument()});
     },
     {16, 32, 64, 256},
     {4, 14, 28},
     {0},
     true},
    // Depthwise convolutions, and convolutions to `c` channels with windows of 3x3 and 1x1.
    {[](ModelBuilder& b, const CaseSizes& s) {
       return nn::conv2d(b, "conv", image_input(b, s), s.a,
                         {.kernel = 7, .padding = 3, .groups = s.a});
     },
     {8, 32, 128},
     {7, 28},
     {0},
     true},
    {[](ModelBuilder& b, const CaseSizes& s) {
       return nn::conv2d(b, "conv", image_input(b, s), s.c, {.padding = 1});
     },
     {16, 32, 64, 128},
     {7, 28},
     {1, 2, 3, 4},
     true},
    {[](ModelBuilder& b, const CaseSizes& s) {
       return nn::conv2d(b, "conv", image_input(b, s), s.c, {.kernel = 1});
     },
     {16, 32, 64, 128},
     {7, 28},
     {1, 2, 3, 4},
     true},
};

// Stores the names of a delegate's operators, and their times in the last run.
class LastRun final : public EventTracer {
 public:
  void begin_block(const char*) override {}
  void record(const TraceRecord&) override {}
  void record_operators(const TracedOperators& all) override {
    names.clear();
    ns.clear();
    for (size_t i = 0; i < all.operators.size(); ++i) {
      names.emplace_back(all.operators[i].name, all.operators[i].name_size);
      const uint64_t start = i == 0 ? all.start_ns : all.ends_ns[i - 1];
      ns.push_back(static_cast<double>(all.ends_ns[i] - start));
    }
  }

  std::vector<std::string_view> names;
  std::vector<double> ns;
};

// A program with backend options for its delegate, and a tracer for the delegate's operators.
struct TracedDelegate {
  TracedDelegate(const fs::path& file, std::vector<BackendOption> options,
                 const std::shared_ptr<ThreadPool>& pool)
      : program({.file = file, .backend_options = std::move(options)}, pool, &run) {
    program.execute();
  }
  // Runs the program. Returns the time of operator `i`.
  double time_of(size_t i) {
    program.set_inputs();
    program.execute();
    return run.ns.at(i);
  }

  LastRun run;
  LoadedProgram program;
};

struct MeasuredChoice {
  std::string kernel;
  int64_t in_row, out_row, results;
  double ratio;
  bool is_built_in;  // the built-in rule chooses Vitrine's kernel
};

class ChoiceMeasurement {
 public:
  explicit ChoiceMeasurement(const fs::path& scratch)
      : program_(scratch / "choice.pte"), all_ours_((scratch / "all_ours.txt").string()) {
    tools::write_file(all_ours_, first_line() + "1 1 1 1 *\n");
  }

  static std::string first_line() {
    const auto lanes = static_cast<size_t>(optimized::simd::gemm_shape().lanes);
    return fmt::format("vitrine choices 1, vectors of {}\n", lanes * sizeof(float));
  }

  // Times both kernels for one case. Returns nullopt if Vitrine lacks a kernel for the operator on
  // this processor.
  std::optional<MeasuredChoice> measure(const ChoiceCase& choice, const CaseSizes& sizes) {
    ModelBuilder build("vitrine.bench.Choice");
    write_lowered(build.finish({choice.build(build, sizes)}), Backend::kXnnpack, {}, false,
                  program_);
    TracedDelegate ours(program_,
                        {{tools::kDefaultBackend, "choices", std::string_view(all_ours_)}}, pool_);
    TracedDelegate theirs(program_, {{tools::kDefaultBackend, "vitrine_kernels", false}}, pool_);
    const TracedDelegate built_in(program_, {}, pool_);
    const auto is_own = [](std::string_view name) { return name.starts_with("Vitrine"); };
    const auto at =
        static_cast<size_t>(std::ranges::find_if(ours.run.names, is_own) - ours.run.names.begin());
    if (at == ours.run.names.size() || theirs.run.names.size() != ours.run.names.size()) {
      return std::nullopt;
    }
    double our_ns = ours.time_of(at);
    double their_ns = theirs.time_of(at);
    double spent = 0;
    for (size_t i = 0; i < kMaxPairs && (i < kMinPairs || spent < kPairsNs); ++i) {
      const double a = ours.time_of(at);
      const double b = theirs.time_of(at);
      our_ns = std::min(our_ns, a);
      their_ns = std::min(their_ns, b);
      spent += a + b;
    }
    const MethodMeta& meta = ours.program.method().meta();
    const auto row = [&](const TensorInfo& info) {
      return int64_t{choice.is_image ? info.sizes[1] : info.sizes.back()};
    };
    const Tensor& out = ours.program.method().output(0).unchecked_tensor();
    return MeasuredChoice{.kernel = std::string(ours.run.names[at]),
                          .in_row = row(meta.input_tensor(0)),
                          .out_row = row(meta.output_tensor(0)),
                          .results = static_cast<int64_t>(out.numel()),
                          .ratio = our_ns / std::max(their_ns, 1.0),
                          .is_built_in = is_own(built_in.run.names.at(at))};
  }

 private:
  fs::path program_;
  std::string all_ours_;
  std::shared_ptr<ThreadPool> pool_ = tools::check(ThreadPool::create(1));
};

}  // namespace

void measure_choices(const fs::path& file, const fs::path& scratch, bool is_check) {
  tools::NewFile(fs::path(file));  // fails early if the folder is not writable
  ChoiceMeasurement measurement(scratch);
  const auto facts = run_facts();
  std::string table = ChoiceMeasurement::first_line();
  table += fmt::format("# {}, {}\n", facts.at("machine"), facts.at("date"));
  table += "# percent of XNNPACK's time; elements of input row, result row and result; kernel\n";
  fmt::print(
      "| kernel | input row | result row | result elements | time / XNNPACK's | faster | "
      "built-in rule |\n|---|---:|---:|---:|---:|---|---|\n");
  const auto sizes_of = [&](const SizeList& sizes) {
    return std::span(sizes).first(is_check ? 1 : sizes.size());
  };
  for (const ChoiceCase& choice : kChoiceCases) {
    for (const int64_t a : sizes_of(choice.a)) {
      for (const int64_t b : sizes_of(choice.b)) {
        for (const int64_t c : sizes_of(choice.c)) {
          const auto found = measurement.measure(choice, {a, b, c});
          if (!found) continue;
          const auto name = [](bool is_own) { return is_own ? "Vitrine" : "XNNPACK"; };
          table += fmt::format("{:.0f} {} {} {} {}\n", std::max(found->ratio * 100, 1.0),
                               found->in_row, found->out_row, found->results, found->kernel);
          fmt::print("| {} | {} | {} | {} | {:.2f} | {} | {} |\n", found->kernel, found->in_row,
                     found->out_row, found->results, found->ratio, name(found->ratio < 1),
                     name(found->is_built_in));
          std::fflush(stdout);
        }
      }
    }
  }
  tools::write_file(file, table);
}

}  // namespace vitrine::bench
