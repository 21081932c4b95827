// Tests the demo backend from model to profile: lowering, execution and report.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aot/pipeline/lower.h"
#include "demo_backend/lowering.h"
#include "demo_backend/profile.h"
#include "demo_backend/runtime.h"
#include "formats/etdump/etdump_reader.h"
#include "formats/etdump/etdump_writer.h"
#include "formats/etrecord/embedded_record.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/join/make_profile.h"
#include "inspector/report/row_texts.h"
#include "runtime/extension/trace_buffer.h"
#include "test/support/corpus.h"
#include "test/support/expect_near.h"
#include "test/support/read_text.h"
#include "test/support/results.h"
#include "test/support/tensor_factory.h"
#include "vitrine/kernels.h"
#include "vitrine/method.h"

namespace demo {
namespace {

using namespace vitrine;  // NOLINT(google-build-using-namespace)

struct DemoBackendProfile : testing::Test {
  // Lowers and runs the sample. The calls in `excluded` are not delegated.
  void run(std::vector<std::string> excluded) {
    const std::filesystem::path folder = test::samples_dir() / "conv_relu_tan";
    aot::LowerOptions options;
    options.partitioners.push_back(std::make_shared<DemoPartitioner>());
    options.filter = aot::OpFilter({}, std::move(excluded));
    model = aot::lower(aot::import_methods({{"forward", folder / "model.pt2"}}), options);
    KernelRegistry kernels;
    ASSERT_TRUE(kernels.add("portable", portable::kernels()).ok());
    BackendRegistry backends;
    ASSERT_TRUE(backends.add(&backend()).ok());
    program = test::require(Program::load(*view_buffer(model.emitted.pte)));
    TraceBuffer trace;
    auto method = test::require(Method::load(
        program, "forward", {.kernels = &kernels, .backends = &backends, .tracer = &trace}));
    test::TensorFactory factory;
    Tensor& x = factory.make<float>({1, 3, 16, 16}, test::read_floats(folder / "input_0.bin"));
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(method->set_input(0, factory.value(x)).ok());
      ASSERT_TRUE(method->execute().ok());
    }
    const Tensor& y = method->output(0).unchecked_tensor();
    ASSERT_EQ(y.dtype(), ScalarType::kFloat);
    test::expect_near(test::values_of<float>(y), test::read_floats(folder / "expected_0.bin"));
    const auto bytes = test::require(write_etdump(trace));
    dump = etdump::parse_etdump(std::as_bytes(std::span(bytes)));
    const auto embedded = test::require(program->named_data().get(etrecord::kEmbeddedRecordKey));
    record = etrecord::parse_etrecord(embedded.bytes());
  }

  aot::LoweredModel model;
  std::shared_ptr<const Program> program;
  etdump::EtDump dump;
  etrecord::EtRecord record;
};

TEST_F(DemoBackendProfile, RowsShowSourceOps) {
  run({});
  const std::array delegates = {&profile()};
  const inspector::Profile made = inspector::make_profile(dump, &record, {.delegates = delegates});
  const std::vector<std::string> fused = {"aten.convolution.default", "aten.relu.default"};
  const struct {
    const char* kernel;
    std::vector<std::string> ops;
  } expected[] = {{"conv_relu_op", fused},
                  {"conv_relu_op", fused},
                  {"sin_decomp_from_tan", {"aten.tan.default"}},
                  {"cos_decomp_from_tan", {"aten.tan.default"}},
                  {"div_decomp_from_tan", {"aten.tan.default"}}};
  ASSERT_EQ(made.rows.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    const inspector::ProfileRow& row = made.rows[i];
    EXPECT_EQ(inspector::row_texts(row).place, "demo 0") << i;
    EXPECT_EQ(row.kernel, expected[i].kernel) << i;
    EXPECT_EQ(row.source_ops, expected[i].ops) << i;
    EXPECT_EQ(row.join, inspector::Join::kExact) << i;
    EXPECT_EQ(row.calls, 1) << i;
  }
  EXPECT_EQ(inspector::place_type(made.rows[0]), "demo backend");
}

// This test passes no DelegateProfile to make_profile(), which then joins rows with ops by the
// delegate map alone.
TEST_F(DemoBackendProfile, RowsShowTheBackendIdWithoutADelegateProfile) {
  run({});
  const inspector::Profile made = inspector::make_profile(dump, &record);
  ASSERT_EQ(made.rows.size(), 5U);
  EXPECT_EQ(inspector::place_type(made.rows[0]), "BackendWithDelegateMappingDemo");
  EXPECT_EQ(made.rows[0].join, inspector::Join::kExact);
}

TEST_F(DemoBackendProfile, ExcludedCallsAreRunByKernels) {
  run({"tan"});
  const std::array delegates = {&profile()};
  const inspector::Profile made = inspector::make_profile(dump, &record, {.delegates = delegates});
  ASSERT_EQ(made.rows.size(), 3U);
  EXPECT_EQ(inspector::row_texts(made.rows[1]).place, "demo 0");
  EXPECT_EQ(made.rows[2].kernel, "aten::tan.out");
}

}  // namespace
}  // namespace demo
