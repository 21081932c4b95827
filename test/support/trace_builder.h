// Builds traces for tests with TraceBuffer, the ETDump writer and the ETDump reader, as real runs
// do.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/etdump/etdump_reader.h"
#include "runtime/extension/trace_buffer.h"

namespace vitrine::test {

// The simulated clock advances by 100 ns between records, so that runs have unattributed time.
// kernel(), control() and delegate() begin a run if none is open. dump() and bytes() end an open
// run.
class TraceBuilder {
 public:
  explicit TraceBuilder(size_t max_records = size_t{1} << 14) : trace_(max_records, 256) {}

  void begin_run();
  // Logs the event Method::execute, which began with begin_run() and ends now. Returns its duration
  // in ns.
  uint64_t end_run();

  void kernel(int32_t instruction, const std::string& name, uint64_t ns,
              const std::string& library = "");
  void control(int32_t instruction, TraceRecord::Kind kind, uint64_t ns);

  struct Operator {
    int32_t id = kUnsetDelegateDebugId;
    std::string name = {};  // string identifier; used if `id` is unset
    std::string metadata = {};
    uint64_t ns = 0;
    // Begin and end times on a device's own clock. If set, they replace `ns`, and the simulated
    // clock does not advance.
    std::optional<std::pair<uint64_t, uint64_t>> device = {};
  };
  void delegate(int32_t instruction, const std::string& backend,
                const std::vector<Operator>& operators);
  // Logs an operator map into the block "Default".
  void operator_map(int32_t instruction, const std::string& text);
  void init(uint64_t ns, const char* name = "Method::init");

  etdump::EtDump dump();
  // Returns the ETDump file.
  std::vector<std::byte> bytes();

 private:
  void open_run();
  const char* keep(const std::string& text);
  void log(TraceRecord record, uint64_t ns);

  TraceBuffer trace_;
  std::deque<std::string> texts_;
  uint64_t now_ = 1'000'000;
  uint64_t run_start_ = 0;
  bool is_in_run_ = false;
};

}  // namespace vitrine::test
