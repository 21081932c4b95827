// A fixture that loads and runs payloads, for tests of the XNNPACK backend.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/xnnpack/runtime/execution/operator_times.h"
#include "backends/xnnpack/runtime/execution/xnnpack_backend.h"
#include "test/backends/xnnpack/payload_builder.h"
#include "test/support/f16_products.h"
#include "test/support/tensor_factory.h"

namespace vitrine::test {

class RecordingTracer final : public EventTracer {
 public:
  void begin_block(const char*) override {}
  void record(const TraceRecord& record) override { records.push_back(record); }
  // True if the name of any executed kernel starts with `name`. False if `name` is empty.
  bool has_run(std::string_view name) const {
    return !name.empty() && std::ranges::any_of(records, [&](const TraceRecord& record) {
      return metadata_of(record).starts_with(name);
    });
  }
  bool has_run_exactly(std::string_view name) const {
    return std::ranges::count(records, name, metadata_of) > 0;
  }
  static std::string_view metadata_of(const TraceRecord& record) {
    return {record.metadata, record.metadata_size};
  }
  std::vector<TraceRecord> records;
};

// The first line of an operator map in this build.
inline std::string operator_map_head() {
  return xnnpack::operator_times_are_measured() ? "xnnpack-plan 1 measured"
                                                : "xnnpack-plan 1 derived";
}

// Provides the constants of a PayloadBuilder as named data.
class BuilderData : public NamedDataMap {
 public:
  explicit BuilderData(const PayloadBuilder& builder) {
    for (uint32_t i = 0; i < builder.constants.size(); ++i) {
      data_[PayloadBuilder::constant_key(i + 1)] = builder.constants[i];
    }
  }
  size_t size() const override { return data_.size(); }
  std::string_view key(size_t index) const override {
    return std::next(data_.begin(), static_cast<std::ptrdiff_t>(index))->first;
  }
  Result<DataBuffer> get(std::string_view key) const override {
    const auto at = data_.find(std::string(key));
    if (at == data_.end()) return Error::make(ErrorCode::kNotFound, "does not exist");
    return DataBuffer(std::as_bytes(std::span(at->second)));
  }
  Result<std::optional<TensorLayout>> layout(std::string_view) const override {
    return std::optional<TensorLayout>();
  }

 private:
  std::map<std::string, std::vector<uint8_t>> data_;
};

class DelegateTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Delegate>> init(std::span<const std::byte> payload,
                                         const xnnpack::Limits& limits = {}) {
    BackendInitContext context;
    context.named_data = named_data;
    context.memory = memory_budget;
    context.tracer = tracer;
    context.options = options;
    context.pool = pool;
    context.chain_index = 0;
    context.instruction_id = 7;
    context.has_fixed_sizes = has_fixed_sizes;
    return XnnpackBackend(limits).init(context, payload, {});
  }

  // Loads the payload. Skips the test if XNNPACK does not support f16 products, and fails the test
  // on any other error.
  void load(PayloadBuilder& builder) {
    Result<std::unique_ptr<Delegate>> loaded = init(builder.build());
    if (!loaded.ok() && test::lacks_f16_products(loaded.error())) {
      GTEST_SKIP() << "this processor lacks f16 arithmetic: " << loaded.error().message();
    }
    ASSERT_TRUE(loaded.ok()) << loaded.error().message();
    delegate = std::move(*loaded);
    ASSERT_TRUE(delegate);
  }

  // Sets the option of the next loads. Strings must outlive the loads.
  void set_option(std::string_view key, OptionValue value) {
    option_ = {"XnnpackBackend", key, value};
    options = {&option_, 1};
  }

  Error execute(Delegate& which, const std::vector<Tensor*>& tensors) {
    std::vector<EValue*> arguments;
    for (Tensor* tensor : tensors) arguments.push_back(&factory.value(*tensor));
    BackendExecutionContext context;
    context.tracer = tracer;
    context.instruction_id = 7;
    return which.execute(context, arguments);
  }
  Error execute(const std::vector<Tensor*>& tensors) { return execute(*delegate, tensors); }

  void run(const std::vector<Tensor*>& tensors) {
    if (!delegate) return;  // load() reported why
    const Error error = execute(tensors);
    ASSERT_TRUE(error.ok()) << error.message();
  }

  // Loads a network of one node.
  void load_unary(Tag tag, const std::vector<uint32_t>& dims, Type type = Type::xnn_datatype_fp32) {
    PayloadBuilder b;
    const uint32_t x = b.input(dims, type), y = b.output(dims, type);
    b.unary(tag, x, y);
    load(b);
  }

  size_t memory_bytes(DelegateMemory::Kind kind) const {
    DelegateMemory memory;
    if (delegate) delegate->report_memory(memory);
    return memory.bytes(kind);
  }

  std::string load_error(PayloadBuilder& builder, const xnnpack::Limits& limits = {}) {
    const Result<std::unique_ptr<Delegate>> loaded = init(builder.build(), limits);
    return loaded.ok() ? "(none)" : loaded.error().message();
  }

  TensorFactory factory;
  RecordingTracer* tracer = nullptr;
  const NamedDataMap* named_data = nullptr;
  std::span<const BackendOption> options;
  Budget* memory_budget = nullptr;  // outlives the delegate
  ThreadPool* pool = nullptr;       // outlives the delegate
  bool has_fixed_sizes = false;
  std::unique_ptr<Delegate> delegate;

 private:
  BackendOption option_ = {};
};

// Builds a valid network for tests that damage it. Value 0 is the input, and value 1 is the output.
inline void negate(PayloadBuilder& b) {
  b.input({2, 3});
  b.output({2, 3});
  b.unary(Tag::XNNNegate, 0, 1);
}

}  // namespace vitrine::test
