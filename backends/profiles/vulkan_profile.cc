#include "backends/profiles/foreign_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backends/profiles/vulkan_dispatch.h"
#include "backends/profiles/vulkan_positions.h"
#include "inspector/join/op_names.h"
#include "inspector/join/order_match.h"

namespace vitrine {
namespace vulkan {
namespace {

using inspector::DeviceQueue;
using inspector::EventMeaning;
using inspector::PayloadOperator;
using Kind = EventMeaning::Kind;

constexpr DeviceQueue kGpu = {
    .name = "Vulkan GPU",
    .about =
        "GPU clock in ns, with a rounded tick length; the CPU waits for the GPU in \"run graph\""};

struct Phase {
  std::string_view event, name;
  Kind kind = Kind::kPhase;
  bool covers_call = false;
};
constexpr Phase kPhases[] = {{"ETVK_COPY_INPUTS", "copy in"},
                             {"ETVK_RESIZE", "resize"},
                             {"ETVK_COMPUTE_GRAPH_EXECUTE", "run graph", Kind::kPhase, true},
                             {"ETVK_COPY_OUTPUTS", "copy out"},
                             {"ETVK_EXECUTE", "", Kind::kOverlapping}};

// A kernel or payload operator may run any of `ops` if its name contains `part`.
struct Family {
  std::string_view part;
  std::array<std::string_view, 5> ops;
};
constexpr Family kFamilies[] = {
    {"conv", {"convolution", "conv2d", "conv1d"}},
    {"linear", {"linear", "addmm", "mm"}},
    {"embedding", {"embedding", "embedding_4bit", "embedding_byte"}},
    {"sdpa", {"scaled_dot_product_attention", "bmm", "softmax", "_softmax"}},
    {"rms_norm", {"rms_norm", "mul"}},
    {"view", {"view_copy", "squeeze_copy", "unsqueeze_copy", "reshape"}},
    {"squeeze", {"view_copy", "squeeze_copy", "unsqueeze_copy"}},
    {"mm", {"mm", "bmm", "addmm"}},
    {"pool", {"max_pool2d_with_indices", "avg_pool2d", "max_pool2d", "mean"}},
    {"reduce", {"mean", "sum", "amax", "amin", "argmax"}},
    {"softmax", {"_softmax", "_log_softmax"}},
};

// True if `name` contains `words` as whole words, as "conv2d_clamp" contains "conv2d".
bool contains_words(std::string_view name, std::string_view words) {
  for (size_t at = name.find(words); at != name.npos; at = name.find(words, at + 1)) {
    const size_t end = at + words.size();
    const bool begins = at == 0 || name[at - 1] == '_' || name[at - 1] == '.';
    const bool ends = end == name.size() || name[end] == '_' || name[end] == '.';
    if (begins && ends) return true;
  }
  return false;
}

class VulkanProfile final : public inspector::DelegateProfile {
 public:
  std::string_view backend_id() const override { return "VulkanBackend"; }
  std::string_view name() const override { return "Vulkan"; }
  std::string_view short_name() const override { return "vk"; }

  // Shortens a name, for example "binary_add_texture3d_float" to "binary_add f32".
  std::string short_kernel_name(std::string_view kernel) const override {
    constexpr std::pair<std::string_view, std::string_view> kParts[] = {
        {"_texture3d", ""}, {"_texture2d", ""}, {"_buffer", ""},   {"_half", " f16"},
        {"_float", " f32"}, {"_int8", " i8"},   {"_int32", " i32"}};
    std::string text(kernel);
    for (const auto& [part, instead] : kParts) {
      const size_t at = text.rfind(part);
      if (at != text.npos && at != 0) text.replace(at, part.size(), instead);
    }
    return text;
  }

  bool recognizes(const etdump::ProfileEvent& event) const override {
    const std::string_view name = event.delegate_debug_name;
    return name.starts_with("ETVK_") ||
           (name.starts_with('{') && name.find("\"dispatch_id\": ") != name.npos);
  }

  EventMeaning interpret(const etdump::ProfileEvent& event) const override {
    const std::string_view name = event.delegate_debug_name;
    EventMeaning meaning;
    const auto* phase = std::ranges::find(kPhases, name, &Phase::event);
    if (phase != std::end(kPhases)) {
      meaning.kind = phase->kind;
      meaning.phase = phase->name;
      meaning.covers_call = phase->covers_call;
      return meaning;
    }
    const DispatchEvent dispatch = read_dispatch(name);
    meaning.queue = &kGpu;
    meaning.kernel = dispatch.kernel;
    if (dispatch.dispatch_id)
      meaning.identifier = fmt::format("dispatch {}", *dispatch.dispatch_id);
    if (dispatch.is_copy_in() || dispatch.is_copy_out()) {
      meaning.kind = Kind::kPhase;
      meaning.phase = dispatch.is_copy_in() ? "copy in" : "copy out";
    }
    return meaning;
  }

  std::vector<std::optional<PayloadOperator>> payload_operators(
      std::span<const std::string_view> events,
      std::span<const std::string> payload) const override {
    std::vector<DispatchEvent> dispatches;
    for (const std::string_view event : events) dispatches.push_back(read_dispatch(event));
    const bool has_names = std::ranges::any_of(
        dispatches, [](const DispatchEvent& dispatch) { return !dispatch.op.empty(); });
    if (has_names) return payload_positions(dispatches, payload);
    if (payload.empty()) return {};
    // Events that ExecuTorch logged before version 1.1 contain only kernel names.
    std::vector<std::string_view> kernels, names;
    for (const DispatchEvent& dispatch : dispatches) {
      const bool is_copy = dispatch.is_copy_in() || dispatch.is_copy_out();
      kernels.push_back(is_copy ? std::string_view() : dispatch.kernel);
    }
    for (const std::string& name : payload) names.push_back(inspector::base_name(name));
    const std::vector<inspector::OrderMatch> matches =
        inspector::match_in_order(kernels, names, *this);
    std::vector<std::optional<PayloadOperator>> found(events.size());
    for (size_t i = 0; i < matches.size(); ++i) {
      if (matches[i].op) found[i] = PayloadOperator{*matches[i].op, payload[*matches[i].op]};
    }
    return found;
  }

  inspector::OperatorIdentity identify(int32_t, std::string_view) const override {
    return {.kind = inspector::OperatorIdentity::Kind::kUnknown};
  }

  bool may_run(std::string_view kernel, std::string_view op) const override {
    const std::string_view name =
        kernel.find('.') == kernel.npos ? kernel : inspector::base_name(kernel);
    if (name.empty() || op.empty()) return false;
    if (name == op || contains_words(name, op)) return true;
    return std::ranges::any_of(kFamilies, [&](const Family& family) {
      return name.find(family.part) != name.npos &&
             (std::ranges::find(family.ops, op) != family.ops.end() ||
              op.find(family.part) != op.npos);
    });
  }
};

}  // namespace
}  // namespace vulkan

const inspector::DelegateProfile& vulkan_profile() {
  static const vulkan::VulkanProfile profile;
  return profile;
}

}  // namespace vitrine
