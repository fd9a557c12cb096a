// The checksum of what is written to files.
#pragma once

#include <cstdint>
#include <string_view>

namespace hiaton::train {

/// CRC-32C (Castagnoli), as iSCSI and TFRecord use it. Eight bytes at a time, as in Kounavis and Berry, "A
/// systematic approach to building high performance software-based CRC generators", 2005.
uint32_t crc32c(std::string_view bytes);

}  // namespace hiaton::train
