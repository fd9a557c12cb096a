// The file format of NumPy: "\x93NUMPY", version, length of the header, the header, the elements. The header
// is a dictionary as Python writes it:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (600, 28, 28), }
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/file_bytes.h"
#include "hiaton/error.h"
#include "train/columns.h"

namespace hiaton::train {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostAxes = 32;

struct NpyElement {
  std::string_view descr;
  FileElement element;
};
constexpr std::array<NpyElement, 11> kNpyElements = {{{"|b1", FileElement::Bool},
                                                      {"|i1", FileElement::I8},
                                                      {"<i2", FileElement::I16},
                                                      {"<i4", FileElement::I32},
                                                      {"<i8", FileElement::I64},
                                                      {"|u1", FileElement::U8},
                                                      {"<u2", FileElement::U16},
                                                      {"<u4", FileElement::U32},
                                                      {"<u8", FileElement::U64},
                                                      {"<f4", FileElement::F32},
                                                      {"<f8", FileElement::F64}}};

/// Shows the beginning of a header, which may hold any bytes.
std::string shown_bytes(std::string_view text) {
  constexpr std::size_t kMost = 40;
  return fmt::format("{:?}", text.substr(0, kMost));
}

class NpyHeader {
 public:
  NpyHeader(const std::string& file, std::string_view text) : file_(file), rest_(text) {}

  /// Fills in the element type and the shape.
  void read(Column& column) {
    expect("{");
    while (!accept("}")) {
      const std::string_view key = quoted();
      expect(":");
      if (key == "descr") {
        column.element = element();
      } else if (key == "fortran_order") {
        if (accept("True"))
          fail(
              "expected an array in row-major order, found one in column-major order; "
              "numpy.ascontiguousarray changes it");
        expect("False");
      } else if (key == "shape") {
        column.shape = shape();
      } else {
        fail(fmt::format("expected 'descr', 'fortran_order' or 'shape', found {}", shown_bytes(key)));
      }
      ++fields_;
      if (!accept(",")) {
        expect("}");
        break;
      }
    }
    if (fields_ != 3) fail("expected 'descr', 'fortran_order' and 'shape' once each in the header");
  }

 private:
  FileElement element() {
    if (!next_is("'")) fail("expected numbers, found records");
    const std::string_view descr = quoted();
    const auto* known = std::find_if(kNpyElements.begin(), kNpyElements.end(),
                                     [&](const NpyElement& one) { return one.descr == descr; });
    if (known == kNpyElements.end()) {
      fail(fmt::format(
          "expected truth values, integers, float32 or float64 in little-endian order, found elements {}",
          shown_bytes(descr)));
    }
    return known->element;
  }

  std::vector<int64_t> shape() {
    std::vector<int64_t> dims;
    expect("(");
    while (!accept(")")) {
      int64_t size = -1;
      skip_blanks();
      const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (code != std::errc() || size < 0) fail("expected the sizes of the array in the header");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      dims.push_back(size);
      if (dims.size() > kMostAxes) fail(fmt::format("expected at most {} axes, found more", kMostAxes));
      if (!accept(",")) {
        expect(")");
        break;
      }
    }
    return dims;
  }

  std::string_view quoted() {
    expect("'");
    const std::size_t end = rest_.find('\'');
    if (end == std::string_view::npos) fail("expected a quote in the header, found none");
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  bool next_is(std::string_view sign) {
    skip_blanks();
    return rest_.starts_with(sign);
  }
  bool accept(std::string_view sign) {
    if (!next_is(sign)) return false;
    rest_.remove_prefix(sign.size());
    return true;
  }
  void expect(std::string_view sign) {
    if (!accept(sign)) fail(fmt::format("expected \"{}\" in the header, found {}", sign, shown_bytes(rest_)));
  }
  [[noreturn]] void fail(const std::string& message) const {
    throw ProgramError(fmt::format("{}: {}", file_, message));
  }

  const std::string& file_;
  std::string_view rest_;
  int fields_ = 0;
};

}  // namespace

Column read_npy(const std::filesystem::path& path) {
  const std::string name = path.string();
  const auto file = std::make_shared<MappedFile>(path);
  const std::string_view bytes = file->bytes();
  const auto fail = [&](const std::string& message) {
    throw ProgramError(fmt::format("{}: {}", name, message));
  };
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + 4)
    fail("expected a .npy file of NumPy, found another one");
  const auto major = static_cast<unsigned char>(bytes[kMagic.size()]);
  if (major < 1 || major > 3) fail(fmt::format("expected version 1, 2 or 3 of the format, found {}", major));
  uint32_t length = 0;
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t before = kMagic.size() + 2 + length_bytes;
  if (bytes.size() >= before) std::memcpy(&length, bytes.data() + before - length_bytes, length_bytes);
  if (bytes.size() < before || bytes.size() - before < length) fail("the header is cut off");
  Column column{.place = name, .bytes = bytes.substr(before + length), .owner = file};
  NpyHeader(name, bytes.substr(before, length)).read(column);
  return column;
}

}  // namespace hiaton::train
