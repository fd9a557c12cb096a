// Event files as TensorBoard reads them: a TFRecord file of Event messages in the protobuf encoding.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace hiaton::train {

/// One record: length, masked checksum of the length, bytes, masked checksum of the bytes.
std::string tf_record(std::string_view bytes);

/// Appends scalars to a new file in a directory, many at a time.
class EventWriter {
 public:
  /// Readers drop what earlier files say about `first_step` and later ones: it is about to be done again.
  /// Throws ProgramError where the file cannot be made.
  EventWriter(const std::filesystem::path& directory, uint64_t first_step);

  void add_scalar(std::string_view tag, uint64_t step, double value);
  /// Throws ProgramError where something could not be written.
  void flush();

 private:
  std::filesystem::path path_;
  std::string unwritten_;
};

}  // namespace hiaton::train
