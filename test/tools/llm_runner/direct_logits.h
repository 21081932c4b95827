// Computes the logits of a language model. Calls the model's program through the C++ API, with one
// id per call.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vitrine/module.h"
#include "vitrine/tokenizer.h"

namespace vitrine::test {

// For each id in `ids`, returns the natural logarithms of the probabilities of all ids that may
// come next. Computes the denominator of the softmax in long double.
inline std::vector<std::vector<double>> direct_log_probabilities(const std::string& model,
                                                                 const std::vector<TokenId>& ids) {
  auto module = Module::load(model.c_str());
  EXPECT_TRUE(module.ok());
  std::vector<std::vector<double>> all;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::vector<int64_t> id = {ids[i]};
    const std::vector<int64_t> position = {static_cast<int64_t>(i)};
    const auto outputs = module->call(
        "forward", {*Array::copy_of<int64_t>(id, {1, 1}), *Array::copy_of<int64_t>(position, {1})});
    EXPECT_TRUE(outputs.ok()) << outputs.error().message();
    const std::span<const float> logits = *outputs->at(0).array()->data<float>();
    long double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<long double>(logit));
    std::vector<double>& logs = all.emplace_back();
    for (const float logit : logits) logs.push_back(static_cast<double>(logit - std::log(sum)));
  }
  return all;
}

}  // namespace vitrine::test
