// What a CallProfile has summed up.
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
    TraceRecord of;                 // the first record of it; its times count in `times`
    size_t position = 0;            // of operators: how many of the same delegate call ran before
    std::array<char, 12> number{};  // the identifier of an operator without a name
    Times times;

    Row row() const;
  };
  struct Sums {
    std::string_view name;
    uint64_t load_ns = 0;
    Times times;
    uint64_t first_ns = 0;
    CheckedVector<Sum> sums;  // in the order in which they were first seen
    HashIndex index;          // of these
    uint64_t seed = 0;        // of its hashes: no program can choose instructions that share them
    CheckedVector<Row> rows;  // made when they are asked for
    size_t next = 0;          // the sum that the next record probably belongs to
    size_t position = 0;      // of the next operator, if the next record is one

    // Null if there is no memory for a new one.
    Sum* find_or_add(const TraceRecord& record);
    Error make_rows();
    void reset();
  };

  CheckedVector<Sums> methods;
  size_t current = 0;
  bool is_loading = false;
  CheckedVector<MethodCalls> given;
  CheckedVector<char> text;

  // Null if there was no memory for it.
  Sums* method() { return current < methods.size() ? &methods[current] : nullptr; }
};

}  // namespace vitrine
