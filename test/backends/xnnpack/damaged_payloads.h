// Payloads that are valid except for one change, for tests of the checks.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {

// A damaged payload and a part of the expected error.
struct Damage {
  const char* name;
  std::function<void(PayloadBuilder&)> make;
  const char* error;
};

inline void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

// checks_test.cc defines the test that uses this fixture.
class ChecksTest : public DelegateTest, public testing::WithParamInterface<Damage> {};

inline const std::vector<uint32_t> kDims = {2, 3};

// A valid 2x2 convolution that `change` modifies. Values are input 0, output 1, filter 2,
// bias 3.
inline Damage window(const char* name, Tag tag, const char* error,
                     std::function<void(WindowSpec&, PayloadBuilder&)> change) {
  return {name,
          [=](PayloadBuilder& b) {
            const bool depthwise = tag == Tag::XNNDepthwiseConv2d;
            b.input({1, 4, 4, 2});
            b.output({1, 3, 3, 2});
            const std::vector<uint32_t> dims =
                depthwise ? std::vector<uint32_t>{1, 2, 2, 2} : std::vector<uint32_t>{2, 2, 2, 2};
            b.constant(dims, std::vector<float>(depthwise ? 8 : 16));
            b.constant<float>({2}, {0, 0});
            WindowSpec w = depthwise ? window_of(2, 2, 1, 1, 2) : window_of(2, 2, 2, 2);
            change(w, b);
            if (tag == Tag::XNNMaxPooling2d) {
              b.pooling(tag, w, 0, 1);
            } else {
              b.convolution(tag, w, 0, 2, 3, 1);
            }
          },
          error};
}

// A valid linear layer that `change` modifies. Values are input 0, output 1, filter 2, bias 3.
inline Damage layer(const char* name, const char* error,
                    std::function<void(PayloadBuilder&)> change) {
  return {name,
          [=](PayloadBuilder& b) {
            b.input({2, 3});
            b.output({2, 2});
            b.constant({2, 3}, std::vector<float>(6));
            b.constant<float>({2}, {0, 0});
            b.fully_connected(0, 2, 3, 1);
            change(b);
          },
          error};
}

// A valid int8 linear layer that `change` modifies. Its weights are quantized per channel.
inline Damage quantized(const char* name, const char* error,
                        std::function<void(PayloadBuilder&)> change) {
  return {name,
          [=](PayloadBuilder& b) {
            const auto i8 = Type::xnn_datatype_qint8;
            b.input({2, 3}, i8, PerTensor{0.5f, 1});
            b.output({2, 2}, i8, PerTensor{0.5f, 0});
            b.constant<int8_t>({2, 3}, {1, 2, 3, 4, 5, 6}, Type::xnn_datatype_qcint8);
            b.values[2].per_channel = PerChannel{{1, 1}, 0};
            b.fully_connected(0, 2, kInvalidId, 1);
            change(b);
          },
          error};
}

// A valid negation that `change` modifies.
inline Damage simple(const char* name, const char* error,
                     std::function<void(PayloadBuilder&)> change) {
  return {name,
          [=](PayloadBuilder& b) {
            negate(b);
            change(b);
          },
          error};
}

inline std::string name_of(const testing::TestParamInfo<Damage>& info) { return info.param.name; }

}  // namespace vitrine::test
