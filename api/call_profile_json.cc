#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <utility>

#include "api/call_profile_state.h"
#include "vitrine/version.h"

namespace vitrine {
namespace {

using Kind = TraceRecord::Kind;
using Row = CallProfile::Row;

// Returns the number of bytes of the first UTF-8 character of `text`. Returns 0 if the bytes are
// not UTF-8.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 0 || lead > 0xF4 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Rejects overlong forms, surrogates, and codes above U+10FFFF.
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ||
      (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F)) {
    return 0;
  }
  return length;
}

// Builds a JSON text. If memory runs out, the text stops growing, and take() returns an error.
class JsonText {
 public:
  JsonText& operator+=(std::string_view added) {
    if (error_.ok()) error_ = text_.append({added.data(), added.size()});
    return *this;
  }
  JsonText& operator+=(char added) { return *this += std::string_view(&added, 1); }
  // Ends a list or object: removes the comma after the last element, if any, and appends
  // `brackets`.
  void finish(std::string_view brackets) {
    if (!text_.empty() && text_.back() == ',') {
      static_cast<void>(text_.resize(text_.size() - 1));  // shrinks: cannot fail
    }
    *this += brackets;
  }
  Result<CheckedVector<char>> take() {
    if (!error_.ok()) return std::move(error_);
    return std::move(text_);
  }

 private:
  CheckedVector<char> text_;
  Error error_;
};

// Appends a JSON string. Bytes that are not UTF-8 become U+FFFD.
void append_string(JsonText& text, std::string_view value) {
  constexpr char kHex[] = "0123456789abcdef";
  text += '"';
  while (!value.empty()) {
    const char c = value.front();
    size_t length = utf8_length(value);
    if (length == 0) {
      text += "\\ufffd";
      length = 1;
    } else if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (static_cast<uint8_t>(c) < 0x20) {
      text += "\\u00";
      text += kHex[c >> 4];
      text += kHex[c & 0xF];
    } else {
      text += value.substr(0, length);
    }
    value.remove_prefix(length);
  }
  text += '"';
}

void append_field(JsonText& text, std::string_view name, std::string_view value) {
  text += '"';
  text += name;
  text += "\":";
  append_string(text, value);
  text += ',';
}

class Digits {
 public:
  template <std::integral T>
  explicit Digits(T number) {
    end_ = std::to_chars(digits_.data(), digits_.data() + digits_.size(), number).ptr;
  }
  std::string_view text() const { return {digits_.data(), end_}; }

 private:
  std::array<char, 24> digits_{};
  char* end_ = digits_.data();
};

void append_field(JsonText& text, std::string_view name, uint64_t value) {
  text += '"';
  text += name;
  text += "\":";
  text += Digits(value).text();
  text += ',';
}

void append_times(JsonText& text, const CallProfile::Times& times) {
  append_field(text, "calls", times.calls);
  append_field(text, "total_ns", times.total_ns);
  append_field(text, "min_ns", times.min_ns);
  append_field(text, "max_ns", times.max_ns);
}

void append_instruction(JsonText& text, const Row& row) {
  const bool is_kernel = row.kind == Kind::kKernelCall;
  const bool is_delegate = row.kind == Kind::kDelegateCall;
  append_field(text, "where", is_kernel ? "kernel" : is_delegate ? "delegate" : "control");
  append_field(text, "chain", static_cast<uint64_t>(row.chain));
  append_field(text, "instruction", static_cast<uint64_t>(row.instruction));
  if (is_delegate) append_field(text, "delegate", row.name);
  if (is_kernel) {
    append_field(text, "kernel", row.name);
    append_field(text, "library", row.implementation);
  }
  append_times(text, row.times);
}

void append_operator(JsonText& text, const Row& row) {
  text += '{';
  append_field(text, "identifier", row.name);
  append_field(text, "kernel", row.implementation);
  append_times(text, row.times);
  text.finish("},");
}

void append_method(JsonText& text, const CallProfile::MethodCalls& method) {
  text += '{';
  append_field(text, "method", method.name);
  append_field(text, "load_ns", method.load_ns);
  append_times(text, method.times);
  append_field(text, "first_ns", method.first_ns);
  text += "\"rows\":[";
  for (size_t i = 0; i < method.rows.size();) {
    const Row& row = method.rows[i++];
    text += '{';
    append_instruction(text, row);
    if (row.kind == Kind::kDelegateCall) {
      text += "\"operators\":[";
      for (; i < method.rows.size() && method.rows[i].kind == Kind::kDelegateOperator; ++i) {
        append_operator(text, method.rows[i]);
      }
      text.finish("]");
    }
    text.finish("},");
  }
  text.finish("]},");
}

}  // namespace

Result<std::string_view> CallProfile::json() {
  VITRINE_ASSIGN_OR_RETURN(const std::span<const MethodCalls> all, methods());
  JsonText text;
  text += '{';
  append_field(text, "schema_version", 1);
  append_field(text, "vitrine_version", VITRINE_VERSION);
  text += "\"methods\":[";
  for (const MethodCalls& method : all) append_method(text, method);
  text.finish("]}");
  VITRINE_ASSIGN_OR_RETURN(CheckedVector<char> made, text.take());
  if (state_ == nullptr) state_.reset(new (std::nothrow) State);
  if (state_ == nullptr) return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory");
  state_->text = std::move(made);
  return std::string_view(state_->text.data(), state_->text.size());
}

}  // namespace vitrine
