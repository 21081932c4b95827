#include "base/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "base/format_error.h"
#include "test/support/damaged_bytes.h"
#include "test/support/results.h"

namespace vitrine {
namespace {

using Kind = PickleNode::Kind;
using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::string pickle_error(const std::string& bytes) {
  return test::thrown<FormatError>([&] { parse_pickle(bytes, "x"); });
}

// Parses the opcodes and the final STOP. Returns the root.
PickleNode root_of(const std::string& opcodes) {
  const Pickle pickle = parse_pickle(opcodes + ".", "x");
  return pickle.nodes[pickle.root];
}

std::string little_endian(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return text;
}

TEST(Pickle, ReadsIntegersOfEveryWidth) {
  for (const uint64_t value : {0u, 1u, 127u, 128u, 255u}) {
    EXPECT_EQ(root_of("K" + little_endian(value, 1)).number, static_cast<int64_t>(value));
  }
  for (const uint64_t value : {0u, 255u, 256u, 65535u}) {
    EXPECT_EQ(root_of("M" + little_endian(value, 2)).number, static_cast<int64_t>(value));
  }
  for (const int64_t value : {int64_t{INT32_MIN}, int64_t{-1}, int64_t{0}, int64_t{INT32_MAX}}) {
    EXPECT_EQ(root_of("J" + little_endian(static_cast<uint64_t>(value), 4)).number, value);
  }
  EXPECT_EQ(root_of("K\x07").kind, Kind::kInt);
}

// In this test, LONG1 has a two's complement number of 0 to 8 bytes.
TEST(Pickle, SignExtendsLongIntegers) {
  EXPECT_EQ(root_of("\x8a\0"s).number, 0);
  for (size_t size = 1; size <= 8; ++size) {
    const int64_t max = std::numeric_limits<int64_t>::max() >> (64 - 8 * size);
    for (const int64_t value : {max, -max - 1, int64_t{-1}, int64_t{1}}) {
      const std::string bytes = little_endian(static_cast<uint64_t>(value), size);
      EXPECT_EQ(root_of("\x8a"s + static_cast<char>(size) + bytes).number, value) << size;
    }
  }
  EXPECT_EQ(pickle_error("\x8a\x09" + std::string(9, '\0') + "."),
            "x: byte 0: an integer has more than 64 bits");
}

TEST(Pickle, ReadsBigEndianDoubles) {
  for (const double value : {0.0, -0.0, 1.5, -1e300, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::denorm_min()}) {
    const auto bits = std::bit_cast<uint64_t>(value);
    std::string bytes = little_endian(bits, 8);
    const PickleNode node = root_of("G" + std::string(bytes.rbegin(), bytes.rend()));
    EXPECT_EQ(node.kind, Kind::kReal);
    EXPECT_EQ(std::bit_cast<uint64_t>(node.real), bits) << value;
  }
}

TEST(Pickle, ReadsStringsWithShortAndLongLengths) {
  for (const std::string& text : {""s, "a"s, "a\0b"s, "\xc3\xa9"s, std::string(255, 'x')}) {
    EXPECT_EQ(root_of("\x8c" + little_endian(text.size(), 1) + text).text, text);
    EXPECT_EQ(root_of("X" + little_endian(text.size(), 4) + text).text, text);
  }
}

TEST(Pickle, ReadsNoneAndBools) {
  EXPECT_EQ(root_of("N").kind, Kind::kNone);
  EXPECT_EQ(root_of("\x88").number, 1);
  EXPECT_EQ(root_of("\x89").number, 0);
  EXPECT_EQ(root_of("\x89").kind, Kind::kBool);
}

std::vector<int64_t> numbers_in(const std::string& opcodes) {
  const Pickle pickle = parse_pickle(opcodes + ".", "x");
  std::vector<int64_t> numbers;
  EXPECT_EQ(pickle.nodes[pickle.root].kind, Kind::kList);
  for (const size_t item : pickle.nodes[pickle.root].items) {
    numbers.push_back(pickle.nodes[item].number);
  }
  return numbers;
}

TEST(Pickle, ReadsTuplesAndLists) {
  EXPECT_THAT(numbers_in(")"), ElementsAre());
  EXPECT_THAT(numbers_in("K\1\x85"), ElementsAre(1));
  EXPECT_THAT(numbers_in("K\1K\2\x86"), ElementsAre(1, 2));
  EXPECT_THAT(numbers_in("K\1K\2K\3\x87"), ElementsAre(1, 2, 3));
  EXPECT_THAT(numbers_in("(K\1K\2K\3K\4t"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(numbers_in("]K\1a(K\2K\3eK\4a"), ElementsAre(1, 2, 3, 4));
}

TEST(Pickle, ReadsDicts) {
  const Pickle pickle = parse_pickle("}K\1K\2s(K\3K\4K\5K\6u.", "x");
  const PickleNode& dict = pickle.nodes[pickle.root];
  EXPECT_EQ(dict.kind, Kind::kDict);
  std::vector<int64_t> numbers;
  for (const size_t item : dict.items) numbers.push_back(pickle.nodes[item].number);
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Pickle, SharesNodesThroughTheMemo) {
  // A list that contains itself. The pickle uses BINPUT and BINGET.
  const Pickle cyclic = parse_pickle("]q\0h\0a."s, "x");
  EXPECT_THAT(cyclic.nodes[cyclic.root].items, ElementsAre(cyclic.root));
  // The same value twice. The pickle uses LONG_BINGET, after MEMOIZE or LONG_BINPUT.
  EXPECT_THAT(numbers_in("K\7\x94j\0\0\0\0\x86"s), ElementsAre(7, 7));
  EXPECT_THAT(numbers_in("K\7r\xff\xff\xff\xffj\xff\xff\xff\xff\x86"s), ElementsAre(7, 7));
}

TEST(Pickle, ReadsGlobalsAndCallsWithoutExecutingThem) {
  EXPECT_EQ(root_of("cos\nsystem\n").text, "os system");
  EXPECT_EQ(root_of("\x8c\2os\x8c\6system\x93").text, "os system");
  EXPECT_EQ(root_of("cos\nsystem\n)R").kind, Kind::kCall);
  EXPECT_EQ(root_of("cos\nsystem\n)\x81").kind, Kind::kCall);
  EXPECT_EQ(root_of("ccollections\nOrderedDict\n)R").kind, Kind::kDict);
  EXPECT_EQ(root_of("ccollections\nOrderedDict\nK\1\x85R").kind, Kind::kCall);
  EXPECT_EQ(root_of("K\7Q").kind, Kind::kPersist);
  EXPECT_EQ(root_of("}Nb").kind, Kind::kDict) << "BUILD drops the attributes";
}

TEST(Pickle, SkipsProtocolAndFrame) {
  EXPECT_EQ(root_of("\x80\x05\x95" + std::string(8, '\xff') + "K\7").number, 7);
}

TEST(Pickle, ReportsErrorsWithTheOffsetOfTheOpcode) {
  const struct {
    std::string bytes, error;
  } cases[] = {
      {"", "x: byte 0: the pickle is truncated"},
      {"N", "x: byte 1: the pickle is truncated"},
      {"NK", "x: byte 1: the pickle is truncated"},
      {"X\xff\xff\xff\xff", "x: byte 0: the pickle is truncated"},
      {"\x8c\2a", "x: byte 0: the pickle is truncated"},
      {"cos\nsystem", "x: byte 0: the pickle is truncated"},
      {"\x80\x06", "x: byte 0: protocol 6 is unknown"},
      {".", "x: byte 0: the stack is empty"},
      {"a", "x: byte 0: the stack is empty"},
      {"q\0"s, "x: byte 0: the stack is empty"},
      {"K\1\x86", "x: byte 2: the stack is empty"},
      {"NI1\n", "x: byte 1: opcode 0x49 is not supported"},
      {"t", "x: byte 0: the stack has no mark"},
      {"NNa", "x: byte 2: the value on top of the stack has the wrong kind"},
      {"}Na", "x: byte 2: the value on top of the stack has the wrong kind"},
      {"]((K\1e", "x: byte 5: the value on top of the stack has the wrong kind"},
      {"]NNs", "x: byte 3: the value on top of the stack has the wrong kind"},
      {"N\x8c\1a\x93", "x: byte 4: the value on top of the stack has the wrong kind"},
      {"NNb", "x: byte 2: the value on top of the stack has the wrong kind"},
      {"}(K\1u", "x: byte 4: a key has no value"},
      {"h\5", "x: byte 0: the memo has no entry 5"},
      {"N)R", "x: byte 2: calls a value that is not a global"},
      {"cos\nsystem\nNR", "x: byte 12: calls a value that is not a global"},
  };
  for (const auto& [bytes, error] : cases) EXPECT_EQ(pickle_error(bytes), error) << bytes;
}

// The opcode STACK_GLOBAL builds the name of a global from two strings on the stack. Without a
// limit, a short pickle could build many long names from one string.
TEST(Pickle, RejectsGlobalsWithLongNames) {
  const auto global = [](size_t size) {
    return "X" + little_endian(size, 4) + std::string(size, 'a') + "q\0h\0h\0\x93."s;
  };
  EXPECT_EQ(pickle_error(global(256)), "");
  EXPECT_THAT(pickle_error(global(257)),
              HasSubstr("the name of a global has 514 bytes; the maximum is 512"));
  EXPECT_THAT(pickle_error("c" + std::string(500, 'a') + "\n" + std::string(13, 'b') + "\n."),
              HasSubstr("the name of a global has 513 bytes; the maximum is 512"));
}

TEST(Pickle, LimitsValuesAndMemoEntries) {
  constexpr size_t kMax = size_t{1} << 20;
  EXPECT_EQ(pickle_error("](" + std::string(kMax - 16, 'N') + "e."), "");
  EXPECT_THAT(pickle_error("](" + std::string(kMax + 1, 'N') + "e."),
              HasSubstr("more than 1048576 values"));
  EXPECT_EQ(pickle_error("N" + std::string(kMax, '\x94') + "."), "");
  EXPECT_THAT(pickle_error("N" + std::string(kMax + 1, '\x94') + "."),
              HasSubstr("the memo has more than 1048576 entries"));
}

// A pickle with most opcodes. The opcode STOP ('.') occurs only at its end.
std::string sample_pickle() {
  return "\x80\x02}X\1\0\0\0aq\0](K\1M\2\0J\3\0\0\0\x8a\1\xff"
         "G?\xf8\0\0\0\0\0\0\x88\x89Nes\x8c\1b(h\0K\1tscm\nC\n)R\x86."s;
}

TEST(Pickle, RejectsEveryTruncation) {
  const std::string bytes = sample_pickle();
  EXPECT_EQ(pickle_error(bytes), "");
  test::for_each_truncation(bytes, [](const std::string& cut, const auto& damage) {
    EXPECT_NE(pickle_error(cut), "") << damage;
  });
}

TEST(Pickle, SurvivesFlippedBytes) {
  const std::string bytes = sample_pickle();
  size_t rejected = 0;
  test::for_each_changed_byte(bytes, [&](const std::string& damaged, const auto&) {
    rejected += pickle_error(damaged).empty() ? 0 : 1;
  });
  EXPECT_GT(rejected, bytes.size() / 2) << "many bytes are opcodes or lengths";
}

}  // namespace
}  // namespace vitrine
