#include "aot/emit/emit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "aot/emit/method_emitter.h"
#include "aot/emit/method_tensors.h"
#include "aot/emit/program_writer.h"
#include "aot/emit/record.h"
#include "aot/graph/aot_error.h"
#include "base/digest.h"
#include "formats/etrecord/embedded_record.h"
#include "formats/flat_tensor/flat_tensor_writer.h"

namespace vitrine::aot {
namespace {

constexpr size_t kMaxAlignment = size_t{1} << 24;

void check_alignment(const char* what, size_t alignment, bool may_be_zero) {
  const bool is_power = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if ((may_be_zero && alignment == 0) || (is_power && alignment <= kMaxAlignment)) return;
  throw AotError(
      fmt::format("{} {}: expected a power of two up to {}", what, alignment, kMaxAlignment));
}

void check(const EmitOptions& options) {
  check_alignment("segment alignment", options.segment_alignment, false);
  check_alignment("constant tensor alignment", options.constant_tensor_alignment, true);
  check_alignment("delegate alignment", options.delegate_alignment, true);
  check_alignment("memory planning alignment", options.memory_planning.alignment, false);
}

std::map<std::string, std::vector<std::byte>> write_external_files(const ProgramParts& parts) {
  std::map<std::string, std::vector<NamedBytes>> entries;
  for (const auto& [name, tensor] : parts.external_tensors) {
    entries[kDefaultExternalTag].push_back(
        {.key = name,
         .data = tensor.content.bytes,
         .layout = TensorLayout{tensor.dtype, tensor.sizes, tensor.dim_order}});
  }
  for (const auto& [key, named] : parts.named_data) {
    if (named.external_tag.empty()) continue;
    entries[named.external_tag].push_back(
        {.key = key, .data = *named.bytes, .layout = {}, .alignment = named.alignment});
  }
  std::map<std::string, std::vector<std::byte>> files;
  for (const auto& [tag, tensors] : entries) {
    Result<std::vector<std::byte>> file = write_flat_tensor(tensors);
    if (!file.ok()) throw AotError(fmt::format("{}.ptd: {}", tag, file.error().message()));
    files[tag] = std::move(*file);
  }
  return files;
}

// Returns the pytree spec (torch.utils._pytree) of the method's results.
std::string tree_of(const ConstantMethod& method) {
  const std::string leaf = R"({"type": null, "context": null, "children_spec": []})";
  if (!method.is_list) return fmt::format("[1, {}]", leaf);
  return fmt::format(
      R"([1, {{"type": "builtins.list", "context": "null", "children_spec": [{}]}}])",
      fmt::join(std::vector(method.values.size(), leaf), ", "));
}

void add_constant_methods(const std::vector<ConstantMethod>& constants, ProgramParts& parts) {
  for (const ConstantMethod& method : constants) {
    if (std::ranges::count(parts.plans, method.name, &ExecutionPlan::name) != 0) {
      throw AotError(fmt::format("method {} is defined twice", method.name));
    }
    ExecutionPlan plan;
    plan.name = method.name;
    plan.output_tree = tree_of(method);
    for (const auto& value : method.values) {
      plan.outputs.push_back(static_cast<int32_t>(plan.values.size()));
      plan.values.push_back(std::visit([](auto v) { return PlanValue(v); }, value));
    }
    parts.plans.push_back(std::move(plan));
  }
}

void add_named_data(const char* key, std::vector<std::byte> bytes, ProgramParts& parts) {
  NamedData named;
  named.key = key;
  named.bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  if (!parts.named_data.emplace(named.key, named).second) {
    throw AotError(fmt::format("named data of a delegate has the key {}, which is reserved", key));
  }
}

}  // namespace

uint64_t planned_bytes(const ExportedProgram& method, const EmitOptions::MemoryPlanning& options) {
  const SharedBuffers none;
  return MethodTensors(method, options, none).planned_bytes();
}

EmittedProgram emit(const Methods& methods, const EmitOptions& options) {
  std::vector<std::byte> pte;
  EmittedProgram emitted = emit_to(
      [&](std::span<const std::byte> bytes) { pte.insert(pte.end(), bytes.begin(), bytes.end()); },
      methods, options);
  emitted.pte = std::move(pte);
  return emitted;
}

EmittedProgram emit_to(const ByteSink& sink, const Methods& methods, const EmitOptions& options) {
  if (methods.empty()) throw AotError("a program needs at least one method");
  check(options);
  EmittedProgram emitted;
  ProgramParts parts;
  if (options.memory_planning.share_mutable_buffers) {
    parts.shared_buffers = share_buffers(methods, options.memory_planning.alignment);
  }
  for (const auto& [name, program] : methods) {
    emitted.debug_info[name] = emit_method(name, program, options, parts);
  }
  add_constant_methods(options.constant_methods, parts);
  if (options.emit_debug_maps || options.emit_record_digest) {
    std::vector<std::byte> record = write_embedded_record(methods, emitted.debug_info);
    emitted.record_digest = digest_of(record);
    const auto digest = std::as_bytes(std::span(emitted.record_digest));
    add_named_data(etrecord::kRecordDigestKey, {digest.begin(), digest.end()}, parts);
    if (options.emit_debug_maps) {
      emitted.record_bytes = record.size();
      add_named_data(etrecord::kEmbeddedRecordKey, std::move(record), parts);
    }
  }
  emitted.ptd = write_external_files(parts);
  write_program(parts, options, sink);
  return emitted;
}

}  // namespace vitrine::aot
