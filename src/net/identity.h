// What a process says of itself before it may take part, and why it may not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "net/bytes.h"

namespace hiaton::net {

/// Changes with every change of what stands in packets.
inline constexpr uint16_t kWireVersion = 5;

struct Identity {
  std::string version;       ///< the version of Hiaton
  std::string instructions;  ///< the vector instructions that kernels use: they decide how sums are rounded
  std::string program;       ///< what it is to work on, and a hash of it
  std::string problem;       ///< why it cannot take part; empty: it can

  friend bool operator==(const Identity&, const Identity&) = default;
};

/// The identity of this process.
Identity identity_for(std::string program);
/// A hash of 64 bits as text, for Identity::program: to tell files apart, not to keep anybody out.
std::string hash_of(std::span<const std::byte> bytes);

void write_identity(const Identity& identity, ByteWriter& out);
Identity read_identity(ByteReader& in);

/// Why a process cannot work with process 0: " runs hiaton 0.2.0, process 0 hiaton 0.1.0". Empty: it can.
std::string difference(const Identity& first, const Identity& other);

}  // namespace hiaton::net
