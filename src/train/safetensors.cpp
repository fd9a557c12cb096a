#include "hiaton/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file_bytes.h"
#include "base/utf8.h"
#include "graph/json_place.h"
#include "hiaton/error.h"
#include "tensor/shown.h"

namespace hiaton::train {
namespace {

static_assert(std::endian::native == std::endian::little,
              "safetensors data is little-endian and copied as it is");

using graph::JsonPlace;
using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kAlignment = 8;  ///< so that the data may be mapped
constexpr uint64_t kLongestHeader = 100'000'000;
constexpr std::size_t kMostDimensions = 64;
constexpr uint64_t kLargestSize = uint64_t{1} << 62;
constexpr std::string_view kMetadataField = "__metadata__";
constexpr const char* kChecksumsField = "hiaton.crc32c";  ///< of the metadata

struct ElementType {
  std::string_view name;
  uint64_t bytes;
};
constexpr std::array<ElementType, 15> kDTypes = {{{"BOOL", 1},
                                                  {"U8", 1},
                                                  {"I8", 1},
                                                  {"F8_E5M2", 1},
                                                  {"F8_E4M3", 1},
                                                  {"I16", 2},
                                                  {"U16", 2},
                                                  {"F16", 2},
                                                  {"BF16", 2},
                                                  {"I32", 4},
                                                  {"U32", 4},
                                                  {"F32", 4},
                                                  {"F64", 8},
                                                  {"I64", 8},
                                                  {"U64", 8}}};

/// Bytes of a tensor; a number that no file has where the product is too large.
uint64_t size_of(uint64_t element, std::span<const int64_t> shape) {
  uint64_t size = element;
  for (const int64_t extent : shape) {
    if (extent == 0) return 0;
  }
  for (const int64_t extent : shape) {
    if (static_cast<uint64_t>(extent) > kLargestSize / size) return kLargestSize;
    size *= static_cast<uint64_t>(extent);
  }
  return size;
}

void require_text(std::string_view text) {
  if (utf8_prefix(text) != text.size())
    throw ProgramError(fmt::format("expected names and texts in UTF-8, found {}", shown(text)));
}

/// Whether a file of them can be read again.
void require_writable(std::span<const TensorView> tensors, const Metadata& metadata) {
  std::set<std::string_view> names{kMetadataField};
  for (const TensorView& tensor : tensors) {
    require_text(tensor.name);
    if (!names.insert(tensor.name).second)
      throw ProgramError(fmt::format("expected another name for each tensor, found '{}' again", tensor.name));
    const uint64_t bytes = size_of(size_of(tensor.values.dtype()), tensor.shape);
    if (bytes != tensor.values.bytes().size()) {
      throw ProgramError(fmt::format("'{}': expected the {} bytes of its shape [{}], found {}", tensor.name,
                                     bytes, fmt::join(tensor.shape, ", "), tensor.values.bytes().size()));
    }
  }
  for (const auto& [name, text] : metadata) {
    require_text(name);
    require_text(text);
  }
}

std::string_view bytes_of(const Numbers& values) {
  return {reinterpret_cast<const char*>(values.bytes().data()), values.bytes().size()};
}

std::string checksum_of(std::string_view bytes) {
  return fmt::format("{:08x}", crc32c(bytes));
}

/// In JSON, by name.
std::string checksums_of(std::span<const TensorView> tensors, const Metadata& metadata) {
  Json checksums = {{"tensors", Json::object()}, {"texts", Json::object()}};
  for (const TensorView& tensor : tensors)
    checksums["tensors"][tensor.name] = checksum_of(bytes_of(tensor.values));
  for (const auto& [name, text] : metadata) checksums["texts"][name] = checksum_of(text);
  return checksums.dump();
}

std::string header_of(std::span<const TensorView> tensors, const Metadata& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  Metadata texts = metadata;
  texts.erase(kChecksumsField);
  texts[kChecksumsField] = checksums_of(tensors, texts);
  header[std::string(kMetadataField)] = texts;
  uint64_t offset = 0;
  for (const TensorView& tensor : tensors) {
    const uint64_t end = offset + tensor.values.bytes().size();
    header[tensor.name] = {{"dtype", safetensors_name(tensor.values.dtype())},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  return text;
}

template <class T>
void require_finite(const SafetensorsFile& file, const std::string& name, const std::vector<T>& values) {
  const auto bad = std::find_if(values.begin(), values.end(), [](T value) { return !std::isfinite(value); });
  if (bad == values.end()) return;
  file.fail(
      fmt::format("'{}': expected finite values, found {} at element {}", name, *bad, bad - values.begin()));
}

SafetensorsFile::Tensor tensor_from(const std::string& name, const JsonPlace& place) {
  SafetensorsFile::Tensor tensor;
  tensor.name = name;
  place.require_fields({"dtype", "shape", "data_offsets"});
  const JsonPlace dtype_place = place.field("dtype");
  tensor.dtype = dtype_place.text();
  const auto* dtype = std::find_if(kDTypes.begin(), kDTypes.end(),
                                   [&](const ElementType& known) { return known.name == tensor.dtype; });
  if (dtype == kDTypes.end())
    dtype_place.fail(fmt::format("expected a dtype as F32, found '{}'", tensor.dtype));
  const JsonPlace shape = place.field("shape");
  if (shape.size() > kMostDimensions) {
    shape.fail(fmt::format("expected at most {} dimensions, found {}", kMostDimensions, shape.size()));
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    tensor.shape.push_back(shape[i].integer(0, static_cast<int64_t>(kLargestSize)));
  }
  const JsonPlace offsets = place.field("data_offsets");
  if (offsets.size() != 2) offsets.fail("expected begin and end, found another number of offsets");
  tensor.begin = offsets[0].unsigned_number();
  tensor.end = offsets[1].unsigned_number();
  const uint64_t size = size_of(dtype->bytes, tensor.shape);
  if (tensor.end < tensor.begin || tensor.end - tensor.begin != size) {
    offsets.fail(fmt::format("expected the {} bytes of {}, found the bytes {} to {}", size,
                             show_type(tensor.dtype, tensor.shape), tensor.begin, tensor.end));
  }
  return tensor;
}

}  // namespace

std::string_view safetensors_name(DType dtype) {
  return dtype == DType::F64 ? "F64" : "F32";
}

std::string show_type(std::string_view dtype, std::span<const int64_t> shape) {
  std::string name(dtype);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return shape.empty() ? name : fmt::format("{}[{}]", name, fmt::join(shape, ", "));
}

void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const Metadata& metadata) {
  require_writable(tensors, metadata);
  const std::string header = header_of(tensors, metadata);
  const uint64_t length = header.size();
  std::array<char, kLengthBytes> prefix{};
  std::memcpy(prefix.data(), &length, prefix.size());
  std::vector<std::string_view> parts = {{prefix.data(), prefix.size()}, header};
  for (const TensorView& tensor : tensors) parts.push_back(bytes_of(tensor.values));
  write_atomically(path, parts);
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : name_(path.string()), file_(std::make_shared<MappedFile>(path)), bytes_(file_->bytes()) {
  read_header();
  take_checksums();
  std::stable_sort(tensors_.begin(), tensors_.end(), [](const Tensor& a, const Tensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  check_layout();
}

void SafetensorsFile::fail(const std::string& message) const {
  throw ProgramError(fmt::format("{}: {}", name_, message));
}

void SafetensorsFile::read_header() {
  if (bytes_.size() < kLengthBytes) {
    fail(fmt::format("expected a safetensors file, found {} bytes", bytes_.size()));
  }
  uint64_t length = 0;
  std::memcpy(&length, bytes_.data(), kLengthBytes);
  const uint64_t rest = bytes_.size() - kLengthBytes;
  if (length > rest || length > kLongestHeader) {
    fail(fmt::format(
        "expected a header of {} bytes, found {} bytes; the file is cut off, or is no safetensors file",
        length, rest));
  }
  data_begin_ = kLengthBytes + static_cast<std::size_t>(length);
  const Json header = Json::parse(bytes_.begin() + kLengthBytes,
                                  bytes_.begin() + static_cast<std::ptrdiff_t>(data_begin_), nullptr, false);
  if (!header.is_object()) fail("expected a header that is a JSON object, found something else");
  const JsonPlace root(header, name_);
  for (const auto& [name, value] : header.items()) {
    const JsonPlace place = root.field(name);
    if (name != kMetadataField) {
      tensors_.push_back(tensor_from(name, place));
      continue;
    }
    if (!place.is_object()) place.fail("expected an object of texts");
    for (const auto& [key, text] : value.items()) metadata_[key] = place.field(key).text();
  }
}

void SafetensorsFile::take_checksums() {
  const auto found = metadata_.find(kChecksumsField);
  if (found == metadata_.end()) return;
  const Json checksums = Json::parse(found->second, nullptr, false);
  metadata_.erase(found);
  if (!checksums.is_object()) fail(fmt::format("{}: expected a JSON object", kChecksumsField));
  const std::string name = fmt::format("{}: {}", name_, kChecksumsField);
  const JsonPlace place(checksums, name);
  const JsonPlace tensors = place.field("tensors");
  for (Tensor& tensor : tensors_) {
    if (tensors.has(tensor.name)) tensor.checksum = tensors.field(tensor.name).text();
  }
  const JsonPlace texts = place.field("texts");
  for (const auto& [key, text] : metadata_) {
    if (texts.has(key)) check(key, text, texts.field(key).text());
  }
}

void SafetensorsFile::check(std::string_view name, std::string_view bytes, std::string_view checksum) const {
  const std::string found = checksum_of(bytes);
  if (found == checksum) return;
  fail(fmt::format(
      "'{}': expected what was written, with the checksum {}, found other bytes, with the checksum "
      "'{}'; the file is damaged, or was changed by a program that kept '{}' in its metadata",
      name, shown(checksum), found, kChecksumsField));
}

void SafetensorsFile::check_layout() const {
  uint64_t at = 0;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& tensor = tensors_[i];
    if (tensor.begin < at) {
      fail(fmt::format("expected tensors side by side, found that '{}' and '{}' overlap",
                       tensors_[i - 1].name, tensor.name));
    }
    if (tensor.begin > at) {
      fail(fmt::format("expected tensors side by side, found that bytes {} to {} belong to none", at,
                       tensor.begin));
    }
    at = tensor.end;
  }
  const uint64_t size = bytes_.size() - data_begin_;
  if (at > size) fail(fmt::format("expected {} bytes of data, found {}; the file is cut off", at, size));
  if (at < size) fail(fmt::format("expected {} bytes of data, found {}", at, size));
}

const SafetensorsFile::Tensor* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const Tensor& tensor) { return tensor.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

std::string_view SafetensorsFile::bytes_of(const Tensor& tensor) const {
  return bytes_.substr(data_begin_ + tensor.begin, tensor.end - tensor.begin);
}

Numbers SafetensorsFile::values_of(const Tensor& tensor) const {
  const bool is_f64 = tensor.dtype == safetensors_name(DType::F64);
  if (!is_f64 && tensor.dtype != safetensors_name(DType::F32)) {
    fail(fmt::format("'{}': expected elements of type F32 or F64, found {}", tensor.name, tensor.dtype));
  }
  const std::string_view bytes = bytes_of(tensor);
  if (!tensor.checksum.empty()) check(tensor.name, bytes, tensor.checksum);
  Numbers values(is_f64 ? DType::F64 : DType::F32, bytes.size() / (is_f64 ? sizeof(double) : sizeof(float)));
  if (!bytes.empty()) std::memcpy(values.bytes().data(), bytes.data(), bytes.size());
  if (is_f64) {
    require_finite(*this, tensor.name, values.doubles());
  } else {
    require_finite(*this, tensor.name, values.floats());
  }
  return values;
}

}  // namespace hiaton::train
