#include "vitrine/call_profile.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <new>
#include <tuple>

#include "api/call_profile_state.h"
#include "runtime/core/sort.h"
#include "runtime/platform/clock.h"
#include "runtime/platform/file.h"

namespace vitrine {
namespace {

using Kind = TraceRecord::Kind;

std::string_view text_of(const char* name) { return name == nullptr ? "" : name; }
std::string_view metadata_of(const TraceRecord& record) {
  return record.metadata == nullptr ? std::string_view()
                                    : std::string_view(record.metadata, record.metadata_size);
}

auto identity(const TraceRecord& record) {
  return std::tuple(record.kind, record.chain_index, record.instruction_id,
                    record.delegate_debug_id, text_of(record.name), metadata_of(record));
}

// Hashes only the fields in which records usually differ.
uint64_t hash_of(const TraceRecord& record, size_t position, uint64_t seed) {
  const auto pair = [](auto a, auto b) {
    return static_cast<uint64_t>(static_cast<uint32_t>(a)) << 32 | static_cast<uint32_t>(b);
  };
  uint64_t hash = platform::mix(seed, pair(record.chain_index, record.instruction_id));
  hash = platform::mix(hash, pair(record.delegate_debug_id, record.kind));
  return platform::mix(hash, position);
}

uint64_t length_of(const TraceRecord& record) { return record.end_ns - record.start_ns; }

void add(const TraceRecord& record, CallProfile::Times& times) {
  const uint64_t ns = length_of(record);
  times.min_ns = times.calls == 0 ? ns : std::min(times.min_ns, ns);
  times.max_ns = std::max(times.max_ns, ns);
  times.total_ns += ns;
  ++times.calls;
}

}  // namespace

CallProfile::Row CallProfile::State::Sum::row() const {
  Row row{first.kind, first.chain_index, first.instruction_id, text_of(first.name), {}, times};
  const bool is_operator = first.kind == Kind::kDelegateOperator;
  if (is_operator && first.name == nullptr) row.name = number.data();
  if (is_operator || first.kind == Kind::kKernelCall) row.implementation = metadata_of(first);
  return row;
}

// Finds the Sum of the record, or adds a new Sum. Most programs repeat their instructions in the
// same order, so the search begins after the previous record's Sum. Operators of a delegate may
// have equal identifiers, so their positions in the delegate call are compared, too.
CallProfile::State::Sum* CallProfile::State::Sums::find_or_add(const TraceRecord& record) {
  const bool is_operator = record.kind == Kind::kDelegateOperator;
  const size_t here = is_operator ? position++ : 0;
  if (!is_operator) position = 0;
  const auto is_it = [&](const Sum& sum) {
    return sum.position == here && identity(sum.first) == identity(record);
  };
  size_t at = next;
  if (at < sums.size() && is_it(sums[at])) {
    next = at + 1;
    return &sums[at];
  }
  const uint64_t hash = hash_of(record, here, seed);
  at = index.find(hash, [&](size_t candidate) { return is_it(sums[candidate]); });
  if (at == HashIndex::kNone) {
    at = sums.size();
    Sum sum{record, here, {}, {}};
    std::to_chars(sum.number.data(), sum.number.data() + sum.number.size() - 1,
                  record.delegate_debug_id);
    if (!index.make_room().ok() || !sums.push_back(sum).ok()) return nullptr;
    index.add(hash, at);
  }
  next = at + 1;
  return &sums[at];
}

Error CallProfile::State::Sums::make_rows() {
  CheckedVector<const Sum*> order;
  VITRINE_RETURN_IF_ERROR(order.reserve(sums.size()));
  for (const Sum& sum : sums) static_cast<void>(order.push_back(&sum));
  sort(std::span(order.data(), order.size()), [](const Sum* a, const Sum* b) {
    const auto key = [](const Sum* sum) {  // ties keep their order in `sums`
      return std::tuple(sum->first.chain_index, sum->first.instruction_id,
                        sum->first.kind == Kind::kDelegateOperator, sum->position, sum);
    };
    return key(a) < key(b);
  });
  rows.clear();
  VITRINE_RETURN_IF_ERROR(rows.reserve(order.size()));
  for (const Sum* sum : order) {
    const Row row = sum->row();
    // A failed delegate call may leave records of its operators without a record of the call.
    const bool has_call = !rows.empty() && rows.back().chain == row.chain &&
                          rows.back().instruction == row.instruction;
    if (row.kind == Kind::kDelegateOperator && !has_call) continue;
    static_cast<void>(rows.push_back(row));
  }
  return Error();
}

void CallProfile::State::Sums::reset() {
  times = {};
  first_ns = 0;
  sums.clear();
  index.clear();
  next = 0;
  position = 0;
}

CallProfile::CallProfile() = default;
CallProfile::~CallProfile() = default;

void CallProfile::begin_method(std::string_view name) {
  if (state_ == nullptr) state_.reset(new (std::nothrow) State);
  if (state_ == nullptr) {
    has_lost_ = true;
    return;
  }
  CheckedVector<State::Sums>& all = state_->methods;
  const auto* const known = std::ranges::find(all, name, &State::Sums::name);
  state_->current = static_cast<size_t>(known - all.begin());
  if (known != all.end()) return;
  State::Sums method;
  method.name = name;
  method.seed = platform::mix(reinterpret_cast<uintptr_t>(state_.get()), platform::now_ns());
  has_lost_ = !all.push_back(std::move(method)).ok() || has_lost_;
}

void CallProfile::begin_block(const char* name) {
  if (state_ == nullptr) return;
  state_->is_loading = std::string_view(name) == "Default";
  if (State::Sums* const method = state_->method()) {
    method->next = 0;
    method->position = 0;
  }
}

void CallProfile::record(const TraceRecord& record) {
  State::Sums* const method = state_ == nullptr ? nullptr : state_->method();
  if (method == nullptr) return;
  if (state_->is_loading) {
    if (text_of(record.name) == "Program::load_method") method->load_ns = length_of(record);
  } else if (record.kind != Kind::kScope) {
    State::Sum* const sum = method->find_or_add(record);
    if (sum != nullptr) add(record, sum->times);
    has_lost_ = has_lost_ || sum == nullptr;
  } else if (text_of(record.name) == "Method::execute") {
    if (method->times.calls == 0) method->first_ns = length_of(record);
    add(record, method->times);
  }
}

void CallProfile::reset() {
  has_lost_ = false;
  if (state_ == nullptr) return;
  for (State::Sums& method : state_->methods) method.reset();
}

Result<std::span<const CallProfile::MethodCalls>> CallProfile::methods() {
  if (has_lost_) {
    return Error::make(ErrorCode::kMemoryAllocationFailed,
                       "the profile is incomplete, because memory ran out; reset the profile");
  }
  std::span<const MethodCalls> all;
  if (state_ == nullptr) return all;
  CheckedVector<MethodCalls>& result = state_->result;
  result.clear();
  for (State::Sums& method : state_->methods) {
    VITRINE_RETURN_IF_ERROR(method.make_rows());
    VITRINE_RETURN_IF_ERROR(
        result.push_back({method.name, method.load_ns, method.times, method.first_ns,
                          std::span<const Row>(method.rows.data(), method.rows.size())}));
  }
  all = {result.data(), result.size()};
  return all;
}

}  // namespace vitrine
