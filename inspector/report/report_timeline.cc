#include "inspector/report/report_timeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "inspector/report/row_texts.h"

namespace vitrine::inspector {
namespace {

using Json = nlohmann::ordered_json;

std::string text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

uint64_t first_event(const Profile& profile) {
  uint64_t first = UINT64_MAX;
  for (const TimelineEvent& event : profile.timeline) first = std::min(first, event.start);
  for (const Scope& scope : profile.scopes) first = std::min(first, scope.start);
  return first;
}

// Writes a profile as a process of the trace. The tracks of the process are numbered consecutively
// from `track`. If `top` is not null, it is the first track.
class TimelineProcess {
 public:
  TimelineProcess(const Profile& profile, const TimelineTrack* top, int process, int track,
                  uint64_t base)
      : profile_(profile),
        top_(top),
        process_(process),
        executor_track_(top == nullptr ? track : track + 1),
        base_(base) {
    for (const DelegateCall& call : profile.delegate_calls) {
      const int next = executor_track_ + 1 + static_cast<int>(tracks_.size());
      tracks_.try_emplace(call.delegate, next);
      if (call.derived_times) derived_.push_back(call.partition);
    }
    for (size_t i = 0; i < profile.rows.size(); ++i) rows_.push_back(row_fields(i));
  }

  int next_track() const { return executor_track_ + 1 + static_cast<int>(tracks_.size()); }

  // Returns all events, separated by commas.
  std::string events(const std::string& name) {
    add_name("process_name", executor_track_, name);
    if (!profile_.queue.empty()) return queue_events();
    if (top_ != nullptr) add_top();
    add_name("thread_name", executor_track_, "executor");
    for (const auto& [delegate, track] : tracks_) {
      add_name("thread_name", track, delegate.empty() ? "delegate" : delegate);
    }
    for (const Scope& scope : profile_.scopes) {
      add(text(Json(scope.name)) + ",\"cat\":\"load\"", executor_track_, scope.start, scope.ns);
    }
    for (const TimelineEvent& event : profile_.timeline) add(event);
    return std::move(out_);
  }

 private:
  // Returns the events of a queue, which has one track. Runs are on the CPU's track.
  std::string queue_events() {
    add_name(
        "thread_name", executor_track_,
        profile_.queue + (profile_.has_ticks ? " (ticks, scaled to the delegate calls)"
                                             : " (own clock, aligned with the delegate calls)"));
    for (const TimelineEvent& event : profile_.timeline) {
      if (event.kind != TimelineEvent::Kind::kRow) continue;
      add(rows_[event.index].fields, executor_track_, event.start,
          static_cast<double>(event.end - event.start));
    }
    return std::move(out_);
  }

  struct RowFields {
    std::string fields;  // JSON text after "name": with the name, "cat" and "args"
    int track = 0;
  };

  RowFields row_fields(size_t index) const {
    const ProfileRow& row = profile_.rows[index];
    const RowTexts texts = row_texts(row);
    Json args = {{"row", index + 1}, {"kernel", row.kernel}, {"instruction", row.instruction}};
    if (!texts.module.empty()) args["module"] = texts.module;
    if (!row.source_ops.empty() && !row.has_all_ops_of_call) args["source_ops"] = row.source_ops;
    if (row.main_op < row.model_lines.size() && !row.model_lines[row.main_op].empty()) {
      args["line"] = row.model_lines[row.main_op];
    }
    if (!profile_.queue.empty()) args["derived_start"] = true;
    if (profile_.has_ticks) args["median_ticks"] = profile_.typical(row.time);
    if (!row.identifier.empty()) args["identifier"] = row.identifier;
    if (row.where == Where::kDelegate &&
        std::count(derived_.begin(), derived_.end(), row.partition) != 0) {
      args["derived_start"] = true;
    }
    RowFields result;
    result.track = executor_track_;
    result.fields = text(Json(texts.op)) + ",\"cat\":\"" +
                    (row.where == Where::kDelegate ? "delegate" : "kernel") +
                    "\",\"args\":" + text(args);
    if (row.where == Where::kDelegate) result.track = tracks_.at(row.delegate);
    return result;
  }

  void add_top() {
    const int track = executor_track_ - 1;
    add_name("thread_name", track, top_->name);
    for (const TimelineTrack::Slice& slice : top_->slices) {
      add(text(Json(slice.name)) + ",\"cat\":\"step\"", track, slice.start,
          static_cast<double>(slice.ns));
    }
  }

  void add(const TimelineEvent& event) {
    const auto ns = static_cast<double>(event.end - event.start);
    switch (event.kind) {
      case TimelineEvent::Kind::kRun: {
        const bool is_cold = event.run < profile_.cold_runs;
        const Json name = event.run < profile_.run_names.size()
                              ? profile_.run_names[event.run]
                              : fmt::format("{} {}", is_cold ? "warm-up" : "run", event.run + 1);
        add(text(name) + ",\"cat\":\"run\"", executor_track_, event.start, ns);
        break;
      }
      case TimelineEvent::Kind::kRow:
        add(rows_[event.index].fields, rows_[event.index].track, event.start, ns);
        break;
      case TimelineEvent::Kind::kDelegateCall: {
        const DelegateCall& call = profile_.delegate_calls[event.index];
        const Json name = fmt::format("{} {}", call.delegate.empty() ? "delegate" : call.delegate,
                                      call.partition);
        add(text(name) + ",\"cat\":\"call\"", executor_track_, event.start, ns);
        break;
      }
    }
  }

  void add(std::string_view fields, int track, uint64_t start, double ns) {
    begin();
    const uint64_t since = start - base_;
    fmt::format_to(
        std::back_inserter(out_),
        "{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{}.{:03},\"dur\":{:.3f},\"name\":{}}}",
        process_, track, since / 1000, since % 1000, ns / 1000, fields);
  }

  void add_name(const char* what, int track, const std::string& name) {
    begin();
    out_ += text({{"ph", "M"},
                  {"pid", process_},
                  {"tid", track},
                  {"name", what},
                  {"args", {{"name", name}}}});
  }

  void begin() {
    if (!is_first_) out_ += ",\n";
    is_first_ = false;
  }

  const Profile& profile_;
  const TimelineTrack* top_;
  int process_;
  int executor_track_;
  std::map<std::string, int> tracks_;  // maps a delegate to its track
  std::vector<int> derived_;           // partitions with derived times
  std::vector<RowFields> rows_;
  uint64_t base_;
  bool is_first_ = true;
  std::string out_;
};

}  // namespace

std::string report_timeline(std::span<const Profile* const> profiles, const TimelineTrack* top) {
  uint64_t base = UINT64_MAX;
  if (top != nullptr) {
    for (const TimelineTrack::Slice& slice : top->slices) base = std::min(base, slice.start);
  }
  std::vector<std::string> methods;
  for (const Profile* profile : profiles) {
    base = std::min(base, first_event(*profile));
    if (profile->queue.empty()) methods.push_back(profile->method);
  }
  const std::string model = profiles.empty() ? "" : profiles.front()->run.model;
  std::string out = "{\"displayTimeUnit\":\"ms\",\"otherData\":";
  out += text({{"model", model},
               {"method", fmt::format("{}", fmt::join(methods, " + "))},
               {"clock", "CLOCK_MONOTONIC of the traced machine"},
               {"first_event_ns", std::to_string(base == UINT64_MAX ? 0 : base)}});
  out += ",\"traceEvents\":[\n";
  int process = 1;
  int track = 1;
  for (const Profile* profile : profiles) {
    std::string name = model.empty() ? "vitrine" : model;
    if (methods.size() > 1) name += " · " + profile->method;
    if (!profile->queue.empty()) name += " · " + profile->queue;
    TimelineProcess events(*profile, process == 1 ? top : nullptr, process, track, base);
    if (process++ > 1) out += ",\n";
    track = events.next_track();
    out += events.events(name);
  }
  return out + "\n]}\n";
}

std::string report_timeline(const Profile& profile) {
  std::vector<const Profile*> all = {&profile};
  for (const Profile& queue : profile.queues) all.push_back(&queue);
  return report_timeline(all);
}

}  // namespace vitrine::inspector
