#include "tokenizers/hugging_face/post_processor.h"

#include <map>
#include <utility>

namespace vitrine::hugging_face {
namespace {

struct FrameState {
  TextFrame tokens;
  bool has_template = false;
};

using ReadFrame = void (*)(const JsonValue& step, FrameState& frame);

// Puts the tokens of this step outside the tokens of earlier steps.
void surround(const JsonValue& step, FrameState& frame, const TextFrame& outer) {
  if (outer.before.empty() && outer.after.empty()) return;
  // Hugging Face's library treats the parts of a template as separate texts, so later steps cannot
  // add tokens.
  if (frame.has_template) step.fail("adds tokens after a template, which is not supported");
  auto& [before, after] = frame.tokens;
  before.insert(before.begin(), outer.before.begin(), outer.before.end());
  after.insert(after.end(), outer.after.begin(), outer.after.end());
}

void read_template(const JsonValue& step, FrameState& frame) {
  TextFrame outer;
  bool has_text = false;
  const JsonValue single = step.at("single");
  single.each_item([&](const JsonValue& item) {
    const auto [kind, value] = item.variant();
    if (kind == "Sequence") {
      if (has_text || value.at("id").string() != "A")
        item.fail("expected only one Sequence, with the id \"A\"");
      has_text = true;
    } else if (kind == "SpecialToken") {
      step.at("special_tokens")
          .at(value.at("id").string())
          .at("ids")
          .each_item([&](const JsonValue& id) {
            if (id.integer() < 0) id.fail("is negative");
            (has_text ? outer.after : outer.before).push_back(id.integer<TokenId>());
          });
    } else {
      item.fail("must be a Sequence or a SpecialToken");
    }
  });
  if (!has_text) single.fail("expected a Sequence with the id \"A\"");
  surround(step, frame, outer);
  frame.has_template |= !outer.before.empty() || !outer.after.empty();
}

// Reads a token with its id: ["[SEP]", 102].
TokenId read_named_id(const JsonValue& json) {
  if (json.size() != 2) json.fail("must have two parts: a token and its id");
  TokenId id = -1;
  json.each_item([&](const JsonValue& part) {
    if (part.is_integer()) id = part.integer<TokenId>();
  });
  if (id < 0) json.fail("has no id");
  return id;
}

void read_bert(const JsonValue& step, FrameState& frame) {
  surround(step, frame, {{read_named_id(step.at("cls"))}, {read_named_id(step.at("sep"))}});
}

void read_byte_level(const JsonValue&, FrameState&) {}  // changes only offsets

void read_step(const JsonValue& step, FrameState& frame);

void read_sequence(const JsonValue& step, FrameState& frame) {
  step.at("processors").each_item([&](const JsonValue& item) { read_step(item, frame); });
}

void read_step(const JsonValue& step, FrameState& frame) {
  static const std::map<std::string_view, ReadFrame> kReaders = {
      {"BertProcessing", read_bert},         {"ByteLevel", read_byte_level},
      {"RobertaProcessing", read_bert},      {"Sequence", read_sequence},
      {"TemplateProcessing", read_template},
  };
  const JsonValue type = step.at("type");
  const auto reader = kReaders.find(type.string());
  if (reader == kReaders.end()) type.fail(fmt::format("\"{}\" is not supported", type.string()));
  reader->second(step, frame);
}

}  // namespace

TextFrame read_post_processor(const JsonValue& json) {
  FrameState frame;
  read_step(json, frame);
  return std::move(frame.tokens);
}

}  // namespace vitrine::hugging_face
