// Measures every variant of every model with every number of threads.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "bench/models/zoo.h"
#include "bench/suite/bare_xnnpack.h"
#include "bench/suite/loaded_program.h"
#include "bench/suite/lowered.h"
#include "bench/suite/new_process.h"
#include "bench/suite/section.h"
#include "tools/common/tool_error.h"

namespace vitrine::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kFloatSqnrDb = 60;  // required of models without quantization

// A model of the suite or of the corpus, or a file.
struct Subject {
  std::string name;
  std::function<aot::ExportedProgram()> make;  // null: only `program` exists
  fs::path program = {};                       // a program from another tool; may be empty
  double min_sqnr_db = kFloatSqnrDb;
  bool is_dynamic = false;
  // The dtype in which delegates compute, "f32" or "i8"; empty if unknown.
  std::string delegated_dtype = {};
};

struct Variant {
  std::string name;
  ProgramUse use;
};

struct Prepared {
  std::vector<Variant> variants;  // the first variant is the reference
  double flops = 0;
};

Prepared prepare(const Subject& subject, const fs::path& scratch) {
  Prepared prepared;
  if (subject.make) {
    std::string name = subject.name;
    std::ranges::replace(name, '/', '_');
    const fs::path plain = scratch / (name + ".pte");
    const fs::path delegated = scratch / (name + "_xnnpack.pte");
    prepared.flops = write_lowered(subject.make(), Backend::kNone, {}, true, plain).flops;
    const Backend backend = subject.is_dynamic ? Backend::kDynamicXnnpack : Backend::kXnnpack;
    const bool is_delegated =
        write_lowered(subject.make(), backend, {}, false, delegated).delegates != 0;
    prepared.variants = {{"portable", {plain, false}}, {"optimized", {plain, true}}};
    if (is_delegated) prepared.variants.push_back({"xnnpack", {delegated, true}});
    const auto add_optimized = [&](const char* variant, Backend on) {
      const fs::path file = scratch / fmt::format("{}_{}.pte", name, variant);
      if (write_lowered(subject.make(), on, {}, false, file, true).changes != 0) {
        prepared.variants.push_back({variant, {file, true}});
      }
    };
    add_optimized("optimized-graph", Backend::kNone);
    if (is_delegated) add_optimized("xnnpack-graph", backend);
  }
  if (!subject.program.empty()) {
    prepared.variants.push_back({subject.make ? "executorch" : "program", {subject.program, true}});
  }
  return prepared;
}

struct LoadedVariant {
  Result result;
  std::unique_ptr<LoadedProgram> program;
  std::optional<size_t> task;  // index in `tasks_`; unset: not timed
};

class ModelRun {
 public:
  ModelRun(Suite& suite, const Subject& subject, size_t threads)
      : suite_(suite), subject_(subject), threads_(threads) {}

  void run(const Prepared& prepared) {
    for (const Variant& variant : prepared.variants) load(variant);
    if (suite_.options.is_check()) {
      for (LoadedVariant& variant : loaded_) suite_.results.results.push_back(variant.result);
      return;
    }
    if (!prepared.variants.empty()) add_bare();
    const bool is_full = suite_.options.is_full();
    interleave(tasks_, {is_full ? 1e9 : 0.12e9, is_full ? size_t{10} : size_t{3}});
    for (LoadedVariant& variant : loaded_) finish(variant, prepared.flops);
    if (!bare_task_) return;
    suite_.results.results.push_back({.section = "models",
                                      .name = subject_.name,
                                      .variant = "bare XNNPACK",
                                      .threads = threads_,
                                      .work = {},
                                      .time = timing_of(tasks_[*bare_task_].samples)});
  }

 private:
  // Loads and runs a variant, compares its outputs with the first variant, and measures its start.
  // Portable kernels always use one thread, so only one thread is timed.
  void load(const Variant& variant) {
    LoadedVariant& loaded = loaded_.emplace_back();
    loaded.result = {.section = "models",
                     .name = subject_.name,
                     .variant = variant.name,
                     .threads = threads_,
                     .work = {},
                     .time = {}};
    loaded.result.file_bytes = static_cast<double>(fs::file_size(variant.use.file));
    loaded.program = std::make_unique<LoadedProgram>(variant.use, suite_.pools.at(threads_));
    loaded.program->execute();
    loaded.program->set_counts(loaded.result);
    if (loaded_.size() > 1) {
      loaded.result.sqnr_db = agreement(loaded_.front().program->method(), loaded.program->method(),
                                        loaded.result.note);
      if (loaded.result.sqnr_db && *loaded.result.sqnr_db < subject_.min_sqnr_db) {
        loaded.result.note = fmt::format("outputs differ from those of {}: {:.0f} dB",
                                         loaded_.front().result.variant, *loaded.result.sqnr_db);
      }
      if (!loaded.result.note.empty()) return;
    }
    if (suite_.options.is_check()) return;
    if (variant.name == "portable" && threads_ > 1) return;
    loaded.task = tasks_.size();
    tasks_.push_back(loaded.program->timed_task());
    const StartFigures start = measure_start(variant.use.file, variant.use.optimized_kernels,
                                             threads_, suite_.options.is_full() ? 9 : 3);
    loaded.result.load_ns = start.load_ns;
    loaded.result.init_ns = start.init_ns;
    loaded.result.first_ns = start.first_ns;
    loaded.result.peak_bytes = start.peak_bytes;
  }

  // Adds a task that runs XNNPACK alone if the program is one delegate call.
  void add_bare() {
    for (const LoadedVariant& variant : loaded_) {
      if (variant.result.variant != "xnnpack" && variant.result.variant != "program") continue;
      if (!variant.task || !variant.program->is_one_delegate()) continue;
      payloads_ = delegate_payloads(variant.program->program());
      bare_ = std::make_unique<BareXnnpack>(variant.program->program(), payloads_[0],
                                            suite_.pools.at(threads_)->handle());
      bare_task_ = tasks_.size();
      tasks_.push_back({.run = [this] { bare_->invoke(); }});
    }
  }

  void finish(LoadedVariant& variant, double flops) {
    Result& result = variant.result;
    if (variant.task) {
      result.time = timing_of(tasks_[*variant.task].samples);
      if (result.variant == "xnnpack" && bare_task_) {
        result.limit = "bare XNNPACK";
        result.of_limit = timing_of(tasks_[*bare_task_].samples).p50 / result.time.p50;
      } else {
        set_arithmetic_limit(result, flops);
      }
    }
    if (variant.task || !result.note.empty()) suite_.results.results.push_back(result);
  }

  // Sets the result's share of the machine's multiply-adds per second, in the delegates' dtype if
  // the variant has delegates, else in f32.
  void set_arithmetic_limit(Result& result, double flops) const {
    if (flops <= 0 || subject_.delegated_dtype.empty()) return;
    const bool is_narrow = subject_.delegated_dtype != "f32" && result.delegates.value_or(0) > 0;
    const Results& limits = suite_.results;
    const auto narrow = limits.narrow_multiply_adds_per_s.find(subject_.delegated_dtype);
    if (is_narrow && narrow == limits.narrow_multiply_adds_per_s.end()) return;
    const auto& rates = is_narrow ? narrow->second : limits.multiply_adds_per_s;
    const auto rate = rates.find(threads_);
    if (rate == rates.end()) return;
    result.limit = is_narrow ? subject_.delegated_dtype + " multiply-adds" : "multiply-adds";
    result.of_limit = flops / result.time.p50 * 1e9 / rate->second;
  }

  Suite& suite_;
  const Subject& subject_;
  size_t threads_;
  std::vector<LoadedVariant> loaded_;
  std::vector<TimedTask> tasks_;
  std::vector<DataBuffer> payloads_;
  std::unique_ptr<BareXnnpack> bare_;
  std::optional<size_t> bare_task_;
};

// A corpus case with an exported program and ExecuTorch's lowered program.
struct CorpusCase {
  const char* name;
  double min_sqnr_db;
  bool is_dynamic;
};
constexpr CorpusCase kCorpusCases[] = {
    {"mv2_xnnpack", 60, false},        {"mv2_xnnpack_q8", 10, false},
    {"encoder_layer_sdpa", 60, false}, {"softmax_layernorm_attention", 60, false},
    {"kv_cache_xnnpack", 60, false},   {"split_concat_pool", 60, false},
    {"digits_xnnpack", 60, false},     {"mlp_dynq", 20, true},
};

std::function<aot::ExportedProgram()> import_of(const fs::path& file) {
  return [file] {
    aot::Methods methods = aot::import_methods({{"forward", file}});
    return std::move(methods.begin()->second);
  };
}

// Infers the dtype: quantized models have a lower required SQNR.
const char* dtype_of(double min_sqnr_db) { return min_sqnr_db < kFloatSqnrDb ? "i8" : "f32"; }

std::vector<Subject> suite_subjects(const SuiteOptions& options) {
  std::vector<Subject> subjects;
  for (const ZooModel& model : zoo()) {
    subjects.push_back({.name = model.name,
                        .make = model.make,
                        .min_sqnr_db = model.min_sqnr_db,
                        .is_dynamic = model.is_dynamic,
                        .delegated_dtype = dtype_of(model.min_sqnr_db)});
  }
  for (const CorpusCase& each : kCorpusCases) {
    const fs::path folder = options.corpus / each.name;
    if (options.corpus.empty() || !fs::exists(folder / "model.pt2")) continue;
    subjects.push_back({.name = fmt::format("corpus/{}", each.name),
                        .make = import_of(folder / "model.pt2"),
                        .program = folder / "model.pte",
                        .min_sqnr_db = each.min_sqnr_db,
                        .is_dynamic = each.is_dynamic,
                        .delegated_dtype = dtype_of(each.min_sqnr_db)});
  }
  return subjects;
}

// Returns the models in the options, or else the models of the suite and the corpus.
std::vector<Subject> subjects_of(const SuiteOptions& options) {
  std::vector<Subject> subjects;
  if (options.files.empty()) subjects = suite_subjects(options);
  for (const fs::path& file : options.files) {
    const fs::path folder = fs::absolute(file).parent_path().filename();
    Subject subject{.name = (folder / file.stem()).string(), .make = nullptr};
    if (file.extension() == ".pt2") {
      subject.make = import_of(file);
      subject.min_sqnr_db = 20;  // the model may be quantized
    } else {
      subject.program = file;
    }
    subjects.push_back(std::move(subject));
  }
  std::erase_if(subjects, [&](const Subject& each) { return !options.wants(each.name); });
  return subjects;
}

// Runs `step`. If the step fails, adds a result whose note is the error.
void guarded(Suite& suite, const std::string& name, const std::function<void()>& step) {
  try {
    step();
  } catch (const HostError& error) {
    Result failed{.section = "models", .name = name, .variant = "all", .work = {}, .time = {}};
    failed.note = error.what();
    suite.results.results.push_back(failed);
  }
}

}  // namespace

void add_models(Suite& suite) {
  for (const Subject& each : subjects_of(suite.options)) {
    const auto subject = std::make_shared<Subject>(each);
    const auto prepared = std::make_shared<Prepared>();
    suite.progress.add(each.name + ", lowering", 0.5, [&suite, subject, prepared] {
      guarded(suite, subject->name, [&] { *prepared = prepare(*subject, suite.scratch); });
    });
    for (const size_t threads : suite.options.threads) {
      suite.progress.add(fmt::format("{}, threads: {}", each.name, threads),
                         suite.options.is_full() ? 5 : 1, [&suite, subject, prepared, threads] {
                           guarded(suite, subject->name,
                                   [&] { ModelRun(suite, *subject, threads).run(*prepared); });
                         });
    }
  }
}

}  // namespace vitrine::bench
