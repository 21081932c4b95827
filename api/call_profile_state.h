// Defines the state of a CallProfile: the sums of the times in trace records.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/hash_index.h"
#include "runtime/core/checked_vector.h"
#include "vitrine/call_profile.h"

namespace vitrine {

struct [[gnu::visibility("hidden")]] CallProfile::State {
  struct Sum {
    TraceRecord first;              // the first record; its time is part of `times`
    size_t position = 0;            // of an operator: index among the operators of its call
    std::array<char, 12> number{};  // the identifier of an operator without a name
    Times times;

    Row row() const;
  };
  struct Sums {
    std::string_view name;
    uint64_t load_ns = 0;
    Times times;
    uint64_t first_ns = 0;
    CheckedVector<Sum> sums;  // in the order of their first records
    HashIndex index;          // finds elements of `sums`
    uint64_t seed = 0;        // seed of the hashes, so that no program can cause collisions
    CheckedVector<Row> rows;  // made by make_rows()
    size_t next = 0;          // index of the sum to which the next record most likely belongs
    size_t position = 0;      // position of the next record if it is an operator

    // Returns null if memory for a new sum runs out.
    Sum* find_or_add(const TraceRecord& record);
    Error make_rows();
    void reset();
  };

  CheckedVector<Sums> methods;
  size_t current = 0;
  bool is_loading = false;
  CheckedVector<MethodCalls> result;  // the last result of methods()
  CheckedVector<char> text;

  // The sums of the current method, or null if there was no memory for them.
  Sums* method() { return current < methods.size() ? &methods[current] : nullptr; }
};

}  // namespace vitrine
