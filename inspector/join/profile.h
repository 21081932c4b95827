// A profile: what ran, in run order, how long, and which ops of the source model it was.
//
// The one model behind all reports. All times are nanoseconds per run: a row that ran three times
// in a run counts with the sum of the three. Per run,
//   sum of rows + unattributed == wall
// holds exactly, hence for the averages too; `unattributed` is what no row explains (delegate
// entry and exit, dispatch), and may be negative where a foreign trace's events overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/host_error.h"

namespace vitrine::inspector {

class InspectorError : public HostError {
 public:
  using HostError::HostError;
};

// Over the counted runs; ns. Percentiles interpolate linearly between closest ranks.
struct TimeStatistics {
  double min = 0;
  double p50 = 0;
  double p90 = 0;
  double max = 0;
  double avg = 0;  // without the outliers: Profile::outlier_runs
  double p10 = 0;
  double p25 = 0;
  double p75 = 0;
  double p95 = 0;
  double p99 = 0;
  double first = 0;   // in the trace's first run, counted or not
  double steady = 0;  // median of the runs after the first; of the only one if there is one
};

// The time of one run. Runs without a sample have 0.
struct RunSample {
  uint32_t run = 0;  // of all complete runs of the trace
  double ns = 0;
};
using RunSamples = std::vector<RunSample>;  // ascending runs

// Work, by the formulas of cost.h.
struct Cost {
  double flops = 0;         // a multiply-add is two
  double bytes = 0;         // read and written, each tensor once
  bool is_float32 = false;  // all of it: MachineLimits::flops_per_s applies
};

enum class Where : uint8_t {
  kDelegate,  // an operator inside a delegate, or a whole call of a delegate that logged nothing
  kKernel,
  kControl,  // move, jump, free
};

// How sure a row's source ops are.
enum class Join : uint8_t {
  kExact,     // by an identifier in the record
  kInferred,  // by names and order, without an identifier in the record
  kNone,      // unknown
};

struct ProfileRow {
  Where where = Where::kKernel;
  std::string delegate;  // backend id; empty for kernels
  // For people, if the backend says so: "XNNPACK", "xnn".
  std::string delegate_name, delegate_short_name;
  int partition = -1;  // 0-based, in the order of delegate instructions; -1 for kernels
  int32_t instruction = 0;
  std::string identifier;  // the delegate debug identifier as logged; empty for kernels
  std::string kernel;      // "Convolution (NHWC, F32) IGEMM", "aten::add.out"
  std::string library;     // of a kernel: "portable", "optimized"; empty if the trace does not say

  Join join = Join::kNone;
  std::vector<std::string> source_ops;  // "aten.convolution.default", in graph order
  size_t main_op = 0;  // of source_ops, by position: the one that the kernel runs, as far as known
  std::vector<std::string> modules;         // parallel to source_ops; "" for the root module
  std::vector<std::string> folded_ops;      // ops that were folded into this operator
  std::vector<std::string> folded_modules;  // parallel to folded_ops
  std::vector<std::string> source_lines;    // innermost frame; parallel to source_ops; may be ""
  std::vector<std::string> model_lines;     // the same, outside of PyTorch's own files
  bool is_of_whole_call = false;           // kInferred: the ops are all that the delegate call took
  std::vector<uint32_t> debug_handles;     // own first, then folded
  bool is_inserted = false;                // a layout change that the lowering inserted
  std::vector<std::string> inserted_for;   // source ops of the row that it serves
  std::optional<size_t> inserted_for_row;  // 1-based

  std::optional<Cost> cost;  // of one run; unset where shapes are unknown

  double calls = 0;  // per run; a whole number unless runs differ
  TimeStatistics time;
  double share = 0;       // of the average wall time, 0 to 1
  RunSamples samples;     // of all complete runs
  RunSamples inner_time;  // of a kernel's function alone, in stock traces; else empty
};

// One delegate instruction as a whole. Its time is that of its rows plus an overhead which is part
// of `unattributed`.
struct DelegateCall {
  std::string delegate;
  int partition = 0;
  int32_t instruction = 0;
  size_t operators = 0;        // rows
  bool derived_times = false;  // the backend computed start times rather than measure them
  std::vector<std::string>
      source_ops;  // of the nodes that it took; each node is in one instruction
  double calls = 0;
  TimeStatistics time;
  RunSamples samples = {};
};

// Something that ran from `start` to `end`, in the trace's clock (ns). `index` is of rows or of
// delegate_calls.
struct TimelineEvent {
  enum class Kind : uint8_t { kRun, kRow, kDelegateCall };
  Kind kind = Kind::kRun;
  uint32_t run = 0;
  uint32_t index = 0;
  uint64_t start = 0;
  uint64_t end = 0;
};

// An event outside of any instruction: "Method::init", "Program::load_method".
struct Scope {
  std::string block;
  std::string name;
  uint64_t start = 0;
  double ns = 0;
};

// A tensor in planned memory.
struct PlannedTensor {
  uint32_t value = 0;   // of the program
  std::string type;     // "f32[1,32,112,112]"; the upper bound if dynamic
  uint32_t buffer = 0;  // memory id
  uint64_t offset = 0;  // in it
  uint64_t bytes = 0;
  int32_t first = 0;  // instruction that writes it; -1: lives from the start (inputs, state)
  int32_t last = 0;   // instruction that uses it last; num_instructions: lives to the end
};

struct MemoryPlan {
  std::vector<uint64_t> buffers;  // bytes; [0] is memory id 1
  int32_t num_instructions = 0;
  std::vector<PlannedTensor> tensors;
};

// The measured limits of this machine.
struct MachineLimits {
  double flops_per_s = 0;  // float32 multiply-adds, two each
  double bytes_per_s = 0;  // copying memory: read and written together
  uint32_t threads = 0;
  std::string machine;
};

// The memory of the loaded method, in bytes.
struct MemoryInfo {
  uint64_t planned = 0;         // activations
  uint64_t metadata = 0;        // values, tensors, steps; kernels' temporary memory
  uint64_t workspace = 0;       // delegates' intermediate values
  uint64_t packed_weights = 0;  // in a delegate's own layout
  uint64_t mapped_weights = 0;  // the same, in a file's pages
  uint64_t constants = 0;       // other copies of constants
};

// Facts that the trace does not hold. Unset values are not printed.
struct RunInfo {
  std::string model;                // "mv2.pte"
  std::vector<std::string> inputs;  // "f32[1,3,224,224]"
  std::vector<std::string> outputs;
  std::string record;               // where names come from: "mv2.etrecord"; empty: no record
  std::optional<uint64_t> load_ns;  // Program::load
  std::optional<uint64_t> init_ns;  // Method::load; by default the trace's own Method::init
  std::optional<uint64_t> warmup_runs;
  std::string machine = {};  // "Intel(R) Xeon(R) Processor @ 2.10GHz"
  std::optional<uint32_t> threads;
  std::optional<uint64_t> peak_rss_bytes;
  std::optional<uint64_t> steady_rss_bytes;  // after the last run
  std::optional<MemoryInfo> memory;
  std::optional<MemoryPlan> plan = {};
  std::optional<MachineLimits> limits = {};
  std::optional<double> trace_overhead;  // 0.003 is +0.3 % of the untraced time
};

struct Profile {
  std::string method;
  RunInfo run;
  size_t runs = 0;             // complete ones that count; statistics are over these
  size_t cold_runs = 0;        // complete ones before them: only in `first`
  size_t incomplete_runs = 0;  // with dropped records: not in the statistics
  uint64_t dropped_records = 0;
  uint64_t dropped_blocks = 0;
  bool runs_differ = false;  // not all runs executed the same instructions
  // Numbers among all complete runs, ascending, of those that counted and took over twice the
  // median. Averages, and thus shares, are over the others; all other statistics include them.
  std::vector<uint32_t> outlier_runs;
  TimeStatistics wall;
  TimeStatistics unattributed;
  RunSamples wall_samples;             // of all complete runs
  std::vector<std::string> run_names;  // of all complete runs, for timelines; empty: by number
  RunSamples unattributed_samples;
  std::vector<ProfileRow> rows;              // in run order
  std::vector<DelegateCall> delegate_calls;  // by partition
  std::vector<TimelineEvent> timeline;       // in the order of the trace, all complete runs
  std::vector<Scope> scopes;
  std::vector<std::string> notes;  // facts that limit the figures
};

}  // namespace vitrine::inspector
