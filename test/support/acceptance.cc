#include "test/support/acceptance.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <string_view>

#include "schema/program_generated.h"
#include "vitrine/scalar_type.h"

namespace vitrine::test {
namespace {

namespace fbs = schema::program;

constexpr size_t kMaxRank = 16;
constexpr size_t kMaxOperatorName = 100;  // with its terminating zero

struct Header {
  bool exists = false;
  uint64_t program_size = 0;
  uint64_t segment_base = 0;
  uint64_t segment_bytes = 0;
};

class Checker {
 public:
  Checker(std::span<const std::byte> pte, const AcceptanceOptions& options)
      : pte_(pte), options_(options) {}

  std::vector<std::string> run() {
    if (check_header() && check_structure()) {
      check_segments();
      check_constants();
      check_plans();
    }
    return std::move(violated_);
  }

 private:
  bool need(bool is_met, const std::string& location, std::string_view rule) {
    if (!is_met) violated_.push_back(location + ": " + std::string(rule));
    return is_met;
  }
  static std::string at(const std::string& list, size_t index) {
    return list + "[" + std::to_string(index) + "]";
  }
  template <class T>
  T read(size_t offset) const {
    T value = 0;
    std::memcpy(&value, pte_.data() + offset, sizeof value);
    return value;
  }
  bool has_text(size_t offset, std::string_view text) const {
    return std::memcmp(pte_.data() + offset, text.data(), text.size()) == 0;
  }
  bool is_zero(uint64_t begin, uint64_t end) const {
    return std::all_of(pte_.begin() + static_cast<std::ptrdiff_t>(begin),
                       pte_.begin() + static_cast<std::ptrdiff_t>(end),
                       [](std::byte b) { return b == std::byte{0}; });
  }
  static uint64_t round_up(uint64_t value, uint64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
  }

  bool check_header() {
    if (!need(pte_.size() >= 64, "file", "is shorter than 64 bytes")) return false;
    if (!need(has_text(4, "ET12"), "file", "its identifier is not ET12")) return false;
    header_.program_size = pte_.size();
    header_.exists = has_text(8, "eh00");
    if (header_.exists) {
      need(read<uint32_t>(12) == 32, "header", "is not 32 bytes long");
      header_.program_size = read<uint64_t>(16);
      header_.segment_base = read<uint64_t>(24);
      header_.segment_bytes = read<uint64_t>(32);
      const uint64_t widest =
          std::max({options_.constant_tensor_alignment, options_.delegate_alignment, size_t{16}});
      const uint64_t inserted = round_up(32, widest);
      if (!need(header_.program_size > 8 + inserted && header_.program_size <= pte_.size(),
                "header", "its program size is out of range")) {
        return false;
      }
      need(is_zero(40, 8 + inserted), "header", "its padding is not zero");
      need(header_.segment_base == round_up(header_.program_size, options_.segment_alignment),
           "header", "segments do not begin at the next aligned offset");
      need(header_.segment_base + header_.segment_bytes == pte_.size(), "header",
           "base and size of the segments do not add up to the file's end");
      if (header_.segment_base > pte_.size()) return false;
      need(is_zero(header_.program_size, header_.segment_base), "file",
           "the bytes before the segments are not zero");
    }
    const auto root = read<uint32_t>(0);
    return need(root >= 8 && root <= header_.program_size - 4, "file", "its root is out of range");
  }

  bool check_structure() {
    flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(pte_.data()),
                                   header_.program_size);  // default limits, as in ExecuTorch
    if (!need(fbs::VerifyProgramBuffer(verifier), "file", "is not a valid flatbuffer"))
      return false;
    program_ = fbs::GetProgram(pte_.data());
    need(program_->version() == 0, "program", "its version is not 0");
    bool is_complete = need(program_->segments() != nullptr, "program", "has no segments");
    is_complete &= need(program_->constant_segment() != nullptr &&
                            program_->constant_segment()->offsets() != nullptr &&
                            program_->constant_segment()->offsets()->size() > 0,
                        "program", "has no constant segment");
    is_complete &=
        need(program_->execution_plan() != nullptr && program_->execution_plan()->size() > 0,
             "program", "has no methods");
    need(program_->constant_buffer() == nullptr || program_->constant_buffer()->size() == 0,
         "program", "must not have constants in constant_buffer too");
    return is_complete;
  }

  void check_segments() {
    uint64_t end = 0;
    const auto& segments = *program_->segments();
    for (uint32_t i = 0; i < segments.size(); ++i) {
      const std::string location = at("segments", i);
      const uint64_t offset = segments[i]->offset();
      need(offset % options_.segment_alignment == 0, location, "is not aligned");
      need(offset >= end, location, "overlaps the one before, or comes before it");
      need(segments[i]->size() <= header_.segment_bytes &&
               offset <= header_.segment_bytes - segments[i]->size(),
           location, "reaches past the segments' end");
      if (offset >= end && offset <= header_.segment_bytes) {
        need(is_zero(header_.segment_base + end, header_.segment_base + offset), location,
             "the bytes before it are not zero");
      }
      end = std::max(end, offset + segments[i]->size());
    }
    need(end == header_.segment_bytes, "header", "its segment size is not the last segment's end");
    need(header_.exists == (end > 0), "header", "must exist if and only if segments hold data");
    if (program_->named_data() == nullptr) return;
    std::set<std::string> keys;
    for (uint32_t i = 0; i < program_->named_data()->size(); ++i) {
      const auto* named = program_->named_data()->Get(i);
      const std::string location = at("named_data", i);
      need(named->key() != nullptr && keys.insert(named->key()->str()).second, location,
           "has no key, or a duplicate key");
      need(named->segment_index() < segments.size(), location, "its segment does not exist");
    }
  }

  void check_offsets(const fbs::SubsegmentOffsets& list, size_t alignment,
                     const std::string& location) {
    if (!need(list.segment_index() < program_->segments()->size(), location,
              "its segment does not exist")) {
      return;
    }
    const uint64_t size = program_->segments()->Get(list.segment_index())->size();
    need(list.offsets()->Get(0) == 0, location, "its first offset, which means no data, is not 0");
    for (const uint64_t offset : *list.offsets()) {
      need(offset % alignment == 0, location, "an offset is not aligned");
      need(offset <= size, location, "an offset is outside its segment");
    }
  }

  void check_constants() {
    need(program_->constant_segment()->segment_index() == 0, "constant_segment",
         "is not the first segment");
    check_offsets(*program_->constant_segment(), options_.constant_tensor_alignment,
                  "constant_segment");
    if (program_->mutable_data_segments() == nullptr) return;
    need(program_->mutable_data_segments()->size() == 1, "mutable_data_segments",
         "must have one entry");
    for (const auto* states : *program_->mutable_data_segments()) {
      check_offsets(*states, 1, "mutable_data_segments");
    }
  }

  void check_plans() {
    std::string previous;
    for (uint32_t i = 0; i < program_->execution_plan()->size(); ++i) {
      const fbs::ExecutionPlan& plan = *program_->execution_plan()->Get(i);
      const std::string location = at("execution_plan", i);
      const bool is_complete =
          plan.name() != nullptr && plan.values() != nullptr && plan.inputs() != nullptr &&
          plan.outputs() != nullptr && plan.operators() != nullptr && plan.delegates() != nullptr &&
          plan.non_const_buffer_sizes() != nullptr && plan.container_meta_type() != nullptr &&
          plan.container_meta_type()->encoded_inp_str() != nullptr &&
          plan.container_meta_type()->encoded_out_str() != nullptr && plan.chains() != nullptr &&
          plan.chains()->size() == 1;
      if (!need(is_complete, location, "must have all fields and one chain")) continue;
      // Only methods with inputs or instructions are sorted by name. Constant methods, which have
      // neither, come after them.
      const auto* instructions = plan.chains()->Get(0)->instructions();
      if (plan.inputs()->size() > 0 || (instructions != nullptr && instructions->size() > 0)) {
        need(previous < plan.name()->str(), location, "methods must be sorted by name");
        previous = plan.name()->str();
      }
      check_buffers(plan, location);
      for (uint32_t k = 0; k < plan.values()->size(); ++k) {
        check_value(plan, k, at(location + ".values", k));
      }
      for (const auto* list : {plan.inputs(), plan.outputs()}) {
        for (const int32_t index : *list) check_index(plan, index, location);
      }
      check_operators(plan, location);
      check_delegates(plan, location);
      check_chain(plan, *plan.chains()->Get(0), location + ".chains[0]");
    }
  }

  void check_index(const fbs::ExecutionPlan& plan, int64_t index, const std::string& location) {
    need(index >= 0 && index < int64_t{plan.values()->size()}, location,
         "an index is out of range");
  }

  void check_buffers(const fbs::ExecutionPlan& plan, const std::string& location) {
    const auto& sizes = *plan.non_const_buffer_sizes();
    need(sizes.size() >= 1 && sizes[0] == 0, location,
         "its first buffer, which means no memory, is not empty");
    for (const int64_t size : sizes) need(size >= 0, location, "a buffer has a negative size");
  }

  void check_value(const fbs::ExecutionPlan& plan, uint32_t index, const std::string& location) {
    const fbs::EValue& value = *plan.values()->Get(index);
    if (!need(value.val() != nullptr, location, "has no value")) return;
    const auto kind_of = [&](int64_t item) {
      const bool exists = item >= 0 && item < int64_t{plan.values()->size()};
      return exists ? plan.values()->Get(static_cast<uint32_t>(item))->val_type()
                    : fbs::KernelTypes::NONE;
    };
    switch (value.val_type()) {
      case fbs::KernelTypes::Tensor:
        check_tensor(plan, *value.val_as_Tensor(), location);
        break;
      case fbs::KernelTypes::IntList:
        if (!need(value.val_as_IntList()->items() != nullptr, location, "has no items")) break;
        for (const int64_t item : *value.val_as_IntList()->items()) {
          need(kind_of(item) == fbs::KernelTypes::Int, location, "an item is not an integer");
        }
        break;
      case fbs::KernelTypes::TensorList:
        if (!need(value.val_as_TensorList()->items() != nullptr, location, "has no items")) break;
        for (const int32_t item : *value.val_as_TensorList()->items()) {
          need(kind_of(item) == fbs::KernelTypes::Tensor && item < int64_t{index}, location,
               "an item is not an earlier tensor");
        }
        break;
      case fbs::KernelTypes::OptionalTensorList:
        if (!need(value.val_as_OptionalTensorList()->items() != nullptr, location,
                  "has no items")) {
          break;
        }
        for (const int32_t item : *value.val_as_OptionalTensorList()->items()) {
          need(item == -1 || kind_of(item) == fbs::KernelTypes::Null ||
                   (kind_of(item) == fbs::KernelTypes::Tensor && item < int64_t{index}),
               location, "an item is not an earlier tensor");
        }
        break;
      case fbs::KernelTypes::DoubleList:
        need(value.val_as_DoubleList()->items() != nullptr, location, "has no items");
        break;
      case fbs::KernelTypes::BoolList:
        need(value.val_as_BoolList()->items() != nullptr, location, "has no items");
        break;
      case fbs::KernelTypes::String:
        need(value.val_as_String()->string_val() != nullptr, location, "has no text");
        break;
      default:
        break;
    }
  }

  void check_tensor(const fbs::ExecutionPlan& plan, const fbs::Tensor& tensor,
                    const std::string& location) {
    need(tensor.storage_offset() == 0, location, "its storage offset is not 0");
    need(tensor.layout() == 0, location, "it is not strided");
    need(tensor.shape_dynamism() != fbs::TensorShapeDynamism::DYNAMIC_UNBOUND, location,
         "its sizes have no bound");
    const auto width = element_size(static_cast<ScalarType>(tensor.scalar_type()));
    need(width > 0, location, "its dtype has no size");
    if (!need(tensor.sizes() != nullptr && tensor.dim_order() != nullptr &&
                  tensor.sizes()->size() == tensor.dim_order()->size() &&
                  tensor.sizes()->size() <= kMaxRank,
              location, "its sizes and dim order must have the same length, at most 16")) {
      return;
    }
    std::set<uint8_t> dims(tensor.dim_order()->begin(), tensor.dim_order()->end());
    need(dims.size() == tensor.sizes()->size() &&
             (dims.empty() || *dims.rbegin() + size_t{1} == dims.size()),
         location, "its dim order is not a permutation");
    uint64_t bytes = width;
    for (const int32_t size : *tensor.sizes()) {
      need(size >= 0, location, "a size is negative");
      need(!__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes), location,
           "its size in bytes exceeds 64 bits");
    }
    check_memory(plan, tensor, bytes, location);
  }

  void check_memory(const fbs::ExecutionPlan& plan, const fbs::Tensor& tensor, uint64_t bytes,
                    const std::string& location) {
    const auto* extra = tensor.extra_tensor_info();
    const bool is_external =
        extra != nullptr && extra->location() == fbs::TensorDataLocation::EXTERNAL;
    if (is_external)
      need(extra->fully_qualified_name() != nullptr, location, "is external but has no name");
    if (const auto* planned = tensor.allocation_info()) {
      const uint64_t offset = planned->memory_offset_low() |
                              (static_cast<uint64_t>(planned->memory_offset_high()) << 32);
      const auto& sizes = *plan.non_const_buffer_sizes();
      if (need(planned->memory_id() >= 1 && planned->memory_id() < sizes.size(), location,
               "its planned buffer does not exist")) {
        const auto size = static_cast<uint64_t>(sizes[planned->memory_id()]);
        need(bytes <= size && offset <= size - bytes, location, "exceeds its planned buffer");
      }
      need(offset % 16 == 0, location, "its planned offset is not aligned");
    }
    if (tensor.data_buffer_idx() == 0 || is_external) return;
    const auto* list = program_->constant_segment();
    if (tensor.allocation_info() != nullptr) {
      if (!need(program_->mutable_data_segments() != nullptr, location, "its state is missing")) {
        return;
      }
      list = program_->mutable_data_segments()->Get(0);
    }
    if (!need(tensor.data_buffer_idx() < list->offsets()->size(), location,
              "its data are missing")) {
      return;
    }
    const uint64_t size = program_->segments()->Get(list->segment_index())->size();
    const uint64_t offset = list->offsets()->Get(tensor.data_buffer_idx());
    need(bytes <= size && offset <= size - bytes, location, "its data exceed their segment");
  }

  void check_operators(const fbs::ExecutionPlan& plan, const std::string& plan_location) {
    std::set<std::string> names;
    for (uint32_t i = 0; i < plan.operators()->size(); ++i) {
      const auto* op = plan.operators()->Get(i);
      const std::string location = at(plan_location + ".operators", i);
      if (!need(op->name() != nullptr && op->overload() != nullptr, location, "has no name"))
        continue;
      const std::string name = op->name()->str() + "." + op->overload()->str();
      need(name.size() < kMaxOperatorName, location, "its name is too long");
      need(op->name()->str().find("::") != std::string::npos, location, "has no namespace");
      need(names.insert(name).second, location, "is listed twice");
    }
  }

  void check_delegates(const fbs::ExecutionPlan& plan, const std::string& plan_location) {
    for (uint32_t i = 0; i < plan.delegates()->size(); ++i) {
      const auto* delegate = plan.delegates()->Get(i);
      const std::string location = at(plan_location + ".delegates", i);
      need(delegate->id() != nullptr && delegate->id()->size() > 0, location, "has no id");
      if (need(delegate->compile_specs() != nullptr, location, "has no compile specs")) {
        for (const auto* spec : *delegate->compile_specs()) {
          need(spec->key() != nullptr && spec->value() != nullptr, location,
               "a spec is incomplete");
        }
      }
      const auto* payload = delegate->processed();
      if (!need(payload != nullptr, location, "has no payload")) continue;
      if (payload->location() == fbs::DataLocation::SEGMENT) {
        need(payload->index() < program_->segments()->size(), location,
             "its segment does not exist");
        continue;
      }
      const auto* list = program_->backend_delegate_data();
      if (!need(list != nullptr && payload->index() < list->size() &&
                    list->Get(payload->index())->data() != nullptr,
                location, "its payload is missing")) {
        continue;
      }
      const auto* bytes = list->Get(payload->index())->data()->data();
      const auto offset =
          static_cast<uint64_t>(bytes - reinterpret_cast<const uint8_t*>(pte_.data()));
      need(list->Get(payload->index())->data()->size() == 0 ||
               offset % options_.delegate_alignment == 0,
           location, "its payload is not aligned");
    }
  }

  void check_chain(const fbs::ExecutionPlan& plan, const fbs::Chain& chain,
                   const std::string& chain_location) {
    if (!need(chain.inputs() != nullptr && chain.outputs() != nullptr &&
                  chain.instructions() != nullptr,
              chain_location, "lacks fields")) {
      return;
    }
    const auto count = int64_t{chain.instructions()->size()};
    need(chain.stacktrace() == nullptr || int64_t{chain.stacktrace()->size()} == count,
         chain_location, "must have one stack trace per instruction");
    for (uint32_t i = 0; i < chain.instructions()->size(); ++i) {
      const fbs::Instruction& instruction = *chain.instructions()->Get(i);
      const std::string location = at(chain_location + ".instructions", i);
      if (!need(instruction.instr_args() != nullptr, location, "has no arguments table")) continue;
      if (const auto* call = instruction.instr_args_as_KernelCall()) {
        need(call->op_index() >= 0 && call->op_index() < int64_t{plan.operators()->size()},
             location, "its operator does not exist");
        check_args(plan, call->args(), location);
      } else if (const auto* delegate = instruction.instr_args_as_DelegateCall()) {
        need(delegate->delegate_index() >= 0 &&
                 delegate->delegate_index() < int64_t{plan.delegates()->size()},
             location, "its delegate does not exist");
        check_args(plan, delegate->args(), location);
      } else if (const auto* move = instruction.instr_args_as_MoveCall()) {
        check_index(plan, move->move_from(), location);
        check_index(plan, move->move_to(), location);
      } else if (const auto* jump = instruction.instr_args_as_JumpFalseCall()) {
        check_index(plan, jump->cond_value_index(), location);
        // A jump to the position after the last instruction ends the chain.
        need(jump->destination_instruction() >= 0 && jump->destination_instruction() <= count,
             location, "jumps out of the chain");
      }
    }
  }

  void check_args(const fbs::ExecutionPlan& plan, const flatbuffers::Vector<int32_t>* args,
                  const std::string& location) {
    if (!need(args != nullptr, location, "has no arguments")) return;
    for (const int32_t index : *args) check_index(plan, index, location);
  }

  std::span<const std::byte> pte_;
  const AcceptanceOptions& options_;
  Header header_;
  const fbs::Program* program_ = nullptr;
  std::vector<std::string> violated_;
};

}  // namespace

std::vector<std::string> violated_rules(std::span<const std::byte> pte,
                                        const AcceptanceOptions& options) {
  return Checker(pte, options).run();
}

}  // namespace vitrine::test
