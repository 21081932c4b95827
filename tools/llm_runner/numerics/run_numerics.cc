#include "tools/llm_runner/numerics/run_numerics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/host_error.h"
#include "llm/token_score.h"
#include "tools/common/file_kind.h"
#include "tools/common/interrupt.h"
#include "tools/common/messages.h"
#include "tools/common/progress.h"
#include "tools/common/tool_error.h"
#include "tools/llm_runner/numerics/traced_decoder.h"

namespace vitrine::tools {
namespace {

constexpr size_t kBlocks = 6;  // blocks of positions

// Returns the bytes of the lowered reference, or an empty list if the reference is a program.
std::vector<std::byte> lower_reference(const LlmOptions& options) {
  const std::unique_ptr<DataSource> file = check(map_file(options.reference.c_str()));
  const DataBuffer bytes = check(file->read(0, file->size()));
  check_kind(options.reference, bytes.bytes(), "an exported model (.pt2) or a program (.pte)",
             {FileKind::kExportedModel, FileKind::kNativeModel, FileKind::kProgram,
              FileKind::kBundledProgram});
  const std::optional<FileKind> kind = find_file_kind(bytes.bytes());
  if (kind == FileKind::kProgram || kind == FileKind::kBundledProgram) return {};
  if (model_lowering() == nullptr) {
    throw ToolError(
        fmt::format("--reference {}: this tool cannot lower models: use 'vitrine chat --numerics', "
                    "or give a program",
                    options.reference.string()));
  }
  Progress progress("lowering the reference");
  return model_lowering()(options.reference, "forward", nullptr);
}

class NumericsRun {
 public:
  NumericsRun(const LlmOptions& options, std::span<const std::byte> lowered)
      : options_(options), tokenizer_(find_tokenizer(options)) {
    const auto [program, reference] = short_names(options.model, options.reference);
    const SessionOptions session = session_options(options);
    program_ = std::make_unique<TracedDecoder>(session, options, tokenizer_.get(), program,
                                               options.etrecord);
    SessionOptions other = session;
    other.model = options.reference;
    other.program = lowered;
    other.pool = program_->pool();
    reference_ = std::make_unique<TracedDecoder>(other, options, tokenizer_.get(), reference,
                                                 options.reference_etrecord);
    result_.program = program;
    result_.reference = reference;
    for (TracedDecoder* side : {reference_.get(), program_.get()}) {
      const TextGenerator checks(side->decoder(), tokenizer_.get());
      if (side->decoder().info().encodes_prompt) {
        throw GenerationError(
            "--numerics: models whose encoder reads the prompt are not supported");
      }
      for (const std::string& warning : side->warnings()) print_warning(warning);
    }
    if (reference_->decoder().info().vocabulary != program_->decoder().info().vocabulary) {
      throw GenerationError(fmt::format(
          "the models have different vocabularies: the reference returns {} logits, and the "
          "program {}",
          reference_->decoder().info().vocabulary, program_->decoder().info().vocabulary));
    }
  }

  llm::LanguageNumerics run() {
    const std::vector<TokenId> text = find_text();
    result_.tokens = text.size();
    const std::vector<llm::PositionRange> ranges = llm::split_positions(text.size(), kBlocks);
    Progress progress("measuring");
    for (const llm::PositionRange& range : ranges) {
      result_.blocks.push_back({.range = range});
      for (size_t position = range.first; position < range.second; ++position) {
        progress.update(position, text.size());
        if (stop_flag()) return interrupted(position, text.size());
        measure(text, position, result_.blocks.back());
      }
    }
    measure_caches(ranges);
    return std::move(result_);
  }

 private:
  // Returns the prompt's tokens, followed by the tokens that the reference generates.
  std::vector<TokenId> find_text() {
    std::vector<TokenId> text = options_.prompt_ids;
    if (text.empty() && tokenizer_) {
      text = tokenizer_->encode(options_.prompt, options_.generate.encode);
    }
    const auto context = static_cast<size_t>(
        std::min(reference_->decoder().info().max_context, program_->decoder().info().max_context));
    if (options_.generate.max_new_tokens > 0) {
      TextGenerator generator(reference_->decoder(), tokenizer_.get());
      GenerateOptions greedy;
      greedy.max_new_tokens = options_.generate.max_new_tokens;
      greedy.sampling.temperature = 0;
      greedy.ignore_eos = true;
      const Generation added = generator.generate(text, greedy);
      text.insert(text.end(), added.ids.begin(), added.ids.end());
    }
    if (text.size() < 2) {
      throw ToolError(
          fmt::format("--numerics needs at least two tokens, found {}: give them with --prompt, "
                      "--prompt_file or --prompt_ids",
                      text.size()));
    }
    if (text.size() > context) {
      throw ToolError(fmt::format("{} tokens do not fit into a context of {}: shorten the prompt",
                                  text.size(), context));
    }
    const size_t vocabulary = program_->decoder().info().vocabulary;
    for (const TokenId id : text) {
      if (id >= 0 && static_cast<size_t>(id) < vocabulary) continue;
      throw ToolError(fmt::format("id {} is not in the vocabulary of {}", id, vocabulary));
    }
    return text;
  }

  void measure(std::span<const TokenId> text, size_t position, llm::PositionBlock& block) {
    const bool is_recorded = position + 1 == block.range.second && position != 0;
    const auto feed = [&](TracedDecoder& side) {
      if (position == 0) return side.feed_finding_caches(text, position);
      return is_recorded ? side.feed_recorded(text, position) : side.feed(text, position);
    };
    const std::span<const float> expected = feed(*reference_);
    const std::span<const float> actual = feed(*program_);
    add_logits(expected, actual, position, block);
    if (!is_recorded) return;
    const RecordedStep reference = reference_->recorded();
    const RecordedStep program = program_->recorded();
    add_layers(result_,
               inspector::compare_values(reference.values(), program.values(),
                                         inspector::kDefaultMinSqnrDb),
               reference.profile, result_.recorded.size());
    result_.recorded.push_back(position);
    if (position + 1 != text.size()) return;
    caches_a_ = reference_->caches();
    caches_b_ = program_->caches();
    llm::name_caches(caches_a_, reference.values());
    llm::name_caches(caches_b_, program.values());
  }

  void add_logits(std::span<const float> expected, std::span<const float> actual, size_t position,
                  llm::PositionBlock& block) {
    double kl = std::numeric_limits<double>::quiet_NaN();
    const char* side = "reference";
    try {
      const ScoredLogits a(expected);
      side = "program";
      const ScoredLogits b(actual);
      kl = kl_divergence(a, b);
      block.same_top += a.top == b.top ? 1 : 0;
    } catch (const GenerationError& error) {
      // Continues after a NaN in the logits: the errors of the layers show the source.
      if (result_.notes.empty()) {
        result_.notes.push_back(fmt::format("logits of the {}, first at position {}: {}", side,
                                            position, error.what()));
      }
    }
    const auto done = static_cast<double>(position - block.range.first);
    block.mean_kl = (block.mean_kl * done + kl) / (done + 1);
    // A NaN counts as the largest divergence. Ties: the first position wins.
    if (position == block.range.first || (!std::isnan(block.max_kl) && !(kl <= block.max_kl))) {
      block.max_kl = kl;
      block.max_kl_at = position;
    }
    const inspector::TensorDifference difference = inspector::measure_difference(
        {ScalarType::kFloat, std::as_bytes(actual)}, {ScalarType::kFloat, std::as_bytes(expected)});
    if (position == block.range.first) {
      block.logits = difference;
    } else {
      inspector::add_difference(block.logits, difference);
    }
  }

  void measure_caches(std::span<const llm::PositionRange> ranges) {
    const auto context = static_cast<size_t>(reference_->decoder().info().max_context);
    llm::add_caches(
        result_, llm::compare_caches(caches_a_, caches_b_, context, ranges, result_.why_no_caches));
    result_.dropped_values = reference_->dropped_values() + program_->dropped_values();
  }

  llm::LanguageNumerics interrupted(size_t position, size_t tokens) {
    if (position == 0) throw ToolError("interrupted before the first position");
    print_note(fmt::format("interrupted: the figures cover only {} of {} positions and no caches",
                           position, tokens));
    llm::PositionBlock& last = result_.blocks.back();
    if (position == last.range.first) {
      result_.blocks.pop_back();
    } else {
      last.range.second = position;
    }
    result_.tokens = position;
    result_.why_no_caches = "interrupted";
    if (result_.recorded.empty()) result_.why_no_layers = "interrupted";
    return std::move(result_);
  }

  const LlmOptions& options_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<TracedDecoder> program_, reference_;
  std::vector<llm::FoundCache> caches_a_, caches_b_;  // caches of the reference and of the program
  llm::LanguageNumerics result_;
};

std::string report(const llm::LanguageNumerics& numerics, const ReportOptions& options) {
  switch (options.format) {
    case ReportFormat::kJson:
      return report_language_numerics_json(numerics);
    case ReportFormat::kCsv:
      return report_language_numerics_csv(numerics);
    case ReportFormat::kHtml:
      return report_language_numerics_html(numerics);
    default:
      return report_language_numerics(numerics, table_options(options));
  }
}

}  // namespace

int run_language_numerics(const LlmOptions& options) {
  const std::vector<std::byte> lowered = lower_reference(options);
  NumericsRun run(options, lowered);
  stop_on_interrupt();
  const llm::LanguageNumerics numerics = run.run();
  write_report(report(numerics, options.report), options.report);
  if (!options.fail_below) return 0;
  if (!numerics.why_no_layers.empty() && !numerics.why_no_caches.empty()) {
    throw ToolError("--fail_below: neither layers nor caches were compared");
  }
  return llm::is_below(numerics, *options.fail_below) ? kExitBeyondLimit : 0;
}

}  // namespace vitrine::tools
