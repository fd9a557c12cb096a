// MPI's errors as LinkError, and numbers of bytes that an int cannot count.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <string>

#include "net/link.h"

namespace hiaton::net {

inline std::string text_of(int error) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(error, text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

inline void check(int error, int process = -1) {
  if (error != MPI_SUCCESS) throw LinkError(process, text_of(error));
}

/// So many bytes for MPI, which counts elements by an int: a large packet is one element, of pieces without
/// gaps.
class Bytes {
 public:
  explicit Bytes(std::size_t size) {
    if (size <= kPiece) {
      count_ = static_cast<int>(size);
      return;
    }
    MPI_Datatype piece = MPI_DATATYPE_NULL;
    check(MPI_Type_contiguous(static_cast<int>(kPiece), MPI_BYTE, &piece));
    const std::size_t pieces = size / kPiece;
    const std::array lengths{static_cast<int>(pieces), static_cast<int>(size % kPiece)};
    const std::array begins{MPI_Aint{0}, static_cast<MPI_Aint>(pieces * kPiece)};
    const std::array types{piece, MPI_Datatype{MPI_BYTE}};
    check(MPI_Type_create_struct(2, lengths.data(), begins.data(), types.data(), &type_));
    MPI_Type_free(&piece);
    check(MPI_Type_commit(&type_));
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  /// What was started with it goes on.
  ~Bytes() {
    if (type_ != MPI_BYTE) MPI_Type_free(&type_);
  }

  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;

  int count_ = 1;
  MPI_Datatype type_ = MPI_BYTE;
};

inline std::size_t bytes_in(const MPI_Status& status) {
  MPI_Count bytes = 0;
  check(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), status.MPI_SOURCE);
  return static_cast<std::size_t>(bytes);
}

}  // namespace hiaton::net
