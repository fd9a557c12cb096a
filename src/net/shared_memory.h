// Memory that processes of one machine share, and packets in it: they cross without being copied.
//
// A plug-in is compiled from this header and links nothing else of Hiaton, so all of it is inline.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/doorbell.h"
#include "net/link.h"

namespace hiaton::net {

/// A range of memory without a name in the file system, so that nothing of it is left when processes are
/// killed. What nobody has written to takes no memory.
class SharedMemory {
 public:
  /// What another process needs to know to open it.
  struct Offer {
    int64_t process = 0;
    int32_t descriptor = -1;  ///< negative: there is none
    uint64_t size = 0;
    uint64_t token = 0;  ///< stands at its begin: another process may have the same number elsewhere
  };

  /// Null where the machine gives none.
  static std::shared_ptr<SharedMemory> make(std::size_t size, uint64_t token) {
    const int descriptor = memfd_create("hiaton-packets", MFD_CLOEXEC);
    if (descriptor < 0) return nullptr;
    auto memory = std::shared_ptr<SharedMemory>(new SharedMemory(descriptor, size));
    if (ftruncate(descriptor, static_cast<off_t>(size)) != 0 || !memory->map()) return nullptr;
    memory->offer_ = {getpid(), descriptor, size, token};
    new (memory->begin_) Begin{token, {}};
    return memory;
  }

  /// Null where it cannot be opened.
  static std::shared_ptr<SharedMemory> open(const Offer& offer) {
    if (offer.descriptor < 0) return nullptr;
    const std::string file =
        "/proc/" + std::to_string(offer.process) + "/fd/" + std::to_string(offer.descriptor);
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return nullptr;
    auto memory = std::shared_ptr<SharedMemory>(new SharedMemory(descriptor, offer.size));
    // A shorter file would end this process when it is read.
    if (lseek(descriptor, 0, SEEK_END) != static_cast<off_t>(offer.size) || !memory->map()) return nullptr;
    return memory->at_begin().token == offer.token ? memory : nullptr;
  }

  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() {
    if (begin_ != nullptr) munmap(begin_, size_);
    close(descriptor_);
  }

  const Offer& offer() const { return offer_; }
  std::byte* begin() const { return begin_; }
  std::size_t size() const { return size_; }
  /// Rung by the others where they have sent something to who has made the memory.
  Doorbell& bell() const { return at_begin().bell; }
  /// Where the memory begins that is free for packets.
  static constexpr std::size_t kFirstFree = 64;

 private:
  struct Begin {
    uint64_t token;
    Doorbell bell;
  };
  static_assert(sizeof(Begin) <= kFirstFree);

  SharedMemory(int descriptor, std::size_t size) : descriptor_(descriptor), size_(size) {}

  Begin& at_begin() const { return *reinterpret_cast<Begin*>(begin_); }

  bool map() {
    void* const address = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (address == MAP_FAILED) return false;
    begin_ = static_cast<std::byte*>(address);
    return true;
  }

  const int descriptor_;
  const std::size_t size_;
  std::byte* begin_ = nullptr;
  Offer offer_{};
};

/// Stands before each packet in shared memory. Sender and receiver each hold it; when nobody does, the sender
/// may use the memory again. What the last holder has read or written comes before that: its `release` pairs
/// with the `acquire` of the sender, which looks for memory.
struct alignas(64) SharedBlock {
  static_assert(std::atomic<uint32_t>::is_always_lock_free, "another process cannot take a lock of this one");

  std::atomic<uint32_t> holders{0};

  std::byte* bytes() { return reinterpret_cast<std::byte*>(this) + sizeof(SharedBlock); }
  void hold() { holders.fetch_add(1, std::memory_order_relaxed); }  // by who holds it already
  void let_go() { holders.fetch_sub(1, std::memory_order_release); }
};

/// The packet in a block, which the caller holds, until it is destroyed.
inline Packet packet_in(SharedBlock* block, std::shared_ptr<SharedMemory> memory, std::size_t capacity,
                        std::size_t size) {
  std::shared_ptr<std::byte[]> bytes(
      block->bytes(), [block, memory = std::move(memory)](std::byte* /*bytes*/) { block->let_go(); });
  return {std::move(bytes), capacity, size};
}

/// Where a packet is, as its receiver is told.
struct SharedPacket {
  uint64_t offset = 0;  ///< the offset of its block
  uint64_t size = 0;

  /// Whether there can be such a packet in memory of so many bytes.
  bool fits(std::size_t bytes) const {
    return offset >= SharedMemory::kFirstFree && offset % alignof(SharedBlock) == 0 && offset < bytes &&
           bytes - offset >= sizeof(SharedBlock) && size <= bytes - offset - sizeof(SharedBlock);
  }
};

/// Packets in memory of this process, which others read. Used by one thread at a time; packets may be
/// destroyed by any.
class SharedPackets {
 public:
  explicit SharedPackets(std::shared_ptr<SharedMemory> memory)
      : memory_(std::move(memory)), end_(SharedMemory::kFirstFree) {}

  /// An empty packet with room for so many bytes; nothing where there is no room.
  std::optional<Packet> take(std::size_t bytes) {
    Block* best = nullptr;
    for (Block& block : blocks_) {
      const bool fits = block.capacity >= bytes && (best == nullptr || block.capacity < best->capacity);
      if (fits && at(block)->holders.load(std::memory_order_acquire) == 0) best = &block;
    }
    // A small packet in a large block would leave the next large one without.
    if (best == nullptr || best->capacity > 4 * bytes) {
      if (Block* const added = add(bytes)) best = added;
    }
    if (best == nullptr) return std::nullopt;
    at(*best)->hold();
    return packet_in(at(*best), memory_, bytes, 0);
  }

  /// Nothing where the packet is in other memory. Else the receiver holds it from now on, too.
  std::optional<SharedPacket> give(const Packet& packet) {
    const std::byte* const begin = memory_->begin();
    if (packet.data() < begin || packet.data() >= begin + memory_->size()) return std::nullopt;
    const auto offset = static_cast<std::size_t>(packet.data() - begin) - sizeof(SharedBlock);
    at({offset, 0})->hold();
    return SharedPacket{offset, packet.size()};
  }

 private:
  struct Block {
    std::size_t offset;
    std::size_t capacity;
  };

  SharedBlock* at(const Block& block) const {
    return reinterpret_cast<SharedBlock*>(memory_->begin() + block.offset);
  }

  /// Null where there is no room.
  Block* add(std::size_t bytes) {
    constexpr std::size_t kGrain = std::size_t{64} * 1024;
    const std::size_t all = (bytes + bytes / 4 + sizeof(SharedBlock) + kGrain - 1) / kGrain * kGrain;
    if (bytes > memory_->size() || all > memory_->size() - end_) return nullptr;
    blocks_.push_back({end_, all - sizeof(SharedBlock)});
    end_ += all;
    new (at(blocks_.back())) SharedBlock;
    return &blocks_.back();
  }

  std::shared_ptr<SharedMemory> memory_;
  std::vector<Block> blocks_;
  std::size_t end_;  ///< behind the last block
};

}  // namespace hiaton::net
