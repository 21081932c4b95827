#include "backends/profiles/xnnpack_profile.h"

#include "backends/profiles/xnnpack_kernel_names.h"
#include "backends/profiles/xnnpack_node_types.h"
#include "backends/profiles/xnnpack_operator_map.h"
#include "backends/xnnpack/runtime/reader/identifiers.h"

namespace vitrine {
namespace {

using inspector::OperatorIdentity;

class XnnpackProfile final : public inspector::DelegateProfile {
 public:
  std::string_view backend_id() const override { return xnnpack::kBackendId; }
  std::string_view name() const override { return "XNNPACK"; }
  std::string_view short_name() const override { return "xnn"; }
  std::string short_kernel_name(std::string_view kernel) const override {
    return xnnpack::short_kernel_name(kernel);
  }

  OperatorIdentity identify(int32_t id, std::string_view) const override {
    using enum OperatorIdentity::Kind;
    if (id == static_cast<int32_t>(xnnpack::kInsertedHandle)) return {kLayoutChange};
    if (id > 0) return {kDebugHandle, static_cast<uint32_t>(id)};
    return {kUnknown};
  }
  bool may_run(std::string_view kernel, std::string_view op) const override {
    return xnnpack::may_run(kernel, op);
  }
  bool may_be_layout_change(std::string_view kernel) const override {
    return xnnpack::is_transposition(kernel);
  }

  std::string_view operator_map_event() const override { return xnnpack::kOperatorMapEvent; }
  inspector::OperatorMap parse_operator_map(std::string_view text) const override {
    return xnnpack::parse_operator_map(text);
  }
  bool is_op_of_node_type(std::string_view op, std::string_view type) const override {
    return xnnpack::is_op_of_node_type(op, type);
  }
};

}  // namespace

const inspector::DelegateProfile& xnnpack_profile() {
  static const XnnpackProfile profile;
  return profile;
}

}  // namespace vitrine
