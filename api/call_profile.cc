#include "api/call_profile.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <tuple>

#include "runtime/core/sort.h"
#include "vitrine/version.h"

namespace vitrine {
namespace {

using Kind = TraceRecord::Kind;

// The length of the UTF-8 character that `text` begins with; 0 if it begins with none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 0 || lead > 0xF4 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what is above U+10FFFF.
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ||
      (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F)) {
    return 0;
  }
  return length;
}

}  // namespace

// Without memory it stays as it is, and take() says so.
class JsonText {
 public:
  JsonText& operator+=(std::string_view added) {
    if (error_.ok()) error_ = text_.append({added.data(), added.size()});
    return *this;
  }
  JsonText& operator+=(char added) { return *this += std::string_view(&added, 1); }
  // A field or element ends with a comma, which the last of them loses.
  void finish(std::string_view brackets) {
    if (!text_.empty() && text_.back() == ',') {
      static_cast<void>(text_.resize(text_.size() - 1));  // shrinks: cannot fail
    }
    *this += brackets;
  }
  bool ok() const { return error_.ok(); }
  void note(Error error) {
    if (error_.ok()) error_ = std::move(error);
  }
  Result<CheckedVector<char>> take() {
    if (!error_.ok()) return std::move(error_);
    return std::move(text_);
  }

 private:
  CheckedVector<char> text_;
  Error error_;
};

namespace {

// Names come from programs: any bytes. Those that are not UTF-8 become U+FFFD.
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

// A number as text, without an allocation.
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

std::string_view text_of(const char* name) { return name == nullptr ? "" : name; }
std::string_view metadata_of(const TraceRecord& record) {
  return record.metadata == nullptr ? std::string_view()
                                    : std::string_view(record.metadata, record.metadata_size);
}

auto identity(const TraceRecord& record) {
  return std::tuple(record.kind, record.chain_index, record.instruction_id,
                    record.delegate_debug_id, text_of(record.name), metadata_of(record));
}

auto instruction(const TraceRecord& record) {
  return std::pair(record.chain_index, record.instruction_id);
}

void append_instruction(const TraceRecord& record, JsonText& text) {
  const bool is_kernel = record.kind == Kind::kKernelCall;
  const bool is_delegate = record.kind == Kind::kDelegateCall;
  append_field(text, "where", is_kernel ? "kernel" : is_delegate ? "delegate" : "control");
  append_field(text, "chain", static_cast<uint64_t>(record.chain_index));
  append_field(text, "instruction", static_cast<uint64_t>(record.instruction_id));
  if (is_delegate) append_field(text, "delegate", text_of(record.name));
  if (!is_kernel) return;
  append_field(text, "kernel", text_of(record.name));
  append_field(text, "library", metadata_of(record));
}

void append_operator(const TraceRecord& record, JsonText& text) {
  const Digits number(record.delegate_debug_id);
  append_field(text, "identifier", record.name != nullptr ? record.name : number.text());
  append_field(text, "kernel", metadata_of(record));
}

}  // namespace

void CallProfile::Times::add(const TraceRecord& record) {
  const uint64_t ns = record.end_ns - record.start_ns;
  min_ns = calls == 0 ? ns : std::min(min_ns, ns);
  max_ns = std::max(max_ns, ns);
  total_ns += ns;
  ++calls;
}

void CallProfile::Times::append_to(JsonText& text) const {
  append_field(text, "calls", calls);
  append_field(text, "total_ns", total_ns);
  append_field(text, "min_ns", min_ns);
  append_field(text, "max_ns", max_ns);
}

Error CallProfile::set_method(std::string_view name) {
  const auto* const known = std::ranges::find(methods_, name, &MethodSums::text);
  current_ = static_cast<size_t>(known - methods_.begin());
  if (known != methods_.end()) return Error();
  MethodSums method;
  VITRINE_RETURN_IF_ERROR(method.name.append({name.data(), name.size()}));
  return methods_.push_back(std::move(method));
}

void CallProfile::begin_block(const char* name) {
  is_loading_ = std::string_view(name) == "Default";
  if (current_ >= methods_.size()) return;
  methods_[current_].next = 0;
  methods_[current_].position = 0;
}

// Calls go through the same instructions in the same order, unless the program branches. Operators
// may share an identifier (layout changes do), so their place in their delegate's call counts too.
CallProfile::Row* CallProfile::row_of(MethodSums& method, const TraceRecord& record) {
  CheckedVector<Row>& rows = method.rows;
  const bool is_operator = record.kind == Kind::kDelegateOperator;
  const size_t position = is_operator ? method.position++ : 0;
  if (!is_operator) method.position = 0;
  const auto is_it = [&](const Row& row) {
    return row.position == position && identity(row.of) == identity(record);
  };
  size_t at = method.next;
  if (at >= rows.size() || !is_it(rows[at])) {
    at = static_cast<size_t>(std::ranges::find_if(rows, is_it) - rows.begin());
  }
  if (at == rows.size() && !rows.push_back({record, position, {}}).ok()) return nullptr;
  method.next = at + 1;
  return &rows[at];
}

void CallProfile::record(const TraceRecord& record) {
  if (current_ >= methods_.size()) return;
  MethodSums& method = methods_[current_];
  if (is_loading_) {
    if (text_of(record.name) == "Program::load_method") {
      method.load_ns = record.end_ns - record.start_ns;
    }
  } else if (record.kind != Kind::kScope) {
    Row* const row = row_of(method, record);
    if (row != nullptr) row->times.add(record);
    has_lost_ = has_lost_ || row == nullptr;
  } else if (text_of(record.name) == "Method::execute") {
    if (method.times.calls == 0) method.first_ns = record.end_ns - record.start_ns;
    method.times.add(record);
  }
}

void CallProfile::reset() {
  has_lost_ = false;
  for (MethodSums& method : methods_) {
    method.times = {};
    method.first_ns = 0;
    method.rows.clear();
    method.next = 0;
    method.position = 0;
  }
}

void CallProfile::append(const MethodSums& method, JsonText& text) {
  text += '{';
  append_field(text, "method", method.text());
  append_field(text, "load_ns", method.load_ns);
  method.times.append_to(text);
  append_field(text, "first_ns", method.first_ns);
  // By instruction, its operators behind it in the order of their run.
  CheckedVector<const Row*> rows;
  text.note(rows.reserve(method.rows.size()));
  if (!text.ok()) return;
  for (const Row& row : method.rows) static_cast<void>(rows.push_back(&row));
  sort(std::span(rows.data(), rows.size()), [](const Row* a, const Row* b) {
    const auto key = [](const Row* row) {  // the last: as they were first seen
      return std::tuple(instruction(row->of), row->of.kind == Kind::kDelegateOperator,
                        row->position, row);
    };
    return key(a) < key(b);
  });
  text += "\"rows\":[";
  for (size_t i = 0; i < rows.size();) {
    const Row& row = *rows[i++];
    // A delegate call that failed may have left only operators.
    if (row.of.kind == Kind::kDelegateOperator) continue;
    text += '{';
    append_instruction(row.of, text);
    row.times.append_to(text);
    if (row.of.kind == Kind::kDelegateCall) {
      text += "\"operators\":[";
      for (; i < rows.size() && instruction(rows[i]->of) == instruction(row.of); ++i) {
        text += '{';
        append_operator(rows[i]->of, text);
        rows[i]->times.append_to(text);
        text.finish("},");
      }
      text.finish("]");
    }
    text.finish("},");
  }
  text.finish("]}");
}

Result<CheckedVector<char>> CallProfile::json() const {
  if (has_lost_) {
    return Error::make(ErrorCode::kMemoryAllocationFailed,
                       "the profile is incomplete: there was no memory for a row; reset it");
  }
  JsonText text;
  text += '{';
  append_field(text, "schema_version", 1);
  append_field(text, "vitrine_version", VITRINE_VERSION);
  text += "\"methods\":[";
  for (const MethodSums& method : methods_) {
    append(method, text);
    text += ',';
  }
  text.finish("]}");
  return text.take();
}

}  // namespace vitrine
