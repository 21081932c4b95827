// Values whose planned memory another value takes while they are needed.
//
// The steps are followed in their order. A result, or an input, has to be as it was written when a
// step reads it, or when the method ends: nothing else may have been written to its bytes. A plan
// cannot tell every overlap that is meant from a mistake, so some are left to the kernels:
// - What a step writes where it reads may be work in place, and does not count as written.
// - Values that no step computes as a whole (states, views that take no step, what is put together
//   in its place) may be parts of any other; a write in place (`copy_`) changes what they have.
// - Where jumps meet, earlier writes are unknown.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <string_view>
#include <utility>

#include "runtime/data/vector_size.h"
#include "runtime/executor/latest_writes.h"
#include "runtime/executor/method_loader.h"

namespace vitrine {
namespace {

using Indices = flatbuffers::Vector<int32_t>;

const Indices* tensors_of_list(const fbs::EValue& value) {
  if (const auto* list = value.val_as_TensorList()) return list->items();
  const auto* list = value.val_as_OptionalTensorList();
  return list != nullptr ? list->items() : nullptr;
}

bool is_written(uint32_t outputs, uint32_t argument) {
  return argument < 32 && (outputs >> argument & 1u) != 0;
}

// "aten::copy_", "aten::add_.Tensor"
bool is_named_in_place(std::string_view name) {
  const size_t end = std::min(name.find('.'), name.size());
  return end != 0 && name[end - 1] == '_';
}

// Where a value begins or ends.
struct Bound {
  uintptr_t address;
  uint32_t value;
  bool is_end;
};

// In linear time: byte by byte, from the lowest. The result is in one of the two.
std::span<Bound> sort_by_address(std::span<Bound> bounds, std::span<Bound> room) {
  uintptr_t differing = 0;
  for (const Bound& bound : bounds) differing |= bound.address ^ bounds[0].address;
  for (uint32_t shift = 0; shift < 8 * sizeof(uintptr_t); shift += 8) {
    if ((differing >> shift & 0xFFu) == 0) continue;
    std::array<size_t, 257> starts{};
    for (const Bound& bound : bounds) ++starts[(bound.address >> shift & 0xFFu) + 1];
    for (size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
    for (const Bound& bound : bounds) room[starts[bound.address >> shift & 0xFFu]++] = bound;
    std::swap(bounds, room);
  }
  return bounds;
}

}  // namespace

class MethodLoader::OverlapSearch {
 public:
  explicit OverlapSearch(MethodLoader& loader)
      : loader_(loader), method_(loader.method_), plan_(loader.plan_) {}

  Error run();

 private:
  // A value's place and past. Times count results and inputs.
  struct Value {
    uint32_t begin = 0;  // among the places; an empty range: it is not followed
    uint32_t end = 0;
    uint32_t known = 0;    // it has all that was written there up to this time; 0: is not known
    uint32_t written = 0;  // when it was last written over other values; 0: never
    uint32_t writer = 0;   // the last step that wrote it as a whole
  };
  struct Range {
    uint32_t begin;
    uint32_t end;
  };
  using Visit = Error (OverlapSearch::*)(uint32_t value);

  Error find_places();
  Error find_meetings();
  Error follow(const fbs::Instruction& instruction);
  Error follow_kernel(const fbs::KernelCall& call);
  Error follow_delegate(const fbs::DelegateCall& call);
  uint32_t first_result(const fbs::KernelCall& call) const;
  void meet();

  // Visits a tensor, or those of a list.
  Error each(int32_t value, Visit visit);
  Error read(uint32_t value);
  Error write(uint32_t value);
  Error change(uint32_t value);   // in part, or perhaps not
  Error abandon(uint32_t value);  // it may be elsewhere from now on

  Error no_memory() const { return loader_.no_memory("the places of values"); }
  Error refuse(uint32_t value, uint32_t time) const;
  void describe_writer(const Value& value, std::span<char> text) const;
  void describe_bytes(uint32_t value, std::span<char> text) const;

  MethodLoader& loader_;
  Method& method_;
  const fbs::ExecutionPlan& plan_;
  std::span<Value> values_;
  std::span<bool> meetings_;  // by instruction of the method, and one behind the last: jumped to
  LatestWrites writes_;
  std::array<Range, 32> reads_{};  // of the step; the last one spans all that have no room
  uint32_t num_reads_ = 0;
  uint32_t depth_ = 0;      // of the tree: the work of a read or write
  uint32_t step_ = 0;       // inputs come before instructions
  uint32_t time_ = 0;       // of the latest write
  uint32_t forgotten_ = 0;  // what was written up to this time is not known
};

Error MethodLoader::OverlapSearch::run() {
  VITRINE_RETURN_IF_ERROR(find_places());
  if (values_.empty()) return Error();
  VITRINE_RETURN_IF_ERROR(find_meetings());
  for (uint32_t i = 0; i < size_of(plan_.inputs()); ++i) {
    ++step_;
    VITRINE_RETURN_IF_ERROR(write(static_cast<uint32_t>(plan_.inputs()->Get(i))));
  }
  for (uint32_t c = 0; c < plan_.chains()->size(); ++c) {
    const auto* instructions = plan_.chains()->Get(c)->instructions();
    for (uint32_t i = 0; i < size_of(instructions); ++i) {
      meet();
      ++step_;
      num_reads_ = 0;
      VITRINE_RETURN_IF_ERROR(follow(*instructions->Get(i)), "%s, chains[%u].instructions[%u]",
                              plan_.name()->c_str(), c, i);
    }
  }
  meet();
  for (uint32_t i = 0; i < size_of(plan_.outputs()); ++i) {
    VITRINE_RETURN_IF_ERROR(each(plan_.outputs()->Get(i), &OverlapSearch::read), "%s, outputs[%u]",
                            plan_.name()->c_str(), i);
  }
  return Error();
}

// Places lie between neighbouring bounds of values: no value begins or ends inside one.
Error MethodLoader::OverlapSearch::find_places() {
  const auto count = static_cast<uint32_t>(method_.values_.size());
  const auto is_followed = [](const EValue& value) {
    return value.is_tensor() && !value.unchecked_tensor().is_read_only() &&
           value.unchecked_tensor().raw_data() != nullptr &&
           value.unchecked_tensor().bound_nbytes() != 0;
  };
  const auto followed = static_cast<size_t>(std::ranges::count_if(method_.values_, is_followed));
  if (followed < 2) return Error();
  depth_ = static_cast<uint32_t>(std::bit_width(2 * followed));
  VITRINE_RETURN_IF_ERROR(loader_.work(2 * followed * sizeof(uintptr_t)));
  HeapArena& scratch = loader_.scratch_;
  values_ = scratch.allocate_array<Value>(count);
  std::span<Bound> bounds = scratch.allocate_array<Bound>(2 * followed);
  const std::span<Bound> room = scratch.allocate_array<Bound>(2 * followed);
  if (values_.empty() || bounds.empty() || room.empty()) return no_memory();
  auto next = bounds.begin();
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_followed(method_.values_[i])) continue;
    const Tensor& tensor = method_.values_[i].unchecked_tensor();
    const auto begin = reinterpret_cast<uintptr_t>(tensor.raw_data());
    *next++ = {begin, i, false};
    *next++ = {begin + tensor.bound_nbytes(), i, true};
  }
  bounds = sort_by_address(bounds, room);
  uint32_t place = 0;
  uintptr_t address = bounds[0].address;
  for (const Bound& bound : bounds) {
    if (bound.address != address) ++place;
    address = bound.address;
    Value& value = values_[bound.value];
    (bound.is_end ? value.end : value.begin) = place;
  }
  const auto words = scratch.allocate_array<uint32_t>(LatestWrites::kWordsPerPlace * place);
  if (words.empty()) return no_memory();
  writes_ = LatestWrites(words);
  return Error();
}

Error MethodLoader::OverlapSearch::find_meetings() {
  meetings_ = loader_.scratch_.allocate_array<bool>(method_.steps_.size() + 1);
  if (meetings_.empty()) return no_memory();
  for (const Method::ChainSteps& chain : method_.chains_) {
    for (const Step& step : method_.steps_.subspan(chain.first, chain.count)) {
      if (step.kind != TraceRecord::Kind::kJumpFalse) continue;
      meetings_[chain.first + step.destination] = true;
    }
  }
  return Error();
}

void MethodLoader::OverlapSearch::meet() {
  if (meetings_[step_ - method_.inputs_.size()]) forgotten_ = time_;
}

Error MethodLoader::OverlapSearch::follow(const fbs::Instruction& instruction) {
  switch (instruction.instr_args_type()) {
    case fbs::InstructionArguments::KernelCall:
      return follow_kernel(*instruction.instr_args_as_KernelCall());
    case fbs::InstructionArguments::DelegateCall:
      return follow_delegate(*instruction.instr_args_as_DelegateCall());
    case fbs::InstructionArguments::JumpFalseCall:
      return each(instruction.instr_args_as_JumpFalseCall()->cond_value_index(),
                  &OverlapSearch::read);
    case fbs::InstructionArguments::MoveCall:
      VITRINE_RETURN_IF_ERROR(
          each(instruction.instr_args_as_MoveCall()->move_from(), &OverlapSearch::abandon));
      return each(instruction.instr_args_as_MoveCall()->move_to(), &OverlapSearch::abandon);
    default:
      return Error();
  }
}

// Results are the last arguments, and what the call returns repeats them. What else is written is
// changed in place.
uint32_t MethodLoader::OverlapSearch::first_result(const fbs::KernelCall& call) const {
  const MethodLoader::ResolvedOperator& op =
      loader_.operators_[static_cast<size_t>(call.op_index())];
  const Indices& args = *call.args();
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

Error MethodLoader::OverlapSearch::follow_kernel(const fbs::KernelCall& call) {
  if (size_of(call.args()) == 0) return Error();
  const Indices& args = *call.args();
  const uint32_t last = args.size() - 1;
  const uint32_t outputs =
      loader_.operators_[static_cast<size_t>(call.op_index())].found.kernel->outputs;
  if (outputs == 0) {  // it says nothing about tensors; views give theirs another place
    for (const int32_t arg : args) VITRINE_RETURN_IF_ERROR(each(arg, &OverlapSearch::change));
    return each(args[last], &OverlapSearch::abandon);
  }
  for (uint32_t i = 0; i < last; ++i) {
    if (is_written(outputs, i)) continue;
    VITRINE_RETURN_IF_ERROR(each(args[i], &OverlapSearch::read));
  }
  const uint32_t first = first_result(call);
  for (uint32_t i = 0; i < last; ++i) {
    if (!is_written(outputs, i)) continue;
    const Visit visit = i < first ? &OverlapSearch::change : &OverlapSearch::write;
    VITRINE_RETURN_IF_ERROR(each(args[i], visit));
  }
  return Error();
}

// One that writes all of its arguments does not know.
Error MethodLoader::OverlapSearch::follow_delegate(const fbs::DelegateCall& call) {
  const Delegate& delegate = *method_.delegates_[static_cast<size_t>(call.delegate_index())];
  bool knows = false;
  for (uint32_t i = 0; i < size_of(call.args()); ++i) {
    if (delegate.is_output(i)) continue;
    knows = true;
    VITRINE_RETURN_IF_ERROR(each(call.args()->Get(i), &OverlapSearch::read));
  }
  const Visit visit = knows ? &OverlapSearch::write : &OverlapSearch::change;
  for (uint32_t i = 0; i < size_of(call.args()); ++i) {
    if (delegate.is_output(i)) VITRINE_RETURN_IF_ERROR(each(call.args()->Get(i), visit));
  }
  return Error();
}

Error MethodLoader::OverlapSearch::each(int32_t value, Visit visit) {
  const auto index = static_cast<uint32_t>(value);
  if (!method_.values_[index].is_tensor_list()) {
    if (values_[index].begin == values_[index].end) return Error();
    VITRINE_RETURN_IF_ERROR(loader_.work(depth_));
    return (this->*visit)(index);
  }
  const Indices* items = tensors_of_list(*plan_.values()->Get(index));
  VITRINE_RETURN_IF_ERROR(loader_.work(uint64_t{items->size()} * depth_));
  for (const int32_t item : *items) {
    if (item >= 0) VITRINE_RETURN_IF_ERROR((this->*visit)(static_cast<uint32_t>(item)));
  }
  return Error();
}

Error MethodLoader::OverlapSearch::read(uint32_t index) {
  const Value& value = values_[index];
  if (value.begin == value.end) return Error();
  if (value.known > forgotten_) {
    const uint32_t latest = writes_.latest(value.begin, value.end);
    if (latest > value.known) return refuse(index, latest);
  }
  if (num_reads_ < reads_.size()) {
    reads_[num_reads_++] = {value.begin, value.end};
  } else {
    Range& last = reads_.back();
    last = {std::min(last.begin, value.begin), std::max(last.end, value.end)};
  }
  return Error();
}

Error MethodLoader::OverlapSearch::write(uint32_t index) {
  Value& value = values_[index];
  if (value.begin == value.end || time_ == UINT32_MAX) return Error();
  value.known = ++time_;
  value.writer = step_;
  const bool is_in_place = std::any_of(
      reads_.begin(), reads_.begin() + num_reads_,
      [&](const Range& read) { return read.begin < value.end && value.begin < read.end; });
  if (is_in_place) return Error();
  value.written = time_;
  writes_.write(value.begin, value.end, time_);
  return Error();
}

Error MethodLoader::OverlapSearch::change(uint32_t index) {
  Value& value = values_[index];
  if (value.known > forgotten_) value.known = time_;
  return Error();
}

Error MethodLoader::OverlapSearch::abandon(uint32_t index) {
  values_[index].begin = values_[index].end;
  return Error();
}

// `time` is that of a write to some of the value's bytes.
Error MethodLoader::OverlapSearch::refuse(uint32_t value, uint32_t time) const {
  const auto other = std::ranges::find(values_, time, &Value::written);
  char bytes[80];
  char writer[160];
  char other_bytes[80];
  char other_writer[160];
  describe_bytes(value, bytes);
  describe_writer(values_[value], writer);
  describe_bytes(static_cast<uint32_t>(other - values_.begin()), other_bytes);
  describe_writer(*other, other_writer);
  return Error::make(ErrorCode::kInvalidProgram,
                     "needs values[%u] (%s) as %s left it, but %s has written values[%td] (%s) "
                     "over it: the memory plan is wrong",
                     value, bytes, writer, other_writer, other - values_.begin(), other_bytes);
}

void MethodLoader::OverlapSearch::describe_writer(const Value& value, std::span<char> text) const {
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

void MethodLoader::OverlapSearch::describe_bytes(uint32_t value, std::span<char> text) const {
  const fbs::AllocationDetails& info =
      *plan_.values()->Get(value)->val_as_Tensor()->allocation_info();
  const uint64_t begin = info.memory_offset_low() | static_cast<uint64_t>(info.memory_offset_high())
                                                        << 32;
  const uint64_t end = begin + method_.values_[value].unchecked_tensor().bound_nbytes();
  std::snprintf(text.data(), text.size(), "bytes %llu to %llu of memory %u",
                static_cast<unsigned long long>(begin), static_cast<unsigned long long>(end),
                info.memory_id());
}

Error refuse_overlaps(MethodLoader& loader) { return MethodLoader::OverlapSearch(loader).run(); }

}  // namespace vitrine
