// A profile lists the rows that ran, in run order, with their times and their ops in the source
// model. All reports are made from profiles.
//
// Times are nanoseconds per run. The time of a row that ran three times in a run is the sum of the
// three times. In each run, and on average, sum of rows + unattributed == wall. `unattributed` is
// the time outside of all rows (delegate entry and exit, dispatch). It may be negative if rows
// overlap, as in some traces from other runtimes. A device with its own clock has a separate
// profile in Profile::queues; its times are never added to the CPU's times. Reports show
// Profile::typical(), which is usually the median, because a stalled run hardly changes the median.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/host_error.h"

namespace vitrine::inspector {

class InspectorError : public HostError {
 public:
  using HostError::HostError;
};

// Statistics over the counted runs, in ns. Percentiles interpolate linearly between closest ranks.
struct TimeStatistics {
  double min = 0;
  double p50 = 0;
  double p90 = 0;
  double max = 0;
  double avg = 0;
  double p10 = 0;
  double p25 = 0;
  double p75 = 0;
  double p95 = 0;
  double p99 = 0;
  double first = 0;   // time of the trace's first run, counted or not
  double steady = 0;  // median of the runs after the first, or the time of the only run
};

// A measured time, such as the time of a row, in one run. Runs without a sample count as 0 ns.
struct RunSample {
  uint32_t run = 0;  // index among the complete runs of the trace
  double ns = 0;
};
using RunSamples = std::vector<RunSample>;  // ascending runs

// The work of a row, computed as cost.h describes.
struct Cost {
  double flops = 0;         // a multiply-add counts as two
  double bytes = 0;         // bytes read and written, each tensor once
  bool is_float32 = false;  // all tensors are float32, so MachineLimits::flops_per_s applies
};

// A queue of a device with its own clock.
struct DeviceQueue {
  std::string_view name;   // for example "Vulkan GPU"
  bool is_time = true;     // false if the clock counts ticks of unknown length
  bool is_ordered = true;  // true if start times can be compared with each other
  std::string_view about;  // the limits of the figures, as a phrase
};

enum class Where : uint8_t {
  kDelegate,  // an operator inside a delegate, or a call of a delegate that logged no operators
  kKernel,
  kControl,  // move, jump, free
};

enum class Join : uint8_t {
  kExact,     // by an identifier in the record
  kInferred,  // by names and order
  kNone,
};

struct ProfileRow {
  Where where = Where::kKernel;
  std::string delegate;  // backend id; empty for kernels
  // The backend's names in reports: "XNNPACK" and "xnn". Empty if its DelegateProfile is unknown or
  // does not define them.
  std::string delegate_name, delegate_short_name;
  int partition = -1;  // number in the order of delegate instructions, from 0; -1 for kernels
  int32_t instruction = 0;
  std::string identifier;    // logged identifier of a delegate's operator; empty for kernels
  std::string kernel;        // for example "Convolution (NHWC, F32) IGEMM" or "aten::add.out"
  std::string short_kernel;  // name for narrow tables, such as "IGEMM f32"; may be empty
  std::string library;       // library of a kernel, such as "portable"; empty if not in the trace
  std::string phase;         // part of a delegate call that is not an operator, such as "copy in"
  std::optional<size_t> payload_operator;  // index among the operators of the delegate's payload

  Join join = Join::kNone;
  std::vector<std::string> source_ops;  // names such as "aten.convolution.default", in graph order
  size_t main_op = 0;                // index in source_ops of the op that the kernel runs, if known
  std::vector<std::string> modules;  // parallel to source_ops; "" for the root module
  std::vector<std::string> folded_ops;      // ops that were folded into this operator
  std::vector<std::string> folded_modules;  // parallel to folded_ops
  std::vector<std::string> source_lines;    // innermost frame; parallel to source_ops; may be ""
  std::vector<std::string> model_lines;     // innermost frame outside PyTorch's own files
  bool has_all_ops_of_call = false;        // kInferred: source_ops are all ops of the delegate call
  std::vector<uint32_t> debug_handles;     // handles of own ops, then of folded ops
  bool is_inserted = false;                // a layout change that the lowering inserted
  std::vector<std::string> inserted_for;   // source ops of the row that needs the layout change
  std::optional<size_t> inserted_for_row;  // 1-based number of that row

  std::optional<Cost> cost;  // cost of one run; unset if shapes are unknown

  double calls = 0;  // calls per run; an integer unless runs differ
  TimeStatistics time;
  double share = 0;       // typical time / sum of typical times of all rows and unattributed; >= 0
  RunSamples samples;     // samples of all complete runs
  RunSamples inner_time;  // time in the kernel's function, in stock traces; otherwise empty
};

// All calls of one delegate instruction. Their time is the time of the delegate's rows plus an
// overhead, which is part of `unattributed`.
struct DelegateCall {
  std::string delegate;
  int partition = 0;
  int32_t instruction = 0;
  size_t operators = 0;        // number of rows
  bool derived_times = false;  // true if the backend computed start times instead of measuring them
  // The ops of the delegate's nodes. Each node is listed for only one delegate instruction.
  std::vector<std::string> source_ops;
  double calls = 0;
  TimeStatistics time;
  RunSamples samples = {};
};

// A run, row or delegate call from `start` to `end`, in ns of the trace's clock. `index` is an
// index into rows or delegate_calls.
struct TimelineEvent {
  enum class Kind : uint8_t { kRun, kRow, kDelegateCall };
  Kind kind = Kind::kRun;
  uint32_t run = 0;
  uint32_t index = 0;
  uint64_t start = 0;
  uint64_t end = 0;
};

// A timed event outside of instructions: "Method::init", "Program::load_method".
struct Scope {
  std::string block;
  std::string name;
  uint64_t start = 0;
  double ns = 0;
};

struct PlannedTensor {
  uint32_t value = 0;   // index among the method's values
  std::string type;     // for example "f32[1,32,112,112]"; the upper bound if dynamic
  uint32_t buffer = 0;  // memory id
  uint64_t offset = 0;  // offset in the buffer, in bytes
  uint64_t bytes = 0;
  int32_t first = 0;  // instruction that writes the tensor; -1 if alive at the start (inputs,
                      // state)
  int32_t last = 0;   // last instruction that uses the tensor; num_instructions if alive at the end
};

struct MemoryPlan {
  std::vector<uint64_t> buffers;  // bytes; [0] is memory id 1
  int32_t num_instructions = 0;
  std::vector<PlannedTensor> tensors;
};

struct MachineLimits {
  double flops_per_s = 0;  // float32 multiply-adds, which count as two
  double bytes_per_s = 0;  // copies; counts bytes read and bytes written
  uint32_t threads = 0;
  std::string machine;

  bool is_measured() const { return flops_per_s > 0 && bytes_per_s > 0; }
};

// The memory of the loaded method, in bytes.
struct MemoryInfo {
  uint64_t planned = 0;         // activations
  uint64_t metadata = 0;        // values, tensors, steps, and kernels' temporary memory
  uint64_t workspace = 0;       // delegates' intermediate tensors
  uint64_t packed_weights = 0;  // weights in a delegate's own layout
  uint64_t mapped_weights = 0;  // packed weights in the pages of a mapped file
  uint64_t constants = 0;       // other copies of constants
};

// Facts about a run that the trace does not contain. Reports do not print unset values.
struct RunInfo {
  std::string model;                // for example "mv2.pte"
  std::vector<std::string> inputs;  // for example "f32[1,3,224,224]"
  std::vector<std::string> outputs;
  std::string record;               // name of the record, such as "mv2.etrecord"; empty without a
                                    // record
  std::optional<uint64_t> load_ns;  // time of Program::load
  std::optional<uint64_t> init_ns;  // time of Method::load; by default the trace's event
                                    // Method::init
  std::optional<uint64_t> open_ns = {};  // the part of load_ns until the file is mapped
  // Parts of init_ns. In pack_ns (event Method::init_delegates), delegates pack their weights. In
  // plan_ns (event Method::plan_delegates), the memory of delegates is planned.
  std::optional<uint64_t> pack_ns = {};
  std::optional<uint64_t> plan_ns = {};
  std::optional<uint64_t> warmup_runs;
  std::string machine = {};  // for example "Intel(R) Xeon(R) Processor @ 2.10GHz"
  std::optional<uint32_t> threads;
  std::optional<uint64_t> peak_rss_bytes;
  std::optional<uint64_t> steady_rss_bytes;  // after the last run
  std::optional<MemoryInfo> memory;
  std::optional<MemoryPlan> plan = {};
  std::optional<MachineLimits> limits = {};
  std::optional<double> trace_overhead;  // relative to the untraced time: 0.003 is +0.3 %
  // The part of trace_overhead for reading the processor's counter, once per record.
  std::optional<double> trace_floor = {};
  // The next four members describe the origin of the figures. Reports omit empty members.
  std::string input_values = {};  // "random (seed 0)", "files" or "test set 0"
  std::string model_digest = {};  // for example "fnv1a64:0123456789abcdef"
  std::string date = {};          // start of the runs, such as "2026-11-27 01:59 UTC"
  std::string tool = {};          // for example "vitrine 0.1.0 (commit 0123456789ab)"
  // Reasons to doubt the figures, as sentences. Reports print them first.
  std::vector<std::string> warnings = {};
};

struct Profile {
  std::string method;
  // The device queue that the profile is about; empty for the CPU. In a queue's profile, all rows
  // are rows of delegates, `wall` is the sum of the rows, and `unattributed` is 0.
  std::string queue;
  std::string queue_about;           // text of DeviceQueue::about
  bool has_ticks = false;            // true if times are ticks of unknown length, not ns
  std::vector<Profile> queues = {};  // one profile per device queue
  RunInfo run;
  size_t runs = 0;             // number of counted runs: complete runs after the cold runs
  size_t cold_runs = 0;        // number of complete warm-up runs, which only `first` includes
  size_t incomplete_runs = 0;  // number of runs with dropped records; not in the statistics
  uint64_t dropped_records = 0;
  uint64_t dropped_blocks = 0;
  bool runs_differ = false;  // true if not all runs executed the same instructions
  size_t outlier_runs = 0;   // number of counted runs that took more than twice the median
  TimeStatistics wall;
  TimeStatistics unattributed;
  RunSamples wall_samples;  // samples of all complete runs
  std::vector<std::string>
      run_names;  // names of all complete runs, for timelines; if empty, timelines show numbers
  RunSamples unattributed_samples;
  std::vector<ProfileRow> rows;              // in run order
  std::vector<DelegateCall> delegate_calls;  // indexed by partition
  std::vector<TimelineEvent> timeline;       // events of all complete runs, in the order of the
                                             // trace
  std::vector<Scope> scopes;
  std::vector<std::string> notes;  // limits of the figures, as sentences for reports

  // The statistic that reports show: the median, or the average if runs executed different
  // instructions. An instruction that runs in fewer than half of the runs would have a median of 0.
  double typical(const TimeStatistics& time) const { return runs_differ ? time.avg : time.p50; }
  const char* statistic() const { return runs_differ ? "avg" : "p50"; }
  // The shares of all rows and this share add up to 1.
  double unattributed_share() const {
    double share = 1;
    for (const ProfileRow& row : rows) share -= row.share;
    return share > 0 ? share : 0;
  }
};

}  // namespace vitrine::inspector
