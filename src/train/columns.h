// Examples as columns: tensors whose first axis counts them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hiaton/examples.h"

namespace hiaton::train {

/// What a file may hold.
enum class FileElement : uint8_t { Bool, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64 };

/// The elements stand in row-major order, little-endian, at any address.
struct Column {
  std::string place{};  ///< "digits.safetensors: 'image'", for messages
  FileElement element = FileElement::F32;
  std::vector<int64_t> shape{};
  std::string_view bytes{};
  std::shared_ptr<const void> owner{};  ///< owns the bytes
};

/// The array of a .npy file. Throws ProgramError where it is none, where its elements are objects, texts or
/// in the order of other processors, and where it is not in row-major order.
Column read_npy(const std::filesystem::path& path);

/// How many examples of a file of so many bytes are a block of about this size.
inline constexpr uint64_t kBlockBytes = uint64_t{1} << 20;
constexpr std::size_t examples_of_block(uint64_t bytes, std::size_t examples) {
  if (examples == 0 || bytes == 0) return 1;
  return static_cast<std::size_t>(std::max<uint64_t>(1, kBlockBytes * examples / bytes));
}

/// In messages.
std::string place_of_line(uint32_t line);

/// Throws ProgramError that names the data where a program takes none of them.
void require_parameters(const ExampleForm& form, const std::string& data);

}  // namespace hiaton::train
