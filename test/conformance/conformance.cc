#include "test/conformance/conformance.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

size_t count_of(const Dims& dims) {
  size_t count = 1;
  for (const uint32_t dim : dims) count *= dim;
  return count;
}

struct TypeInfo {
  Type type;
  const char* name;
  ScalarType dtype;  // of a delegate's argument
  float low, high;   // the range of stored integers
};
constexpr TypeInfo kTypeInfos[] = {
    {kFloat32, "f32", ScalarType::kFloat, 0, 0},
    {kFloat16, "f16", ScalarType::kHalf, 0, 0},
    {kBrain16, "bf16", ScalarType::kBFloat16, 0, 0},
    {kInt8, "qs8", ScalarType::kChar, -128, 127},
    {kUint8, "qu8", ScalarType::kByte, 0, 255},
    {Type::xnn_datatype_qcint8, "other", ScalarType::kFloat, -128, 127},
    {Type::xnn_datatype_qcint4, "other", ScalarType::kFloat, -8, 7},
    {Type::xnn_datatype_qbint4, "other", ScalarType::kFloat, -8, 7},
    // 32-bit integers
    {Type::xnn_datatype_invalid, "other", ScalarType::kFloat, -2147483648.0f, 2147483520.0f},
};
const TypeInfo& info_of(Type type) {
  const auto* found = std::ranges::find(kTypeInfos, type, &TypeInfo::type);
  return found != std::end(kTypeInfos) ? *found : *std::prev(std::end(kTypeInfos));
}

// The stored form of real numbers: a float type, or integers (number / scale + zero point).
struct Encoding {
  Type type = kFloat32;
  std::vector<float> scales = {1.0f};  // one, or one per channel
  int32_t zero_point = 0;
  size_t channel_stride = 1;  // elements between consecutive channels

  float scale(size_t i) const { return scales[i / channel_stride % scales.size()]; }

  // Rounds `number` to the nearest value that element `i` can store.
  float round(float number, size_t i) const {
    if (type == kFloat32) return number;
    if (type == kFloat16) return static_cast<float>(Half(number));
    if (type == kBrain16) return static_cast<float>(BFloat16(number));
    return decoded(stored(number, i), i);
  }
  float stored(float number, size_t i) const {
    const float steps = std::nearbyint(number / scale(i)) + static_cast<float>(zero_point);
    return std::clamp(steps, info_of(type).low, info_of(type).high);
  }

  // Encodes `numbers`, whose last dimension has `row` elements. For 4-bit types, adds 8 to each
  // element and stores two elements per byte.
  std::vector<uint8_t> bytes(const std::vector<float>& numbers, size_t row) const {
    std::vector<uint8_t> out;
    if (type == Type::xnn_datatype_qcint4 || type == Type::xnn_datatype_qbint4) {
      for (size_t i = 0; i < numbers.size(); ++i) {
        const auto int4 = static_cast<uint8_t>(stored(numbers[i], i) + 8);
        if (i % row % 2 == 0) {
          out.push_back(int4);
        } else {
          out.back() = static_cast<uint8_t>(out.back() | int4 << 4);
        }
      }
      return out;
    }
    const auto append = [&out](const auto& value) {
      const auto* at = reinterpret_cast<const uint8_t*>(&value);
      out.insert(out.end(), at, at + sizeof value);
    };
    for (size_t i = 0; i < numbers.size(); ++i) {
      switch (type) {
        case kFloat32:
          append(numbers[i]);
          break;
        case kFloat16:
          append(Half(numbers[i]));
          break;
        case kBrain16:
          append(BFloat16(numbers[i]));
          break;
        case kInt8:
        case Type::xnn_datatype_qcint8:
          append(static_cast<int8_t>(stored(numbers[i], i)));
          break;
        case kUint8:
          append(static_cast<uint8_t>(stored(numbers[i], i)));
          break;
        default:
          append(static_cast<int32_t>(stored(numbers[i], i)));
      }
    }
    return out;
  }

  float number(const std::byte* data, size_t i) const {
    switch (type) {
      case kFloat32:
        return reinterpret_cast<const float*>(data)[i];
      case kFloat16:
        return static_cast<float>(reinterpret_cast<const Half*>(data)[i]);
      case kBrain16:
        return static_cast<float>(reinterpret_cast<const BFloat16*>(data)[i]);
      case kInt8:
        return decoded(reinterpret_cast<const int8_t*>(data)[i], i);
      default:
        return decoded(reinterpret_cast<const uint8_t*>(data)[i], i);
    }
  }
  float decoded(float stored, size_t i) const {
    return (stored - static_cast<float>(zero_point)) * scale(i);
  }
};

// Returns the smallest power of two that is at least `at_least`. If scales are powers of two, sums
// and products of quantized numbers are exact in f32.
float power_of_two(float at_least) { return std::exp2(std::ceil(std::log2(at_least))); }

// Returns an encoding that covers all of [low, high].
Encoding encoding_for(Type type, float low, float high) {
  Encoding encoding{type};
  if (!is_quantized(type)) return encoding;
  low = std::min(low, 0.0f);
  high = std::max(high, 0.0f);
  encoding.scales = {power_of_two(std::max(high - low, 0.01f) / 255)};
  const TypeInfo& info = info_of(type);
  encoding.zero_point = static_cast<int32_t>(
      std::clamp(std::nearbyint(info.low - low / encoding.scales[0]), info.low, info.high));
  return encoding;
}

struct StoredOperand {
  std::vector<float> numbers;  // rounded to the encoding
  Encoding encoding;
};

std::vector<float> random_numbers(const Operand& operand, size_t count, std::mt19937& generator) {
  std::uniform_real_distribution<float> uniform(operand.low, operand.high);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = uniform(generator);
  return numbers;
}

StoredOperand make_stored(const Operand& operand, const NodeCase& test,
                          const std::vector<StoredOperand>& before, size_t count,
                          std::mt19937& generator) {
  StoredOperand result{random_numbers(operand, count, generator), {}};
  const Type type = operand.type.value_or(test.type);
  Encoding& encoding = result.encoding;
  if (operand.bias && is_quantized(test.type)) {
    const Encoding& filter = before[1].encoding;
    encoding.type =
        is_quantized(filter.type) ? Type::xnn_datatype_qint32 : Type::xnn_datatype_qcint32;
    encoding.scales = filter.scales;
    for (float& scale : encoding.scales) scale *= before[0].encoding.scales[0];
  } else if (operand.blocks) {
    encoding.type = type;
    encoding.channel_stride = 32;
    encoding.scales.resize(count / 32);
    for (size_t i = 0; i < encoding.scales.size(); ++i) {
      encoding.scales[i] = i % 3 == 0 ? 0.125f : 0.15625f;  // exact in bfloat16
    }
  } else if (operand.channel_dim.has_value()) {
    encoding.type = type;
    const auto dim = static_cast<size_t>(*operand.channel_dim);
    for (size_t i = dim + 1; i < operand.dims.size(); ++i)
      encoding.channel_stride *= operand.dims[i];
    encoding.scales.assign(operand.dims[dim], 0);
    for (size_t channel = 0; channel < encoding.scales.size(); ++channel) {
      // The channels have two different scales.
      encoding.scales[channel] =
          (operand.high - operand.low) / 2 / info_of(type).high * (channel % 3 == 0 ? 1.0f : 1.25f);
    }
  } else if (operand.quant.has_value()) {
    encoding = {type, {operand.quant->scale}, operand.quant->zero_point};
  } else {
    encoding = encoding_for(type, operand.low, operand.high);
    if (operand.constant && test.type == kInt8) encoding.zero_point = 0;
    if (encoding.zero_point == 0 && type == kInt8) encoding.scales[0] *= 2;
  }
  for (size_t i = 0; i < count; ++i) {
    result.numbers[i] = encoding.round(result.numbers[i], i);
  }
  return result;
}

std::optional<PerTensor> per_tensor(const Encoding& encoding) {
  const bool has_parameters =
      is_quantized(encoding.type) || encoding.type == Type::xnn_datatype_qint32;
  if (!has_parameters) return std::nullopt;
  return PerTensor{encoding.scales[0], encoding.zero_point};
}

uint32_t add_operand(PayloadBuilder& builder, const Operand& operand, const StoredOperand& stored) {
  const Encoding& encoding = stored.encoding;
  if (!operand.constant) return builder.input(operand.dims, encoding.type, per_tensor(encoding));
  const uint32_t id =
      builder.constant(operand.dims, encoding.bytes(stored.numbers, operand.dims.back()),
                       encoding.type, per_tensor(encoding));
  if (operand.blocks) {
    std::vector<BFloat16> scales(encoding.scales.begin(), encoding.scales.end());
    builder.values[id].per_block = PerBlock{32};
    builder.values[id].scale_constant = builder.add_constant(scales);
    builder.values[id].scale_count = static_cast<uint32_t>(scales.size());
  } else if (operand.channel_dim.has_value() || encoding.type == Type::xnn_datatype_qcint32) {
    PayloadValue& value = builder.values[id];
    value.per_channel = PerChannel{encoding.scales, operand.channel_dim.value_or(0)};
    if (operand.scales_in_constant) {
      value.scale_constant = builder.add_constant(encoding.scales);
      value.scale_count = static_cast<uint32_t>(encoding.scales.size());
      value.per_channel->scales.clear();
    }
  }
  return id;
}

Dims dims_in_call(const NodeCase& test, const Dims& dims, size_t index) {
  Dims result = dims;
  if (!test.batches.empty() && !result.empty()) result[0] = test.batches[index];
  return result;
}

std::vector<int32_t> argument_sizes(const NodeCase& test, const Dims& dims) {
  if (test.arguments == Arguments::kRankZero) return {};
  if (test.arguments == Arguments::kChannelsLast)
    return as_sizes({dims[0], dims[3], dims[1], dims[2]});
  return as_sizes(dims);
}

Tensor& delegate_tensor(KernelCall& call, const NodeCase& test, const Encoding& encoding,
                        const Dims& dims, const std::vector<float>* numbers) {
  std::vector<uint8_t> dim_order;
  if (test.arguments == Arguments::kChannelsLast) dim_order = {0, 2, 3, 1};
  Tensor& tensor = call.make(info_of(encoding.type).dtype, argument_sizes(test, dims), dim_order,
                             ShapeDynamism::kDynamicBound);
  if (numbers != nullptr) {
    const std::vector<uint8_t> bytes = encoding.bytes(*numbers, dims.back());
    std::copy(bytes.begin(), bytes.end(), static_cast<uint8_t*>(tensor.mutable_raw_data()));
  }
  return tensor;
}

void compare(const NodeCase& test, const Tensor& actual, const Encoding& encoding,
             const std::vector<float>& expected_values) {
  ASSERT_EQ(static_cast<size_t>(actual.numel()), expected_values.size());
  for (size_t i = 0; i < expected_values.size(); ++i) {
    const float expected = encoding.round(expected_values[i], i);
    const float found = encoding.number(static_cast<const std::byte*>(actual.raw_data()), i);
    const float size = std::max(1.0f, std::fabs(expected));
    const float allowed = is_quantized(encoding.type) ? encoding.scale(i) * 1.01f
                          : encoding.type == kBrain16 ? 1.6e-2f * size
                          : encoding.type == kFloat16 ? std::max(2e-3f, test.tolerance) * size
                                                      : test.tolerance * size;
    if (test.moves_only ? found != expected : !(std::fabs(found - expected) <= allowed)) {
      ADD_FAILURE() << "element " << i << ": expected " << expected << " (tolerance " << allowed
                    << "), found " << found;
      return;
    }
  }
}

// Computes the result of the call with this index. Returns nothing for calls with empty results and
// for cases that the backend must reject.
std::vector<float> expected_result(KernelCall& call, const NodeCase& test,
                                   const std::vector<StoredOperand>& stored, size_t index) {
  const Dims out = dims_in_call(test, test.out_dims, index);
  if (!test.expected_error.empty() || count_of(out) == 0) return {};
  std::vector<Tensor*> operands;
  for (size_t i = 0; i < stored.size(); ++i) {
    const Operand& operand = test.operands[i];
    const Dims dims = operand.constant ? operand.dims : dims_in_call(test, operand.dims, index);
    operands.push_back(&call.make<float>(as_sizes(dims), stored[i].numbers));
  }
  Tensor& result = test.reference(call, operands);
  EXPECT_EQ(sizes_of(result), as_sizes(out));
  return values_of<float>(result);
}

// Fills the inputs with new numbers for the call with this index.
void renew_inputs(const NodeCase& test, std::vector<StoredOperand>& stored, size_t index,
                  std::mt19937& generator) {
  for (size_t i = 0; i < stored.size(); ++i) {
    const Operand& operand = test.operands[i];
    if (operand.constant) continue;
    const size_t count = count_of(dims_in_call(test, operand.dims, index));
    stored[i] = make_stored(operand, test, stored, count, generator);
  }
}

}  // namespace

const char* type_name(Type type) { return info_of(type).name; }

bool is_quantized(Type type) { return type == kInt8 || type == kUint8; }

std::vector<int32_t> sizes_of(const Tensor& tensor) {
  return {tensor.sizes().begin(), tensor.sizes().end()};
}

Tensor& viewed(KernelCall& call, Tensor& x, const std::vector<int32_t>& sizes) {
  return compute(call, "aten::view_copy.out", sizes, x, call.ints({sizes.begin(), sizes.end()}));
}

Tensor& permuted(KernelCall& call, Tensor& x, const std::vector<int64_t>& order) {
  std::vector<int32_t> sizes;
  for (const int64_t dim : order) sizes.push_back(x.size(static_cast<size_t>(dim)));
  return compute(call, "aten::permute_copy.out", sizes, x, call.ints(order));
}

Tensor& bounded(KernelCall& call, Tensor& x, const std::optional<Bounds>& bounds) {
  if (!bounds.has_value()) return x;
  return compute(call, "aten::hardtanh.out", sizes_of(x), x, double{bounds->min},
                 double{bounds->max});
}

std::ostream& operator<<(std::ostream& out, const NodeCase& test) { return out << test.name; }

std::string test_name(const testing::TestParamInfo<NodeCase>& test) {
  std::string name = test.param.name;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name + "_" + std::to_string(test.index);
}

void expect_conformance(const NodeCase& test) {
  std::mt19937 generator(static_cast<uint32_t>(std::hash<std::string>()(test.name)));
  KernelCall call;
  PayloadBuilder builder(test.constants);
  std::vector<StoredOperand> stored;
  std::vector<uint32_t> ids;
  for (const Operand& operand : test.operands) {
    const Dims dims = operand.constant ? operand.dims : dims_in_call(test, operand.dims, 0);
    stored.push_back(make_stored(operand, test, stored, count_of(dims), generator));
    ids.push_back(add_operand(builder, operand, stored.back()));
  }
  std::vector<float> expected = expected_result(call, test, stored, 0);
  Encoding encoding{test.type};
  if (test.out_quant.has_value()) {
    encoding = {test.type, {test.out_quant->scale}, test.out_quant->zero_point};
  } else if (test.moves_only || test.keeps_scale) {
    encoding = stored[0].encoding;
  } else if (!expected.empty()) {
    const auto [low, high] = std::ranges::minmax(expected);
    encoding = encoding_for(test.type, low, high);
  }
  const uint32_t out = builder.output(test.out_dims, encoding.type, per_tensor(encoding));
  test.build(builder, ids, out);

  const BuilderData named(builder);
  BackendInitContext context;
  if (test.constants == PayloadBuilder::Constants::kNamed) context.named_data = &named;
  Result<std::unique_ptr<Delegate>> loaded = XnnpackBackend().init(context, builder.build(), {});
  if (!test.expected_error.empty()) {
    ASSERT_FALSE(loaded.ok()) << "the backend accepts this case; remove its expected error";
    EXPECT_THAT(loaded.error().message(), testing::HasSubstr(test.expected_error));
    return;
  }
  if (!loaded.ok() && test::lacks_f16_products(loaded.error()))
    GTEST_SKIP() << loaded.error().message();
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  for (size_t i = 0; i < std::max<size_t>(test.batches.size(), 1); ++i) {
    SCOPED_TRACE(testing::Message() << "call " << i);
    if (i > 0) {
      renew_inputs(test, stored, i, generator);
      expected = expected_result(call, test, stored, i);
    }
    std::vector<EValue*> arguments;
    for (size_t k = 0; k < stored.size(); ++k) {
      if (test.operands[k].constant) continue;
      const Dims dims = dims_in_call(test, test.operands[k].dims, i);
      arguments.push_back(
          &call.value(delegate_tensor(call, test, stored[k].encoding, dims, &stored[k].numbers)));
    }
    Tensor& actual = delegate_tensor(call, test, encoding, test.out_dims, nullptr);
    arguments.push_back(&call.value(actual));
    const Error error = (*loaded)->execute({}, arguments);
    if (i > 0 && test.refuses_other_batch && !xnnpack::operator_times_are_measured()) {
      EXPECT_EQ(error.code(), ErrorCode::kNotSupported);
      EXPECT_EQ((*loaded)->execute({}, arguments).code(), ErrorCode::kInvalidState);
      return;
    }
    ASSERT_TRUE(error.ok()) << error.message();
    EXPECT_EQ(sizes_of(actual), argument_sizes(test, dims_in_call(test, test.out_dims, i)));
    compare(test, actual, encoding, expected);
  }
}

}  // namespace vitrine::test
