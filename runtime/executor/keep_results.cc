// Computes results that depend only on constants, such as transposed weights, once when the method
// is loaded.
//
// Such a result gets its own memory, because the program reuses the result's planned memory. The
// result's tensor becomes a constant, so that kernels may pack its data. The step of the result
// then does nothing. If memory runs out, the result stays in planned memory and each execution
// computes it.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "runtime/executor/method_loader.h"
#include "runtime/extension/derived_data.h"
#include "runtime/platform/vector_size.h"

namespace vitrine {
namespace {

constexpr uint64_t kKeptResult = 1;  // key of a result in DerivedData
// A kept result has at most 2 * (bytes of the inputs) + kMaxGrowth bytes. Larger results cost more
// than they save.
constexpr size_t kMaxGrowth = 4096;

// Operators whose results may be kept. A result depends only on the operator's arguments, and is
// cheap to keep. Sorted by name.
constexpr std::string_view kPureOperators[] = {
    "aten::_to_copy.out",
    "aten::alias_copy.out",
    "aten::arange.out",
    "aten::arange.start_out",
    "aten::as_strided_copy.out",
    "aten::clone.out",
    "aten::detach_copy.out",
    "aten::expand_copy.out",
    "aten::full.out",
    "aten::permute_copy.out",
    "aten::scalar_tensor.out",
    "aten::select_copy.int_out",
    "aten::slice_copy.Tensor_out",
    "aten::squeeze_copy.dim_out",
    "aten::squeeze_copy.dims_out",
    "aten::t_copy.out",
    "aten::transpose_copy.int_out",
    "aten::unsqueeze_copy.out",
    "aten::view_copy.out",
    "dim_order_ops::_clone_dim_order.out",
    "dim_order_ops::_to_dim_order_copy.out",
};
static_assert(std::ranges::is_sorted(kPureOperators));

}  // namespace

class MethodLoader::ResultKeeper {
 public:
  explicit ResultKeeper(MethodLoader& loader)
      : loader_(loader), method_(loader.method_), plan_(loader.plan_) {}

  void run();

 private:
  struct Position {
    uint32_t chain;
    uint32_t instruction;
  };

  const Kernel& kernel_of(const fbs::KernelCall& call) const {
    return *loader_.operators_[static_cast<size_t>(call.op_index())].found.kernel;
  }
  bool find_ranges();
  // Marks values that steps write more than once, arguments of kernels that may return a view, and
  // outputs of delegates.
  bool find_changes();
  bool can_keep(const fbs::KernelCall& call, uint32_t out, Position position);
  bool is_fixed(uint32_t value);
  // True if nothing after `position` may read the result's bytes through another value, and the
  // result is not an input or output of the method.
  bool is_unshared(uint32_t result, Position position);
  // `rest` contains the result's bytes that no earlier instruction has overwritten. Shrinks `rest`
  // if `instruction` overwrites the beginning or the end of `rest`. Returns false if `instruction`
  // may use bytes of `rest` through another value.
  bool pass_instruction(const fbs::Instruction& instruction, uint32_t result, PlannedRange& rest);
  bool pass_kernel_call(const fbs::KernelCall& call, uint32_t result, PlannedRange& rest);
  // Calls visit() for a tensor, or for each tensor of a list. Stops if visit() returns false.
  template <class Visit>
  bool for_each_tensor(int32_t value, const Visit& visit);
  bool is_used(int32_t value, uint32_t result, const PlannedRange& rest);
  void keep(Step& step, uint32_t out);

  MethodLoader& loader_;
  Method& method_;
  const fbs::ExecutionPlan& plan_;
  std::span<PlannedRange> ranges_;  // planned memory of tensors, by value
  std::span<bool> changed_;         // by value; see find_changes()
  bool has_jumps_ = false;
};

void MethodLoader::keep_results() {
  if (method_.derived_ != nullptr && !has_unknown_writes_) ResultKeeper(*this).run();
}

void MethodLoader::ResultKeeper::run() {
  has_jumps_ = std::ranges::any_of(
      method_.steps_, [](const Step& step) { return step.kind == TraceRecord::Kind::kJumpFalse; });
  for (uint32_t c = 0; c < plan_.chains()->size(); ++c) {
    const auto* instructions = plan_.chains()->Get(c)->instructions();
    for (uint32_t i = 0; i < size_of(instructions); ++i) {
      const fbs::KernelCall* call = instructions->Get(i)->instr_args_as_KernelCall();
      if (call == nullptr) continue;
      Step& step = method_.steps_[method_.chains_[c].first + i];
      if (!std::ranges::binary_search(kPureOperators, std::string_view(step.name))) continue;
      const uint32_t outputs = kernel_of(*call).outputs;
      if (!std::has_single_bit(outputs)) continue;
      const auto out = static_cast<uint32_t>(std::countr_zero(outputs));
      if (can_keep(*call, out, {c, i})) keep(step, out);
    }
  }
}

bool MethodLoader::ResultKeeper::find_ranges() {
  if (!ranges_.empty()) return true;
  if (!find_changes()) return false;
  ranges_ = loader_.scratch_.allocate_array<PlannedRange>(method_.values_.size());
  for (uint32_t i = 0; i < ranges_.size(); ++i) {
    // A value that a step may replace does not have planned memory of its own.
    if (!loader_.exchanged_[i]) ranges_[i] = loader_.planned_range(i);
  }
  return !ranges_.empty();
}

bool MethodLoader::ResultKeeper::find_changes() {
  const size_t num_values = method_.values_.size();
  const std::span<bool> flags = loader_.scratch_.allocate_array<bool>(2 * num_values);
  if (flags.empty()) return false;
  const std::span<bool> written = flags.first(num_values);
  changed_ = flags.subspan(num_values);
  const auto write = [&](int32_t value) {
    return for_each_tensor(value, [&](uint32_t tensor) {
      changed_[tensor] |= std::exchange(written[tensor], true);
      return true;
    });
  };
  for (const fbs::Chain* chain : *plan_.chains()) {
    for (const fbs::Instruction* instruction : *chain->instructions()) {
      const auto* call = instruction->instr_args_as_KernelCall();
      const uint32_t count = call != nullptr ? size_of(call->args()) : 0;
      if (!loader_.charge_steps(1 + count).ok()) return false;
      for (uint32_t i = 0; i < count; ++i) {
        const Kernel& kernel = kernel_of(*call);
        const int32_t value = call->args()->Get(i);
        if (kernel.results != 0) changed_[static_cast<size_t>(value)] = true;
        if (is_written(kernel.outputs, i) && !write(value)) return false;
      }
    }
  }
  for (const Step& step : method_.steps_) {
    if (step.kind != TraceRecord::Kind::kDelegateCall) continue;
    for (uint32_t i = 0; i < step.num_arguments; ++i) {
      const auto value = static_cast<size_t>(step.arguments[i] - method_.values_.data());
      if (step.delegate->is_output(i)) changed_[value] = true;
    }
  }
  return true;
}

// True if executions do not change the call's inputs, nothing else needs the result's planned
// memory, and the result is small enough (kMaxGrowth).
bool MethodLoader::ResultKeeper::can_keep(const fbs::KernelCall& call, uint32_t out,
                                          Position position) {
  const auto result = static_cast<uint32_t>(call.args()->Get(out));
  const EValue& value = method_.values_[result];
  if (!value.is_tensor()) return false;
  size_t input_bytes = 0;
  // Skips the last argument, which is the result again.
  for (uint32_t i = 0; i + 1 < call.args()->size(); ++i) {
    const auto input = static_cast<uint32_t>(call.args()->Get(i));
    if (i == out) continue;
    if (!is_fixed(input)) return false;
    const EValue& from = method_.values_[input];
    if (from.is_tensor()) input_bytes += from.unchecked_tensor().nbytes();
  }
  const Tensor& tensor = value.unchecked_tensor();
  return tensor.dynamism() == ShapeDynamism::kStatic && tensor.raw_data() != nullptr &&
         tensor.nbytes() != 0 && tensor.nbytes() <= 2 * input_bytes + kMaxGrowth &&
         !loader_.exchanged_[result] && find_ranges() && !changed_[result] &&
         ranges_[result].begin != ranges_[result].end && is_unshared(result, position);
}

// True for a constant tensor, and for a number, a string or a list of numbers that no step changes.
bool MethodLoader::ResultKeeper::is_fixed(uint32_t index) {
  const EValue& value = method_.values_[index];
  if (loader_.exchanged_[index] || value.is_tensor_list()) return false;
  if (value.is_tensor()) return value.unchecked_tensor().is_constant();
  const auto* list = plan_.values()->Get(index)->val_as_IntList();
  if (list == nullptr) return true;
  return loader_.charge_steps(list->items()->size()).ok() &&
         std::ranges::none_of(*list->items(), [this](int64_t item) {
           return bool{loader_.exchanged_[static_cast<size_t>(item)]};
         });
}

bool MethodLoader::ResultKeeper::is_unshared(uint32_t result, Position position) {
  PlannedRange rest = ranges_[result];
  // If the program has jumps, any instruction may run after the call.
  for (uint32_t c = has_jumps_ ? 0 : position.chain; c < plan_.chains()->size(); ++c) {
    const auto* instructions = plan_.chains()->Get(c)->instructions();
    const bool is_first = !has_jumps_ && c == position.chain;
    for (uint32_t i = is_first ? position.instruction + 1 : 0; i < size_of(instructions); ++i) {
      PlannedRange after = rest;
      if (!pass_instruction(*instructions->Get(i), result, after)) return false;
      if (!has_jumps_) rest = after;
      if (rest.begin >= rest.end) return true;
    }
  }
  return std::ranges::none_of(
             *plan_.inputs(),
             [&](int32_t input) { return static_cast<uint32_t>(input) == result; }) &&
         std::ranges::none_of(*plan_.outputs(), [&](int32_t output) {
           return static_cast<uint32_t>(output) == result || is_used(output, result, rest);
         });
}

bool MethodLoader::ResultKeeper::pass_instruction(const fbs::Instruction& instruction,
                                                  uint32_t result, PlannedRange& rest) {
  if (const auto* call = instruction.instr_args_as_KernelCall()) {
    return pass_kernel_call(*call, result, rest);
  }
  if (const auto* jump = instruction.instr_args_as_JumpFalseCall()) {
    return !is_used(jump->cond_value_index(), result, rest);
  }
  const auto* call = instruction.instr_args_as_DelegateCall();
  const IndexVector* args = call != nullptr ? call->args() : nullptr;
  return loader_.charge_steps(1 + size_of(args)).ok() &&
         (args == nullptr || std::ranges::none_of(*args, [&](int32_t argument) {
            return is_used(argument, result, rest);
          }));
}

bool MethodLoader::ResultKeeper::pass_kernel_call(const fbs::KernelCall& call, uint32_t result,
                                                  PlannedRange& rest) {
  const uint32_t count = size_of(call.args());
  if (!loader_.charge_steps(1 + count).ok()) return false;
  if (count == 0) return true;
  const uint32_t outputs = kernel_of(call).outputs;
  const uint32_t first = outputs != 0 ? loader_.first_result(call) : count;
  const auto is_result = [&](uint32_t i) { return i >= first && is_written(outputs, i); };
  for (uint32_t i = 0; i + 1 < count; ++i) {
    if (!is_result(i) && is_used(call.args()->Get(i), result, rest)) return false;
  }
  for (uint32_t i = 0; i + 1 < count; ++i) {
    if (!is_result(i)) continue;
    for_each_tensor(call.args()->Get(i), [&](uint32_t value) {
      const PlannedRange& written = ranges_[value];
      if (written.buffer != rest.buffer || value == result) return true;
      if (written.begin <= rest.begin) rest.begin = std::max(rest.begin, written.end);
      if (written.end >= rest.end) rest.end = std::min(rest.end, written.begin);
      return true;
    });
  }
  return true;
}

template <class Visit>
bool MethodLoader::ResultKeeper::for_each_tensor(int32_t value, const Visit& visit) {
  const auto index = static_cast<uint32_t>(value);
  const EValue& from = method_.values_[index];
  if (from.is_tensor()) return visit(index);
  const IndexVector* items = tensors_of_list(*plan_.values()->Get(index));
  if (items == nullptr) return true;
  return loader_.charge_steps(items->size()).ok() && std::ranges::all_of(*items, [&](int32_t item) {
           return item < 0 || visit(static_cast<uint32_t>(item));
         });
}

// True if `value` is a tensor that overlaps `rest`, or a list with such a tensor. The result itself
// does not count.
bool MethodLoader::ResultKeeper::is_used(int32_t value, uint32_t result, const PlannedRange& rest) {
  return !for_each_tensor(value, [&](uint32_t tensor) {
    const PlannedRange& range = ranges_[tensor];
    return tensor == result || range.buffer != rest.buffer || range.begin >= rest.end ||
           rest.begin >= range.end;
  });
}

// Runs the step once, and keeps its result in separate memory.
void MethodLoader::ResultKeeper::keep(Step& step, uint32_t out) {
  Tensor& tensor = step.arguments[out]->unchecked_tensor();
  const size_t bytes = tensor.nbytes();
  bool is_new = false;
  if (!loader_.charge_bytes(bytes).ok()) return;
  void* const memory =
      method_.derived_->find_or_add(&tensor, kKeptResult, bytes + kReadableSlack, is_new);
  if (memory == nullptr) return;
  std::memset(static_cast<std::byte*>(memory) + bytes, 0, kReadableSlack);
  const Tensor planned = tensor;
  tensor.set_data(memory, true);
  KernelContext context(&method_.temp_);
  step.function(context, step.arguments);
  method_.temp_.reset();
  if (context.failed()) {
    // Ignores the kernel's error. The first execution runs the step again and reports the error.
    tensor.restore_memory(planned);
    return;
  }
  tensor.set_read_only();
  tensor.set_constant();
  step.function = [](KernelContext&, EValue* const*) {};
}

}  // namespace vitrine
