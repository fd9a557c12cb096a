#include "net/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "hiaton/error.h"
#include "sized.h"

namespace hiaton::net {
namespace {

using testing::HasSubstr;

std::vector<std::byte> written(const Type& type, const Value& value) {
  ByteWriter out;
  ValueCodec(type).write(value, out);
  return {out.bytes().begin(), out.bytes().end()};
}

Value read(const Type& type, std::span<const std::byte> bytes) {
  ByteReader in(bytes, "a test");
  Value value = ValueCodec(type).read(in);
  in.require_end();
  return value;
}

Value through(const Type& type, const Value& value) {
  return read(type, written(type, value));
}

/// data Tree = Leaf(word: i64, weights: f32[n]) | Node(left: Tree, mark: bool, right: Tree) | None
struct TreeTypes {
  DataTypes types;
  Type tree = types.declare("Tree");
  Type list = types.list_of(DType::I64);

  TreeTypes() {
    types.define(tree, {{"Leaf", {{"word", DType::I64}, {"weights", Type(DType::F32, {{-1, "n"}})}}},
                        {"Node", {{"left", tree}, {"mark", DType::Bool}, {"right", tree}}},
                        {"None", {}}});
  }
};

Value leaf(int64_t word) {
  Tensor weights(DType::F32, {word % 3});
  for (int64_t i = 0; i < weights.size(); ++i)
    weights.mutable_data<float>()[i] = static_cast<float>(word + i);
  return Data(0, {word, std::move(weights)});
}

Value node(const Value& left, bool mark, const Value& right) {
  return Data(1, {left, mark, right});
}

Value random_tree(std::mt19937& random, int size) {
  if (size <= 1) return random() % 4 == 0 ? Value(Data(2, {})) : leaf(static_cast<int64_t>(random() % 100));
  const int left = static_cast<int>(random() % static_cast<unsigned>(size));
  Value below = random_tree(random, left);
  return node(below, random() % 2 == 0, random() % 4 == 0 ? below : random_tree(random, size - 1 - left));
}

Value long_list(int64_t length) {
  Value list = Data(0, {});
  for (int64_t i = 0; i < length; ++i) {
    std::array<Value, 2> fields{Value(i), std::move(list)};
    list = Data::take(1, fields);
  }
  return list;
}

TEST(Values, ScalarsArriveAsTheSame) {
  for (const Value& value :
       {Value(true), Value(uint8_t{200}), Value(-7), Value(int64_t{1} << 60), Value(0.1f), Value(-0.0)}) {
    EXPECT_EQ(through(Type(value.dtype()), value), value) << to_string(value);
    EXPECT_EQ(written(Type(value.dtype()), value).size(), 8u);
  }
}

TEST(Values, TensorsArriveWithTheSizesThatTheirTypeLeavesOpen) {
  Tensor matrix(DType::F64, {2, 3});
  for (int64_t i = 0; i < 6; ++i) matrix.mutable_data<double>()[i] = static_cast<double>(i) / 7;
  const Type open(DType::F64, {{-1, "n"}, {3, ""}});
  EXPECT_EQ(through(open, Value(matrix)), Value(matrix));
  EXPECT_EQ(written(open, Value(matrix)).size(), 1 + 6 * sizeof(double));
  const Tensor empty(DType::Bool, {0, 3});
  EXPECT_EQ(through(Type(DType::Bool, {{-1, "n"}, {3, ""}}), Value(empty)), Value(empty));
}

/// Some of the elements of a larger tensor.
TEST(Values, PartsOfTensorsAreWrittenAsTensorsAndReadToWhereTheyShallStand) {
  const TreeTypes types;
  const std::vector<Type> all{types.tree, Type(DType::F64, {{2, ""}, {10, ""}}), DType::I64,
                              Type(DType::F32, {{-1, "n"}})};
  const ValueCodec codec(all);
  EXPECT_FALSE(codec.known_size(0) || codec.known_size(2) || codec.known_size(3));
  ASSERT_TRUE(codec.known_size(1));
  EXPECT_EQ(codec.known_size(1)->bytes, 20 * sizeof(double));
  std::vector<double> rows(60);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<double>(i);
  const std::vector<float> open{1, 2, 3};
  const std::array<int64_t, 2> row_dims{2, 10};
  const std::array<int64_t, 1> open_dims{3};
  const Value tree = node(leaf(2), true, leaf(1));
  Slot number;
  number.i64 = -7;
  const std::array<ValueCodec::Written, 4> values{
      {{tree.slot()},
       {.slot = {}, .dims = row_dims, .elements = reinterpret_cast<const std::byte*>(&rows[20])},
       {number},
       {.slot = {}, .dims = open_dims, .elements = reinterpret_cast<const std::byte*>(open.data())}}};
  ByteWriter out;
  codec.write_borrowed(values, out);
  std::vector<std::byte> bytes(out.size());
  out.copy_to(bytes.data());

  std::vector<double> arrived(20);
  std::vector<Slot> slots(all.size());
  const std::array<std::byte*, 4> places{nullptr, reinterpret_cast<std::byte*>(arrived.data()), nullptr,
                                         nullptr};
  ByteReader in(bytes, "a test");
  codec.read_slots(in, slots, places);
  in.require_end();
  EXPECT_EQ(arrived, std::vector<double>(rows.begin() + 20, rows.begin() + 40));
  EXPECT_EQ(slots[2].i64, -7);
  EXPECT_EQ(Value(Data::adopt(slots[0].data)), tree);
  const Tensor last = Tensor::adopt(slots[3].tensor);
  EXPECT_EQ(std::vector<float>(last.data<float>(), last.data<float>() + last.size()), open);

  ByteReader once_more(bytes, "a test");
  codec.read_slots(once_more, slots);
  EXPECT_EQ(Data::adopt(slots[0].data).variant(), 1u);
  EXPECT_EQ(Tensor::adopt(slots[1].tensor).data<double>()[19], 39);
  Tensor::release(slots[3].tensor);
  bytes.resize(bytes.size() - 15);
  ByteReader cut(bytes, "a test");
  EXPECT_THROW(codec.read_slots(cut, slots, places), ProgramError);
}

TEST(Values, RandomTreesArriveAsTheSame) {
  const TreeTypes types;
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    const Value tree = random_tree(random, i % 60);
    EXPECT_EQ(through(types.tree, tree), tree);
  }
}

TEST(Values, WhatIsSharedTravelsOnceAndIsSharedThere) {
  const TreeTypes types;
  Value tree = leaf(2);
  for (int i = 0; i < 40; ++i) tree = node(tree, true, tree);  // as a tree, 2^40 nodes
  EXPECT_LT(written(types.tree, tree).size(), 1000u);
  Data arrived = through(types.tree, tree).data();
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(arrived.field(0).slot().data, arrived.field(2).slot().data);
    arrived = arrived.field(0).data();
  }
  EXPECT_EQ(Value(arrived), leaf(2));
}

TEST(Values, ListsAndTreesMayBeAsLongAsMemoryAllows) {
  const TreeTypes types;
  constexpr int64_t kLength = sized<int64_t>(10'000'000, 100'000);
  const Value list = long_list(kLength);
  EXPECT_EQ(through(types.list, list), list);
  Value deep = leaf(1);
  for (int64_t i = 0; i < kLength / 10; ++i) deep = node(deep, false, Data(2, {}));
  EXPECT_EQ(through(types.tree, deep), deep);
}

std::string error_of(const Type& type, std::span<const std::byte> bytes) {
  try {
    read(type, bytes);
  } catch (const ProgramError& error) {
    return error.what();
  }
  return "none";
}

std::vector<std::byte> bytes_of(std::initializer_list<int> numbers) {
  std::vector<std::byte> bytes;
  for (int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

TEST(HostileValues, SayWhatWasExpectedAndFound) {
  const TreeTypes types;
  EXPECT_EQ(error_of(DType::I64, bytes_of({1, 2})), "a test, byte 0: expected 8 bytes, found 2");
  EXPECT_THAT(error_of(DType::Bool, bytes_of({2, 0, 0, 0, 0, 0, 0, 0})),
              HasSubstr("expected a scalar of type bool"));
  EXPECT_THAT(error_of(types.tree, bytes_of({12})),
              HasSubstr("one of the 3 variants of Tree, found number 3"));
  EXPECT_THAT(error_of(types.tree, bytes_of({2})),
              HasSubstr("one of the 0 shared values so far, found number 0"));
  EXPECT_THAT(error_of(types.tree, bytes_of({9})),
              HasSubstr("expected a value that can be shared, found None()"));
  EXPECT_THAT(error_of(types.tree, bytes_of({8, 8})), HasSubstr("expected the end, found 1 more bytes"));
  EXPECT_THAT(error_of(Type(DType::F32, {{-1, "n"}, {-1, "m"}}), bytes_of({100, 100, 0})),
              HasSubstr("expected the elements of a tensor of type f32[100, 100], found 1 bytes"));
  EXPECT_THAT(error_of(Type(DType::Bool, {{-1, "n"}}), bytes_of({2, 1, 7})),
              HasSubstr("expected elements that are 0 or 1"));
  // A node that is its own child, once directly and once below another one.
  EXPECT_THAT(error_of(types.tree, bytes_of({5, 1, 0, 0, 0, 0, 0, 0, 0, 2, 8})),
              HasSubstr("found one that contains itself"));
  EXPECT_THAT(error_of(types.tree, bytes_of({5, 1, 0, 0, 0, 0, 0, 0, 0, 8, 4, 0, 0, 0, 0, 0, 0, 0, 0, 8, 2})),
              HasSubstr("found one that contains itself"));
}

TEST(HostileValues, AnyDamageIsAnErrorOrAnotherValueOfTheType) {
  const TreeTypes types;
  std::mt19937 random(7);
  int errors = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes = written(types.tree, random_tree(random, static_cast<int>(random() % 30)));
    for (unsigned damages = random() % 4 + 1; damages > 0; --damages) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    try {
      const Value value = read(types.tree, bytes);
      EXPECT_EQ(through(types.tree, value), value);
    } catch (const ProgramError&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 5'000);
}

}  // namespace
}  // namespace hiaton::net
