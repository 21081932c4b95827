#include "bench/suite/loaded_program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tools/common/output_difference.h"
#include "tools/common/tensors.h"
#include "tools/common/tool_error.h"

namespace vitrine::bench {

using tools::check;

LoadedProgram::LoadedProgram(const ProgramUse& use, std::shared_ptr<ThreadPool> pool,
                             EventTracer* tracer)
    : session_({.model = use.file,
                .data = {},
                .backend_options = use.backend_options,
                .optimized_kernels = use.optimized_kernels,
                .pool = std::move(pool)}),
      method_(session_.load_method("forward", tracer)) {
  std::mt19937_64 generator(1);
  for (size_t i = 0; i < method_->num_inputs(); ++i) {
    const TensorInfo info = method_->meta().input_tensor(i);
    Array& input = inputs_.emplace_back(tools::zeros_like(info));
    tools::fill_random(input, generator);
    if (!use.positive_inputs || info.dtype != ScalarType::kFloat) continue;
    for (float& x : *input.mutable_data<float>()) x = std::abs(x) + 0.1F;
  }
  set_inputs();
}

void LoadedProgram::set_inputs() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    check(method_->set_input(i, EValue(&inputs_[i].mutable_tensor())));
  }
}

void LoadedProgram::execute() { check(method_->execute()); }

TimedTask LoadedProgram::timed_task() {
  set_inputs();
  execute();
  // Some programs overwrite their inputs, so a second execution fails without new inputs.
  const bool keeps_inputs = method_->execute().ok();
  TimedTask task{.run = [this] { execute(); }};
  if (!keeps_inputs) task.prepare = [this] { set_inputs(); };
  return task;
}

void LoadedProgram::set_counts(bench::Result& result) const {
  const MethodMeta& meta = method_->meta();
  result.instructions = static_cast<double>(meta.num_instructions());
  result.delegates = static_cast<double>(meta.num_delegates());
  size_t bytes = 0;
  for (size_t i = 0; i < meta.num_planned_buffers(); ++i) bytes += meta.planned_buffer_size(i);
  result.planned_bytes = static_cast<double>(bytes);
}

double LoadedProgram::argument_bytes() const {
  const MethodMeta& meta = method_->meta();
  size_t bytes = 0;
  for (size_t i = 0; i < meta.num_inputs(); ++i) bytes += meta.input_tensor(i).nbytes;
  for (size_t i = 0; i < meta.num_outputs(); ++i) bytes += meta.output_tensor(i).nbytes;
  return static_cast<double>(bytes);
}

bool LoadedProgram::is_one_delegate() const {
  const MethodMeta& meta = method_->meta();
  return meta.num_delegates() == 1 && meta.num_operators() == 0;
}

std::optional<double> agreement(const Method& reference, const Method& other,
                                std::string& why_not) {
  double min_db = std::numeric_limits<double>::infinity();
  for (const inspector::OutputDifference& difference : tools::compare_outputs(reference, other)) {
    if (!difference.why_not.empty()) {
      why_not = difference.why_not;
      return std::nullopt;
    }
    min_db = std::min(min_db, difference.figures.sqnr_db);
  }
  return min_db;
}

}  // namespace vitrine::bench
