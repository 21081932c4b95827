// Damaged ETDumps, ETRecords, .bpte and .ptd files, and payloads of other backends must be accepted
// or cause errors that name a location. Run this under AddressSanitizer and
// UndefinedBehaviorSanitizer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "formats/bundled_program/bundled_program.h"
#include "formats/etdump/etdump_writer.h"
#include "formats/etrecord/record_members.h"
#include "formats/flat_tensor/flat_tensor_writer.h"
#include "test/corruption/format_attempts.h"
#include "test/support/corpus.h"
#include "test/support/damaged_bytes.h"
#include "test/support/file_bytes.h"
#include "test/support/foreign_payloads.h"
#include "test/support/tensor_factory.h"

namespace vitrine {
namespace {

using test::AlignedBytes;

struct Format {
  const char* name;
  std::function<std::vector<AlignedBytes>()> make_samples;
  std::string (*attempt)(std::span<const std::byte> bytes);
  std::vector<std::string> locations;  // every error contains one of these
};

AlignedBytes copy(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

AlignedBytes file(const char* name) {
  return test::read_file_bytes(test::samples_dir() / "formats" / name);
}

// Returns an ETDump with every kind of event and value.
AlignedBytes built_etdump() {
  test::TensorFactory factory;
  ValueBuffer values(4096, 16);
  TraceBuffer trace(16, 4, &values);
  EValue& tensor =
      factory.value(factory.make<int16_t>({1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 2, 3, 1}));
  EValue* items[] = {&tensor, &tensor};
  Tensor* scratch[2];
  TensorListBody body{items, scratch};
  EValue list(&body, false);
  EValue number(int64_t{3});
  EValue real(0.25);
  EValue truth(true);
  trace.begin_block("Execute");
  trace.record({.start_ns = 1,
                .end_ns = 2,
                .name = "aten::add.out",
                .chain_index = 0,
                .kind = TraceRecord::Kind::kKernelCall});
  trace.record({.name = "operator #1",
                .metadata = "kernel",
                .metadata_size = 6,
                .chain_index = 0,
                .instruction_id = 1,
                .kind = TraceRecord::Kind::kDelegateOperator});
  for (const EValue* value : {&tensor, &list, &number, &real, &truth}) {
    trace.record_value({.value = value, .chain_index = 0, .instruction_id = 1});
  }
  trace.record_value({.value = &tensor, .is_method_output = true});
  const auto bytes = write_etdump(trace);
  return copy(std::as_bytes(std::span(bytes->data(), bytes->size())));
}

AlignedBytes built_bundle() {
  const std::vector<float> x = {1, 2, 3, 4};
  const std::vector<std::byte> program(40);
  const bundled::BundledTensor tensor{
      ScalarType::kFloat, {2, 2}, {1, 0}, std::as_bytes(std::span(x))};
  bundled::BundledProgram bundle;
  bundle.suites = {{"forward", {{{tensor, int64_t{1}, true, 0.5}, {tensor}}, {{tensor}, {}}}},
                   {"other", {}}};
  bundle.program = program;
  return copy(bundled::write_bundled_program(bundle));
}

AlignedBytes built_flat_tensor() {
  const std::vector<float> x = {1, 2, 3, 4};
  const std::vector<int32_t> sizes = {2, 2};
  const std::vector<uint8_t> order = {1, 0};
  const std::vector<NamedBytes> entries = {
      {.key = "w",
       .data = std::as_bytes(std::span(x)),
       .layout = TensorLayout{ScalarType::kFloat, sizes, order}},
      {.key = "bytes", .data = std::as_bytes(std::span(x)).first(5)}};
  return copy(*write_flat_tensor(entries));
}

AlignedBytes built_etrecord() {
  etrecord::RecordMembers members;
  members.edge_programs["forward"].program =
      R"({"graph_module": {"graph": {"nodes": [{"name": "a", "target": "torch.ops.aten.relu.default",
          "inputs": [], "outputs": [{"as_tensor": {"name": "a"}}],
          "metadata": {"debug_handle": "1", "nn_module_stack": "L__self__,,Net;k,a.0,M"}}]}}})";
  members.debug_handle_map = R"({"forward": {"0": [1]}})";
  members.delegate_map = R"({"forward": {"0": {"name": "B", "delegate_map": {"1": [1]}}}})";
  return copy(etrecord::write_etrecord(members));
}

const std::vector<Format>& formats() {
  static const std::vector<Format> kFormats = {
      {"EtDump",
       [] {
         return std::vector{built_etdump(), file("linear_relu.etdp")};
       },
       test::attempt_etdump,
       {"file: size prefix", "file: identifier", "file: flatbuffer", "file: version",
        "file: run_data[", "data: run_data["}},
      {"EtRecord",
       [] {
         return std::vector{built_etrecord(), test::read_file_bytes(test::samples_dir() /
                                                                    "linear_relu/etrecord.bin")};
       },
       test::attempt_etrecord,
       {"file: "}},
      {"BundledProgram",
       [] {
         return std::vector{built_bundle(), file("bundled_linear_relu_portable.bpte")};
       },
       test::attempt_bundled_program,
       {"file: identifier", "file: flatbuffer", "file: program", "file: method_test_suites["}},
      {"ForeignPayload",
       [] {
         std::vector<AlignedBytes> samples;
         for (test::ForeignPayload& sample : test::foreign_payloads()) {
           // Skips Neutron payloads, which have no identifier, and QNN payloads, whose strings are
           // not checked.
           const std::string_view backend = sample.backend;
           if (backend == "NeutronBackend" || backend == "QnnBackend") continue;
           samples.push_back(std::move(sample.bytes));
         }
         return samples;
       },
       test::attempt_foreign_payload,
       {"no identifier", "flatbuffer", "Vulkan", "MLX", "Core ML", "protobuf", "weight.bin",
        "model.mil", "Ethos-U", "VGF", "SPIR-V", "OpenVINO", "MPS"}},
      {"FlatTensor",
       [] {
         return std::vector{built_flat_tensor(), file("weights.ptd")};
       },
       test::attempt_flat_tensor,
       {"byte ", "64 bytes", "header", "flatbuffer", "segments", "named_data[", "version:"}},
  };
  return kFormats;
}

class FormatCorruption : public testing::TestWithParam<size_t> {
 protected:
  const Format& format() const { return formats()[GetParam()]; }

  // Expects that `message` is empty or names a location.
  void expect_location(const std::string& message, const test::Damage& damage) const {
    if (message.empty()) return;
    for (const std::string& location : format().locations) {
      if (message.find(location) != std::string::npos) return;
    }
    ADD_FAILURE() << damage << ": \"" << message << "\" does not name a location";
  }
};

TEST_P(FormatCorruption, AcceptsValidFiles) {
  for (const AlignedBytes& sample : format().make_samples()) {
    EXPECT_EQ(format().attempt(sample), "");
  }
}

TEST_P(FormatCorruption, RejectsTruncatedFiles) {
  for (const AlignedBytes& sample : format().make_samples()) {
    // Each attempt reads the complete sample, so the test tries at most 6000 lengths of a sample.
    const size_t step = sample.size() / 6000 + 1;
    const auto check = [&](const AlignedBytes& bytes, const test::Damage& damage) {
      const std::string message = format().attempt(bytes);
      EXPECT_NE(message, "") << damage;
      expect_location(message, damage);
    };
    test::for_each_truncation(sample, check, step);
  }
}

TEST_P(FormatCorruption, SurvivesFlippedBytes) {
  for (const AlignedBytes& sample : format().make_samples()) {
    const size_t step = sample.size() / 6000 + 1;
    size_t rejected = 0;
    const auto check = [&](const AlignedBytes& bytes, const test::Damage& damage) {
      const std::string message = format().attempt(bytes);
      rejected += message.empty() ? 0 : 1;
      expect_location(message, damage);
    };
    test::for_each_changed_byte(sample, check, {.step = step});
    EXPECT_GT(rejected, 0u);
  }
}

TEST_P(FormatCorruption, SurvivesSeveralChangedBytes) {
  test::for_each_random_damage(format().make_samples().front(), 10000,
                               [&](const AlignedBytes& bytes, const test::Damage& damage) {
                                 expect_location(format().attempt(bytes), damage);
                               });
}

INSTANTIATE_TEST_SUITE_P(Formats, FormatCorruption, testing::Range(size_t{0}, formats().size()),
                         [](const auto& test) { return formats()[test.param].name; });

}  // namespace
}  // namespace vitrine
