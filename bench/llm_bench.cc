// Times single tokens of a decoder at several cache lengths.
//
//   llm_bench [--rounds N] [--cache f32|f16|bf16|i8] [--keep FILE] [--trace] [--method NAME]
//             [model.pte]
//
// Without a model, the tool builds a model: 12 layers, 768 features, 12 query heads, 4 key heads,
// 2048 hidden features, 32,000 words, 4-bit weights in groups of 32, and a cache of 2048 positions.
// The tool then also prints how long memory reads of the weights and the cache take. --keep stores
// the built model in FILE. A given model must have a cache. llm_runner's rules choose its methods.
// Each number of threads is measured in a new process. Figures are medians over the rounds. With
// --trace, each round measures every position with and without llm_runner's tracer.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "aot/pipeline/lower.h"
#include "bench/report/statistics.h"
#include "examples/models/llama_decoder.h"
#include "runtime/platform/clock.h"
#include "test/support/scratch_folder.h"
#include "tools/common/files.h"
#include "tools/common/session.h"
#include "tools/common/tool_error.h"
#include "tools/llm_runner/profile/step_tracer.h"
#include "tools/pte_lower/backends.h"
#include "vitrine/method_decoder.h"

namespace vitrine::bench {
namespace {

namespace fs = std::filesystem;
using tools::check;

constexpr int64_t kPrompt = 128;
constexpr int64_t kPositions[] = {0, 512, 1900};  // clipped to the length of the cache
constexpr int64_t kTokens = 5;                    // measured from each position on

struct Arguments {
  fs::path model;
  std::string method;
  fs::path keep;
  int rounds = 20;
  bool trace = false;
  ScalarType cache = ScalarType::kFloat;
};

examples::LlamaOptions shape(ScalarType cache = ScalarType::kFloat) {
  examples::LlamaOptions options;
  options.cache = cache;
  options.layers = 12;
  options.features = 768;
  options.heads = 12;
  options.key_heads = 4;
  options.hidden = 2048;
  options.words = 32'000;
  options.length = 2048;
  return options;
}
// Bytes of weights that a step of the built model reads: 4 bits per weight and a 16-bit scale per
// group.
double weight_bytes() {
  const examples::LlamaOptions o = shape();
  const int64_t keys = o.features / o.heads * o.key_heads;
  const int64_t layer_weights = 2 * o.features * (o.features + keys) + 3 * o.features * o.hidden;
  const auto weights = static_cast<double>(o.layers * layer_weights + o.features * o.words);
  return weights * (0.5 + 2.0 / static_cast<double>(o.group));
}
// Bytes of keys and values that a step reads at `position`. Each row of an 8-bit cache also has a
// scale and a zero point.
double cache_bytes(int64_t position, ScalarType dtype) {
  const examples::LlamaOptions o = shape();
  const double width = static_cast<double>(o.features) / static_cast<double>(o.heads);
  const double row = width * static_cast<double>(element_size(dtype)) +
                     (dtype == ScalarType::kChar ? sizeof(float) + 1 : 0);
  return 2 * row * static_cast<double>(o.layers * (position + 1) * o.key_heads);
}

void lower_to(const fs::path& file, ScalarType cache) {
  aot::LowerOptions options;
  const std::string backend = "xnnpack";
  options.partitioners = tools::make_partitioners({&backend, 1});
  tools::NewFile program(file);
  options.sink = [&](std::span<const std::byte> bytes) { program.append(bytes); };
  aot::Methods methods;
  methods.emplace("forward", examples::llama_decoder(shape(cache)));
  aot::lower(std::move(methods), options);
  program.commit();
}

// Runs `work` in a new process. Returns the peak memory of that process in bytes.
uint64_t in_new_process(const std::function<void()>& work) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    try {
      work();
      std::fflush(stdout);
      _exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
    throw std::runtime_error("the measuring process failed; its error is printed above");
  }
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

// Returns the bytes per second at which `threads` threads read 200 MB of memory.
double read_bandwidth(size_t threads) {
  const std::unique_ptr<ThreadPool> pool = check(ThreadPool::create(threads));
  const std::vector<uint64_t> memory(size_t{24} << 20, 1);
  struct Read {
    const std::vector<uint64_t>& memory;
    size_t parts;
    std::vector<uint64_t> sums;
  } read{memory, threads, std::vector<uint64_t>(threads * 8)};
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < 10; ++i) {
    const uint64_t start = platform::now_ns();
    pool->run(
        read.parts,
        [](void* argument, size_t part) {
          Read& r = *static_cast<Read*>(argument);
          const size_t end = r.memory.size() * (part + 1) / r.parts;
          uint64_t sums[8] = {};  // the compiler keeps sums in vector registers
          for (size_t k = r.memory.size() * part / r.parts / 8 * 8; k + 8 <= end; k += 8) {
            for (size_t lane = 0; lane < 8; ++lane) sums[lane] += r.memory[k + lane];
          }
          for (const uint64_t sum : sums) r.sums[part * 8] += sum;
        },
        &read);
    best = std::min(best, platform::now_ns() - start);
  }
  return static_cast<double>(memory.size() * sizeof(uint64_t)) / static_cast<double>(best) * 1e9;
}

class Decoder {
 public:
  Decoder(const fs::path& model, const std::string& method, size_t threads, llm::StepTracer* tracer)
      : session_({model, {}, threads}) {
    const DecoderMethodNames names = find_decoder_methods(*session_.program(), {.decode = method});
    DecoderMethods methods{.decode = load(names.decode, tracer),
                           .prefill = load(names.prefill),
                           .encoder = load(names.encoder),
                           .embedding = load(names.embedding),
                           .inputs = names.inputs};
    decode_ = methods.decode;
    decoder_ = std::make_unique<MethodDecoder>(session_.program(), methods);
    if (!decoder_->info().has_cache || decoder_->info().max_context <= kTokens) {
      throw std::runtime_error(model.string() + ": expected a model with a cache of more than " +
                               std::to_string(kTokens) + " positions");
    }
  }

  // Returns kPositions without duplicates, lowered to leave room for kTokens tokens in the cache.
  std::vector<int64_t> positions() const {
    std::vector<int64_t> found;
    for (const int64_t position : kPositions) {
      const int64_t at = std::min(position, decoder_->info().max_context - kTokens);
      if (found.empty() || found.back() != at) found.push_back(at);
    }
    return found;
  }
  int64_t prompt() const { return std::min<int64_t>(kPrompt, decoder_->info().max_context); }

  // Feeds `count` tokens from `position` on. Returns the time in ns, including the tracer's time.
  // `tracer` may be null.
  double run(int64_t count, int64_t position, llm::StepTracer* tracer = nullptr) {
    const auto words = static_cast<int64_t>(decoder_->info().vocabulary);
    std::vector<TokenId> tokens;
    for (int64_t at = position; at < position + count; ++at) {
      tokens.push_back(static_cast<TokenId>(at * 7919 % words));
    }
    decode_->set_tracer(tracer);
    const uint64_t begin = platform::now_ns();
    if (tracer != nullptr) tracer->begin_step(llm::Phase::kDecode);
    feed(tokens, position);
    if (tracer != nullptr) {
      GenerationStep step;
      step.tokens = static_cast<size_t>(count);
      step.position = position;
      step.start_ns = begin;
      step.end_ns = platform::now_ns();
      tracer->end_step(step, {}, static_cast<uint64_t>(position), true);
    }
    return static_cast<double>(platform::now_ns() - begin);
  }

  // A text generator also searches the logits between two steps.
  void read_logits() { best_token_ = std::ranges::max_element(logits_) - logits_.begin(); }

 private:
  Method* load(const std::string& name, llm::StepTracer* tracer = nullptr) {
    if (name.empty()) return nullptr;
    methods_.push_back(session_.load_method(name, tracer));
    methods_.back()->set_tracer(nullptr);
    return methods_.back().get();
  }

  // Feeds the tokens in as few calls as the program allows.
  void feed(std::span<const TokenId> tokens, int64_t position) {
    const DecoderInfo& info = decoder_->info();
    const auto max_count =
        static_cast<size_t>(info.parallel_prefill ? info.max_tokens_per_call : 1);
    while (!tokens.empty()) {
      size_t count = std::min(tokens.size(), max_count);
      if (count < static_cast<size_t>(info.min_tokens_per_call)) count = 1;
      logits_ = decoder_->feed(tokens.first(count), position);
      tokens = tokens.subspan(count);
      position += static_cast<int64_t>(count);
    }
  }

  tools::Session session_;
  std::vector<std::unique_ptr<Method>> methods_;
  Method* decode_ = nullptr;
  std::unique_ptr<MethodDecoder> decoder_;
  std::span<const float> logits_;
  volatile ptrdiff_t best_token_ = 0;
};

// Prints how much time tracing adds to a token: the median over the rounds of the fastest traced
// time divided by the fastest untraced time.
void measure_tracing(Decoder& decoder, llm::StepTracer& tracer, int rounds) {
  for (const int64_t position : decoder.positions()) {
    std::vector<double> plain;
    std::vector<double> ratios;
    for (int round = 0; round < rounds; ++round) {
      double best[2] = {};
      for (const size_t i : {0, 1}) {
        const size_t traced = (i + static_cast<size_t>(round)) % 2;
        llm::StepTracer* const attached = traced == 0 ? nullptr : &tracer;
        best[traced] = std::numeric_limits<double>::infinity();
        for (int64_t k = 0; k < kTokens; ++k) {
          const double took = decoder.run(1, position + k, attached);
          decoder.read_logits();
          // The first token warms the caches and is not counted.
          if (k != 0) best[traced] = std::min(best[traced], took);
        }
      }
      plain.push_back(best[0]);
      ratios.push_back(best[1] / best[0]);
    }
    const Timing ratio = timing_of(ratios);
    std::printf("  token at position %lld: %.3f ms; with tracing %+.2f %%, noise %.2f %%\n",
                static_cast<long long>(position), timing_of(plain).p50 * 1e-6,
                (ratio.p50 - 1) * 100, ratio.noise * 100);
  }
}

// Prints the times of a model. `bandwidth` is the speed of memory reads in bytes per second, or 0
// if it is unknown.
void measure(const fs::path& model, size_t threads, const Arguments& arguments, double bandwidth) {
  const uint64_t begin = platform::now_ns();
  llm::StepTracer tracer;
  Decoder decoder(model, arguments.method, threads, arguments.trace ? &tracer : nullptr);
  const double init = static_cast<double>(platform::now_ns() - begin) * 1e-6;
  const std::vector<int64_t> positions = decoder.positions();
  const int64_t prompt = decoder.prompt();
  std::vector<double> prompts;
  std::vector<std::vector<double>> steps(positions.size());
  // Fills the cache, so that real tokens precede every position.
  const int64_t end = positions.back() + kTokens;
  for (int64_t at = 0; at < end; at += prompt) decoder.run(std::min(prompt, end - at), at);
  if (arguments.trace) {
    measure_tracing(decoder, tracer, arguments.rounds);
    return;
  }
  for (int round = 0; round < arguments.rounds; ++round) {
    if (round % 4 == 0) prompts.push_back(decoder.run(prompt, 0));
    for (size_t i = 0; i < positions.size(); ++i) {
      decoder.run(1, positions[i]);  // warm-up: shapes change after a prompt
      for (int k = 0; k < 4; ++k) steps[i].push_back(decoder.run(1, positions[i] + k));
    }
  }
  std::printf("  init %.1f ms\n", init);
  const Timing prefill = timing_of(prompts);
  std::printf("  prefill of %lld tokens: %.1f ms, minimum %.1f ms\n",
              static_cast<long long>(prompt), prefill.p50 * 1e-6, prefill.min * 1e-6);
  for (size_t i = 0; i < positions.size(); ++i) {
    const Timing step = timing_of(steps[i]);
    std::printf("  token at position %lld: %.2f ms, minimum %.2f ms",
                static_cast<long long>(positions[i]), step.p50 * 1e-6, step.min * 1e-6);
    if (bandwidth > 0) {
      std::printf("; reading weights and cache takes %.2f ms",
                  (weight_bytes() + cache_bytes(positions[i], arguments.cache)) / bandwidth * 1e3);
    }
    std::printf("\n");
  }
}

void run(const Arguments& arguments) {
  const test::ScratchFolder scratch;
  fs::path model = arguments.model;
  if (model.empty()) {
    model = arguments.keep.empty() ? scratch / "decoder.pte" : arguments.keep;
    in_new_process([&] { lower_to(model, arguments.cache); });
    std::printf("Built %s: %.1f MB\n", model.filename().c_str(),
                static_cast<double>(fs::file_size(model)) * 1e-6);
  }
  for (const size_t threads : {size_t{1}, size_t{2}}) {
    const double bandwidth = read_bandwidth(threads);
    std::printf("%zu thread%s; memory reads at %.1f GB/s\n", threads, threads == 1 ? "" : "s",
                bandwidth * 1e-9);
    const uint64_t peak = in_new_process(
        [&] { measure(model, threads, arguments, arguments.model.empty() ? bandwidth : 0); });
    std::printf("  peak memory of the process: %.1f MB\n", static_cast<double>(peak) * 1e-6);
  }
}

}  // namespace
}  // namespace vitrine::bench

int main(int argc, char** argv) {
  vitrine::bench::Arguments arguments;
  CLI::App app("Measures the time per token of a language model at several cache lengths.");
  app.add_option("model", arguments.model,
                 "language model with a cache (default: built by this tool)");
  app.add_option("--method", arguments.method, "method that decodes, as in llm_runner")
      ->needs("model");
  app.add_option("--rounds", arguments.rounds, "rounds to measure")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--keep", arguments.keep, "file to write the built model to");
  app.add_flag("--trace", arguments.trace, "measures only the time that tracing adds to a token");
  std::string cache = "f32";
  app.add_option("--cache", cache, "dtype of the built model's cache")
      ->check(CLI::IsMember({"f32", "f16", "bf16", "i8"}))
      ->excludes("model");
  CLI11_PARSE(app, argc, argv);
  for (const auto dtype :
       {vitrine::ScalarType::kHalf, vitrine::ScalarType::kBFloat16, vitrine::ScalarType::kChar}) {
    if (cache == vitrine::scalar_type_name(dtype)) arguments.cache = dtype;
  }
  try {
    vitrine::bench::run(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "llm_bench: %s\n", error.what());
    return 1;
  }
}
