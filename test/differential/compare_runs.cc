#include "test/differential/compare_runs.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "aot/graph/aot_error.h"
#include "aot/graph/print.h"
#include "aot/pipeline/lower.h"
#include "backends/xnnpack/aot/partitioner.h"
#include "backends/xnnpack/runtime/execution/xnnpack_backend.h"
#include "test/support/file_bytes.h"
#include "vitrine/array.h"
#include "vitrine/kernels.h"
#include "vitrine/method.h"
#include "vitrine/thread_pool.h"

namespace vitrine::test {
namespace {

// Tolerance of an output, relative to its largest element, or to 1 if all elements are smaller.
constexpr float kTolerance = 5e-4f;
// Outputs with elements above this limit are skipped, since their errors may be large too.
constexpr float kMaxElement = 1e6f;

struct Configuration {
  const char* name;
  bool xnnpack;
  bool optimized_kernels;
  bool reuse_memory;
  bool threads;
  bool optimize_graph = false;
};
constexpr Configuration kReference = {"portable kernels without reuse", false, false, false, false};
constexpr Configuration kConfigurations[] = {
    {"portable kernels", false, false, true, false},
    {"optimized kernels", false, true, true, false},
    {"optimized kernels on two threads", false, true, true, true},
    {"XNNPACK", true, true, true, false},
    {"XNNPACK on two threads, without reuse", true, false, false, true},
    {"an optimized graph", false, true, true, false, true},
    {"an optimized graph and XNNPACK", true, true, true, false, true},
};

template <class T>
T require(Result<T> result, const char* what) {
  if (!result.ok()) throw std::logic_error(fmt::format("{}: {}", what, result.error().message()));
  return std::move(*result);
}
void require(const Error& error, const char* what) {
  if (!error.ok()) throw std::logic_error(fmt::format("{}: {}", what, error.message()));
}

// The kernels, backends and threads of all runs, created once.
struct Runtime {
  Runtime() : pool(require(ThreadPool::create(2, ThreadPool::Use::kAlways), "threads")) {
    require(optimized.add("optimized", optimized::kernels()), "kernels");
    for (KernelRegistry* registry : {&portable, &optimized}) {
      require(registry->add("portable", portable::kernels()), "kernels");
      require(registry->add("quantized", quantized::kernels()), "kernels");
      require(registry->add("llm", llm::kernels()), "kernels");
    }
    require(backends.add(&xnnpack), "backend");
  }
  KernelRegistry portable, optimized;
  XnnpackBackend xnnpack;
  BackendRegistry backends;
  std::unique_ptr<ThreadPool> pool;
};

AlignedBytes lowered(const RandomModel& model, const Configuration& configuration) {
  aot::LowerOptions options;
  if (configuration.xnnpack) options.partitioners = {std::make_shared<aot::XnnpackPartitioner>()};
  options.emit.memory_planning.greedy = configuration.reuse_memory;
  options.optimize = configuration.optimize_graph;
  aot::Methods methods;
  methods.emplace("forward", model.program.copy());
  const std::vector<std::byte> pte = aot::lower(std::move(methods), options).emitted.pte;
  return {pte.begin(), pte.end()};
}

// Returns an input with values between -2 and 2. Inputs with different `index` have different
// values.
Array input_of(const std::vector<int32_t>& sizes, size_t index) {
  Array made = require(Array::zeros(ScalarType::kFloat, sizes), "input");
  const std::span<float> values = require(made.mutable_data<float>(), "input");
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = 2 * std::sin(static_cast<float>(i * 7 + index * 13 + 1));
  }
  return made;
}

using Outputs = std::vector<std::vector<float>>;  // outputs of all runs, in order

Outputs run(const RandomModel& model, const Configuration& configuration, const AlignedBytes& pte,
            const Runtime& runtime) {
  auto source = require(view_buffer(std::as_bytes(std::span(pte))), "program");
  const auto program = require(Program::load(std::move(source)), "program");
  MethodOptions options;
  options.kernels = configuration.optimized_kernels ? &runtime.optimized : &runtime.portable;
  options.backends = &runtime.backends;
  options.check_plan = &refuse_overlaps;
  options.pool = configuration.threads ? runtime.pool.get() : nullptr;
  const auto method = require(Method::load(program, "forward", options), "method");
  Outputs outputs;
  for (const int32_t batch : {model.input_sizes[0], model.dynamic_batch ? 1 : model.input_sizes[0],
                              model.input_sizes[0]}) {
    std::vector<int32_t> sizes = model.input_sizes;
    sizes[0] = batch;
    std::vector<Array> inputs;
    for (size_t i = 0; i < model.num_inputs; ++i) {
      inputs.push_back(input_of(sizes, i));
      require(method->set_input(i, EValue(&inputs.back().mutable_tensor())), "input");
    }
    require(method->execute(), configuration.name);
    for (size_t i = 0; i < method->num_outputs(); ++i) {
      const Array output = require(Array::copy_of(method->output(i).unchecked_tensor()), "output");
      const std::span<const float> values = require(output.data<float>(), "output");
      outputs.emplace_back(values.begin(), values.end());
    }
  }
  return outputs;
}

std::string difference_of(const Outputs& expected, const Outputs& found) {
  if (expected.size() != found.size()) return "the number of outputs differs";
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].size() != found[i].size()) {
      return fmt::format("output {}: {} elements, expected {}", i, found[i].size(),
                         expected[i].size());
    }
    float largest = 1;
    for (const float value : expected[i]) largest = std::max(largest, std::abs(value));
    if (!(largest < kMaxElement)) continue;
    for (size_t at = 0; at < expected[i].size(); ++at) {
      if (!(std::abs(expected[i][at] - found[i][at]) <= kTolerance * largest)) {
        return fmt::format("output {}: element {} is {}, expected {}", i, at, found[i][at],
                           expected[i][at]);
      }
    }
  }
  return "";
}

}  // namespace

Comparison compare_runs(const RandomModel& model) {
  static const Runtime runtime;
  Comparison done;
  try {
    const Outputs expected = run(model, kReference, lowered(model, kReference), runtime);
    for (const auto& output : expected) done.elements += output.size();
    for (const Configuration& configuration : kConfigurations) {
      const std::string difference = difference_of(
          expected, run(model, configuration, lowered(model, configuration), runtime));
      ++done.configurations;
      if (!difference.empty()) {
        done.difference = fmt::format("{}: {}\n{}", configuration.name, difference,
                                      aot::format_graph(*model.program.graph));
        return done;
      }
    }
  } catch (const aot::AotError& error) {
    done.error = error.what();
  } catch (const std::logic_error& error) {
    done.difference = fmt::format("{}\n{}", error.what(), aot::format_graph(*model.program.graph));
  }
  return done;
}

}  // namespace vitrine::test
