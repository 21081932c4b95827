#include "tools/advise/baseline.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>

#include "base/text/number_texts.h"
#include "formats/etdump/etdump_writer.h"
#include "runtime/platform/clock.h"
#include "tools/advise/build_kind.h"
#include "tools/advise/program_difference.h"
#include "tools/advise/rows.h"
#include "tools/advise/size_times.h"
#include "tools/advise/unlowerable.h"
#include "tools/common/cpu_use.h"
#include "tools/common/file_kind.h"
#include "tools/common/machine_limits.h"
#include "tools/common/median.h"
#include "tools/common/stripped_program.h"
#include "tools/common/tensors.h"
#include "tools/common/tool_error.h"
#include "tools/executor_runner/execution.h"
#include "tools/executor_runner/profile_run.h"
#include "tools/executor_runner/profiling.h"
#include "vitrine/data_source.h"

namespace vitrine::tools {
namespace {

// Returns the size of the last-level cache, or 0 if the size is unknown.
uint64_t last_level_cache() {
  uint64_t bytes = 0;
  for (const int index : {2, 3}) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
    uint64_t size = 0;
    char unit = 0;
    if (file >> size >> unit && unit == 'K') bytes = size << 10;
  }
  return bytes;
}

std::optional<FileKind> kind_of_path(const std::filesystem::path& path) {
  const std::unique_ptr<DataSource> file = check(map_file(path.c_str()));
  return find_file_kind(check(file->read(0, file->size())).bytes());
}

bool is_model(std::optional<FileKind> kind) {
  return kind == FileKind::kExportedModel || kind == FileKind::kNativeModel;
}

// Returns the size of the record in the program's file, or 0 without a record.
uint64_t size_of_record(const Program& program, const std::filesystem::path& path) {
  const std::unique_ptr<DataSource> file = check(map_file(path.c_str()));
  const DataBuffer bytes = check(file->read(0, file->size()));
  const auto record = strip_record(program, bytes.bytes(), [](std::span<const std::byte>) {});
  return record ? record->size() : 0;
}

}  // namespace

size_t threads_of(const Variant& variant, size_t threads) {
  const std::string text = value_of(variant.running, "--threads");
  size_t value = threads;
  if (!text.empty()) std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Baseline::Baseline(const AdviseOptions& options) : options_(options) {
  context_.model = options.run.model;
  context_.method = options.run.method;
  context_.calibrate = options.calibrate;
  context_.has_inputs = !options.run.inputs.empty();
  context_.processors = allowed_processors();
  context_.cache_bytes = last_level_cache();
  context_.processor_features = processor_features();
  notes_ = build_notes(this_build());
  open();
  run_profile();
}

void Baseline::open() {
  const std::optional<FileKind> kind = kind_of_path(options_.run.model);
  context_.is_file = !is_model(kind);
  if (!context_.is_file && !options_.source.empty()) {
    throw ToolError(
        "--source: the model is already an exported model; give --source only with a .pte");
  }
  if (context_.is_file && options_.baseline && options_.source.empty()) {
    throw ToolError(
        "--baseline: a .pte is its own baseline; if the file was lowered with these options, add "
        "--source MODEL.pt2");
  }
  context_.source = context_.is_file ? options_.source : options_.run.model;
  context_.baseline.lowering = options_.baseline.value_or(Settings{{"--backend", "xnnpack"}});
  if (context_.source.empty()) {
    notes_.emplace_back(
        "advice that needs the exported model was left out: pass --source MODEL.pt2");
    return;
  }
  if (context_.is_file && !is_model(kind_of_path(context_.source))) {
    throw ToolError(fmt::format("--source {}: expected an exported model (.pt2 or .ptn)",
                                context_.source.string()));
  }
  source_.emplace(context_.source, options_.run.method);
  context_.facts = source_->facts();
  context_.exported = &source_->program();
}

// Lowers the source with the baseline's options. If only the backend fails, lowers without the
// backend.
void Baseline::lower_first() {
  if (!source_) return;
  try {
    lowered_ = source_->lower(context_.baseline.lowering, {});
  } catch (const HostError& error) {
    LoweredProgram plain;
    try {
      plain = source_->lower({{"--backend", "none"}}, {});
    } catch (const HostError&) {
      if (context_.is_file) return leave_out_source(error.what());
      throw NotLowerable(context_.source, error.what(), find_blockers(source_->program()));
    }
    if (options_.baseline) throw;
    notes_.push_back(
        fmt::format("the model cannot be lowered with '{}', so kernels execute everything: {}",
                    settings_text(context_.baseline), error.what()));
    context_.baseline.lowering = {{"--backend", "none"}};
    lowered_ = std::move(plain);
  }
  context_.lowered = &lowered_.model;
  const auto method = lowered_.model.methods.find(options_.run.method);
  if (method != lowered_.model.methods.end()) {
    add_written_buffers(method->second, context_.facts);
  }
}

// Drops an exported model that cannot be lowered. Adds a note: advice that needs the model is
// missing.
void Baseline::leave_out_source(const std::string& error) {
  notes_.push_back(
      fmt::format("advice that needs the exported model was left out, because that model cannot be "
                  "lowered ('vitrine "
                  "advise {}' says what to change): {}",
                  context_.source.string(), error));
  context_.exported = nullptr;
  context_.source.clear();
  source_.reset();
}

RunnableProgram Baseline::program() const {
  return {.bytes = context_.is_file ? std::span<const std::byte>() : lowered_.bytes,
          .threads = threads_here_};
}

void Baseline::run_profile() {
  std::optional<DeviceProfile> device;
  size_t threads = options_.run.threads;
  if (!options_.profile.empty()) {
    device = read_device_profile(options_.profile, "--profile");
    if (threads == 0) {
      threads = std::min<size_t>(device->profile.run.threads.value_or(0), context_.processors);
    }
  }
  if (!context_.is_file) lower_first();
  SessionOptions session_facts = session_options(options_.run);
  if (!context_.is_file) session_facts.program = lowered_.bytes;
  session_facts.pool = pools_.get(threads);
  Session session(session_facts);
  threads_here_ = session.pool()->threads();
  context_.threads = threads_here_;
  TraceBuffer trace(options_.run.trace_records);
  const std::unique_ptr<Method> method = session.load_method(options_.run.method, &trace);
  choose_inputs(session, *method, trace);
  const CpuMeter meter;
  inspector::RunInfo runs = profiled_runs(session, *method, *inputs_, trace, options_.run);
  disturbance_ = build_disturbance(this_build());
  if (disturbance_.empty()) {
    disturbance_ = cpu_shortage(meter.read(), context_.threads, context_.processors);
  }
  const std::vector<uint8_t> dump = check(write_etdump(trace));
  context_.profile = profile_of_trace(std::as_bytes(std::span(dump.data(), dump.size())),
                                      std::move(runs), *session.program(), options_.run);
  const inspector::TimeStatistics& wall = context_.profile.wall;
  constexpr double kMaxSpread = 1.5;
  if (disturbance_.empty() && wall.p75 > kMaxSpread * wall.p25) {
    disturbance_ = fmt::format("the times of the runs vary too much: p75 is {:.1f} times p25",
                               wall.p75 / std::max(wall.p25, 1.0));
  }
  if (context_.is_file && source_ && session.program()->num_methods() > 1) {
    notes_.push_back(
        fmt::format("the program has {} methods, but programs lowered from --source have only {}: "
                    "to replace the program, add its other methods and its metadata",
                    session.program()->num_methods(), options_.run.method));
  }
  if (context_.is_file && source_) {
    if (!options_.baseline && !context_.is_delegated()) {
      context_.baseline.lowering = {{"--backend", "none"}};
    }
    lower_first();
  }
  wall_here_ns_ = context_.wall_ns();
  for (ModelFacts::DynamicSize& size : context_.facts.dynamic_sizes) {
    if (size.input >= inputs_->arrays().size()) continue;
    const Array& array = inputs_->arrays()[size.input];
    if (array.is_empty() || size.dim >= array.tensor().rank()) continue;
    size.used = array.tensor().sizes()[size.dim];
  }
  if (inputs_->source().starts_with("random")) note_extreme_sizes();
  compare_batches(*method);
  std::error_code ignored;
  context_.program_bytes = context_.is_file
                               ? std::filesystem::file_size(options_.run.model, ignored)
                               : lowered_.bytes.size();
  // size_of_record() cannot read a program inside a bundle's file.
  if (!context_.is_file) {
    context_.record_bytes = lowered_.model.emitted.record_bytes;
  } else if (session.bundle() == nullptr) {
    context_.record_bytes = size_of_record(*session.program(), options_.run.model);
  }
  if (device) use_device(std::move(*device));
}

void Baseline::use_device(DeviceProfile device) {
  inspector::Profile& here = context_.profile;
  const std::string difference = program_difference(device.profile, here);
  if (!difference.empty()) {
    throw ToolError(fmt::format(
        "--profile {}: the profile does not belong to {}: {}; pass the same --inputs "
        "as on the device, and --baseline with the options that lowered the device's program; or "
        "profile this program on the device",
        options_.profile.string(),
        context_.is_file
            ? "this program"
            : "the program of 'vitrine lower " + settings_text(context_.baseline) + "'",
        difference));
  }
  const auto threads_there = static_cast<size_t>(
      device.profile.run.threads.value_or(static_cast<uint32_t>(threads_here_)));
  if (threads_there != threads_here_) {
    notes_.push_back(fmt::format("trials on this machine use {}, but the device used {}",
                                 inspector::counted(threads_here_, "thread"), threads_there));
  }
  if (device.profile.run.limits) {
    here.run.limits = limits_for_profile(static_cast<uint32_t>(threads_here_), notes_);
  } else {
    notes_.emplace_back(
        "the profile lacks the limits of the device's arithmetic and memory, so intervals are "
        "wider: "
        "record it with --roofline");
  }
  device_.emplace(device.profile, here);
  context_.device = device.name;
  context_.threads = threads_there;
  context_.processors = std::max(device.processors, threads_there);
  context_.cache_bytes = 0;
  context_.profile = std::move(device.profile);
}

void Baseline::choose_inputs(Session& session, Method& method, TraceBuffer& trace) {
  inputs_.emplace(make_inputs(session, method, options_.run, trace));
  // Keeps inputs from the user or a bundle, and inputs with which a device recorded its profile.
  if (context_.has_inputs || session.bundle() != nullptr || !options_.profile.empty()) return;
  std::optional<DecoderShape> shape = decoder_shape(session.program(), method, context_.facts);
  if (!shape) return;
  method.set_tracer(nullptr);  // these runs are not part of the profile
  const DecoderShape whole = *shape;
  shape->tokens[1] = 1;
  shape->positions[0] = 1;
  for (const DecoderShape& one : {*shape, whole}) {
    try {
      const int64_t position = one.tokens[1] < one.context / 2 ? one.context / 2 : 0;
      InputSet inputs(decoder_inputs(method, one, position),
                      fmt::format("{} at position {} of {}",
                                  inspector::counted(static_cast<size_t>(one.tokens[1]), "token"),
                                  position, one.context));
      inputs.apply(method);
      execute(method, options_.run);
      if (one.tokens[1] == 1) {
        compare_positions(method, one);
        compare_chunks(method, whole);
      }
      check(method.reset_state());
      inputs_.emplace(std::move(inputs));
      return;
    } catch (const ToolError&) {
      // The program rejected this shape. If both shapes fail, `inputs_` keeps random values.
    }
  }
}

// Measures how a token's time grows with its position, and adds a note.
void Baseline::compare_positions(Method& method, const DecoderShape& shape) {
  constexpr size_t kRuns = 15;
  const auto time_at = [&](int64_t position) {
    InputSet inputs(decoder_inputs(method, shape, position), "");
    std::vector<double> times;
    for (size_t i = 0; i <= kRuns; ++i) {
      const uint64_t start = platform::now_ns();
      inputs.apply(method);
      execute(method, options_.run);
      if (i > 0) times.push_back(static_cast<double>(platform::now_ns() - start));
    }
    return median_of(std::move(times));
  };
  const PositionTimes times = {
      .first_ns = time_at(0), .last_ns = time_at(shape.context - 1), .last = shape.context - 1};
  context_.positions = times;
  std::string note = fmt::format("a token takes {} at position 0 and {} at position {}",
                                 time_text(times.first_ns), time_text(times.last_ns), times.last);
  constexpr double kMinGrowth = 1.1;
  if (times.last_ns < kMinGrowth * times.first_ns) {
    note += ": its position makes little difference";
  } else {
    const double dominates = times.dominating_position();
    note +=
        fmt::format(": from about position {:.0f} on, attention takes more than half", dominates);
    if (dominates > static_cast<double>(shape.context)) note += ", beyond this context";
  }
  notes_.push_back(note);
}

// Measures a token's time in runs of several tokens, if the program accepts them.
void Baseline::compare_chunks(Method& method, const DecoderShape& whole) {
  const int64_t max = whole.tokens[1];
  if (max < 2 || whole.tokens[0] != 1) return;
  context_.chunk_times = measure_sizes(
      method, options_.run, chunk_sizes(std::min(max, whole.context)), [&](int64_t tokens) {
        DecoderShape shape = whole;
        shape.tokens[1] = static_cast<int32_t>(tokens);
        // Programs take the positions of all tokens or only the position of the first token.
        if (whole.positions[0] > 1) shape.positions[0] = shape.tokens[1];
        return decoder_inputs(method, shape, 0);
      });
}

// Measures the time per sample for several batch sizes, if the batch is dynamic.
void Baseline::compare_batches(Method& method) {
  const std::vector<int64_t> sizes = batch_sizes(context_.facts, inputs_->arrays().size());
  if (sizes.size() < 2 || context_.facts.written_buffers != 0) return;
  method.set_tracer(nullptr);
  context_.batch_times = measure_sizes(method, options_.run, sizes, [&](int64_t batch) {
    return batch_inputs(inputs_->arrays(), batch);
  });
  notes_.push_back("time per sample, by batch size: " + item_times_text(context_.batch_times));
}

// Adds a note for each dynamic size at a bound, because real inputs may have other sizes.
void Baseline::note_extreme_sizes() {
  for (const ModelFacts::DynamicSize& size : context_.facts.dynamic_sizes) {
    if (size.used == 0 || (size.used != size.min && size.used != size.max)) continue;
    notes_.push_back(fmt::format(
        "the inputs are random, so {} was set to {}, the {} of its bounds {} to {}: times and "
        "memory of real inputs may differ; pass real inputs with --inputs",
        size.name, size.used, size.used == size.max ? "maximum" : "minimum", size.min, size.max));
  }
}

aot::CalibrationData Baseline::stand_in() const {
  aot::CalibrationSample sample{.name = "the inputs of the run", .inputs = {}};
  for (const Array& array : inputs_->arrays()) {
    if (array.is_empty()) continue;
    const Tensor& tensor = array.tensor();
    sample.inputs.push_back(aot::make_tensor_data(
        tensor.dtype(), {tensor.sizes().begin(), tensor.sizes().end()}, row_major_bytes(tensor)));
  }
  return {.count = 1, .read = [sample](size_t) { return sample; }};
}

LoweredProgram Baseline::lower(const Variant& variant) const {
  if (!source_) throw ToolError("this advice needs the exported model: pass --source");
  return source_->lower(variant.lowering, stand_in());
}

TrialResult Baseline::compare(const Variant& variant, const LoweredProgram* lowered,
                              double seconds) {
  RunnableProgram changed = program();
  if (lowered != nullptr) changed.bytes = lowered->bytes;
  changed.threads = threads_of(variant, threads_here_);
  return run_trial(program(), changed, options_.run, pools_, *inputs_, seconds);
}

DevicePrediction Baseline::predict(const LoweredProgram& lowered, const Interval& ratio) {
  constexpr double kSeconds = 0.4;
  RunnerOptions options = options_.run;
  options.executions =
      num_runs_within(kSeconds * kSecond, static_cast<uint64_t>(wall_here_ns_), 3, 30);
  SessionOptions facts = session_options(options);
  facts.program = lowered.bytes;
  facts.pool = pools_.get(threads_here_);
  Session session(facts);
  TraceBuffer trace(options.trace_records);
  const std::unique_ptr<Method> method = session.load_method(options.method, &trace);
  InputSet inputs(*method, *inputs_);
  inspector::RunInfo runs = profiled_runs(session, *method, inputs, trace, options);
  const std::vector<uint8_t> dump = check(write_etdump(trace));
  return device_->predict(profile_of_trace(std::as_bytes(std::span(dump.data(), dump.size())),
                                           std::move(runs), *session.program(), options),
                          ratio);
}

}  // namespace vitrine::tools
