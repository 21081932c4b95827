// Quantizes models in the same way as PyTorch, and compares scales, zero points, weights and
// outputs with PyTorch's.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "aot/import/pt2.h"
#include "aot/lowering/delegation_info.h"
#include "aot/optimize/evaluate.h"
#include "aot/passes/pipelines.h"
#include "aot/pipeline/lower.h"
#include "aot/quantize/int8.h"
#include "aot/quantize/stored_floats.h"
#include "backends/xnnpack/aot/partitioner.h"
#include "backends/xnnpack/aot/sha256.h"
#include "test/support/corpus.h"
#include "test/support/read_json.h"
#include "test/support/read_text.h"
#include "vitrine/module.h"

namespace vitrine::aot {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TensorData read_tensor(const fs::path& folder, const json& value) {
  const std::string text = vitrine::test::read_text(folder / value["file"].get<std::string>());
  const auto bytes = std::as_bytes(std::span(text));
  const ScalarType dtype = value["dtype"] == "int64" ? ScalarType::kLong : ScalarType::kFloat;
  return make_tensor_data(dtype, value["shape"].get<std::vector<int64_t>>(),
                          {bytes.begin(), bytes.end()});
}

std::vector<TensorData> read_tensors(const fs::path& folder, const json& values) {
  std::vector<TensorData> tensors;
  for (const json& value : values) tensors.push_back(read_tensor(folder, value));
  return tensors;
}

Int8Scheme scheme_of(const json& config) {
  return {.is_dynamic = !config["static"].get<bool>(),
          .is_per_channel = config["per_channel"].get<bool>()};
}

Int8Options options_of(const json& config) {
  Int8Options options;
  options.scheme = scheme_of(config["global"]);
  for (const char* kind : {"module_name", "module_type", "operator_type"}) {
    if (!config.contains(kind)) continue;
    for (const auto& [name, scheme] : config[kind].items()) {
      options.rules.push_back({name, scheme_of(scheme)});
    }
  }
  return options;
}

// Returns the folder of a case: the sample in the repository, or else the folder in the corpus.
fs::path folder_of(const std::string& name) {
  const fs::path in_samples = test::samples_dir() / name;
  if (fs::exists(in_samples)) return in_samples;
  return test::corpus_ptq_dir().empty() ? fs::path() : test::corpus_ptq_dir() / name;
}

struct PtqCase {
  explicit PtqCase(const std::string& name)
      : folder(folder_of(name)),
        info(vitrine::test::read_json(folder / "case.json")),
        expected(vitrine::test::read_json(folder / "qparams.json")),
        program(import_pt2(folder / "model.pt2")) {
    const json& batches = info["calibration"]["batches"];
    const CalibrationData data{
        .count = batches.size(), .read = [&](size_t i) {
          return CalibrationSample{"sample", read_tensors(folder, batches[i]["inputs"])};
        }};
    result = quantize_to_int8(program, options_of(info["quantizer_config"]), data);
  }

  // Returns the tensor that PyTorch observed under the name in `entry`, or null.
  const QuantizedTensor* find(const json& entry) const {
    for (const QuantizedTensor& tensor : result.tensors) {
      if (tensor.name != entry["observed"] && tensor.target != entry["observed"]) continue;
      const bool is_dynamic = tensor.spec.kind == Int8Spec::Kind::kDynamicActivation;
      if (is_dynamic == (entry["kind"] == "dynamic")) return &tensor;
    }
    return nullptr;
  }

  fs::path folder;
  json info;
  json expected;
  ExportedProgram program;
  Int8Result result;
};

void expect_same_range(const QuantizedTensor& found, const json& observer) {
  if (observer["class"] != "HistogramObserver") return;
  EXPECT_EQ(found.range.low, observer["min"].get<float>());
  EXPECT_EQ(found.range.high, observer["max"].get<float>());
  EXPECT_EQ(found.range.first_bin, observer["start_bin"].get<size_t>());
  EXPECT_EQ(found.range.last_bin, observer["end_bin"].get<size_t>());
}

// One case is a sample in the repository. The other cases are skipped if the corpus is missing.
class CorpusPtq : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!folder_of(GetParam()).empty()) return;
    GTEST_SKIP() << "needs the corpus: set VITRINE_CORPUS_PTQ (test/corpus/README.md)";
  }
};

TEST_P(CorpusPtq, ObserversMatchPyTorch) {
  const PtqCase quantized(GetParam());
  const bool is_exact = quantized.info["exact_float"].get<bool>();
  std::map<size_t, size_t> observers;
  EXPECT_EQ(quantized.result.tensors.size(), quantized.expected["quantized"].size());
  for (const json& entry : quantized.expected["quantized"]) {
    SCOPED_TRACE(entry["quantize_node"].get<std::string>() + " of " +
                 entry["observed"].get<std::string>());
    const QuantizedTensor* found = quantized.find(entry);
    ASSERT_NE(found, nullptr);
    const auto [observer, is_new] =
        observers.emplace(entry["observer"].get<size_t>(), found->observer);
    EXPECT_EQ(observer->second, found->observer) << "must share the observer";
    if (entry["kind"] == "dynamic") continue;
    if (is_exact) expect_same_range(*found, quantized.expected["observers"][observer->first]);
    EXPECT_EQ(found->spec.quant_min(), entry["qmin"].get<int64_t>());
    EXPECT_EQ(found->spec.quant_max(), entry["qmax"].get<int64_t>());
    const bool is_weight = entry["kind"] == "weight";
    EXPECT_EQ(found->spec.is_weight(), is_weight);
    std::vector<double> scales;
    if (entry["scale"].is_array()) {
      scales = entry["scale"].get<std::vector<double>>();
      EXPECT_EQ(found->spec.axis, entry["axis"].get<int64_t>());
    } else {
      scales.push_back(entry["scale"].get<double>());
      EXPECT_EQ(found->range.zero_point, entry["zero_point"].get<int64_t>());
    }
    ASSERT_EQ(found->range.scales.size(), scales.size());
    for (size_t i = 0; i < scales.size(); ++i) {
      const double scale = found->range.scales[i];
      if (is_exact || is_weight) {
        EXPECT_EQ(scale, scales[i]);
      } else {
        // Vitrine and PyTorch add numbers in different orders. A bound of the range can therefore
        // differ by one of the 2048 histogram bins.
        EXPECT_NEAR(scale, scales[i], 6e-4 * scales[i]);
      }
    }
  }
}

TEST_P(CorpusPtq, StoredTensorsMatchPyTorch) {
  const PtqCase quantized(GetParam());
  std::multiset<std::string> digests;
  for (const auto& [name, data] : quantized.program.constants) {
    if (name.starts_with("_frozen_param"))
      digests.insert(xnnpack::sha256_hex(row_major_bytes(data)));
  }
  std::multiset<std::string> expected;
  for (const json& entry : quantized.expected["quantized"]) {
    if (entry.contains("int8_sha256")) expected.insert(entry["int8_sha256"].get<std::string>());
  }
  EXPECT_EQ(digests, expected);
}

TEST_P(CorpusPtq, OutputsMatchPyTorch) {
  PtqCase quantized(GetParam());
  to_edge(quantized.program);
  // Sums of floats depend on their order, so a value next to a rounding boundary may differ.
#ifdef __x86_64__
  const double limit = quantized.info["exact_float"].get<bool>() ? 120 : 30;
#else
  const double limit = 30;
#endif
  const double step_share = 1e-3;
  for (const json& call : quantized.info["calls"]) {
    const std::vector<TensorData> found =
        evaluate(quantized.program, read_tensors(quantized.folder, call["inputs"]));
    const std::vector<TensorData> expected = read_tensors(quantized.folder, call["outputs"]);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      const std::vector<float> a = floats_of(found[i]);
      const std::vector<float> b = floats_of(expected[i]);
      ASSERT_EQ(a.size(), b.size());
      double error = 0;
      double square = 0;
      size_t different = 0;
      for (size_t k = 0; k < a.size(); ++k) {
        const double difference = static_cast<double>(a[k]) - static_cast<double>(b[k]);
        error += difference * difference;
        square += static_cast<double>(b[k]) * static_cast<double>(b[k]);
        different += std::abs(difference) > step_share * std::abs(static_cast<double>(b[k]));
      }
      const double decibels = 10 * std::log10(square / std::max(error, 1e-30));
      EXPECT_GT(decibels, limit) << "output " << i << ": " << different << " of " << a.size()
                                 << " elements differ";
    }
  }
}

// Returns the largest ratio of an element's error to its tolerance.
double error_share(std::span<const float> found, const std::vector<float>& expected,
                   const json& tolerance) {
  double share = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double allowed =
        tolerance["atol"].get<double>() + tolerance["rtol"].get<double>() * std::abs(expected[i]);
    share = std::max(share, std::abs(found[i] - expected[i]) / allowed);
  }
  return share;
}

TEST_P(CorpusPtq, DelegationAndDelegatedOutputsMatchExecuTorch) {
  PtqCase quantized(GetParam());
  LowerOptions options;
  options.partitioners = {std::make_shared<XnnpackPartitioner>()};
  Methods methods;
  methods.emplace("forward", std::move(quantized.program));
  const LoweredModel lowered = lower(std::move(methods), options);
  const auto info = delegation::delegation_info(*lowered.methods.at("forward").graph);
  const json& expected = quantized.info["delegation"]["forward"];
  EXPECT_EQ(info.delegated_nodes, expected["delegated"].get<size_t>());
  // For a dynamically quantized model, ExecuTorch makes more delegates than Vitrine.
  EXPECT_LE(info.subgraphs, expected["subgraphs"].get<size_t>());

  auto module = Module::load(std::span<const std::byte>(lowered.emitted.pte));
  ASSERT_TRUE(module.ok()) << module.error().message();
  for (const json& call : quantized.info["calls"]) {
    std::vector<vitrine::Value> inputs;
    for (const TensorData& input : read_tensors(quantized.folder, call["inputs"])) {
      const std::vector<int32_t> sizes(input.sizes.begin(), input.sizes.end());
      inputs.emplace_back(*Array::copy_of(input.dtype, row_major_bytes(input), sizes));
    }
    const auto outputs = module->forward(inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.error().message();
    for (size_t i = 0; i < outputs->size(); ++i) {
      const std::vector<float> values =
          floats_of(read_tensor(quantized.folder, call["outputs"][i]));
      const auto found = outputs->at(i).array()->data<float>();
      ASSERT_TRUE(found.ok());
      ASSERT_EQ(found->size(), values.size());
      EXPECT_LE(error_share(*found, values, quantized.info["tolerance"]), 1) << "output " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CorpusPtq,
                         testing::Values("ptq_cat_shared", "ptq_conv_bn_relu", "ptq_dynamic_linear",
                                         "ptq_hardswish_se", "ptq_layernorm_linears",
                                         "ptq_mbv2_block", "ptq_mlp_stack", "ptq_outliers",
                                         "ptq_pools_mixed", "ptq_two_batches"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace vitrine::aot
