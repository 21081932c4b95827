// Finds values in planned memory that are overwritten by another value while they are still needed.
//
// The check goes through the steps in order. A step may read an input of the method, or the result
// of an earlier step, only if no other value has overwritten it. The same rule holds for values
// that the method returns. The following cases may be intended, so they are allowed:
// - A step may write over an operand that it reads, because it may work in place.
// - A value that no single step computes may share memory with any other value. Examples are a
//   state, a view without a step, and a tensor that in-place operators (`copy_`) assemble.
// - After a jump target, values that were written before the target are not checked, because
//   the jump may have come from any other step.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <string_view>
#include <utility>

#include "runtime/executor/latest_writes.h"
#include "runtime/executor/method_loader.h"
#include "runtime/platform/vector_size.h"

namespace vitrine {
namespace {

bool is_named_in_place(std::string_view name) {
  const size_t end = std::min(name.find('.'), name.size());
  return end != 0 && name[end - 1] == '_';
}

struct Boundary {
  uintptr_t address;
  uint32_t value;
  bool is_end;
};

// Radix sort by address, least significant byte first. Returns the span that has the result.
std::span<Boundary> sort_by_address(std::span<Boundary> boundaries, std::span<Boundary> buffer) {
  uintptr_t differing = 0;
  for (const Boundary& boundary : boundaries) differing |= boundary.address ^ boundaries[0].address;
  for (uint32_t shift = 0; shift < 8 * sizeof(uintptr_t); shift += 8) {
    if ((differing >> shift & 0xFFu) == 0) continue;
    std::array<size_t, 257> starts{};
    for (const Boundary& boundary : boundaries) ++starts[(boundary.address >> shift & 0xFFu) + 1];
    for (size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
    for (const Boundary& boundary : boundaries)
      buffer[starts[boundary.address >> shift & 0xFFu]++] = boundary;
    std::swap(boundaries, buffer);
  }
  return boundaries;
}

}  // namespace

class MethodLoader::OverlapCheck {
 public:
  explicit OverlapCheck(MethodLoader& loader)
      : loader_(loader), method_(loader.method_), plan_(loader.plan_) {}

  Error run();

 private:
  // The memory of a value as a range of intervals, and the times of its latest writes. Time n is
  // the n-th write of the method, counted from 1.
  struct TrackedValue {
    uint32_t begin = 0;
    uint32_t end = 0;             // equal to `begin` if the value is not tracked
    uint32_t intact_since = 0;    // the value was intact after this write; 0 if unknown
    uint32_t last_overwrite = 0;  // time of its last write over other values; 0 if none
    uint32_t writer = 0;          // the last step that wrote the entire value
  };
  struct IntervalRange {
    uint32_t begin;
    uint32_t end;
  };
  using Visit = Error (OverlapCheck::*)(uint32_t value);

  Error find_scratch();
  Error find_intervals();
  // The memory of values_[value]. Empty if the value is not tracked.
  std::span<const std::byte> memory_of(uint32_t value) const;
  Error find_jump_targets();
  Error check_instruction(const fbs::Instruction& instruction);
  Error check_kernel_call(const fbs::KernelCall& call);
  Error check_delegate_call(const fbs::DelegateCall& call);
  Error for_each_scratch(uint32_t count, Visit visit);
  void handle_jump_target();

  Error for_each_tensor(int32_t value, Visit visit);
  Error read(uint32_t value);
  Error write(uint32_t value);
  Error may_modify(uint32_t value);     // the step may have modified part of the value
  Error stop_tracking(uint32_t value);  // the value may have other memory from now on

  Error no_memory() const { return loader_.no_memory("the check of the memory plan"); }
  Error overlap_error(uint32_t value, uint32_t time) const;
  void describe_writer(const TrackedValue& value, std::span<char> text) const;
  void describe(uint32_t value, std::span<char> text) const;

  MethodLoader& loader_;
  Method& method_;
  const fbs::ExecutionPlan& plan_;
  // The method's values, followed by the scratch memory of its delegate calls.
  std::span<TrackedValue> values_;
  std::span<std::span<std::byte>> scratch_;
  uint32_t next_scratch_ = 0;  // number of scratch memories before the current step
  // One element for each instruction, and one for the end of the last chain.
  std::span<bool> is_jump_target_;
  LatestWrites writes_;
  // The intervals of each operand that the current step reads. If the array is too short, its last
  // element spans all remaining operands.
  std::array<IntervalRange, 32> reads_{};
  uint32_t num_reads_ = 0;
  uint32_t depth_ = 0;           // depth of the tree: the work of a read or write
  uint32_t step_ = 0;            // number of the step; inputs count as steps, before the first step
  uint32_t time_ = 0;            // time of the latest write
  uint32_t unknown_before_ = 0;  // writes up to this time are unknown
};

Error MethodLoader::OverlapCheck::run() {
  VITRINE_RETURN_IF_ERROR(find_scratch());
  VITRINE_RETURN_IF_ERROR(find_intervals());
  if (values_.empty()) return Error();
  VITRINE_RETURN_IF_ERROR(find_jump_targets());
  for (uint32_t i = 0; i < size_of(plan_.inputs()); ++i) {
    ++step_;
    VITRINE_RETURN_IF_ERROR(write(static_cast<uint32_t>(plan_.inputs()->Get(i))));
  }
  for (uint32_t c = 0; c < plan_.chains()->size(); ++c) {
    const auto* instructions = plan_.chains()->Get(c)->instructions();
    for (uint32_t i = 0; i < size_of(instructions); ++i) {
      handle_jump_target();
      ++step_;
      num_reads_ = 0;
      VITRINE_RETURN_IF_ERROR(check_instruction(*instructions->Get(i)),
                              "%s, chains[%u].instructions[%u]", plan_.name()->c_str(), c, i);
    }
  }
  handle_jump_target();
  for (uint32_t i = 0; i < size_of(plan_.outputs()); ++i) {
    VITRINE_RETURN_IF_ERROR(for_each_tensor(plan_.outputs()->Get(i), &OverlapCheck::read),
                            "%s, outputs[%u]", plan_.name()->c_str(), i);
  }
  return Error();
}

Error MethodLoader::OverlapCheck::find_scratch() {
  size_t count = 0;
  for (const Step& step : method_.steps_) count += step.num_scratch;
  VITRINE_RETURN_IF_ERROR(loader_.charge_steps(method_.steps_.size() + count));
  scratch_ = loader_.scratch_.allocate_array<std::span<std::byte>>(count);
  if (scratch_.size() != count) return no_memory();
  auto next = scratch_.begin();
  for (const Step& step : method_.steps_) {
    next = std::copy_n(step.scratch, step.num_scratch, next);
  }
  return Error();
}

std::span<const std::byte> MethodLoader::OverlapCheck::memory_of(uint32_t value) const {
  const size_t num_values = method_.values_.size();
  if (value >= num_values) return scratch_[value - num_values];
  const EValue& from = method_.values_[value];
  if (!from.is_tensor() || from.unchecked_tensor().is_read_only()) return {};
  const Tensor& tensor = from.unchecked_tensor();
  if (tensor.raw_data() == nullptr) return {};
  return {static_cast<const std::byte*>(tensor.raw_data()), tensor.bound_nbytes()};
}

// Splits memory at every address where a value begins or ends.
Error MethodLoader::OverlapCheck::find_intervals() {
  const auto count = static_cast<uint32_t>(method_.values_.size() + scratch_.size());
  size_t num_tracked = 0;
  for (uint32_t i = 0; i < count; ++i) num_tracked += memory_of(i).empty() ? 0 : 1;
  if (num_tracked < 2) return Error();
  depth_ = static_cast<uint32_t>(std::bit_width(2 * num_tracked));
  VITRINE_RETURN_IF_ERROR(loader_.charge_steps(2 * num_tracked * sizeof(uintptr_t)));
  HeapArena& scratch = loader_.scratch_;
  values_ = scratch.allocate_array<TrackedValue>(count);
  std::span<Boundary> boundaries = scratch.allocate_array<Boundary>(2 * num_tracked);
  const std::span<Boundary> buffer = scratch.allocate_array<Boundary>(2 * num_tracked);
  if (values_.empty() || boundaries.empty() || buffer.empty()) return no_memory();
  auto next = boundaries.begin();
  for (uint32_t i = 0; i < count; ++i) {
    const std::span<const std::byte> memory = memory_of(i);
    if (memory.empty()) continue;
    const auto begin = reinterpret_cast<uintptr_t>(memory.data());
    *next++ = {begin, i, false};
    *next++ = {begin + memory.size(), i, true};
  }
  boundaries = sort_by_address(boundaries, buffer);
  uint32_t interval = 0;
  uintptr_t address = boundaries[0].address;
  for (const Boundary& boundary : boundaries) {
    if (boundary.address != address) ++interval;
    address = boundary.address;
    TrackedValue& value = values_[boundary.value];
    (boundary.is_end ? value.end : value.begin) = interval;
  }
  const auto words = scratch.allocate_array<uint32_t>(LatestWrites::kWordsPerPosition * interval);
  if (words.empty()) return no_memory();
  writes_ = LatestWrites(words);
  return Error();
}

Error MethodLoader::OverlapCheck::find_jump_targets() {
  is_jump_target_ = loader_.scratch_.allocate_array<bool>(method_.steps_.size() + 1);
  if (is_jump_target_.empty()) return no_memory();
  for (const Method::ChainSteps& chain : method_.chains_) {
    for (const Step& step : method_.steps_.subspan(chain.first, chain.count)) {
      if (step.kind != TraceRecord::Kind::kJumpFalse) continue;
      is_jump_target_[chain.first + step.destination] = true;
    }
  }
  return Error();
}

void MethodLoader::OverlapCheck::handle_jump_target() {
  if (is_jump_target_[step_ - method_.inputs_.size()]) unknown_before_ = time_;
}

Error MethodLoader::OverlapCheck::check_instruction(const fbs::Instruction& instruction) {
  switch (instruction.instr_args_type()) {
    case fbs::InstructionArguments::KernelCall:
      return check_kernel_call(*instruction.instr_args_as_KernelCall());
    case fbs::InstructionArguments::DelegateCall:
      return check_delegate_call(*instruction.instr_args_as_DelegateCall());
    case fbs::InstructionArguments::JumpFalseCall:
      return for_each_tensor(instruction.instr_args_as_JumpFalseCall()->cond_value_index(),
                             &OverlapCheck::read);
    case fbs::InstructionArguments::MoveCall:
      VITRINE_RETURN_IF_ERROR(for_each_tensor(instruction.instr_args_as_MoveCall()->move_from(),
                                              &OverlapCheck::stop_tracking));
      return for_each_tensor(instruction.instr_args_as_MoveCall()->move_to(),
                             &OverlapCheck::stop_tracking);
    default:
      return Error();
  }
}

// Returns the index of the first result among the arguments. The results come just before the last
// argument, which repeats the results. A kernel that writes an argument before the first result
// modifies this argument in place.
uint32_t MethodLoader::first_result(const fbs::KernelCall& call) const {
  const ResolvedOperator& op = operators_[static_cast<size_t>(call.op_index())];
  const IndexVector& args = *call.args();
  const uint32_t last = args.size() - 1;
  if (last == 0 || is_named_in_place(op.name)) return last;
  uint32_t results = 1;
  if (args[last] != args[last - 1]) {
    results = size_of(tensors_of_list(*plan_.values()->Get(static_cast<uint32_t>(args[last]))));
  }
  uint32_t first = last;
  for (; results > 0 && first > 0 && is_written(op.found.kernel->outputs, first - 1); --results) {
    --first;
  }
  return first == 0 ? last : first;
}

Error MethodLoader::OverlapCheck::check_kernel_call(const fbs::KernelCall& call) {
  if (size_of(call.args()) == 0) return Error();
  const IndexVector& args = *call.args();
  const uint32_t last = args.size() - 1;
  const uint32_t outputs =
      loader_.operators_[static_cast<size_t>(call.op_index())].found.kernel->outputs;
  if (outputs == 0) {  // the kernel does not declare outputs; the result of a view moves
    for (const int32_t arg : args)
      VITRINE_RETURN_IF_ERROR(for_each_tensor(arg, &OverlapCheck::may_modify));
    return for_each_tensor(args[last], &OverlapCheck::stop_tracking);
  }
  for (uint32_t i = 0; i < last; ++i) {
    if (is_written(outputs, i)) continue;
    VITRINE_RETURN_IF_ERROR(for_each_tensor(args[i], &OverlapCheck::read));
  }
  const uint32_t first = loader_.first_result(call);
  for (uint32_t i = 0; i < last; ++i) {
    if (!is_written(outputs, i)) continue;
    const Visit visit = i < first ? &OverlapCheck::may_modify : &OverlapCheck::write;
    VITRINE_RETURN_IF_ERROR(for_each_tensor(args[i], visit));
  }
  return Error();
}

// If a delegate reports every argument as an output, its inputs are unknown. All arguments then
// count as possibly modified. No argument may overlap the scratch memory. To find such overlaps,
// scratch memory counts as written before the inputs are read, and as read after the outputs are
// written.
Error MethodLoader::OverlapCheck::check_delegate_call(const fbs::DelegateCall& call) {
  const Delegate& delegate = *method_.delegates_[static_cast<size_t>(call.delegate_index())];
  const uint32_t num_scratch = size_of(call.scratch());
  VITRINE_RETURN_IF_ERROR(for_each_scratch(num_scratch, &OverlapCheck::write));
  bool has_inputs = false;
  for (uint32_t i = 0; i < size_of(call.args()); ++i) {
    if (delegate.is_output(i)) continue;
    has_inputs = true;
    VITRINE_RETURN_IF_ERROR(for_each_tensor(call.args()->Get(i), &OverlapCheck::read));
  }
  const Visit visit = has_inputs ? &OverlapCheck::write : &OverlapCheck::may_modify;
  for (uint32_t i = 0; i < size_of(call.args()); ++i) {
    if (delegate.is_output(i)) VITRINE_RETURN_IF_ERROR(for_each_tensor(call.args()->Get(i), visit));
  }
  num_reads_ = 0;
  VITRINE_RETURN_IF_ERROR(for_each_scratch(num_scratch, &OverlapCheck::read));
  next_scratch_ += num_scratch;
  return Error();
}

Error MethodLoader::OverlapCheck::for_each_scratch(uint32_t count, Visit visit) {
  VITRINE_RETURN_IF_ERROR(loader_.charge_steps(uint64_t{count} * depth_));
  const auto first = static_cast<uint32_t>(method_.values_.size()) + next_scratch_;
  for (uint32_t i = 0; i < count; ++i) VITRINE_RETURN_IF_ERROR((this->*visit)(first + i));
  return Error();
}

Error MethodLoader::OverlapCheck::for_each_tensor(int32_t value, Visit visit) {
  const auto index = static_cast<uint32_t>(value);
  if (!method_.values_[index].is_tensor_list()) {
    if (values_[index].begin == values_[index].end) return Error();
    VITRINE_RETURN_IF_ERROR(loader_.charge_steps(depth_));
    return (this->*visit)(index);
  }
  const IndexVector* items = tensors_of_list(*plan_.values()->Get(index));
  VITRINE_RETURN_IF_ERROR(loader_.charge_steps(uint64_t{items->size()} * depth_));
  for (const int32_t item : *items) {
    if (item >= 0) VITRINE_RETURN_IF_ERROR((this->*visit)(static_cast<uint32_t>(item)));
  }
  return Error();
}

Error MethodLoader::OverlapCheck::read(uint32_t index) {
  const TrackedValue& value = values_[index];
  if (value.begin == value.end) return Error();
  if (value.intact_since > unknown_before_) {
    const uint32_t latest = writes_.latest(value.begin, value.end);
    if (latest > value.intact_since) return overlap_error(index, latest);
  }
  if (num_reads_ < reads_.size()) {
    reads_[num_reads_++] = {value.begin, value.end};
  } else {
    IntervalRange& last = reads_.back();
    last = {std::min(last.begin, value.begin), std::max(last.end, value.end)};
  }
  return Error();
}

Error MethodLoader::OverlapCheck::write(uint32_t index) {
  TrackedValue& value = values_[index];
  if (value.begin == value.end || time_ == UINT32_MAX) return Error();
  value.intact_since = ++time_;
  value.writer = step_;
  const bool is_in_place = std::any_of(
      reads_.begin(), reads_.begin() + num_reads_,
      [&](const IntervalRange& read) { return read.begin < value.end && value.begin < read.end; });
  if (is_in_place) return Error();
  value.last_overwrite = time_;
  writes_.write(value.begin, value.end, time_);
  return Error();
}

Error MethodLoader::OverlapCheck::may_modify(uint32_t index) {
  TrackedValue& value = values_[index];
  if (value.intact_since > unknown_before_) value.intact_since = time_;
  return Error();
}

Error MethodLoader::OverlapCheck::stop_tracking(uint32_t index) {
  values_[index].begin = values_[index].end;
  return Error();
}

Error MethodLoader::OverlapCheck::overlap_error(uint32_t value, uint32_t time) const {
  const auto other = std::ranges::find(values_, time, &TrackedValue::last_overwrite);
  char needed[112];
  char writer[160];
  char overwriting[112];
  char other_writer[160];
  describe(value, needed);
  describe_writer(values_[value], writer);
  describe(static_cast<uint32_t>(other - values_.begin()), overwriting);
  describe_writer(*other, other_writer);
  return Error::make(
      ErrorCode::kInvalidProgram,
      "needs %s as written by %s, but %s has overwritten it with %s: the memory plan "
      "is wrong",
      needed, writer, other_writer, overwriting);
}

void MethodLoader::OverlapCheck::describe_writer(const TrackedValue& value,
                                                 std::span<char> text) const {
  const size_t num_inputs = method_.inputs_.size();
  if (value.writer <= num_inputs) {
    std::snprintf(text.data(), text.size(), "inputs[%zu]", size_t{value.writer} - 1);
    return;
  }
  const size_t position = value.writer - num_inputs - 1;
  const auto chain = std::ranges::find_if(method_.chains_, [&](const Method::ChainSteps& steps) {
    return position < size_t{steps.first} + steps.count;
  });
  const char* name = method_.steps_[position].name;
  std::snprintf(text.data(), text.size(), "chains[%td].instructions[%zu] (%s)",
                chain - method_.chains_.begin(), position - chain->first,
                name != nullptr ? name : "");
}

void MethodLoader::OverlapCheck::describe(uint32_t value, std::span<char> text) const {
  const std::span<const std::byte> bytes = memory_of(value);
  size_t memory = 0;
  while (bytes.data() < method_.buffers_[memory].data ||
         bytes.data() >=
             method_.buffers_[memory].data + method_.meta_.planned_buffer_size(memory)) {
    ++memory;
  }
  const auto begin = static_cast<unsigned long long>(bytes.data() - method_.buffers_[memory].data);
  const size_t num_values = method_.values_.size();
  const bool is_scratch = value >= num_values;
  std::snprintf(text.data(), text.size(), "%s[%zu] (bytes %llu to %llu of memory %zu)",
                is_scratch ? "scratch" : "values", is_scratch ? value - num_values : size_t{value},
                begin, begin + bytes.size(), memory + 1);
}

constinit const PlanCheck refuse_overlaps = {
    [](MethodLoader& loader) { return MethodLoader::OverlapCheck(loader).run(); },
    [](MethodLoader& loader) { loader.keep_results(); }};

}  // namespace vitrine
