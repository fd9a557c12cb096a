// Columns to examples.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "base/product_of_sizes.h"
#include "hiaton/error.h"
#include "hiaton/examples.h"
#include "hiaton/safetensors.h"
#include "train/columns.h"
#include "train/random_stream.h"

namespace hiaton::train {
namespace {

constexpr std::string_view kNpy = ".npy";
constexpr std::string_view kSafetensors = ".safetensors";

struct ElementFacts {
  std::string_view name;
  std::string_view safetensors;
  std::size_t bytes;
  bool is_integer;
};
/// In the order of FileElement.
constexpr std::array<ElementFacts, 11> kElements = {{{"bool", "BOOL", 1, false},
                                                     {"i8", "I8", 1, true},
                                                     {"i16", "I16", 2, true},
                                                     {"i32", "I32", 4, true},
                                                     {"i64", "I64", 8, true},
                                                     {"u8", "U8", 1, true},
                                                     {"u16", "U16", 2, true},
                                                     {"u32", "U32", 4, true},
                                                     {"u64", "U64", 8, true},
                                                     {"f32", "F32", 4, false},
                                                     {"f64", "F64", 8, false}}};

const ElementFacts& facts_of(FileElement element) {
  return kElements[static_cast<std::size_t>(element)];
}

/// Calls with a value of the C++ type of the elements.
template <class Call>
decltype(auto) with_element(FileElement element, const Call& call) {
  switch (element) {
    case FileElement::Bool:
      return call(bool{});
    case FileElement::I8:
      return call(int8_t{});
    case FileElement::I16:
      return call(int16_t{});
    case FileElement::I32:
      return call(int32_t{});
    case FileElement::I64:
      return call(int64_t{});
    case FileElement::U8:
      return call(uint8_t{});
    case FileElement::U16:
      return call(uint16_t{});
    case FileElement::U32:
      return call(uint32_t{});
    case FileElement::U64:
      return call(uint64_t{});
    case FileElement::F32:
      return call(float{});
    case FileElement::F64:
      break;
  }
  return call(double{});
}

template <class Call>
decltype(auto) with_element(DType dtype, const Call& call) {
  switch (dtype) {
    case DType::Bool:
      return call(bool{});
    case DType::U8:
      return call(uint8_t{});
    case DType::I32:
      return call(int32_t{});
    case DType::I64:
      return call(int64_t{});
    case DType::F32:
      return call(float{});
    case DType::F64:
      break;
  }
  return call(double{});
}

bool is_same(FileElement element, DType dtype) {
  return facts_of(element).name == name_of(dtype);
}

/// Whether elements of a file become those of a program: each that can be written there as text.
bool converts(FileElement element, DType dtype) {
  if (element == FileElement::Bool || dtype == DType::Bool) return is_same(element, dtype);
  return is_float(dtype) || facts_of(element).is_integer;
}

[[noreturn]] void fail_in(const Column& column, const std::string& message) {
  throw ProgramError(fmt::format("{}: {}", column.place, message));
}

template <class From, class To>
To converted(From element, const Column& column, DType dtype, int64_t example) {
  if constexpr (std::is_integral_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
    if (!std::in_range<To>(element)) {
      fail_in(column,
              fmt::format("expected {} in example {}, found {}", name_of(dtype), example + 1, element));
    }
  }
  if constexpr (std::is_same_v<From, double> && std::is_same_v<To, float>) {
    if (std::isfinite(element) && !std::isfinite(static_cast<float>(element)))
      fail_in(column, fmt::format("expected f32 in example {}, found {}, which is out of its range",
                                  example + 1, element));
  }
  return static_cast<To>(element);
}

/// Elements of a column, from `from`, to those of the type of a program.
template <class From, class To>
void convert(const Column& column, DType dtype, const char* from, std::span<To> to, int64_t example) {
  for (To& element : to) {
    if constexpr (std::is_same_v<From, bool>) {
      const auto byte = static_cast<unsigned char>(*from);
      if (byte > 1)
        fail_in(column, fmt::format("expected 0 or 1 in example {}, found {}", example + 1, byte));
      element = static_cast<To>(byte);
    } else {
      From stored;
      std::memcpy(&stored, from, sizeof(From));
      element = converted<From, To>(stored, column, dtype, example);
    }
    from += sizeof(From);
  }
}

/// A column, and the parameter that it is for.
class ColumnReader {
 public:
  ColumnReader(Column column, const EntryParameter& parameter)
      : column_(std::move(column)), type_(parameter.type) {
    check_type(parameter);
    count_of_row_ = 1;
    for (std::size_t axis = 1; axis < column_.shape.size(); ++axis) count_of_row_ *= column_.shape[axis];
    is_used_in_place_ =
        is_same(column_.element, type_.dtype) && type_.dtype != DType::Bool && !type_.is_scalar() &&
        reinterpret_cast<uintptr_t>(column_.bytes.data()) % facts_of(column_.element).bytes == 0;
  }

  const std::string& place() const { return column_.place; }
  int64_t size() const { return column_.shape[0]; }
  std::string_view bytes() const { return column_.bytes; }

  Value example(int64_t index) const {
    const std::size_t row_bytes = static_cast<std::size_t>(count_of_row_) * facts_of(column_.element).bytes;
    const char* const row = column_.bytes.data() + static_cast<std::size_t>(index) * row_bytes;
    const std::span<const int64_t> dims = std::span(column_.shape).subspan(1);
    if (is_used_in_place_) {
      auto* const elements = reinterpret_cast<std::byte*>(const_cast<char*>(row));
      return Tensor(type_.dtype, dims, elements, column_.owner);
    }
    return with_element(type_.dtype, [&](auto scalar) -> Value {
      using To = decltype(scalar);
      const auto fill = [&](std::span<To> to) {
        with_element(column_.element, [&](auto stored) {
          convert<decltype(stored), To>(column_, type_.dtype, row, to, index);
        });
      };
      if (type_.is_scalar()) {
        fill({&scalar, 1});
        return scalar;
      }
      Tensor tensor = Tensor::uninitialized(type_.dtype, dims);
      fill({tensor.mutable_data<To>(), static_cast<std::size_t>(count_of_row_)});
      return tensor;
    });
  }

 private:
  void check_type(const EntryParameter& parameter) const {
    const std::string found = show_type(facts_of(column_.element).name, column_.shape);
    if (type_.is_data()) {
      fail(fmt::format(
          "expected '{}' to be a number or a tensor, found {}; such examples are written one a line",
          parameter.name, hiaton::to_string(type_)));
    }
    const auto is_other = [](int64_t size, const Dim& dim) { return dim.size >= 0 && dim.size != size; };
    bool fits = column_.shape.size() == type_.shape.size() + 1 && converts(column_.element, type_.dtype);
    for (std::size_t axis = 0; fits && axis < type_.shape.size(); ++axis)
      fits = !is_other(column_.shape[axis + 1], type_.shape[axis]);
    if (!fits) {
      fail(fmt::format("expected {} for each example, found {}, where the first axis counts the examples",
                       hiaton::to_string(type_), found));
    }
    if (std::ranges::find(column_.shape, 0) != column_.shape.end())
      fail(fmt::format("expected examples, found none: {}", found));
    if (product_of_sizes(facts_of(column_.element).bytes, column_.shape) != column_.bytes.size()) {
      fail(fmt::format("expected the elements of {}, found {} bytes; the file is cut off or too long", found,
                       column_.bytes.size()));
    }
  }

  [[noreturn]] void fail(const std::string& message) const { fail_in(column_, message); }

  Column column_;
  Type type_;
  int64_t count_of_row_ = 0;
  bool is_used_in_place_ = false;  ///< the elements, where the file has them
};

/// The tensor of a safetensors file for each required parameter. Others are those that need not be there.
std::vector<Column> columns_of_safetensors(const std::filesystem::path& path, const ExampleForm& form) {
  const SafetensorsFile file(path);
  const auto is_parameter = [&](const std::string& name) {
    return std::ranges::any_of(form.parameters, [&](const EntryParameter& one) { return one.name == name; });
  };
  for (const SafetensorsFile::Tensor& tensor : file.tensors()) {
    if (!is_parameter(tensor.name)) {
      std::vector<std::string> names;
      for (const EntryParameter& parameter : form.parameters) names.push_back("'" + parameter.name + "'");
      file.fail(fmt::format("expected tensors by the names of the arguments ({}), found '{}'",
                            fmt::join(names, ", "), tensor.name));
    }
  }
  std::vector<Column> columns;
  for (std::size_t i = 0; i < form.required; ++i) {
    const std::string& name = form.parameters[i].name;
    const SafetensorsFile::Tensor* const tensor = file.find(name);
    if (tensor == nullptr) file.fail(fmt::format("expected a tensor '{}', found none", name));
    const auto* const known = std::ranges::find(kElements, tensor->dtype, &ElementFacts::safetensors);
    if (known == kElements.end()) {
      file.fail(
          fmt::format("'{}': expected truth values, integers, F32 or F64, found {}", name, tensor->dtype));
    }
    columns.push_back({.place = fmt::format("{}: '{}'", path.string(), name),
                       .element = static_cast<FileElement>(known - kElements.begin()),
                       .shape = tensor->shape,
                       .bytes = file.bytes_of(*tensor),
                       .owner = file.file()});
  }
  return columns;
}

std::vector<Column> columns_of(const std::filesystem::path& path, const ExampleForm& form) {
  if (path.extension() == kSafetensors) return columns_of_safetensors(path, form);
  std::vector<Column> columns;
  if (!std::filesystem::is_directory(path)) {
    if (form.required != 1) {
      throw ProgramError(fmt::format(
          "{}: expected a folder with a file NAME.npy for each of the {} arguments, found one file",
          path.string(), form.required));
    }
    columns.push_back(read_npy(path));
    return columns;
  }
  for (std::size_t i = 0; i < form.required; ++i)
    columns.push_back(read_npy(path / (form.parameters[i].name + std::string(kNpy))));
  return columns;
}

}  // namespace

void require_parameters(const ExampleForm& form, const std::string& data) {
  if (!form.parameters.empty()) return;
  throw ProgramError(fmt::format(
      "{}: expected a program whose 'loss' takes what the data holds, found one without parameters", data));
}

bool holds_columns(const std::filesystem::path& path) {
  if (path.extension() == kSafetensors || path.extension() == kNpy) return true;
  std::error_code ignored;
  const std::filesystem::directory_iterator files(path, ignored);
  return std::any_of(begin(files), end(files), [](const std::filesystem::directory_entry& file) {
    return file.path().extension() == kNpy;
  });
}

namespace {

/// Each parameter has a reader; all have as many examples.
std::vector<ColumnReader> readers_of(const std::filesystem::path& path, const ExampleForm& form) {
  require_parameters(form, path.string());
  std::vector<Column> columns = columns_of(path, form);
  std::vector<ColumnReader> readers;
  for (std::size_t i = 0; i < columns.size(); ++i)
    readers.emplace_back(std::move(columns[i]), form.parameters[i]);
  const int64_t count = readers[0].size();
  for (const ColumnReader& reader : readers) {
    if (reader.size() == count) continue;
    throw ProgramError(fmt::format("{}: expected as many examples as in {}, which are {}, found {}",
                                   reader.place(), readers[0].place(), count, reader.size()));
  }
  return readers;
}

std::vector<Value> arguments_in(const std::vector<ColumnReader>& readers, std::size_t index) {
  std::vector<Value> arguments;
  for (const ColumnReader& reader : readers) arguments.push_back(reader.example(static_cast<int64_t>(index)));
  return arguments;
}

class StreamedColumns : public DataSet {
 public:
  StreamedColumns(const std::filesystem::path& path, const ExampleForm& form)
      : readers_(readers_of(path, form)), size_(static_cast<std::size_t>(readers_[0].size())) {
    for (std::size_t i = 0; i < size_; ++i) arguments_in(readers_, i);
    for (const ColumnReader& reader : readers_) {
      bytes_ += reader.bytes().size();
      hash_ = mix_bits(hash_ ^ hash_of(reader.bytes()));
    }
  }

  std::size_t size() const override { return size_; }
  std::vector<Value> arguments(std::size_t index) const override { return arguments_in(readers_, index); }
  std::string place_of(std::size_t index) const override { return fmt::format("example {}", index + 1); }
  uint64_t fingerprint() const override { return mix_bits(hash_ ^ size_); }
  std::size_t block() const override { return examples_of_block(bytes_, size_); }

 private:
  const std::vector<ColumnReader> readers_;
  const std::size_t size_;
  uint64_t hash_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace

std::vector<Example> read_columns(const std::filesystem::path& path, const ExampleForm& form) {
  const std::vector<ColumnReader> readers = readers_of(path, form);
  std::vector<Example> examples(static_cast<std::size_t>(readers[0].size()));
  for (std::size_t i = 0; i < examples.size(); ++i) examples[i].arguments = arguments_in(readers, i);
  return examples;
}

std::unique_ptr<DataSet> stream_columns(const std::filesystem::path& path, const ExampleForm& form) {
  return std::make_unique<StreamedColumns>(path, form);
}

}  // namespace hiaton::train
