#include "test/conformance/conformance.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "test/support/f16_products.h"

namespace vitrine::test {
namespace {

size_t count_of(const Dims& dims) {
  size_t count = 1;
  for (const uint32_t dim : dims) count *= dim;
  return count;
}

// How numbers are stored: as they are, or as (number / scale + zero point).
struct Encoding {
  Type type = kFloat32;
  std::vector<float> scales = {1.0f};  // one, or one a channel
  int32_t zero_point = 0;
  size_t channel_stride = 1;  // elements between two channels

  float scale(size_t i) const { return scales[i / channel_stride % scales.size()]; }

  float bound_low() const {
    switch (type) {
      case kInt8:
      case Type::xnn_datatype_qcint8:
        return -128;
      case kUint8:
        return 0;
      case Type::xnn_datatype_qcint4:
      case Type::xnn_datatype_qbint4:
        return -8;
      default:
        return -2147483648.0f;
    }
  }
  float bound_high() const {
    switch (type) {
      case kInt8:
      case Type::xnn_datatype_qcint8:
        return 127;
      case kUint8:
        return 255;
      case Type::xnn_datatype_qcint4:
      case Type::xnn_datatype_qbint4:
        return 7;
      default:
        return 2147483520.0f;
    }
  }

  // The nearest that can be stored.
  float round(float number, size_t i) const {
    if (type == kFloat32) return number;
    if (type == kFloat16) return static_cast<float>(Half(number));
    if (type == kBrain16) return static_cast<float>(BFloat16(number));
    return (stored(number, i) - static_cast<float>(zero_point)) * scale(i);
  }
  float stored(float number, size_t i) const {
    const float steps = std::nearbyint(number / scale(i)) + static_cast<float>(zero_point);
    return std::clamp(steps, bound_low(), bound_high());
  }

  // `row`: elements of the last dimension. 4-bit elements are stored with 8 added, two a byte.
  std::vector<uint8_t> bytes(const std::vector<float>& numbers, size_t row) const {
    std::vector<uint8_t> out;
    if (type == Type::xnn_datatype_qcint4 || type == Type::xnn_datatype_qbint4) {
      for (size_t i = 0; i < numbers.size(); ++i) {
        const auto nibble = static_cast<uint8_t>(stored(numbers[i], i) + 8);
        if (i % row % 2 == 0) {
          out.push_back(nibble);
        } else {
          out.back() = static_cast<uint8_t>(out.back() | nibble << 4);
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
        return (static_cast<float>(reinterpret_cast<const int8_t*>(data)[i]) -
                static_cast<float>(zero_point)) *
               scale(i);
      default:
        return (static_cast<float>(reinterpret_cast<const uint8_t*>(data)[i]) -
                static_cast<float>(zero_point)) *
               scale(i);
    }
  }
};

// A power of two: products and sums of such steps are exact in f32.
float power_of_two(float at_least) { return std::exp2(std::ceil(std::log2(at_least))); }

// Parameters with which all of [low, high] can be stored.
Encoding encoding_for(Type type, float low, float high) {
  Encoding encoding{type};
  if (!is_quantised(type)) return encoding;
  low = std::min(low, 0.0f);
  high = std::max(high, 0.0f);
  encoding.scales = {power_of_two(std::max(high - low, 0.01f) / 255)};
  encoding.zero_point = static_cast<int32_t>(
      std::clamp(std::nearbyint(encoding.bound_low() - low / encoding.scales[0]),
                 encoding.bound_low(), encoding.bound_high()));
  return encoding;
}

struct Stored {
  std::vector<float> numbers;  // as rounded
  Encoding encoding;
};

std::vector<float> random_numbers(const Operand& operand, size_t count, std::mt19937& generator) {
  std::uniform_real_distribution<float> uniform(operand.low, operand.high);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = uniform(generator);
  return numbers;
}

Stored make_stored(const Operand& operand, const NodeCase& test, const std::vector<Stored>& before,
                   size_t count, std::mt19937& generator) {
  Stored result{random_numbers(operand, count, generator), {}};
  const Type type = operand.type.value_or(test.type);
  Encoding& encoding = result.encoding;
  if (operand.bias && is_quantised(test.type)) {
    const Encoding& filter = before[1].encoding;
    encoding.type =
        is_quantised(filter.type) ? Type::xnn_datatype_qint32 : Type::xnn_datatype_qcint32;
    encoding.scales = filter.scales;
    for (float& scale : encoding.scales) scale *= before[0].encoding.scales[0];
  } else if (operand.blocks) {
    encoding.type = type;
    encoding.channel_stride = 32;
    encoding.scales.resize(count / 32);
    for (size_t i = 0; i < encoding.scales.size(); ++i) {
      encoding.scales[i] = i % 3 == 0 ? 0.125f : 0.15625f;  // as in bfloat16
    }
  } else if (operand.channel_dim.has_value()) {
    encoding.type = type;
    const auto dim = static_cast<size_t>(*operand.channel_dim);
    for (size_t i = dim + 1; i < operand.dims.size(); ++i)
      encoding.channel_stride *= operand.dims[i];
    encoding.scales.assign(operand.dims[dim], 0);
    for (size_t channel = 0; channel < encoding.scales.size(); ++channel) {
      // Of several sizes.
      encoding.scales[channel] = (operand.high - operand.low) / 2 / encoding.bound_high() *
                                 (channel % 3 == 0 ? 1.0f : 1.25f);
    }
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
  const bool one = is_quantised(encoding.type) || encoding.type == Type::xnn_datatype_qint32;
  if (!one) return std::nullopt;
  return PerTensor{encoding.scales[0], encoding.zero_point};
}

uint32_t add_operand(BlobBuilder& builder, const Operand& operand, const Stored& stored) {
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
    builder.values[id].per_channel =
        PerChannel{encoding.scales, operand.channel_dim.value_or(0), false};
  }
  return id;
}

ScalarType dtype_of(Type type) {
  switch (type) {
    case kFloat16:
      return ScalarType::kHalf;
    case kBrain16:
      return ScalarType::kBFloat16;
    case kInt8:
      return ScalarType::kChar;
    case kUint8:
      return ScalarType::kByte;
    default:
      return ScalarType::kFloat;
  }
}

Dims at_run_time(const NodeCase& test, const Dims& dims) {
  Dims result = dims;
  if (test.batch.has_value() && !result.empty()) result[0] = *test.batch;
  return result;
}

Tensor& delegate_tensor(KernelCall& call, const Encoding& encoding, const Dims& dims,
                        const std::vector<float>* numbers) {
  Tensor& tensor =
      call.make(dtype_of(encoding.type), as_sizes(dims), {}, ShapeDynamism::kDynamicBound);
  if (numbers != nullptr) {
    const std::vector<uint8_t> bytes = encoding.bytes(*numbers, dims.back());
    std::copy(bytes.begin(), bytes.end(), static_cast<uint8_t*>(tensor.mutable_raw_data()));
  }
  return tensor;
}

void compare(const NodeCase& test, const Tensor& got, const Encoding& encoding,
             const std::vector<float>& expected) {
  ASSERT_EQ(static_cast<size_t>(got.numel()), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const float want = encoding.round(expected[i], i);
    const float have = encoding.number(static_cast<const std::byte*>(got.raw_data()), i);
    const float size = std::max(1.0f, std::fabs(want));
    const float allowed = is_quantised(encoding.type) ? encoding.scale(i) * 1.01f
                          : encoding.type == kBrain16 ? 1.6e-2f * size
                          : encoding.type == kFloat16 ? std::max(2e-3f, test.tolerance) * size
                                                      : test.tolerance * size;
    if (test.moves_only ? have != want : !(std::fabs(have - want) <= allowed)) {
      ADD_FAILURE() << "element " << i << " is " << have << ", not " << want << " (within "
                    << allowed << ")";
      return;
    }
  }
}

}  // namespace

const char* type_name(Type type) {
  switch (type) {
    case kFloat32:
      return "f32";
    case kFloat16:
      return "f16";
    case kBrain16:
      return "bf16";
    case kInt8:
      return "qs8";
    case kUint8:
      return "qu8";
    default:
      return "other";
  }
}

bool is_quantised(Type type) { return type == kInt8 || type == kUint8; }

std::vector<int32_t> sizes_of(const Tensor& tensor) {
  return {tensor.sizes().begin(), tensor.sizes().end()};
}

Tensor& to_nchw(KernelCall& call, Tensor& tensor) {
  const std::vector<int32_t> s = sizes_of(tensor);
  return compute(call, "aten::permute_copy.out", {s[0], s[3], s[1], s[2]}, tensor,
                 call.ints({0, 3, 1, 2}));
}

Tensor& to_nhwc(KernelCall& call, Tensor& tensor) {
  const std::vector<int32_t> s = sizes_of(tensor);
  return compute(call, "aten::permute_copy.out", {s[0], s[2], s[3], s[1]}, tensor,
                 call.ints({0, 2, 3, 1}));
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
  BlobBuilder builder;
  std::vector<Stored> stored;
  std::vector<uint32_t> ids;
  std::vector<Tensor*> floats;
  std::vector<EValue*> arguments;
  for (const Operand& operand : test.operands) {
    const Dims dims = operand.constant ? operand.dims : at_run_time(test, operand.dims);
    stored.push_back(make_stored(operand, test, stored, count_of(dims), generator));
    const Stored& own = stored.back();
    ids.push_back(add_operand(builder, operand, own));
    floats.push_back(&call.make<float>(as_sizes(dims), own.numbers));
    if (operand.constant) continue;
    arguments.push_back(&call.value(delegate_tensor(call, own.encoding, dims, &own.numbers)));
  }
  std::vector<float> expected;
  if (test.refusal.empty() && test.batch != 0u) {
    Tensor& result = test.reference(call, floats);
    ASSERT_EQ(sizes_of(result), as_sizes(at_run_time(test, test.out_dims)));
    expected = values_of<float>(result);
  }
  Encoding encoding{test.type};
  if (test.moves_only || test.keeps_scale) {
    encoding = stored[0].encoding;
  } else if (!expected.empty()) {
    const auto [low, high] = std::ranges::minmax(expected);
    encoding = encoding_for(test.type, low, high);
  }
  const uint32_t out = builder.output(test.out_dims, encoding.type, per_tensor(encoding));
  test.build(builder, ids, out);
  const std::vector<std::byte> blob = builder.build();

  const XnnpackBackend backend;
  Result<std::unique_ptr<Delegate>> loaded = backend.init({}, blob, {});
  if (!test.refusal.empty()) {
    ASSERT_FALSE(loaded.ok()) << "XNNPACK takes it now";
    EXPECT_NE(std::string(loaded.error().message()).find(test.refusal), std::string::npos)
        << loaded.error().message();
    return;
  }
  if (!loaded.ok() && test::lacks_f16_products(loaded.error()))
    GTEST_SKIP() << loaded.error().message();
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  Tensor& got = delegate_tensor(call, encoding, test.out_dims, nullptr);
  arguments.push_back(&call.value(got));
  const Error error = (*loaded)->execute({}, arguments);
  ASSERT_TRUE(error.ok()) << error.message();
  EXPECT_EQ(sizes_of(got), as_sizes(at_run_time(test, test.out_dims)));
  compare(test, got, encoding, expected);
}

}  // namespace vitrine::test
