#include "api/value_names.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "runtime/program/program_access.h"

namespace vitrine {
namespace {

constexpr int kMaxTreeDepth = 32;
constexpr int kMaxDepth = 2 * kMaxTreeDepth + 2;  // JSON has two levels per level of the tree
constexpr size_t kMaxNameBytes = 128;             // longer names are omitted

// Reads JSON from front to back. After a function returns false or an empty optional, the cursor
// must not be used again.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  bool take(char wanted) {
    if (!peek(wanted)) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool peek(char wanted) {
    skip_space();
    return !text_.empty() && text_.front() == wanted;
  }
  // Advances to the next member of a list or object. Returns false at `end`, or if a comma is
  // missing.
  bool next_in(char end, bool is_first) { return !peek(end) && (is_first || take(',')); }

  // Returns the text of a string, without quotes. Escapes are not decoded.
  std::optional<std::string_view> string() {
    if (!take('"')) return std::nullopt;
    for (size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == '"') {
        const std::string_view found = text_.substr(0, i);
        text_.remove_prefix(i + 1);
        return found;
      }
    }
    return std::nullopt;
  }
  std::optional<std::string_view> key() {
    const std::optional<std::string_view> found = string();
    return found && take(':') ? found : std::nullopt;
  }
  // Reads a JSON number or a word such as true.
  std::optional<std::string_view> atom() {
    skip_space();
    const size_t length = std::min(text_.find_first_of(" \t\r\n,:[]{}\""), text_.size());
    if (length == 0) return std::nullopt;
    const std::string_view found = text_.substr(0, length);
    text_.remove_prefix(length);
    return found;
  }
  std::optional<std::string_view> value(int depth = 0) {
    if (depth > kMaxDepth) return std::nullopt;
    if (peek('"')) return string();
    const bool is_object = peek('{');
    if (!is_object && !peek('[')) return atom();
    const std::string_view begin = text_;
    const char end = is_object ? '}' : ']';
    text_.remove_prefix(1);
    for (bool is_first = true; next_in(end, is_first); is_first = false) {
      if ((is_object && !key()) || !value(depth + 1)) return std::nullopt;
    }
    if (!take(end)) return std::nullopt;
    return begin.substr(0, begin.size() - text_.size());
  }

 private:
  void skip_space() {
    text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size()));
  }

  std::string_view text_;
};

void append_utf8(uint32_t code, char*& out) {
  if (code < 0x80) {
    *out++ = static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr uint32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  *out++ = static_cast<char>(kLead[more] | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) *out++ = static_cast<char>(0x80 | (code >> (6 * i) & 0x3F));
}

std::optional<uint32_t> hex4(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  uint32_t code = 0;
  for (const char c : text.substr(0, 4)) {
    constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
    const size_t digit = kDigits.find(c);
    if (digit == kDigits.npos) return std::nullopt;
    code = code << 4 | static_cast<uint32_t>(digit < 16 ? digit : digit - 6);
  }
  return code;
}

// Decodes the escapes of a JSON string. The result is never longer than the string. An unknown
// escape becomes its character.
Error unescape(std::string_view text, CheckedVector<char>& plain) {
  VITRINE_RETURN_IF_ERROR(plain.resize(text.size()));
  char* out = plain.data();
  while (!text.empty()) {
    const bool is_escape = text.size() > 1 && text.front() == '\\';
    if (!is_escape) {
      *out++ = text.front();
      text.remove_prefix(1);
      continue;
    }
    constexpr std::string_view kLetters = "bfnrt";
    const char letter = text[1];
    text.remove_prefix(2);
    std::optional<uint32_t> code;
    if (letter == 'u') code = hex4(text);
    if (!code) {
      const size_t known = kLetters.find(letter);
      *out++ = known == kLetters.npos ? letter : "\b\f\n\r\t"[known];
      continue;
    }
    text.remove_prefix(4);
    if (*code >> 10 == 0x36 && text.starts_with("\\u")) {
      const std::optional<uint32_t> low = hex4(text.substr(2));
      if (low && *low >> 10 == 0x37) {
        code = 0x10000 + ((*code & 0x3FF) << 10 | (*low & 0x3FF));
        text.remove_prefix(6);
      }
    }
    append_utf8(*code, out);
  }
  return plain.resize(static_cast<size_t>(out - plain.data()));
}

// Returns the number of elements of a JSON list of strings and numbers. Empty if the text is not
// such a list.
std::optional<size_t> count_keys(std::string_view list) {
  JsonCursor cursor(list);
  if (!cursor.take('[')) return std::nullopt;
  size_t count = 0;
  for (; cursor.next_in(']', count == 0); ++count) {
    if (cursor.peek('"') ? !cursor.string() : !cursor.atom()) return std::nullopt;
  }
  return cursor.take(']') ? std::optional(count) : std::nullopt;
}

// Returns the number of elements of a JSON list. Empty if the text is not a list.
std::optional<size_t> count_items(JsonCursor list) {
  if (!list.take('[')) return std::nullopt;
  size_t count = 0;
  for (; list.next_in(']', count == 0); ++count) {
    if (!list.value()) return std::nullopt;
  }
  return list.take(']') ? std::optional(count) : std::nullopt;
}

// Returns the text that may list a node's keys. For a JSON object, this is the member
// "dict_context" (as for a collections.defaultdict), or an empty text if the member is missing. Any
// other context is returned unchanged.
std::string_view keys_in(std::string_view context) {
  JsonCursor cursor(context);
  if (!cursor.take('{')) return context;
  for (bool is_first = true; cursor.next_in('}', is_first); is_first = false) {
    const auto key = cursor.key();
    const auto value = cursor.value();
    if (!key || !value) break;
    if (*key == "dict_context") return *value;
  }
  return {};
}

class TreeReader {
 public:
  // Appends zero-terminated names to `text` and their offsets to `starts`.
  TreeReader(std::string_view tree, CheckedVector<char>& text, CheckedVector<size_t>& starts)
      : cursor_(tree), text_(text), starts_(starts) {}

  // Returns false if the text is not a tree spec.
  Result<bool> read() {
    constexpr std::string_view kVersion = "1";
    if (!cursor_.take('[') || cursor_.atom() != kVersion || !cursor_.take(',')) return false;
    VITRINE_ASSIGN_OR_RETURN(const bool is_node, node(0));
    return is_node && cursor_.take(']');
  }

 private:
  // Reads a node: {"type": ..., "context": ..., "children_spec": [...]}, in this order.
  Result<bool> node(int depth) {
    if (depth > kMaxTreeDepth || !member('{', "type")) return false;
    const bool is_leaf = !cursor_.peek('"');
    if (!cursor_.value() || !member(',', "context")) return false;
    CheckedVector<char> text;
    const bool is_text = cursor_.peek('"');
    std::optional<std::string_view> context = cursor_.value();
    if (!context || !member(',', "children_spec")) return false;
    if (is_text) {
      VITRINE_RETURN_IF_ERROR(unescape(*context, text));
      context = std::string_view(text.data(), text.size());
    }
    const std::string_view keys = keys_in(*context);
    const std::optional<size_t> num_keys = count_keys(keys);
    const bool has_keys = num_keys && num_keys == count_items(cursor_);
    JsonCursor key(keys);
    if (!cursor_.take('[')) return false;
    size_t count = 0;
    for (; cursor_.next_in(']', count == 0); ++count) {
      const size_t length = length_;
      if (has_keys) {
        key.take(count == 0 ? '[' : ',');
        VITRINE_RETURN_IF_ERROR(enter_key(key, count));
      } else {
        enter_position(count);
      }
      VITRINE_ASSIGN_OR_RETURN(const bool is_node, node(depth + 1));
      if (!is_node) return false;
      length_ = length;
    }
    if (is_leaf && count == 0) VITRINE_RETURN_IF_ERROR(add_name());
    return cursor_.take(']') && cursor_.take('}');
  }

  bool member(char before, std::string_view key) {
    return cursor_.take(before) && cursor_.key() == key;
  }

  // Appends the next key to the path, or `position` if the list of keys has ended.
  Error enter_key(JsonCursor& keys, size_t position) {
    const bool is_text = keys.peek('"');
    const std::optional<std::string_view> key = is_text ? keys.string() : keys.atom();
    if (!key) {
      enter_position(position);
    } else if (!is_text) {
      enter("[", *key, "]");
    } else {
      CheckedVector<char> plain;
      VITRINE_RETURN_IF_ERROR(unescape(*key, plain));
      enter(length_ == 0 ? "" : ".", {plain.data(), plain.size()}, "");
    }
    return Error();
  }
  // Appends a position to the path. Does nothing if the path is empty, because names begin with a
  // key.
  void enter_position(size_t position) {
    if (length_ == 0) return;
    char digits[24];
    const int length = std::snprintf(digits, sizeof digits, "%zu", position);
    enter("[", {digits, static_cast<size_t>(length)}, "]");
  }
  void enter(std::string_view before, std::string_view text, std::string_view after) {
    for (const std::string_view part : {before, text, after}) {
      // Stores only the part of the path that fits.
      const size_t kept =
          length_ < path_.size() ? std::min(part.size(), path_.size() - length_) : 0;
      std::copy_n(part.begin(), kept, path_.begin() + static_cast<ptrdiff_t>(length_));
      length_ += part.size();
    }
  }

  Error add_name() {
    VITRINE_RETURN_IF_ERROR(starts_.push_back(text_.size()));
    if (length_ <= path_.size()) {
      VITRINE_RETURN_IF_ERROR(text_.append({path_.data(), length_}));
    }
    return text_.push_back('\0');
  }

  JsonCursor cursor_;
  CheckedVector<char>& text_;
  CheckedVector<size_t>& starts_;
  std::array<char, kMaxNameBytes> path_{};
  size_t length_ = 0;  // larger than path_ if the path is too long
};

std::string_view text_of(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : text->string_view();
}

}  // namespace

Result<ValueNames> ValueNames::of_tree(std::string_view tree, size_t count) {
  ValueNames names;
  VITRINE_ASSIGN_OR_RETURN(const bool is_tree, TreeReader(tree, names.text_, names.starts_).read());
  if (!is_tree || names.starts_.size() != count) return ValueNames();
  return names;
}

Result<ValueNames> ValueNames::of_inputs(const MethodMeta& method) {
  const auto* trees = ProgramAccess::plan(method).container_meta_type();
  return of_tree(trees == nullptr ? "" : text_of(trees->encoded_inp_str()), method.num_inputs());
}
Result<ValueNames> ValueNames::of_outputs(const MethodMeta& method) {
  const auto* trees = ProgramAccess::plan(method).container_meta_type();
  return of_tree(trees == nullptr ? "" : text_of(trees->encoded_out_str()), method.num_outputs());
}

}  // namespace vitrine
