#include "inspector/join/device_queues.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace vitrine::inspector {
namespace {

// The new position of a row, after the rows of each queue were moved to a profile of that queue.
struct NewIndex {
  size_t profile = 0;  // 0 for the CPU; otherwise the queue's number plus one
  size_t row = 0;
};

Profile empty_queue(const Profile& from, const DeviceQueue& queue) {
  Profile profile;
  profile.method = from.method;
  profile.queue = queue.name;
  profile.queue_about = queue.about;
  profile.has_ticks = !queue.is_time;
  profile.run.model = from.run.model;
  profile.run.record = from.run.record;
  profile.run.tool = from.run.tool;
  profile.run.model_digest = from.run.model_digest;
  profile.runs = from.runs;
  profile.cold_runs = from.cold_runs;
  profile.runs_differ = from.runs_differ;
  profile.run_names = from.run_names;
  return profile;
}

// Converts the times of one call's events from the queue's clock to the CPU's clock. On the CPU's
// clock, the call lasts from `start` to `end`.
void place_events(std::vector<TimelineEvent>& events, const DeviceQueue& queue, uint64_t start,
                  uint64_t end) {
  if (queue.is_ordered && queue.is_time) {
    uint64_t origin = UINT64_MAX;
    for (const TimelineEvent& event : events) origin = std::min(origin, event.start);
    for (TimelineEvent& event : events) {
      const uint64_t length = event.end - event.start;
      event.start = start + (event.start - origin);
      event.end = event.start + length;
    }
    return;
  }
  double sum = 0;
  for (const TimelineEvent& event : events) sum += static_cast<double>(event.end - event.start);
  const double scale = sum > 0 && !queue.is_time ? static_cast<double>(end - start) / sum : 1;
  double at = 0;
  for (TimelineEvent& event : events) {
    const double length = static_cast<double>(event.end - event.start) * scale;
    event.start = start + static_cast<uint64_t>(at);
    at += length;
    event.end = std::max(event.start, start + static_cast<uint64_t>(at));
  }
}

class QueueSplitter {
 public:
  QueueSplitter(Profile& profile, const std::vector<const DeviceQueue*>& queues,
                const RunWindow& window)
      : profile_(profile), queues_(queues), window_(window) {}

  void split() {
    move_rows();
    move_events();
    for (Profile& queue : profile_.queues) add_sums(queue);
    for (const Profile& queue : profile_.queues) {
      profile_.notes.push_back(fmt::format(
          "{}: {} rows were measured with another clock ({}); they are not part of the wall time",
          queue.queue, queue.rows.size(), queue.queue_about));
    }
  }

 private:
  void move_rows() {
    std::map<std::string_view, size_t> number_of_queue;
    std::vector<ProfileRow> cpu_rows;
    for (size_t i = 0; i < profile_.rows.size(); ++i) {
      if (queues_[i] == nullptr) {
        places_.push_back({0, cpu_rows.size()});
        cpu_rows.push_back(std::move(profile_.rows[i]));
        continue;
      }
      const auto [number, is_new] =
          number_of_queue.try_emplace(queues_[i]->name, profile_.queues.size());
      if (is_new) profile_.queues.push_back(empty_queue(profile_, *queues_[i]));
      std::vector<ProfileRow>& rows = profile_.queues[number->second].rows;
      places_.push_back({number->second + 1, rows.size()});
      rows.push_back(std::move(profile_.rows[i]));
    }
    profile_.rows = std::move(cpu_rows);
    renumber(profile_, 0);
    for (size_t i = 0; i < profile_.queues.size(); ++i) renumber(profile_.queues[i], i + 1);
  }

  // Updates ProfileRow::inserted_for_row after rows have moved. Resets the member if the row that
  // it refers to is now in another profile. `number` is the number of `profile`, as in
  // NewIndex::profile.
  void renumber(Profile& profile, size_t number) {
    for (ProfileRow& row : profile.rows) {
      if (!row.inserted_for_row.has_value()) continue;
      const NewIndex served = places_[*row.inserted_for_row - 1];
      row.inserted_for_row.reset();
      if (served.profile == number) row.inserted_for_row = served.row + 1;
    }
  }

  void move_events() {
    std::vector<TimelineEvent> events;
    std::map<std::pair<size_t, int>, std::vector<TimelineEvent>> open;  // by queue and partition
    std::map<size_t, const DeviceQueue*> queue_of;
    for (const TimelineEvent& event : profile_.timeline) {
      if (event.kind == TimelineEvent::Kind::kRun) {
        for (Profile& queue : profile_.queues) queue.timeline.push_back(event);
      }
      if (event.kind != TimelineEvent::Kind::kRow) {
        events.push_back(event);
        continue;
      }
      const NewIndex place = places_[event.index];
      TimelineEvent moved = event;
      moved.index = static_cast<uint32_t>(place.row);
      if (place.profile == 0) {
        events.push_back(moved);
        continue;
      }
      queue_of.try_emplace(place.profile - 1, queues_[event.index]);
      const int partition = profile_.queues[place.profile - 1].rows[place.row].partition;
      open[{place.profile - 1, partition}].push_back(moved);
    }
    // The start and end of each delegate call, keyed by run and partition.
    std::map<std::pair<uint32_t, int>, std::pair<uint64_t, uint64_t>> call_times;
    for (const TimelineEvent& event : events) {
      if (event.kind != TimelineEvent::Kind::kDelegateCall) continue;
      const int partition = profile_.delegate_calls[event.index].partition;
      call_times.try_emplace({event.run, partition}, event.start, event.end);
    }
    for (auto& [key, list] : open) {
      const auto& [queue, partition] = key;
      for (size_t begin = 0; begin < list.size();) {
        size_t end = begin;
        while (end < list.size() && list[end].run == list[begin].run) ++end;
        std::vector<TimelineEvent> call(list.begin() + static_cast<std::ptrdiff_t>(begin),
                                        list.begin() + static_cast<std::ptrdiff_t>(end));
        const auto times = call_times.find({list[begin].run, partition});
        if (times != call_times.end()) {
          place_events(call, *queue_of.at(queue), times->second.first, times->second.second);
          std::vector<TimelineEvent>& timeline = profile_.queues[queue].timeline;
          timeline.insert(timeline.end(), call.begin(), call.end());
        }
        begin = end;
      }
    }
    profile_.timeline = std::move(events);
  }

  // Sets the totals of a queue from its rows, and lists the delegate calls that have rows in the
  // queue.
  void add_sums(Profile& queue) const {
    SampleSum sum(window_.all);
    for (const ProfileRow& row : queue.rows) sum.add(row.samples);
    std::vector<double> total(window_.all);
    for (const RunSample& sample : sum.take()) total[sample.run] = sample.ns;
    for (size_t run = 0; run < total.size(); ++run) {
      queue.wall_samples.push_back({static_cast<uint32_t>(run), total[run]});
      queue.unattributed_samples.push_back({static_cast<uint32_t>(run), 0});
    }
    queue.wall = statistics_of(queue.wall_samples, window_);
    queue.unattributed = statistics_of(queue.unattributed_samples, window_);
    std::map<int, std::vector<const ProfileRow*>> rows_of_partition;
    for (const ProfileRow& row : queue.rows) rows_of_partition[row.partition].push_back(&row);
    for (const DelegateCall& call : profile_.delegate_calls) {
      DelegateCall own = call;
      own.operators = 0;
      for (const ProfileRow* row : rows_of_partition[call.partition]) {
        own.operators += row->phase.empty() ? 1 : 0;
        sum.add(row->samples);
      }
      own.samples = sum.take();
      own.time = statistics_of(own.samples, window_);
      if (!own.samples.empty()) queue.delegate_calls.push_back(std::move(own));
    }
  }

  Profile& profile_;
  const std::vector<const DeviceQueue*>& queues_;
  const RunWindow& window_;
  std::vector<NewIndex> places_;  // indexed by the old row
};

}  // namespace

void split_queues(Profile& profile, const std::vector<const DeviceQueue*>& queues,
                  const RunWindow& window) {
  const bool has_queue =
      std::ranges::any_of(queues, [](const DeviceQueue* queue) { return queue != nullptr; });
  if (has_queue) QueueSplitter(profile, queues, window).split();
}

}  // namespace vitrine::inspector
