// Where the time of a module's calls goes: sums by method, instruction and delegate operator.
//
// Memory grows with the program's instructions, not with its calls. The strings of the records are
// not copied: the module outlives the profile. Not thread-safe. A record for which there is no
// memory is lost, which json() says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/core/checked_vector.h"
#include "vitrine/error.h"
#include "vitrine/event_tracer.h"

namespace vitrine {

class JsonText;  // call_profile.cc

class CallProfile final : public EventTracer {
 public:
  // Names the method of the blocks that follow. The name is copied once.
  Error set_method(std::string_view name);
  void begin_block(const char* name) override;
  void record(const TraceRecord& record) override;

  // Forgets the calls, not how long methods took to load.
  void reset();
  // docs/formats/call_profile.md. MemoryAllocationFailed, also if a record was lost since the last
  // reset.
  Result<CheckedVector<char>> json() const;

 private:
  struct Times {
    uint64_t calls = 0;
    uint64_t total_ns = 0;
    uint64_t min_ns = 0;
    uint64_t max_ns = 0;

    void add(const TraceRecord& record);
    void append_to(JsonText& text) const;
  };
  struct Row {
    TraceRecord of;       // the first record of it; its times count in `times`
    size_t position = 0;  // of operators: how many of the same delegate call ran before
    Times times;
  };
  struct MethodSums {
    CheckedVector<char> name;
    uint64_t load_ns = 0;
    Times times;
    uint64_t first_ns = 0;
    CheckedVector<Row> rows;  // in the order in which they were first seen
    size_t next = 0;          // the row that the next record probably belongs to
    size_t position = 0;      // of the next operator, if the next record is one

    std::string_view text() const { return {name.data(), name.size()}; }
  };

  // Null if there is no memory for a new one.
  static Row* row_of(MethodSums& method, const TraceRecord& record);
  static void append(const MethodSums& method, JsonText& text);

  CheckedVector<MethodSums> methods_;
  size_t current_ = 0;
  bool is_loading_ = false;
  bool has_lost_ = false;
};

}  // namespace vitrine
