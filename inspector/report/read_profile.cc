#include "inspector/report/read_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/json.h"
#include "inspector/join/statistics.h"
#include "inspector/report/report_json.h"
#include "inspector/report/row_texts.h"

namespace vitrine::inspector {
namespace {

std::string text_or_empty(const JsonValue& json, std::string_view key) {
  return json.holds(key) ? json.at(key).string() : "";
}

std::vector<std::string> texts(const JsonValue& json) {
  std::vector<std::string> result;
  json.each_item([&](const JsonValue& item) { result.push_back(item.string()); });
  return result;
}

Where where_of(const JsonValue& json) {
  for (const Where where : {Where::kDelegate, Where::kKernel, Where::kControl}) {
    if (json.string() == where_name(where)) return where;
  }
  json.fail("is not \"delegate\", \"kernel\" or \"control\"");
}

Join join_of(const JsonValue& json) {
  if (json.string() == "exact") return Join::kExact;
  if (json.string() == "inferred") return Join::kInferred;
  if (json.string() == "none") return Join::kNone;
  json.fail("is not \"exact\", \"inferred\" or \"none\"");
}

// Reads a number that is small enough for sums and ratios to stay finite.
double figure_of(const JsonValue& json) {
  constexpr double kMax = 1e18;  // in ns, 31 years
  const double number = json.number();
  if (!(std::fabs(number) <= kMax)) json.fail("is not a number between -1e18 and 1e18");
  return number;
}

RunSamples samples_of(const JsonValue& json, size_t runs) {
  if (json.size() != runs)
    json.fail(fmt::format("has {} times, but there are {} runs", json.size(), runs));
  RunSamples samples;
  json.each_item([&](const JsonValue& item) {
    samples.push_back({static_cast<uint32_t>(samples.size()), figure_of(item)});
  });
  return samples;
}

class ProfileReader {
 public:
  ProfileReader(const JsonValue& json, DelegateProfiles delegates, bool is_queue)
      : json_(json), delegates_(delegates), is_queue_(is_queue) {}

  Profile read() {
    const auto version = json_.at("schema_version").integer();
    if (version != kProfileJsonVersion) {
      json_.at("schema_version")
          .fail(fmt::format("is {}, but this tool reads version {}: record the profile again",
                            version, kProfileJsonVersion));
    }
    if (!json_.holds("wall_samples_ns")) {
      json_.fail("has no \"wall_samples_ns\", the time of each run: record the profile again");
    }
    profile_.method = json_.at("method").string();
    profile_.queue = is_queue_ ? json_.at("queue").string() : "";
    profile_.queue_about = text_or_empty(json_, "queue_about");
    profile_.has_ticks = text_or_empty(json_, "unit") == "ticks";
    read_run();
    profile_.runs = json_.at("wall_samples_ns").size();
    profile_.runs_differ = json_.at("runs_differ").boolean();
    profile_.notes = texts(json_.at("notes"));
    read_times(json_.at("wall_samples_ns"), profile_.wall_samples, profile_.wall);
    read_times(json_.at("unattributed_samples_ns"), profile_.unattributed_samples,
               profile_.unattributed);
    json_.at("rows").each_item([&](const JsonValue& row) { read_row(row); });
    for (const ProfileRow& row : profile_.rows) {
      if (row.inserted_for_row &&
          (*row.inserted_for_row == 0 || *row.inserted_for_row > profile_.rows.size())) {
        json_.at("rows").fail(fmt::format("has {} rows, but a layout change refers to row {}",
                                          profile_.rows.size(), *row.inserted_for_row));
      }
    }
    if (!is_queue_ && json_.holds("queues")) {
      json_.at("queues").each_item([&](const JsonValue& queue) {
        profile_.queues.push_back(ProfileReader(queue, delegates_, true).read());
      });
    }
    return std::move(profile_);
  }

 private:
  void read_run() {
    RunInfo& run = profile_.run;
    run.model = json_.at("model").string();
    run.record = text_or_empty(json_, "record");
    run.inputs = texts(json_.at("inputs"));
    run.outputs = texts(json_.at("outputs"));
    run.warnings = texts(json_.at("warnings"));
    if (json_.holds("threads")) run.threads = json_.at("threads").integer<uint32_t>();
    const JsonValue origin = json_.at("origin");
    run.tool = text_or_empty(origin, "tool");
    run.date = text_or_empty(origin, "date");
    run.machine = text_or_empty(origin, "machine");
    run.model_digest = text_or_empty(origin, "model_digest");
    run.input_values = text_or_empty(origin, "input_values");
  }

  void read_times(const JsonValue& json, RunSamples& samples, TimeStatistics& time) const {
    samples = samples_of(json, profile_.runs);
    time = statistics_of(samples, {.cold = 0, .all = profile_.runs});
  }

  void read_row(const JsonValue& json) {
    ProfileRow& row = profile_.rows.emplace_back();
    row.where = where_of(json.at("where"));
    row.delegate = text_or_empty(json, "delegate");
    if (json.holds("partition")) row.partition = json.at("partition").integer<int>();
    row.instruction = json.at("instruction").integer<int32_t>();
    row.identifier = text_or_empty(json, "identifier");
    row.kernel = json.at("kernel").string();
    if (const DelegateProfile* known = find_profile(delegates_, row.delegate)) {
      row.delegate_name = known->name();
      row.delegate_short_name = known->short_name();
      row.short_kernel = known->short_kernel_name(row.kernel);
    }
    row.library = text_or_empty(json, "library");
    row.phase = text_or_empty(json, "phase");
    if (json.holds("payload_operator")) {
      row.payload_operator = json.at("payload_operator").integer<size_t>();
    }
    row.join = join_of(json.at("join"));
    read_ops(json, row);
    json.at("debug_handles").each_item([&](const JsonValue& handle) {
      row.debug_handles.push_back(handle.integer<uint32_t>());
    });
    row.calls = figure_of(json.at("calls"));
    row.share = figure_of(json.at("share"));
    read_times(json.at("samples_ns"), row.samples, row.time);
  }

  static void read_ops(const JsonValue& json, ProfileRow& row) {
    row.source_ops = texts(json.at("source_ops"));
    row.folded_ops = texts(json.at("folded_ops"));
    row.modules = texts(json.at("modules"));
    row.folded_modules = texts(json.at("folded_modules"));
    row.source_lines = texts(json.at("source_lines"));
    row.model_lines = texts(json.at("model_lines"));
    row.has_all_ops_of_call = json.at("whole_call").boolean();
    if (json.holds("main_op")) row.main_op = json.at("main_op").integer<size_t>();
    const size_t ops = row.source_ops.size();
    if (row.main_op >= std::max<size_t>(ops, 1) || row.modules.size() != ops ||
        row.source_lines.size() != ops || row.model_lines.size() != ops ||
        row.folded_modules.size() != row.folded_ops.size()) {
      json.fail("has lists of ops, modules and source lines whose lengths differ");
    }
    row.is_inserted = json.has("inserted_for");
    if (row.is_inserted) row.inserted_for = texts(json.at("inserted_for"));
    if (json.holds("inserted_for_row")) {
      row.inserted_for_row = json.at("inserted_for_row").integer<size_t>();
    }
  }

  JsonValue json_;
  DelegateProfiles delegates_;
  bool is_queue_;  // queues have no queues
  Profile profile_;
};

}  // namespace

Profile read_profile(std::string_view json, std::string source, DelegateProfiles delegates) {
  const JsonDocument document(json, std::move(source));
  return ProfileReader(document.root(), delegates, false).read();
}

}  // namespace vitrine::inspector
