// Limits the cost of encoding or decoding one text with any tokenizer file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/platform/clock.h"

namespace vitrine {

// Maximum size of the text after any step, as a multiple of the input's size. NFKC replaces U+FDFA
// with 11 times as many bytes. Other steps of real files stay far below the limit.
inline constexpr size_t kMaxTextGrowth = 12;

// All operations on a text charge the same budget. The limits grow linearly with the text's size.
// Functions throw TokenizerError beyond a limit. Not thread-safe.
class TextBudget {
 public:
  // `place` names the tokenizer file in errors and must outlive the budget.
  TextBudget(std::string_view place, size_t text_bytes) : place_(place) { add_text(text_bytes); }

  // Raises the limits for `bytes` more bytes of input.
  void add_text(size_t bytes);

  // Charges steps of about 10 ns. A step copies or compares a byte, visits a node of a trie, or
  // retries an alternative of a regular expression.
  void take_steps(uint64_t steps) {
    if (steps > steps_left_) refuse_steps();
    steps_left_ -= steps;
  }

  // Calls search() and charges its time, because libraries do not count all of their steps.
  // Normally reads only wall time, which is cheap to read but includes the work of other processes.
  // Therefore, a slow search is not charged, but the next searches are charged by processor time.
  template <class Search>
  auto timed(Search search) {
    constexpr uint64_t kSlowNs = 100'000;
    if (num_cpu_readings_ > 0) {
      --num_cpu_readings_;
      const uint64_t begin = platform::thread_cpu_ns();
      auto result = search();
      take_ns(platform::thread_cpu_ns() - begin);
      return result;
    }
    const uint64_t begin = platform::quick_now_ns();
    auto result = search();
    const uint64_t ns = platform::quick_now_ns() - begin;
    if (ns < kSlowNs) {
      take_ns(ns);
    } else {
      num_cpu_readings_ = next_cpu_readings_;
      next_cpu_readings_ *= 2;  // few slow searches remain uncharged
    }
    return result;
  }

  // Records that a step replaced `before` bytes of the text with `after` bytes.
  void resize(size_t before, size_t after);
  // Checks resize()'s limit before a step allocates its result.
  void check_resize(size_t before, size_t after) const;

 private:
  void take_ns(uint64_t ns) {
    if (ns > ns_left_) refuse_steps();
    ns_left_ -= ns;
  }
  [[noreturn]] void refuse_steps() const;

  std::string_view place_;
  size_t text_bytes_ = 0;  // input
  size_t bytes_ = 0;       // size of the text after the steps so far
  uint64_t steps_left_ = 4'000'000;
  uint64_t ns_left_ = 500'000'000;
  uint64_t num_cpu_readings_ = 0;  // number of next searches that read processor time
  uint64_t next_cpu_readings_ = 16;
};

}  // namespace vitrine
