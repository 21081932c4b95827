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
    TraceRecord first;
    size_t position = 0;            // index of an operator in its delegate call
    std::array<char, 12> number{};  // identifier of an operator without a name
    Times times;

    Row row() const;
  };
  struct Sums {
    std::string_view name;
    uint64_t load_ns = 0;
    Times times;
    uint64_t first_ns = 0;
    CheckedVector<Sum> sums;  // in the order of their first records
    HashIndex index;
    uint64_t seed = 0;  // seed of the hashes, so that programs cannot cause collisions
    CheckedVector<Row> rows;
    size_t next = 0;      // index of the most likely sum of the next record
    size_t position = 0;  // index of the next operator in its delegate call

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

  // The sums of the current method. Null if memory for these sums ran out.
  Sums* method() { return current < methods.size() ? &methods[current] : nullptr; }
};

}  // namespace vitrine
