#include "hiaton/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hiaton/error.h"
#include "tensor/data_references.h"
#include "tensor/shown.h"

namespace hiaton {
namespace {

template <class T>
using Limits = std::numeric_limits<T>;

std::vector<Value> edge_values() {
  std::vector<Value> values = {true, false, 0, 1, -1, Limits<int32_t>::min(), Limits<int32_t>::max()};
  for (int64_t i : {int64_t{0}, int64_t{-7}, Limits<int64_t>::min(), Limits<int64_t>::max()})
    values.emplace_back(i);
  for (const int byte : {0, 1, 127, 128, 255}) values.emplace_back(static_cast<uint8_t>(byte));
  for (float x : {0.0f, -0.0f, 0.1f, 1e10f, 16777216.0f, Limits<float>::min(), Limits<float>::denorm_min(),
                  Limits<float>::max(), Limits<float>::infinity(), -Limits<float>::infinity(),
                  Limits<float>::quiet_NaN()}) {
    values.emplace_back(x);
  }
  for (double x : {0.0, -0.0, 0.1, 1e22, 1e-7, 123456789.0, Limits<double>::min(),
                   Limits<double>::denorm_min(), Limits<double>::max(), Limits<double>::infinity(),
                   -Limits<double>::infinity(), Limits<double>::quiet_NaN()}) {
    values.emplace_back(x);
  }
  return values;
}

TEST(Value, TextReadsBackAsTheSameValue) {
  for (const Value& value : edge_values()) {
    EXPECT_EQ(parse_value(value.dtype(), to_string(value)), value) << to_string(value);
  }
}

TEST(Value, RandomBitsReadBackAsTheSameValue) {
  uint64_t bits = 0x9E3779B97F4A7C15u;
  for (int i = 0; i < 20'000; ++i) {
    bits ^= bits << 13;
    bits ^= bits >> 7;
    bits ^= bits << 17;
    Slot wide;
    wide.bits = bits;
    Slot narrow;
    narrow.i32 = static_cast<int32_t>(bits);
    for (const Value& value : {Value(DType::I64, wide), Value(DType::F64, wide), Value(DType::I32, narrow),
                               Value(DType::F32, narrow)}) {
      const Value again = parse_value(value.dtype(), to_string(value));
      const bool nan = to_string(value) == "nan";
      EXPECT_TRUE(nan ? to_string(again) == "nan" : again == value) << to_string(value);
    }
  }
}

TEST(Value, FloatsLookLikeFloats) {
  EXPECT_EQ(to_string(Value(3.0)), "3.0");
  EXPECT_EQ(to_string(Value(-0.0f)), "-0.0");
  EXPECT_EQ(to_string(Value(0.1)), "0.1");
  EXPECT_EQ(to_string(Value(0.1f)), "0.1");
  EXPECT_EQ(to_string(Value(1e100)), "1e+100");
  EXPECT_EQ(to_string(Value(-std::nan(""))), "nan");
}

TEST(Value, EqualityIsThatOfTypeAndBits) {
  EXPECT_EQ(Value(std::nan("")), Value(std::nan("")));
  EXPECT_NE(Value(0.0), Value(-0.0));
  EXPECT_NE(Value(1), Value(int64_t{1}));
  EXPECT_NE(Value(1.0f), Value(1.0));
}

TEST(Value, UnusedBytesOfASlotAreZero) {
  EXPECT_EQ(make_slot(true).bits, 1u);
  EXPECT_EQ(make_slot(int32_t{-1}).bits, 0xFFFFFFFFu);
  EXPECT_EQ(make_slot(1.0f).bits, 0x3F800000u);
}

TEST(Value, ZeroOfEveryType) {
  EXPECT_EQ(zero_of(DType::Bool), Value(false));
  EXPECT_EQ(zero_of(DType::I32), Value(0));
  EXPECT_EQ(zero_of(DType::I64), Value(int64_t{0}));
  EXPECT_EQ(zero_of(DType::F32), Value(0.0f));
  EXPECT_EQ(zero_of(DType::F64), Value(0.0));
}

TEST(ParseValue, TakesAPlusSign) {
  EXPECT_EQ(parse_value(DType::I64, "+7"), Value(int64_t{7}));
  EXPECT_EQ(parse_value(DType::F64, "+0.5"), Value(0.5));
}

TEST(ParseValue, RoundsFloatsToTheNearest) {
  EXPECT_EQ(parse_value(DType::F32, "1e-46"), Value(0.0F));
  EXPECT_EQ(to_string(parse_value(DType::F32, "-1e-60")), "-0.0");
  EXPECT_EQ(parse_value(DType::F32, "1e-45"), Value(std::numeric_limits<float>::denorm_min()));
  EXPECT_EQ(parse_value(DType::F64, "+1e-400"), Value(0.0));
  EXPECT_EQ(parse_value(DType::F64, "2e-310"), Value(2e-310));
  EXPECT_EQ(parse_value(DType::F64, "0." + std::string(400, '0') + "1"), Value(0.0));
  for (const char* const large : {"1e39", "-1e60", "1e400"})
    EXPECT_THROW(parse_value(DType::F32, large), ProgramError) << large;
  for (const char* const wrong : {"1e-60x", "+-1e-60"})
    EXPECT_THROW(parse_value(DType::F32, wrong), ProgramError);
}

TEST(ParseValue, SaysWhatWasExpectedAndFound) {
  const auto message = [](DType type, std::string_view text) {
    try {
      parse_value(type, text);
    } catch (const ProgramError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(DType::I64, "1.5"), "expected a value of type i64, found '1.5'");
  EXPECT_EQ(message(DType::I32, "3000000000"),
            "expected a value of type i32, found '3000000000', which is out of its range");
  EXPECT_EQ(message(DType::I64, "9223372036854775808"),
            "expected a value of type i64, found '9223372036854775808', which is out of its range");
  EXPECT_EQ(message(DType::F32, "1e39"),
            "expected a value of type f32, found '1e39', which is out of its range");
  EXPECT_EQ(message(DType::Bool, "1"), "expected a value of type bool ('true' or 'false'), found '1'");
  for (const char* text : {"", "+", "-", "+-1", "1 ", " 1", "1x", "--1", "0x10", "1e"}) {
    EXPECT_NE(message(DType::I64, text), "") << text;
    EXPECT_NE(message(DType::F64, text), "") << text;
  }
}

template <class Act>
std::string error_of(const Act& act) {
  try {
    act();
  } catch (const ProgramError& error) {
    return error.what();
  }
  return "";
}

TEST(Values, AreReadAsWhatTheyAre) {
  EXPECT_EQ(Value(1.5).as<double>(), 1.5);
  EXPECT_EQ(error_of([] { Value(1.5).as<int64_t>(); }), "expected a value of type i64, found 1.5 (f64)");
  EXPECT_EQ(error_of([] { Value(int64_t{3}).as<int32_t>(); }), "expected a value of type i32, found 3 (i64)");
  EXPECT_EQ(error_of([] { Value(Tensor(DType::F32, {2})).as<float>(); }),
            "expected a value of type f32, found f32[2]");
  EXPECT_EQ(error_of([] { Value("text").as<bool>(); }), "expected a value of type bool, found a data value");
}

TEST(Values, AreTakenOnlyForWhatTheyAre) {
  EXPECT_EQ(error_of([] { Value(int64_t{3}).tensor(); }), "expected a tensor, found 3 (i64)");
  EXPECT_EQ(error_of([] { Value("text").tensor(); }), "expected a tensor, found a data value");
  EXPECT_EQ(error_of([] { Value(Tensor(DType::F32, {2})).data(); }), "expected a data value, found f32[2]");
  EXPECT_EQ(error_of([] { Value(true).string(); }), "expected a string, found true (bool)");
  EXPECT_EQ(error_of([] { Value(Data(0, {int64_t{1}})).string(); }), "expected a string, found a data value");
  EXPECT_EQ(error_of([] { Value(Data(0, {Tensor(DType::F32, {2})})).string(); }),
            "expected a string, found a data value");
  EXPECT_EQ(Value("text").string(), "text");
}

TEST(Values, AreMadeOfSomething) {
  const std::string expected = "expected a value, found a Tensor or Data that was made without one";
  EXPECT_EQ(error_of([] { Value{Tensor()}; }), expected);
  EXPECT_EQ(error_of([] { Value{Data()}; }), expected);
  const char* const no_text = nullptr;
  EXPECT_EQ(error_of([&] { Value{no_text}; }), "expected text, found a pointer that is null");
}

TEST(Misfits, NameTheFirstPartThatDoesNotFit) {
  DataTypes types;
  const Type tree = types.declare("Tree");
  const Type states = tensor_type(DType::F32, {2});
  types.define(tree, {{"Leaf", {{"word", DType::I64}, {"state", states}}},
                      {"Node", {{"left", tree}, {"right", tree}}}});
  const Tensor state(DType::F32, {2});
  const Value leaf = Data(0, {int64_t{1}, state});
  EXPECT_EQ(misfit(Data(1, {leaf, leaf}), tree), std::nullopt);
  EXPECT_EQ(misfit(1.5, tree), "1.5 (f64)");
  EXPECT_EQ(misfit(leaf, DType::I64), "a data value");
  EXPECT_EQ(misfit(Data(7, {}), tree), "a data value of variant 7, where Tree has 2");
  EXPECT_EQ(misfit(Data(0, {}), tree), "a data value of variant 0 with 0 fields, where Leaf has 2");
  EXPECT_EQ(misfit(Data(1, {leaf, Value(Data(0, {1.5, state}))}), tree),
            "1.5 (f64) as field 'word: i64' of Leaf");
  EXPECT_EQ(misfit(Data(1, {int64_t{3}, leaf}), tree), "3 (i64) as field 'left: Tree' of Node");
  EXPECT_EQ(misfit(Data(0, {int64_t{1}, Tensor(DType::F32, {3})}), tree),
            "f32[3] as field 'state: f32[2]' of Leaf");
  EXPECT_EQ(misfit(Data(0, {int64_t{1}}), string_type()), "1 (i64) as field 'code_points: i32[_]'");
}

TEST(ContentBytes, CountWhatIsSharedOnce) {
  const auto bytes_of = [](const Data& data) { return content_bytes(Value(data).slot().data); };
  EXPECT_EQ(bytes_of(Data(0, {})), 0u);
  const Data leaf(0, {Value(int64_t{1})});
  EXPECT_EQ(bytes_of(leaf), 8u);
  const Data tree(1, {Value(leaf), Value(Data(0, {Value(int64_t{2})})), Value(leaf)});
  EXPECT_EQ(bytes_of(tree), 24u + 8 + 8);
  const Tensor tensor(DType::F32, {2, 3});
  EXPECT_EQ(content_bytes(Value(tensor).slot().tensor), 24u);
  EXPECT_EQ(bytes_of(Data(2, {Value(tree), Value(tensor), Value(Data(3, {}))})), 24u + 24 + 40);
}

TEST(ContentBytes, NeedNoRecursion) {
  Data list(0, {});
  for (int i = 0; i < 1'000'000; ++i) list = Data(1, {Value(int64_t{i}), Value(list)});
  EXPECT_EQ(content_bytes(Value(list).slot().data), 16'000'000u);
}

TEST(DTypes, NamesReadBack) {
  for (DType type : {DType::Bool, DType::U8, DType::I32, DType::I64, DType::F32, DType::F64}) {
    EXPECT_EQ(dtype_from_name(name_of(type)), type);
  }
  EXPECT_EQ(dtype_from_name("int"), std::nullopt);
}

TEST(Types, AreWrittenWithTheirShape) {
  Type type = DType::F32;
  EXPECT_EQ(to_string(type), "f32");
  type.shape = {Dim{2, ""}, Dim{-1, "d"}};
  EXPECT_EQ(to_string(type), "f32[2, d]");
  EXPECT_FALSE(type.is_scalar());
}

}  // namespace
}  // namespace hiaton
