#include "backends/profiles/vulkan_positions.h"

#include <algorithm>
#include <map>

namespace vitrine::vulkan {
namespace {

using inspector::PayloadOperator;

constexpr size_t kMaxComparisons = size_t{1} << 24;

bool is_copy(const DispatchEvent& event) { return event.is_copy_in() || event.is_copy_out(); }

// Vulkan numbers the operators of all delegates in a process. Therefore, an operator's index in its
// payload is its id minus the id of the delegate's first operator.
class FirstOperator {
 public:
  FirstOperator(std::span<const DispatchEvent> events, std::span<const std::string> payload)
      : events_(events), payload_(payload) {}

  // Returns the most likely id of the payload's first operator, or nullopt if no operator name
  // matches. A candidate gets one point for each event whose operator name equals the payload's
  // name at the index that follows from the candidate. In a tie, the id after the first input copy
  // wins, because the delegate's operators follow the copies.
  std::optional<uint64_t> find() const {
    std::optional<uint64_t> best;
    size_t best_score = 0;
    const auto consider = [&](uint64_t first) {
      const size_t score = agreement(first);
      if (score <= best_score) return;
      best_score = score;
      best = first;
    };
    for (const DispatchEvent& event : events_) {
      if (!event.is_copy_in() || !event.operator_id || *event.operator_id == UINT64_MAX) continue;
      consider(*event.operator_id + 1);
      break;
    }
    const auto named = std::ranges::find_if(events_, [](const DispatchEvent& event) {
      return !is_copy(event) && event.operator_id && !event.op.empty();
    });
    if (named == events_.end() || payload_.size() > kMaxComparisons / events_.size()) return best;
    for (size_t i = 0; i < payload_.size() && i <= *named->operator_id; ++i) {
      if (payload_[i] == named->op) consider(*named->operator_id - i);
    }
    return best;
  }

 private:
  size_t agreement(uint64_t first) const {
    return static_cast<size_t>(std::ranges::count_if(events_, [&](const DispatchEvent& event) {
      if (is_copy(event) || !event.operator_id || *event.operator_id < first) return false;
      const uint64_t index = *event.operator_id - first;
      return index < payload_.size() && payload_[static_cast<size_t>(index)] == event.op;
    }));
  }

  std::span<const DispatchEvent> events_;
  std::span<const std::string> payload_;
};

}  // namespace

std::vector<std::optional<PayloadOperator>> payload_positions(
    std::span<const DispatchEvent> events, std::span<const std::string> payload) {
  std::vector<std::optional<PayloadOperator>> found(events.size());
  const bool has_node_ids = std::ranges::any_of(
      events, [](const DispatchEvent& event) { return event.node_id.has_value(); });
  const std::optional<uint64_t> first =
      has_node_ids ? std::optional<uint64_t>(0) : FirstOperator(events, payload).find();
  std::map<uint64_t, size_t> order;  // position of each id; used if the payload is unknown
  if (payload.empty()) {
    for (const DispatchEvent& event : events) {
      const auto id = has_node_ids ? event.node_id : event.operator_id;
      if (!is_copy(event) && id && !event.op.empty()) order.emplace(*id, 0);
    }
    size_t next = 0;
    for (auto& [id, index] : order) index = next++;
  }
  for (size_t i = 0; i < events.size(); ++i) {
    const DispatchEvent& event = events[i];
    const auto id = has_node_ids ? event.node_id : event.operator_id;
    if (is_copy(event) || !id) continue;
    if (payload.empty()) {
      const auto index = order.find(*id);
      if (index != order.end()) found[i] = PayloadOperator{index->second, std::string(event.op)};
      continue;
    }
    if (!first || *id < *first || *id - *first >= payload.size()) continue;
    const auto index = static_cast<size_t>(*id - *first);
    if (payload[index] == event.op) found[i] = PayloadOperator{index, payload[index]};
  }
  return found;
}

}  // namespace vitrine::vulkan
