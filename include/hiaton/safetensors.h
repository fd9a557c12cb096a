// The safetensors file format: 8 bytes that say how long the header is (little-endian), the header in JSON,
// the data.
//
//   const train::SafetensorsFile file("model.safetensors");
//   for (const auto& tensor : file.tensors()) std::cout << tensor.name << '\n';
//   const train::Numbers weights = file.values_of(*file.find("W"));
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiaton/train.h"

#pragma GCC visibility push(default)
namespace hiaton {
class MappedFile;
}

namespace hiaton::train {

/// A tensor to write. `values` has as many elements as `shape` says.
struct TensorView {
  std::string name;
  std::vector<int64_t> shape;
  const Numbers& values;
};

/// What the format calls it: "F32".
std::string_view safetensors_name(DType dtype);

/// Texts by name, which a file holds besides its tensors.
using Metadata = std::map<std::string, std::string>;

/// Writes tensors and texts, atomically: after a crash there is the old file or the new one. Checksums of all
/// are a text more, `hiaton.crc32c`. Throws ProgramError that names the file and the reason.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const Metadata& metadata);

/// A file that was found to be well formed: the header describes the data without gap or
/// overlap, and its texts are those that write_safetensors wrote, where it did.
class SafetensorsFile {
 public:
  struct Tensor {
    std::string name;
    std::string dtype;  ///< as the format names it: "F32"
    std::vector<int64_t> shape;
    uint64_t begin = 0;  ///< in the data
    uint64_t end = 0;
    std::string checksum{};  ///< CRC-32C of its bytes, eight hexadecimal digits; empty: the file has none
  };

  /// Throws ProgramError that says what is wrong with the file.
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::vector<Tensor>& tensors() const { return tensors_; }
  /// Without the checksums.
  const Metadata& metadata() const { return metadata_; }
  /// Null: there is none of this name.
  const Tensor* find(std::string_view name) const;
  /// Throws ProgramError unless the tensor is of float32 or float64, all its elements are finite, and its
  /// bytes have its checksum.
  Numbers values_of(const Tensor& tensor) const;
  /// The bytes of a tensor of any type, as they stand in the file.
  std::string_view bytes_of(const Tensor& tensor) const;
  /// Keeps the bytes alive.
  const std::shared_ptr<const MappedFile>& file() const { return file_; }

  /// Throws ProgramError with the name of the file before the message.
  [[noreturn]] void fail(const std::string& message) const;

 private:
  void read_header();
  void take_checksums();
  void check(std::string_view name, std::string_view bytes, std::string_view checksum) const;
  void check_layout() const;

  std::string name_;  ///< the name of the file
  std::shared_ptr<const MappedFile> file_;
  std::string_view bytes_;
  std::size_t data_begin_ = 0;
  std::vector<Tensor> tensors_;  ///< in order of their data
  Metadata metadata_;
};

/// "f32[2, 3]" for the dtype "F32".
std::string show_type(std::string_view dtype, std::span<const int64_t> shape);

}  // namespace hiaton::train
#pragma GCC visibility pop
