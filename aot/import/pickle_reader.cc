#include "aot/import/pickle_reader.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <deque>
#include <unordered_map>
#include <variant>

#include "aot/import/import_error.h"
#include "runtime/core/checked_math.h"

namespace vitrine::aot {
namespace {

constexpr uint64_t kMaxPickleBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxStorageBytes = uint64_t{1} << 40;

struct StorageType {
  std::string_view name;
  ScalarType dtype;
};
constexpr std::array kStorageTypes = {
    StorageType{"FloatStorage", ScalarType::kFloat},
    StorageType{"DoubleStorage", ScalarType::kDouble},
    StorageType{"HalfStorage", ScalarType::kHalf},
    StorageType{"BFloat16Storage", ScalarType::kBFloat16},
    StorageType{"LongStorage", ScalarType::kLong},
    StorageType{"IntStorage", ScalarType::kInt},
    StorageType{"ShortStorage", ScalarType::kShort},
    StorageType{"CharStorage", ScalarType::kChar},
    StorageType{"ByteStorage", ScalarType::kByte},
    StorageType{"BoolStorage", ScalarType::kBool},
    StorageType{"ComplexFloatStorage", ScalarType::kComplexFloat},
    StorageType{"ComplexDoubleStorage", ScalarType::kComplexDouble},
};

struct Object;
struct Mark {};
struct Global {
  std::string name;  // "collections.OrderedDict"
};
struct Storage {
  ScalarType dtype;
  Bytes bytes;
};
struct Sequence {
  std::vector<Object*> items;
};
struct Dictionary {
  std::vector<std::pair<Object*, Object*>> items;
};
// Kept by the reader for as long as it reads: objects may hold each other in circles.
struct Object {
  std::variant<std::monostate, Mark, bool, int64_t, double, std::string, Global, Storage,
               TensorData, Sequence, Dictionary>
      value;
};

class PickleReader {
 public:
  PickleReader(const ZipArchive& archive, std::string root)
      : archive_(archive), root_(std::move(root)), place_(root_ + "data.pkl") {
    bytes_ = archive.read(place_, kMaxPickleBytes);
  }

  TensorMap read() {
    const Object* top = run();
    const auto* dictionary = std::get_if<Dictionary>(&top->value);
    if (dictionary == nullptr) fail("is not a dict of tensors");
    TensorMap tensors;
    for (const auto& [key, value] : dictionary->items) {
      const auto* name = std::get_if<std::string>(&key->value);
      if (name == nullptr) fail("has a key that is no string");
      const auto* tensor = std::get_if<TensorData>(&value->value);
      if (tensor == nullptr) fail(fmt::format("\"{}\" is no tensor", *name));
      tensors.insert_or_assign(*name, *tensor);
    }
    return tensors;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw ImportError(fmt::format("{}: {}: {} (byte {})", archive_.source(), place_, what, at_));
  }

  template <class T>
  Object* make(T value) {
    objects_.push_back(Object{std::move(value)});
    return &objects_.back();
  }
  void push(Object* object) { stack_.push_back(object); }
  Object* pop() {
    if (stack_.empty()) fail("takes from an empty stack");
    Object* object = stack_.back();
    stack_.pop_back();
    return object;
  }
  Object* top() {
    if (stack_.empty()) fail("looks at an empty stack");
    return stack_.back();
  }
  // All above the last mark, which goes too.
  std::vector<Object*> pop_to_mark() {
    size_t mark = stack_.size();
    while (mark > 0 && !std::holds_alternative<Mark>(stack_[mark - 1]->value)) --mark;
    if (mark == 0) fail("has no mark");
    std::vector<Object*> items(stack_.begin() + static_cast<std::ptrdiff_t>(mark), stack_.end());
    stack_.resize(mark - 1);
    return items;
  }
  template <class T>
  T& as(Object* object, std::string_view what) {
    T* value = std::get_if<T>(&object->value);
    if (value == nullptr) fail(fmt::format("has something else than {}", what));
    return *value;
  }
  int64_t integer(Object* object) { return as<int64_t>(object, "an integer"); }
  std::vector<int64_t> integers(Object* object) {
    std::vector<int64_t> values;
    for (Object* item : as<Sequence>(object, "a tuple").items) values.push_back(integer(item));
    return values;
  }

  std::span<const std::byte> take(uint64_t count) {
    if (!range_fits(at_, count, bytes_.span.size())) fail("is cut short");
    const auto taken = bytes_.span.subspan(at_, count);
    at_ += count;
    return taken;
  }
  uint64_t number(size_t width) {
    uint64_t value = 0;
    const auto taken = take(width);
    for (size_t i = width; i-- > 0;) value = value << 8 | std::to_integer<uint64_t>(taken[i]);
    return value;
  }
  std::string text(uint64_t count) {
    const auto taken = take(count);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  std::string line() {
    std::string found;
    for (;;) {
      const char c = static_cast<char>(number(1));
      if (c == '\n') return found;
      found += c;
    }
  }
  // Two's complement, little-endian, of any width up to eight bytes.
  int64_t long_integer(size_t width) {
    if (width > 8) fail("has an integer of more than 64 bits");
    if (width == 0) return 0;
    uint64_t value = number(width);
    const size_t unused = 64 - 8 * width;
    return std::bit_cast<int64_t>(value << unused) >> unused;
  }

  Object* run();
  void build_list(std::vector<Object*> items) {
    auto& list = as<Sequence>(top(), "a list").items;
    list.insert(list.end(), items.begin(), items.end());
  }
  void set_items(const std::vector<Object*>& items) {
    if (items.size() % 2 != 0) fail("has a key without a value");
    auto& dictionary = as<Dictionary>(top(), "a dict").items;
    for (size_t i = 0; i < items.size(); i += 2) dictionary.emplace_back(items[i], items[i + 1]);
  }
  Object* pop_tuple(size_t count) {
    Sequence tuple;
    tuple.items.resize(count);
    for (size_t i = count; i-- > 0;) tuple.items[i] = pop();
    return make(std::move(tuple));
  }
  Object* load_storage(Object* id);
  Object* reduce(Object* function, Object* arguments);

  const ZipArchive& archive_;
  std::string root_;
  std::string place_;
  Bytes bytes_;
  uint64_t at_ = 0;
  std::deque<Object> objects_;
  std::vector<Object*> stack_;
  std::unordered_map<uint64_t, Object*> memo_;
};

Object* PickleReader::load_storage(Object* id) {
  const std::vector<Object*>& parts = as<Sequence>(id, "a tuple").items;
  if (parts.size() != 5 || as<std::string>(parts[0], "a string") != "storage") {
    fail("has an unknown kind of reference");
  }
  const std::string& type = as<Global>(parts[1], "a storage type").name;
  const std::string& key = as<std::string>(parts[2], "a string");
  for (const StorageType& known : kStorageTypes) {
    if (type != fmt::format("torch.{}", known.name)) continue;
    return make(Storage{known.dtype,
                        archive_.read(fmt::format("{}data/{}", root_, key), kMaxStorageBytes)});
  }
  fail(fmt::format("has a storage of type {}, which is not supported", type));
}

Object* PickleReader::reduce(Object* function, Object* arguments) {
  const std::string& name = as<Global>(function, "a function").name;
  const std::vector<Object*>& items = as<Sequence>(arguments, "a tuple").items;
  if (name == "collections.OrderedDict" && items.empty()) return make(Dictionary{});
  // The second has attributes of Python besides, which say nothing of the numbers.
  if ((name == "torch._utils._rebuild_parameter" ||
       name == "torch._utils._rebuild_parameter_with_state") &&
      items.size() >= 2) {
    TensorData tensor = as<TensorData>(items[0], "a tensor");
    tensor.requires_grad = as<bool>(items[1], "a bool");
    return make(std::move(tensor));
  }
  if (name == "torch._utils._rebuild_tensor_v2" && items.size() >= 5) {
    const auto& storage = as<Storage>(items[0], "a storage");
    TensorData tensor;
    tensor.dtype = storage.dtype;
    tensor.storage = storage.bytes.span;
    tensor.owner = storage.bytes.owner;
    tensor.storage_offset = integer(items[1]);
    tensor.sizes = integers(items[2]);
    tensor.strides = integers(items[3]);
    tensor.requires_grad = as<bool>(items[4], "a bool");
    if (const std::string wrong = tensor.check(); !wrong.empty()) {
      fail(fmt::format("a tensor {}", wrong));
    }
    return make(std::move(tensor));
  }
  fail(fmt::format("calls {}, which is not supported", name));
}

// One case an opcode of the protocol, by its letter in Python's pickle module.
Object* PickleReader::run() {
  for (;;) {
    const auto opcode = static_cast<unsigned char>(number(1));
    switch (opcode) {
      case 0x80:  // PROTO
        number(1);
        break;
      case 'c': {  // GLOBAL
        std::string module = line();
        push(make(Global{module + "." + line()}));
        break;
      }
      case 'q':  // BINPUT
        memo_[number(1)] = top();
        break;
      case 'r':  // LONG_BINPUT
        memo_[number(4)] = top();
        break;
      case 'h':    // BINGET
      case 'j': {  // LONG_BINGET
        const auto found = memo_.find(number(opcode == 'h' ? 1 : 4));
        if (found == memo_.end()) fail("asks for what it has not kept");
        push(found->second);
        break;
      }
      case '(':
        push(make(Mark{}));
        break;
      case ')':
      case ']':
        push(make(Sequence{}));
        break;
      case '}':
        push(make(Dictionary{}));
        break;
      case 't':
        push(make(Sequence{pop_to_mark()}));
        break;
      case 0x85:
      case 0x86:
      case 0x87:  // TUPLE1 to TUPLE3
        push(pop_tuple(static_cast<size_t>(opcode - 0x84)));
        break;
      case 'X':  // BINUNICODE
        push(make(text(number(4))));
        break;
      case 'J':  // BININT
        push(make(long_integer(4)));
        break;
      case 'K':
        push(make(static_cast<int64_t>(number(1))));
        break;
      case 'M':
        push(make(static_cast<int64_t>(number(2))));
        break;
      case 0x8a:  // LONG1
        push(make(long_integer(number(1))));
        break;
      case 'G': {  // BINFLOAT, big-endian
        uint64_t bits = 0;
        for (int i = 0; i < 8; ++i) bits = bits << 8 | number(1);
        push(make(std::bit_cast<double>(bits)));
        break;
      }
      case 'N':
        push(make(std::monostate{}));
        break;
      case 0x88:
      case 0x89:
        push(make(opcode == 0x88));
        break;
      case 'Q':  // BINPERSID
        push(load_storage(pop()));
        break;
      case 'R': {  // REDUCE
        Object* arguments = pop();
        push(reduce(pop(), arguments));
        break;
      }
      case 'b':  // BUILD: attributes of an OrderedDict (its version), which say nothing
        pop();
        top();
        break;
      case 's': {
        Object* value = pop();
        Object* key = pop();
        set_items({key, value});
        break;
      }
      case 'u':
        set_items(pop_to_mark());
        break;
      case 'a':
        build_list({pop()});
        break;
      case 'e':
        build_list(pop_to_mark());
        break;
      case '.':
        return pop();
      default:
        fail(fmt::format("has the opcode {:#04x}, which is not supported", opcode));
    }
  }
}

}  // namespace

TensorMap read_saved_tensors(const Bytes& bytes, const std::string& place) {
  if (bytes.span.empty()) return {};
  const ZipArchive archive(bytes, place);
  for (const std::string& name : archive.names()) {
    constexpr std::string_view kPickle = "data.pkl";
    if (!name.ends_with(kPickle)) continue;
    const std::string root = name.substr(0, name.size() - kPickle.size());
    if (!root.empty() && !root.ends_with('/')) continue;
    const std::string order = root + "byteorder";
    if (archive.has(order) && archive.read(order, 16).text() != "little") {
      throw ImportError(fmt::format("{}: {}: its numbers are not little-endian", place, order));
    }
    return PickleReader(archive, root).read();
  }
  throw ImportError(fmt::format("{}: has no data.pkl: torch.save did not write it", place));
}

}  // namespace vitrine::aot
