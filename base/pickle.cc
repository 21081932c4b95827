#include "base/pickle.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <unordered_map>

#include "base/format_error.h"

namespace vitrine {
namespace {

using Kind = PickleNode::Kind;

constexpr int kLastProtocol = 5;
// Maximum length of the text "module name" of a global. Otherwise, a small pickle could make many
// copies of a long name.
constexpr size_t kMaxGlobalBytes = 512;
// Maximum number of nodes and of memo entries. A small pickle could otherwise use much memory.
constexpr size_t kMaxNodes = size_t{1} << 20;

class Unpickler {
 public:
  Unpickler(std::string_view bytes, const std::string& source) : bytes_(bytes), source_(source) {}

  Pickle parse() {
    for (;;) {
      begin_ = at_;
      const auto opcode = static_cast<uint8_t>(take(1)[0]);
      if (opcode == '.') {
        pickle_.root = pop();
        return std::move(pickle_);
      }
      const Step step = kSteps[opcode];
      if (step == nullptr) fail(fmt::format("opcode {:#04x} is not supported", opcode));
      (this->*step)();
    }
  }

 private:
  using Step = void (Unpickler::*)();

  [[noreturn]] void fail(std::string_view what) const {
    throw FormatError(fmt::format("{}: byte {}: {}", source_, begin_, what));
  }

  std::string_view take(size_t count) {
    if (count > bytes_.size() - at_) fail("the pickle is truncated");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  template <class T>
  T take_little() {
    uint64_t value = 0;
    const std::string_view bytes = take(sizeof(T));
    for (size_t i = 0; i < sizeof(T); ++i) {
      value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    }
    return static_cast<T>(value);
  }
  std::string_view take_line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) fail("the pickle is truncated");
    const std::string_view line = take(end - at_);
    take(1);
    return line;
  }

  void push(size_t node) { stack_.push_back(node); }
  PickleNode& push_new(Kind kind) {
    if (pickle_.nodes.size() == kMaxNodes)
      fail(fmt::format("the pickle has more than {} values", kMaxNodes));
    push(pickle_.nodes.size());
    pickle_.nodes.push_back({.kind = kind});
    return pickle_.nodes.back();
  }
  size_t pop() {
    if (stack_.empty()) fail("the stack is empty");
    const size_t top = stack_.back();
    stack_.pop_back();
    return top;
  }
  PickleNode& top(Kind kind) {
    if (stack_.empty() || pickle_.nodes[stack_.back()].kind != kind) {
      fail("the value on top of the stack has the wrong kind");
    }
    return pickle_.nodes[stack_.back()];
  }
  // Removes the last mark and the values above the mark from the stack. Returns these values.
  std::vector<size_t> pop_to_mark() {
    size_t mark = stack_.size();
    while (mark > 0 && pickle_.nodes[stack_[mark - 1]].kind != Kind::kMark) --mark;
    if (mark == 0) fail("the stack has no mark");
    std::vector<size_t> items(stack_.begin() + static_cast<std::ptrdiff_t>(mark), stack_.end());
    stack_.resize(mark - 1);
    return items;
  }

  void protocol() {
    const int version = take_little<uint8_t>();
    if (version > kLastProtocol) fail(fmt::format("protocol {} is unknown", version));
  }
  void frame() { take(8); }
  void mark() { push_new(Kind::kMark); }
  void none() { push_new(Kind::kNone); }
  void new_true() { push_new(Kind::kBool).number = 1; }
  void new_false() { push_new(Kind::kBool); }
  void empty_list() { push_new(Kind::kList); }
  void empty_dict() { push_new(Kind::kDict); }

  void int4() { push_new(Kind::kInt).number = take_little<int32_t>(); }
  void int1() { push_new(Kind::kInt).number = take_little<uint8_t>(); }
  void int2() { push_new(Kind::kInt).number = take_little<uint16_t>(); }
  void long1() {
    const size_t size = take_little<uint8_t>();
    if (size > sizeof(int64_t)) fail("an integer has more than 64 bits");
    const std::string_view bytes = take(size);
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof value; ++i) {
      const bool is_negative = size > 0 && static_cast<int8_t>(bytes[size - 1]) < 0;
      const uint8_t fill = is_negative ? 0xff : 0;
      value |= uint64_t{i < size ? static_cast<uint8_t>(bytes[i]) : fill} << (8 * i);
    }
    push_new(Kind::kInt).number = static_cast<int64_t>(value);
  }
  void real8() {  // big-endian
    uint64_t bits = 0;
    for (const char c : take(8)) bits = bits << 8 | static_cast<uint8_t>(c);
    push_new(Kind::kReal).real = std::bit_cast<double>(bits);
  }

  void text1() { push_new(Kind::kText).text = take(take_little<uint8_t>()); }
  void text4() { push_new(Kind::kText).text = take(take_little<uint32_t>()); }

  void global() {
    const std::string_view module = take_line();
    push_global(module, take_line());
  }
  void stack_global() {
    const std::string& name = top(Kind::kText).text;  // stays valid: the deque does not move nodes
    pop();
    const std::string& module = top(Kind::kText).text;
    pop();
    push_global(module, name);
  }
  void push_global(std::string_view module, std::string_view name) {
    const size_t size = module.size() + name.size();
    if (size > kMaxGlobalBytes) {
      fail(fmt::format("the name of a global has {} bytes; the maximum is {}", size,
                       kMaxGlobalBytes));
    }
    push_new(Kind::kGlobal).text = fmt::format("{} {}", module, name);
  }

  void put1() { put(take_little<uint8_t>()); }
  void put4() { put(take_little<uint32_t>()); }
  void memoize() { put(static_cast<uint32_t>(memo_.size())); }
  void put(uint32_t key) {
    if (stack_.empty()) fail("the stack is empty");
    memo_[key] = stack_.back();
    if (memo_.size() > kMaxNodes) fail(fmt::format("the memo has more than {} entries", kMaxNodes));
  }
  void get1() { get(take_little<uint8_t>()); }
  void get4() { get(take_little<uint32_t>()); }
  void get(uint32_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) fail(fmt::format("the memo has no entry {}", key));
    push(found->second);
  }

  template <size_t kCount>
  void tuple() {
    std::vector<size_t> items(kCount);
    for (size_t i = kCount; i-- > 0;) items[i] = pop();
    push_new(Kind::kList).items = std::move(items);
  }
  void tuple_of_marked() {
    std::vector<size_t> items = pop_to_mark();
    push_new(Kind::kList).items = std::move(items);
  }
  void append() {
    const size_t item = pop();
    top(Kind::kList).items.push_back(item);
  }
  void append_marked() { extend(Kind::kList, pop_to_mark()); }
  void set_item() {
    const size_t value = pop();
    const size_t key = pop();
    extend(Kind::kDict, {key, value});
  }
  void set_marked() {
    const std::vector<size_t> items = pop_to_mark();
    if (items.size() % 2 != 0) fail("a key has no value");
    extend(Kind::kDict, items);
  }
  void extend(Kind kind, const std::vector<size_t>& items) {
    PickleNode& node = top(kind);
    node.items.insert(node.items.end(), items.begin(), items.end());
  }

  void persistent() {
    const size_t name = pop();
    push_new(Kind::kPersist).items = {name};
  }
  // Drops the Python attributes of an object or an OrderedDict. The attributes are not part of the
  // data.
  void build() {
    pop();
    if (stack_.empty() || pickle_.nodes[stack_.back()].kind != Kind::kCall) top(Kind::kDict);
  }
  void reduce() {
    const size_t arguments = pop();
    const size_t callee = pop();
    if (pickle_.nodes[callee].kind != Kind::kGlobal ||
        pickle_.nodes[arguments].kind != Kind::kList) {
      fail("calls a value that is not a global");
    }
    if (pickle_.nodes[callee].text == "collections OrderedDict" &&
        pickle_.nodes[arguments].items.empty()) {
      push_new(Kind::kDict);
      return;
    }
    push_new(Kind::kCall).items = {callee, arguments};
  }

  static constexpr std::array<Step, 256> make_steps() {
    std::array<Step, 256> steps{};
    steps[0x80] = &Unpickler::protocol;
    steps[0x95] = &Unpickler::frame;
    steps['('] = &Unpickler::mark;
    steps['N'] = &Unpickler::none;
    steps[0x88] = &Unpickler::new_true;
    steps[0x89] = &Unpickler::new_false;
    steps[']'] = &Unpickler::empty_list;
    steps['}'] = &Unpickler::empty_dict;
    steps[')'] = &Unpickler::tuple<0>;
    steps['J'] = &Unpickler::int4;
    steps['K'] = &Unpickler::int1;
    steps['M'] = &Unpickler::int2;
    steps[0x8a] = &Unpickler::long1;
    steps['G'] = &Unpickler::real8;
    steps['X'] = &Unpickler::text4;
    steps[0x8c] = &Unpickler::text1;
    steps['c'] = &Unpickler::global;
    steps[0x93] = &Unpickler::stack_global;
    steps['q'] = &Unpickler::put1;
    steps['r'] = &Unpickler::put4;
    steps[0x94] = &Unpickler::memoize;
    steps['h'] = &Unpickler::get1;
    steps['j'] = &Unpickler::get4;
    steps[0x85] = &Unpickler::tuple<1>;
    steps[0x86] = &Unpickler::tuple<2>;
    steps[0x87] = &Unpickler::tuple<3>;
    steps['t'] = &Unpickler::tuple_of_marked;
    steps['a'] = &Unpickler::append;
    steps['e'] = &Unpickler::append_marked;
    steps['s'] = &Unpickler::set_item;
    steps['u'] = &Unpickler::set_marked;
    steps['Q'] = &Unpickler::persistent;
    steps['R'] = steps[0x81] = &Unpickler::reduce;
    steps['b'] = &Unpickler::build;
    return steps;
  }
  static const std::array<Step, 256> kSteps;

  std::string_view bytes_;
  const std::string& source_;
  size_t at_ = 0;
  size_t begin_ = 0;  // offset of the current opcode
  Pickle pickle_;
  std::vector<size_t> stack_;
  std::unordered_map<uint32_t, size_t> memo_;
};

constexpr std::array<Unpickler::Step, 256> Unpickler::kSteps = Unpickler::make_steps();

}  // namespace

Pickle parse_pickle(std::string_view bytes, const std::string& source) {
  return Unpickler(bytes, source).parse();
}

}  // namespace vitrine
