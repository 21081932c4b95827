#include "test/support/trace_builder.h"

#include <stdexcept>

#include "formats/etdump/etdump_writer.h"

namespace vitrine::test {

const char* TraceBuilder::keep(const std::string& text) {
  return texts_.emplace_back(text).c_str();
}

void TraceBuilder::log(TraceRecord record, uint64_t ns) {
  now_ += 100;
  record.start_ns = now_;
  now_ += ns;
  record.end_ns = now_;
  trace_.record(record);
}

void TraceBuilder::begin_run() {
  trace_.begin_block("Execute");
  run_start_ = now_;
  is_in_run_ = true;
}

void TraceBuilder::open_run() {
  if (!is_in_run_) begin_run();
}

uint64_t TraceBuilder::end_run() {
  now_ += 100;
  is_in_run_ = false;
  trace_.record({.start_ns = run_start_, .end_ns = now_, .name = "Method::execute"});
  return now_ - run_start_;
}

void TraceBuilder::kernel(int32_t instruction, const std::string& name, uint64_t ns,
                          const std::string& library) {
  open_run();
  log({.name = keep(name),
       .metadata = library.empty() ? nullptr : keep(library),
       .metadata_size = static_cast<uint32_t>(library.size()),
       .chain_index = 0,
       .instruction_id = instruction,
       .kind = TraceRecord::Kind::kKernelCall},
      ns);
}

void TraceBuilder::control(int32_t instruction, TraceRecord::Kind kind, uint64_t ns) {
  open_run();
  log({.chain_index = 0, .instruction_id = instruction, .kind = kind}, ns);
}

void TraceBuilder::delegate(int32_t instruction, const std::string& backend,
                            const std::vector<Operator>& operators) {
  open_run();
  const uint64_t start = now_ + 50;
  for (const Operator& op : operators) {
    TraceRecord record{.name = op.id == kUnsetDelegateDebugId ? keep(op.name) : nullptr,
                       .metadata = keep(op.metadata),
                       .metadata_size = static_cast<uint32_t>(op.metadata.size()),
                       .chain_index = 0,
                       .instruction_id = instruction,
                       .delegate_debug_id = op.id,
                       .kind = TraceRecord::Kind::kDelegateOperator};
    if (op.device) {
      record.start_ns = op.device->first;
      record.end_ns = op.device->second;
      trace_.record(record);
    } else {
      log(record, op.ns);
    }
  }
  now_ += 100;
  trace_.record({.start_ns = start,
                 .end_ns = now_,
                 .name = keep(backend),
                 .chain_index = 0,
                 .instruction_id = instruction,
                 .kind = TraceRecord::Kind::kDelegateCall});
}

void TraceBuilder::operator_map(int32_t instruction, const std::string& text) {
  trace_.record({.name = "xnnpack.plan",
                 .metadata = keep(text),
                 .metadata_size = static_cast<uint32_t>(text.size()),
                 .chain_index = 0,
                 .instruction_id = instruction,
                 .kind = TraceRecord::Kind::kDelegateOperator});
}

void TraceBuilder::init(uint64_t ns, const char* name) { log({.name = name}, ns); }

std::vector<std::byte> TraceBuilder::bytes() {
  if (is_in_run_) end_run();
  const Result<std::vector<uint8_t>> bytes = write_etdump(trace_);
  if (!bytes.ok()) throw std::runtime_error(bytes.error().message());
  const auto view = std::as_bytes(std::span(bytes->data(), bytes->size()));
  return {view.begin(), view.end()};
}

etdump::EtDump TraceBuilder::dump() { return etdump::parse_etdump(bytes()); }

}  // namespace vitrine::test
