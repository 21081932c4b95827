// From a model to a profile with a backend that the tree does not know: nothing outside of this
// folder names it. docs/writing_a_backend.md
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "aot/builder/model_builder.h"
#include "aot/pipeline/lower.h"
#include "formats/etdump/etdump_reader.h"
#include "formats/etdump/etdump_writer.h"
#include "formats/etdump/trace_buffer.h"
#include "formats/etrecord/embedded_record.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/join/make_profile.h"
#include "inspector/text/row_texts.h"
#include "kernels/portable/portable_kernels.h"
#include "test/backends/third_backend/aot.h"
#include "test/backends/third_backend/payload_format.h"
#include "test/backends/third_backend/profile.h"
#include "test/backends/third_backend/runtime.h"
#include "test/support/file_bytes.h"
#include "test/support/tensor_factory.h"
#include "vitrine/method.h"

namespace third {
namespace {

namespace aot = vitrine::aot;
namespace inspector = vitrine::inspector;
using testing::ElementsAre;
using vitrine::Program;
using vitrine::ScalarType;

constexpr int64_t kElements = 12;

// tan(relu(x + y)) + x
aot::ExportedProgram model() {
  aot::ModelBuilder build("Net");
  aot::Node* x = build.input("x", ScalarType::kFloat, {3, 4});
  aot::Node* y = build.input("y", ScalarType::kFloat, {3, 4});
  aot::Node* gate = nullptr;
  {
    const auto module = build.module("gate", "Gate");
    gate = build.call("aten.relu.default", {build.call("aten.add.Tensor", {x, y})});
  }
  aot::Node* bent = build.call("aten.tan.default", {gate});
  return build.finish({build.call("aten.add.Tensor", {bent, x})});
}

aot::LoweredModel lowered(uint64_t input_padding) {
  aot::Methods methods;
  methods.emplace("forward", model());
  aot::LowerOptions options;
  options.partitioners.push_back(std::make_shared<Partitioner>(input_padding));
  return aot::lower(std::move(methods), options);
}

struct ThirdBackend : testing::Test {
  ThirdBackend() {
    EXPECT_TRUE(kernels.add("portable", vitrine::portable::kernels()).ok());
    EXPECT_TRUE(backends.add(&runtime_backend()).ok());
    const aot::LoweredModel model = lowered(0);
    bytes.assign(model.emitted.pte.begin(), model.emitted.pte.end());
    const std::span<const std::byte> view(reinterpret_cast<const std::byte*>(bytes.data()),
                                          bytes.size());
    auto loaded = Program::load(*vitrine::view_buffer(view));
    EXPECT_TRUE(loaded.ok()) << loaded.error().message();
    program = std::move(*loaded);
  }

  // The result, after `runs` of them.
  std::vector<float> run(const std::vector<float>& x, const std::vector<float>& y,
                         vitrine::EventTracer* tracer, int runs) {
    vitrine::MethodOptions options;
    options.kernels = &kernels;
    options.backends = &backends;
    options.tracer = tracer;
    auto loaded = vitrine::Method::load(program, "forward", options);
    EXPECT_TRUE(loaded.ok()) << loaded.error().message();
    if (!loaded.ok()) return {};
    method = std::move(*loaded);
    for (int i = 0; i < runs; ++i) {
      EXPECT_TRUE(method->set_input(0, factory.value(factory.make<float>({3, 4}, x))).ok());
      EXPECT_TRUE(method->set_input(1, factory.value(factory.make<float>({3, 4}, y))).ok());
      EXPECT_TRUE(method->execute().ok());
    }
    const float* result = method->output(0).unchecked_tensor().data<float>();
    return {result, result + kElements};
  }

  // Of three runs.
  vitrine::etdump::EtDump trace() {
    vitrine::TraceBuffer buffer;
    run(std::vector<float>(kElements, 0.5F), std::vector<float>(kElements, 0.25F), &buffer, 3);
    auto dump = vitrine::write_etdump(buffer);
    EXPECT_TRUE(dump.ok());
    return vitrine::etdump::parse_etdump(std::as_bytes(std::span(dump->data(), dump->size())));
  }

  vitrine::etrecord::EtRecord record() const {
    const auto data = program->named_data().get(vitrine::etrecord::kEmbeddedRecordKey);
    EXPECT_TRUE(data.ok());
    return vitrine::etrecord::parse_etrecord((*data).bytes());
  }

  vitrine::KernelRegistry kernels;
  vitrine::BackendRegistry backends;
  vitrine::test::AlignedBytes bytes;
  std::shared_ptr<const Program> program;
  std::unique_ptr<vitrine::Method> method;  // traces refer to its delegates' texts
  vitrine::test::TensorFactory factory;
};

TEST_F(ThirdBackend, ComputesByTheFormula) {
  std::vector<float> x, y;
  for (int i = 0; i < kElements; ++i) {
    x.push_back(static_cast<float>(i) * 0.1F - 0.5F);
    y.push_back(static_cast<float>(i % 3) * 0.2F - 0.3F);
  }
  const std::vector<float> result = run(x, y, nullptr, 2);
  ASSERT_EQ(result.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = std::tan(std::max(double{x[i]} + y[i], 0.0)) + x[i];
    EXPECT_NEAR(result[i], expected, 1e-5) << i;
  }
}

TEST_F(ThirdBackend, ItsRowsLeadToSourceOps) {
  const vitrine::etrecord::EtRecord names = record();
  const std::array delegates = {&profile()};
  inspector::ProfileOptions options;
  options.delegates = delegates;
  const inspector::Profile made = inspector::make_profile(trace(), &names, options);
  ASSERT_EQ(made.rows.size(), 4U);
  const struct {
    const char *place, *kernel, *op, *module;
  } expected[] = {{"third 0", "sum", "aten.add.Tensor", "gate"},
                  {"third 0", "ramp", "aten.relu.default", "gate"},
                  {"portable", "aten::tan.out", "aten.tan.default", ""},
                  {"third 1", "sum", "aten.add.Tensor", ""}};
  for (size_t i = 0; i < 4; ++i) {
    const inspector::ProfileRow& row = made.rows[i];
    EXPECT_EQ(inspector::row_texts(row).place, expected[i].place) << i;
    EXPECT_EQ(row.kernel, expected[i].kernel) << i;
    EXPECT_THAT(row.source_ops, ElementsAre(expected[i].op)) << i;
    EXPECT_THAT(row.modules, ElementsAre(expected[i].module)) << i;
    EXPECT_EQ(row.join, inspector::Join::kExact) << i;
    EXPECT_EQ(row.calls, 1) << i;
  }
  EXPECT_EQ(inspector::place_type(made.rows[0]), "third backend");
  EXPECT_NE(made.rows[0].debug_handles, made.rows[3].debug_handles) << "two sums, two calls";
}

TEST_F(ThirdBackend, WithoutItsProfileTheRowsAreUnknown) {
  const vitrine::etrecord::EtRecord names = record();
  const inspector::Profile made = inspector::make_profile(trace(), &names);
  EXPECT_EQ(inspector::row_texts(made.rows[0]).place, "Third 0");
  EXPECT_NE(made.rows[0].join, inspector::Join::kExact);
}

TEST(ThirdBackendLowering, LeavesRoomForItsPadding) {
  const auto planned = [](uint64_t padding) {
    return lowered(padding).emitted.debug_info.at("forward").planned_bytes;
  };
  EXPECT_EQ(planned(40), planned(0) + 40);
}

TEST(ThirdBackendLowering, SaysWhyACallIsNotTaken) {
  const aot::LoweredModel model = lowered(0);
  const auto& rejections = model.rejections.at("forward");
  ASSERT_EQ(rejections.size(), 1U);
  EXPECT_TRUE(rejections[0].node->target().is("aten.tan.default"));
  EXPECT_EQ(rejections[0].rule, "only sums and relu are taken");
}

TEST(ThirdBackendPayload, DamagedOnesAreRefused) {
  const auto error_of = [](const std::vector<uint32_t>& words) -> std::string {
    const auto loaded = runtime_backend().init({}, std::as_bytes(std::span(words)), {});
    return loaded.ok() ? "(none)" : loaded.error().message();
  };
  // One input, one relu, one output, of two elements.
  const std::vector<uint32_t> good = {kMagic, 1, 1, 1, 2, 2, 1, 0, 0, 7, 1};
  EXPECT_EQ(error_of(good), "(none)");
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(error_of({good.begin(), good.begin() + static_cast<long>(size)}), "(none)") << size;
  }
  for (const size_t at : {0, 1, 2, 3, 4, 6, 7, 10}) {
    std::vector<uint32_t> damaged = good;
    damaged[at] = 0xfffffff0;
    EXPECT_NE(error_of(damaged), "(none)") << at;
  }
}

}  // namespace
}  // namespace third
