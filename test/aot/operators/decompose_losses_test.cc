#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

// ATen's codes for the reduction of a loss.
constexpr int kNone = 0;
constexpr int kMean = 1;
constexpr int kSum = 2;

const Values kPredictions = {0.3, 0.9, 0.5, 0.1};
const Values kTargets = {1, 0.5, 0, 0.25};

// Returns log(softmax) over the classes of a tensor [batch, classes, inner].
Values log_softmax(const Values& x, size_t classes, size_t inner) {
  Values logs = x;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t batch = i / (classes * inner);
    double sum = 0;
    for (size_t c = 0; c < classes; ++c)
      sum += std::exp(x[(batch * classes + c) * inner + i % inner]);
    logs[i] = x[i] - std::log(sum);
  }
  return logs;
}

TEST(DecomposeLosses, ElementWiseLossesMatchTheirFormulas) {
  struct Formula {
    const char* target;
    ArgumentList after;   // the arguments after the reduction
    size_t reduction_at;  // index of the reduction among all arguments
    std::function<double(double, double)> formula;
  };
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const std::vector<Formula> formulas = {
      {"aten.mse_loss.default", {}, 2, [](double x, double t) { return (x - t) * (x - t); }},
      {"aten.l1_loss.default", {}, 2, [](double x, double t) { return std::abs(x - t); }},
      {"aten.smooth_l1_loss.default",
       {0.5},
       2,
       [](double x, double t) {
         const double d = std::abs(x - t);
         return d < 0.5 ? d * d : d - 0.25;
       }},
      {"aten.huber_loss.default",
       {0.5},
       2,
       [](double x, double t) {
         const double d = std::abs(x - t);
         return d <= 0.5 ? d * d / 2 : 0.5 * (d - 0.25);
       }},
      {"aten.binary_cross_entropy.default",
       {},
       3,
       [](double x, double t) { return -(t * std::log(x) + (1 - t) * std::log(1 - x)); }},
      {"aten.binary_cross_entropy_with_logits.default",
       {},
       4,
       [&](double x, double t) {
         return -(t * std::log(sigmoid(x)) + (1 - t) * std::log(1 - sigmoid(x)));
       }},
      {"aten.kl_div.default",
       {},
       2,
       [](double x, double t) { return t == 0 ? 0 : t * (std::log(t) - x); }},
      {"aten.soft_margin_loss.default",
       {},
       2,
       [](double x, double t) { return std::log1p(std::exp(-x * t)); }},
      {"aten.hinge_embedding_loss.default",
       {},
       3,
       [](double x, double t) {
         return t == 1 ? x : t == -1 ? std::max(0.0, 1 - x) : x + std::max(0.0, 1 - x);
       }},
  };
  for (const Formula& each : formulas) {
    for (const int reduction : {kNone, kMean, kSum}) {
      SCOPED_TRACE(each.target);
      Values expected;
      double sum = 0;
      for (size_t i = 0; i < kPredictions.size(); ++i) {
        expected.push_back(each.formula(kPredictions[i], kTargets[i]));
        sum += expected.back();
      }
      if (reduction != kNone) expected = {reduction == kMean ? sum / 4 : sum};
      ArgumentList rest(each.reduction_at - 2);
      if (std::string_view(each.target).find("hinge") != std::string_view::npos) rest = {1.0};
      rest.emplace_back(reduction);
      rest.insert(rest.end(), each.after.begin(), each.after.end());
      expect_near(lowered(each.target, {floats({4}, kPredictions), floats({4}, kTargets)}, rest,
                          reduction == kNone ? std::vector<SymInt>{4} : std::vector<SymInt>{}),
                  expected);
    }
  }
}

TEST(DecomposeLosses, ComputesMarginCosineAndPoissonLosses) {
  const TensorData a = floats({2, 2}, {1, 0, 0, 1});
  const TensorData p = floats({2, 2}, {1, 1, 0, 2});
  const TensorData n = floats({2, 2}, {4, 4, 0, 1.5});
  const double near = 1;
  const double far = 0.5;
  expect_call("aten.triplet_margin_loss.default", {a, p, n}, {1.0, 2.0, 0.0, false, kNone}, {2},
              {0, near - far + 1});
  const double cosine = 1 / std::numbers::sqrt2;
  expect_call("aten.cosine_embedding_loss.default", {a, p, floats({2}, {1, -1})}, {0.25, kNone},
              {2}, {1 - cosine, 0.75});
  expect_call("aten.margin_ranking_loss.default",
              {floats({2}, {1, 2}), floats({2}, {3, 1}), floats({2}, {1, 1})}, {0.5, kSum}, {},
              {2.5});
  expect_call("aten.poisson_nll_loss.default", {floats({2}, {0.5, 1}), floats({2}, {1, 3})},
              {true, true, 1e-8, kNone}, {2},
              {std::exp(0.5) - 0.5,
               std::exp(1) - 3 + 3 * std::log(3) - 3 + std::log(2 * std::numbers::pi * 3) / 2});
}

TEST(DecomposeLosses, ComputesLossesForClassIndexTargets) {
  constexpr size_t kClasses = 3;
  constexpr size_t kInner = 2;
  const Values x = {0.1, -1, 2, 0.5, 1.5, 0, -0.5, 1, 0.25, 3, -2, 0.75};
  const std::vector<int64_t> target = {2, 0, 1, 7};  // 7 is ignored
  const Values weight = {1, 0.5, 2};
  const Values logs = log_softmax(x, kClasses, kInner);
  for (const double smoothing : {0.0, 0.1}) {
    for (const bool is_weighted : {false, true}) {
      for (const int reduction : {kNone, kMean, kSum}) {
        Values losses;
        double sum = 0;
        double weights = 0;
        for (size_t i = 0; i < target.size(); ++i) {
          const size_t first = (i / kInner) * kClasses * kInner + i % kInner;
          losses.push_back(0);
          if (target[i] == 7) continue;
          const auto label = static_cast<size_t>(target[i]);
          const auto weight_of = [&](size_t c) { return is_weighted ? weight[c] : 1.0; };
          double smooth = 0;
          for (size_t c = 0; c < kClasses; ++c) smooth -= weight_of(c) * logs[first + c * kInner];
          losses.back() = -(1 - smoothing) * weight_of(label) * logs[first + label * kInner] +
                          smoothing * smooth / kClasses;
          weights += weight_of(label);
          sum += losses.back();
        }
        if (reduction != kNone) losses = {reduction == kMean ? sum / weights : sum};
        const Argument weight_arg = is_weighted ? Argument("$") : Argument();
        ArgumentList args = {"$", "$", weight_arg, reduction, 7, smoothing};
        std::vector<TensorData> inputs = {floats({2, 3, 2}, x), integers({2, 2}, target)};
        if (is_weighted) inputs.push_back(floats({3}, weight));
        const std::vector<SymInt> sizes =
            reduction == kNone ? std::vector<SymInt>{2, 2} : std::vector<SymInt>{};
        expect_near(lowered("aten.cross_entropy_loss.default", inputs, args, sizes), losses);
        if (smoothing != 0) continue;
        inputs[0] = floats({2, 3, 2}, logs);
        args.pop_back();  // the smoothing
        expect_near(lowered("aten.nll_loss_nd.default", inputs, args, sizes), losses);
      }
    }
  }
}

TEST(DecomposeLosses, ComputesCrossEntropyForClassProbabilitiesAndUnbatchedInput) {
  const Values x = {0.1, -1, 2, 0.5, 1.5, 0};
  const Values target = {0.2, 0.3, 0.5, 1, 0, 0};
  const Values logs = log_softmax(x, 3, 1);
  double sum = 0;
  for (size_t i = 0; i < 6; ++i) sum -= logs[i] * (target[i] * 0.9 + 0.1 / 3);
  expect_call("aten.cross_entropy_loss.default", {floats({2, 3}, x), floats({2, 3}, target)},
              {Argument(), kMean, -100, 0.1}, {}, {sum / 2});
  // The input is a single sample without a batch dim.
  expect_call("aten.cross_entropy_loss.default",
              {floats({3}, {x[0], x[1], x[2]}), integers({}, {1})}, {}, {}, {-logs[1]});
}

}  // namespace
}  // namespace vitrine::aot
