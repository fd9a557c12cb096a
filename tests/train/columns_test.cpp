#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "directory.h"
#include "hiaton/error.h"
#include "hiaton/examples.h"

namespace hiaton::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
std::string bytes_of_list(std::initializer_list<T> elements) {
  return {reinterpret_cast<const char*>(elements.begin()), elements.size() * sizeof(T)};
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& elements,
                const std::string& order = "False") {
  const std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  const std::string length = bytes_of_list({static_cast<uint16_t>(header.size())});
  return std::string("\x93NUMPY\x01", 7) + std::string(1, '\0') + length + header + elements;
}

struct NamedColumn {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  std::string elements;
};

std::string safetensors(const std::vector<NamedColumn>& columns) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::string data;
  for (const NamedColumn& column : columns) {
    const std::size_t begin = data.size();
    data += column.elements;
    header[column.name] = {
        {"dtype", column.dtype}, {"shape", column.shape}, {"data_offsets", {begin, data.size()}}};
  }
  const std::string text = header.dump();
  return bytes_of_list({static_cast<uint64_t>(text.size())}) + text + data;
}

class ReadColumns : public ::testing::Test {
 protected:
  std::vector<std::string> read(const std::filesystem::path& path, std::size_t required = 2) const {
    std::vector<std::string> shown;
    for (const Example& example : read_columns(path, {parameters, required}))
      shown.push_back(to_string(example.arguments, parameters));
    return shown;
  }
  /// The error for a file with this text, where the program takes `parameter` alone.
  std::string error_in(const std::string& bytes, const Type& parameter = tensor_type(DType::F32, {2})) {
    write_file(directory / "x.npy", bytes);
    parameters = {{"x", parameter}};
    return error_of<ProgramError>([&] { read(directory / "x.npy", 1); });
  }

  Directory directory;
  std::vector<EntryParameter> parameters{{"x", tensor_type(DType::F32, {2})}, {"y", DType::I64}};
};

TEST_F(ReadColumns, OfSafetensorsByName) {
  const std::string x = bytes_of_list({1.5F, -2.0F, 3.0F, 4.0F});
  write_file(directory / "data.safetensors",
             safetensors({{"y", "U8", {2}, bytes_of_list<uint8_t>({7, 255})}, {"x", "F32", {2, 2}, x}}));
  EXPECT_TRUE(holds_columns(directory / "data.safetensors"));
  EXPECT_THAT(read(directory / "data.safetensors"), ElementsAre("[1.5, -2.0] | 7", "[3.0, 4.0] | 255"));
  EXPECT_THAT(read(directory / "data.safetensors", 1), ElementsAre("[1.5, -2.0]", "[3.0, 4.0]"));
  write_file(directory / "other.safetensors", safetensors({{"x", "F32", {2, 2}, x}}));
  EXPECT_THAT(error_of<ProgramError>([&] { read(directory / "other.safetensors"); }),
              HasSubstr("other.safetensors: expected a tensor 'y', found none"));
  write_file(directory / "third.safetensors", safetensors({{"z", "F32", {2, 2}, x}}));
  EXPECT_THAT(error_of<ProgramError>([&] { read(directory / "third.safetensors"); }),
              HasSubstr("expected tensors by the names of the arguments ('x', 'y'), found 'z'"));
}

TEST_F(ReadColumns, OfAFolderOfArrays) {
  EXPECT_FALSE(holds_columns(directory.path())) << "without arrays";
  write_file(directory / "x.npy", npy("<f8", "(3, 2)", bytes_of_list({1.0, 2.0, 0.1, 4.0, 5.0, 6.0})));
  write_file(directory / "y.npy", npy("<i4", "(3,)", bytes_of_list({-1, 0, 1})));
  EXPECT_TRUE(holds_columns(directory.path()));
  EXPECT_THAT(read(directory.path()), ElementsAre("[1.0, 2.0] | -1", "[0.1, 4.0] | 0", "[5.0, 6.0] | 1"));
  EXPECT_THAT(
      error_of<ProgramError>([&] { read(directory / "x.npy"); }),
      HasSubstr("expected a folder with a file NAME.npy for each of the 2 arguments, found one file"));
  write_file(directory / "y.npy", npy("<i4", "(2,)", bytes_of_list({-1, 0})));
  EXPECT_THAT(error_of<ProgramError>([&] { read(directory.path()); }),
              HasSubstr("expected as many examples as in"));
}

/// They become what the same numbers in a line of text become.
TEST_F(ReadColumns, NumbersBecomeThoseOfTheParameter) {
  const auto first = [&](const Type& type, const std::string& descr, const std::string& elements) {
    parameters = {{"x", type}};
    write_file(directory / "x.npy", npy(descr, "(1,)", elements));
    return read(directory / "x.npy", 1).at(0);
  };
  EXPECT_EQ(first(DType::U8, "|u1", bytes_of_list<uint8_t>({200})), "200");
  EXPECT_EQ(first(DType::U8, "<i8", bytes_of_list<int64_t>({255})), "255");
  EXPECT_EQ(first(DType::F32, "|u1", bytes_of_list<uint8_t>({200})), "200.0");
  EXPECT_THAT(error_in(npy("<i4", "(2,)", bytes_of_list<int32_t>({1, 256})), DType::U8),
              HasSubstr("x.npy: expected u8 in example 2, found 256"));
  EXPECT_THAT(error_in(npy("|i1", "(1,)", bytes_of_list<int8_t>({-1})), DType::U8),
              HasSubstr("expected u8 in example 1, found -1"));
  EXPECT_EQ(first(DType::I32, "|i1", bytes_of_list<int8_t>({-3})), "-3");
  EXPECT_EQ(first(DType::I32, "<u2", bytes_of_list<uint16_t>({65535})), "65535");
  EXPECT_EQ(first(DType::I64, "<u4", bytes_of_list<uint32_t>({4294967295U})), "4294967295");
  EXPECT_EQ(first(DType::F32, "<i8", bytes_of_list<int64_t>({16777217})), "16777216.0");
  EXPECT_EQ(first(DType::F64, "<i2", bytes_of_list<int16_t>({-5})), "-5.0");
  EXPECT_EQ(first(DType::F64, "<f4", bytes_of_list<float>({0.5F})), "0.5");
  EXPECT_EQ(first(DType::Bool, "|b1", bytes_of_list<uint8_t>({1})), "true");
  EXPECT_THAT(error_in(npy("<i8", "(2,)", bytes_of_list<int64_t>({1, 5'000'000'000})), DType::I32),
              HasSubstr("x.npy: expected i32 in example 2, found 5000000000"));
  EXPECT_THAT(error_in(npy("<u8", "(1,)", bytes_of_list<uint64_t>({~uint64_t{0}})), DType::I64),
              HasSubstr("expected i64 in example 1, found 18446744073709551615"));
  EXPECT_EQ(first(DType::F32, "<f8", bytes_of_list<double>({1e-60})), "0.0");
  EXPECT_EQ(first(DType::F32, "<f8", bytes_of_list<double>({-std::numeric_limits<double>::infinity()})),
            "-inf");
  EXPECT_THAT(error_in(npy("<f8", "(2,)", bytes_of_list<double>({1, 1e60})), DType::F32),
              HasSubstr("x.npy: expected f32 in example 2, found 1e+60, which is out of its range"));
  EXPECT_THAT(error_in(npy("|b1", "(1,)", bytes_of_list<uint8_t>({2})), DType::Bool),
              HasSubstr("expected 0 or 1 in example 1, found 2"));
  EXPECT_THAT(error_in(npy("<f4", "(1,)", bytes_of_list<float>({2})), DType::I64),
              HasSubstr("expected i64 for each example, found f32[1]"));
}

/// Images are stored a byte a pixel: the file's memory is the tensor's.
TEST_F(ReadColumns, BytesAreReadWhereTheFileHasThem) {
  parameters = {{"image", Type(DType::U8, {Dim{2, ""}, Dim{2, ""}})}, {"label", DType::U8}};
  write_file(
      directory / "data.safetensors",
      safetensors({{"image", "U8", {2, 2, 2}, bytes_of_list<uint8_t>({0, 1, 2, 3, 252, 253, 254, 255})},
                   {"label", "U8", {2}, bytes_of_list<uint8_t>({9, 0})}}));
  EXPECT_THAT(read(directory / "data.safetensors"),
              ElementsAre("[[0, 1], [2, 3]] | 9", "[[252, 253], [254, 255]] | 0"));
}

TEST_F(ReadColumns, OpenSizesAreThoseOfTheFile) {
  parameters = {{"x", Type(DType::F64, {unknown_dim(), Dim{2, ""}})}};
  write_file(directory / "x.npy", npy("<f8", "(2, 1, 2)", bytes_of_list({1.0, 2.0, 3.0, 4.0})));
  EXPECT_THAT(read(directory / "x.npy", 1), ElementsAre("[[1.0, 2.0]]", "[[3.0, 4.0]]"));
}

TEST_F(ReadColumns, WhatIsNoArrayIsAnError) {
  const std::string four = bytes_of_list({1.0F, 2.0F, 3.0F, 4.0F});
  EXPECT_EQ(error_in(npy("<f4", "(2, 2)", four)), "");
  EXPECT_THAT(error_in("hello"), HasSubstr("expected a .npy file of NumPy, found another one"));
  EXPECT_THAT(error_in(""), HasSubstr("expected a .npy file of NumPy, found another one"));
  EXPECT_THAT(error_in(std::string("\x93NUMPY\x09\0\0\0", 10)), HasSubstr("expected version 1, 2 or 3"));
  EXPECT_THAT(error_in(std::string("\x93NUMPY\x01\0\xff\xff", 10)), HasSubstr("the header is cut off"));
  EXPECT_THAT(error_in(npy("<f4", "(2, 2)", four, "True")), HasSubstr("numpy.ascontiguousarray"));
  EXPECT_THAT(error_in(npy(">f4", "(2, 2)", four)),
              HasSubstr("in little-endian order, found elements \">f4\""));
  EXPECT_THAT(error_in(npy("|O", "(2, 2)", four)), HasSubstr("found elements \"|O\""));
  EXPECT_THAT(error_in(npy("<f4", "(2, 3)", four)),
              HasSubstr("expected f32[2] for each example, found f32[2, 3]"));
  EXPECT_THAT(error_in(npy("<f4", "(2,)", four)), HasSubstr("where the first axis counts the examples"));
  EXPECT_THAT(error_in(npy("<f4", "(3, 2)", four)),
              HasSubstr("found 16 bytes; the file is cut off or too long"));
  EXPECT_THAT(error_in(npy("<f4", "(0, 2)", "")), HasSubstr("expected examples, found none: f32[0, 2]"));
  EXPECT_THAT(error_in(npy("<f4", "(4611686018427387904, 2)", four)), HasSubstr("found 16 bytes"));
  EXPECT_THAT(error_in(npy("<f4", "(-1, 2)", four)), HasSubstr("expected the sizes of the array"));
  EXPECT_THAT(error_in(npy("<f4', 'more': 1, 'x", "(2, 2)", four)), HasSubstr("found \"more\""));
  DataTypes types;
  const Type point = types.declare("Point");
  types.define(point, {{"Point", {{"x", DType::F64}}}});
  EXPECT_THAT(error_in(npy("<f4", "(2, 2)", four), point), HasSubstr("such examples are written one a line"));
  EXPECT_THAT(error_of<ProgramError>([&] { read(directory / "none.npy", 1); }),
              HasSubstr("none.npy': No such file or directory"));
}

/// A file may be larger than memory.
TEST_F(ReadColumns, ElementsOfTheRightTypeStayInTheFile) {
  parameters = {{"x", tensor_type(DType::F32, {2})}};
  // The elements begin at a multiple of 64 bytes, where NumPy puts them too.
  const std::string shape = "(2, 2)" + std::string(128 - npy("<f4", "(2, 2)", "").size(), ' ');
  write_file(directory / "x.npy", npy("<f4", shape, bytes_of_list({1.0F, 2.0F, 3.0F, 4.0F})));
  std::vector<Example> examples = read_columns(directory / "x.npy", {parameters, 1});
  const Tensor first = examples[0].arguments[0].tensor();
  const Tensor second = examples[1].arguments[0].tensor();
  EXPECT_EQ(first.data<float>() + 2, second.data<float>());
  examples.clear();
  EXPECT_EQ(second.data<float>()[1], 4.0F) << "a tensor keeps the file";
}

}  // namespace
}  // namespace hiaton::train
