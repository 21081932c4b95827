#include "vitrine/method_meta.h"

#include "runtime/platform/vector_size.h"
#include "runtime/program/program_access.h"

namespace vitrine {
namespace {

namespace fbs = schema::program;

// Null if `index` is out of range.
const fbs::EValue* value_at(const fbs::ExecutionPlan& plan,
                            const flatbuffers::Vector<int32_t>* list, size_t index) {
  if (index >= size_of(list)) return nullptr;
  return plan.values()->Get(static_cast<uint32_t>(list->Get(static_cast<uint32_t>(index))));
}

EValue::Tag tag_of(const fbs::EValue* value) {
  if (value == nullptr) return EValue::Tag::kNone;
  constexpr EValue::Tag kTags[] = {
      EValue::Tag::kNone,     EValue::Tag::kNone,       EValue::Tag::kInt,
      EValue::Tag::kBool,     EValue::Tag::kDouble,     EValue::Tag::kTensor,
      EValue::Tag::kString,   EValue::Tag::kListInt,    EValue::Tag::kListDouble,
      EValue::Tag::kListBool, EValue::Tag::kListTensor, EValue::Tag::kListOptionalTensor};
  return kTags[static_cast<size_t>(value->val_type())];
}

TensorInfo tensor_of(const fbs::EValue* value) {
  TensorInfo info{};
  const fbs::Tensor* found = value == nullptr ? nullptr : value->val_as_Tensor();
  if (found == nullptr) return info;
  const fbs::Tensor& tensor = *found;
  info.dtype = static_cast<ScalarType>(tensor.scalar_type());
  info.sizes = {tensor.sizes()->data(), tensor.sizes()->size()};
  info.dim_order = {tensor.dim_order()->data(), tensor.dim_order()->size()};
  info.dynamism = tensor.shape_dynamism() == fbs::TensorShapeDynamism::STATIC
                      ? ShapeDynamism::kStatic
                      : ShapeDynamism::kDynamicBound;
  info.nbytes = element_size(info.dtype);
  for (const int32_t size : info.sizes) info.nbytes *= static_cast<size_t>(size);
  const fbs::ExtraTensorInfo* extra = tensor.extra_tensor_info();
  info.is_memory_planned =
      tensor.allocation_info() != nullptr || tensor.data_buffer_idx() != 0 ||
      (extra != nullptr && extra->location() == fbs::TensorDataLocation::EXTERNAL);
  return info;
}

const fbs::ExecutionPlan& plan_of(const MethodMeta& method) { return ProgramAccess::plan(method); }

}  // namespace

std::string_view MethodMeta::name() const { return plan_of(*this).name()->string_view(); }
size_t MethodMeta::num_inputs() const { return size_of(plan_of(*this).inputs()); }
size_t MethodMeta::num_outputs() const { return size_of(plan_of(*this).outputs()); }

EValue::Tag MethodMeta::input_tag(size_t index) const {
  return tag_of(value_at(plan_of(*this), plan_of(*this).inputs(), index));
}
EValue::Tag MethodMeta::output_tag(size_t index) const {
  return tag_of(value_at(plan_of(*this), plan_of(*this).outputs(), index));
}
TensorInfo MethodMeta::input_tensor(size_t index) const {
  return tensor_of(value_at(plan_of(*this), plan_of(*this).inputs(), index));
}
TensorInfo MethodMeta::output_tensor(size_t index) const {
  return tensor_of(value_at(plan_of(*this), plan_of(*this).outputs(), index));
}

size_t MethodMeta::num_planned_buffers() const {
  const size_t entries = size_of(plan_of(*this).non_const_buffer_sizes());
  return entries == 0 ? 0 : entries - 1;  // entry 0 is reserved
}
size_t MethodMeta::planned_buffer_size(size_t index) const {
  if (index >= num_planned_buffers()) return 0;
  const auto& sizes = *plan_of(*this).non_const_buffer_sizes();
  return static_cast<size_t>(sizes.Get(static_cast<uint32_t>(index + 1)));
}

size_t MethodMeta::num_operators() const { return size_of(plan_of(*this).operators()); }
std::pair<std::string_view, std::string_view> MethodMeta::operator_name(size_t index) const {
  if (index >= num_operators()) return {};
  const fbs::Operator& op = *plan_of(*this).operators()->Get(static_cast<uint32_t>(index));
  return {op.name()->string_view(),
          op.overload() != nullptr ? op.overload()->string_view() : std::string_view()};
}
size_t MethodMeta::num_delegates() const { return size_of(plan_of(*this).delegates()); }
std::string_view MethodMeta::delegate_id(size_t index) const {
  if (index >= num_delegates()) return {};
  return plan_of(*this).delegates()->Get(static_cast<uint32_t>(index))->id()->string_view();
}
size_t MethodMeta::num_instructions() const {
  size_t count = 0;
  for (const fbs::Chain* chain : *plan_of(*this).chains()) count += size_of(chain->instructions());
  return count;
}

}  // namespace vitrine
