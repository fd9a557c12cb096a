// What moves packets between processes: the threads of one, a simulation, or MPI, which is a plug-in.
//
// A plug-in is compiled from this header and links nothing else of Hiaton, so all of it is inline.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#pragma GCC visibility push(default)
namespace hiaton::net {

/// Packets up to this size go by receives that wait for them; larger ones each ask for memory of their own.
inline constexpr std::size_t kPacketBytes = std::size_t{16} * 1024;

/// Bytes on their way to one process: filled by the sender, then handed over whole.
class Packet {
 public:
  /// Where the memory of a packet begins, whoever makes it: at multiples of this.
  static constexpr std::size_t kAlignment = 64;

  Packet() = default;
  explicit Packet(std::size_t capacity) : bytes_(new_bytes(capacity)), capacity_(capacity) {}  // not zeroed
  /// In memory that somebody else has made.
  Packet(std::shared_ptr<std::byte[]> bytes, std::size_t capacity, std::size_t size)
      : bytes_(std::move(bytes)), capacity_(capacity), size_(size) {}
  Packet(Packet&& other) noexcept
      : bytes_(std::move(other.bytes_)),
        capacity_(std::exchange(other.capacity_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  Packet& operator=(Packet&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(capacity_, other.capacity_);
    std::swap(size_, other.size_);
    return *this;
  }

  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  /// `size` is at most the capacity.
  void resize(std::size_t size) { size_ = size; }
  std::span<const std::byte> bytes() const { return {bytes_.get(), size_}; }
  /// The same packet in the same memory: its sender goes on reading it.
  Packet share() const { return {bytes_, capacity_, size_}; }

 private:
  static std::shared_ptr<std::byte[]> new_bytes(std::size_t capacity) {
    constexpr std::align_val_t kAlign{kAlignment};
    return {static_cast<std::byte*>(::operator new[](capacity, kAlign)),
            [](std::byte* bytes) { ::operator delete[](bytes, std::align_val_t{kAlignment}); }};
  }

  std::shared_ptr<std::byte[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
};

struct Arrival {
  int from = 0;
  Packet packet;
};

/// A packet could not be sent or received. The process is -1 where it is not known.
class LinkError : public std::runtime_error {
 public:
  LinkError(int process, const std::string& reason) : std::runtime_error(reason), process_(process) {}
  int process() const { return process_; }

 private:
  int process_;
};

/// The way from this process to the others, which are numbered from 0. Packets arrive whole and once, in any
/// order. One thread at a time calls it, but for `wait`, `wake` and `now`.
class Link {
 public:
  virtual ~Link() = default;
  virtual int self() const = 0;
  virtual int size() const = 0;
  virtual std::string host(int process) const = 0;
  /// Whether another process answers within microseconds: it reads packets of this one where they stand, and
  /// each process of the machine has a processor of its own.
  virtual bool is_near(int /*process*/) const { return false; }
  /// Memory for a packet to another process, of more than kPacketBytes: where both share memory, a packet in
  /// it crosses without being copied.
  virtual Packet large_packet(int /*to*/, std::size_t bytes) { return Packet(bytes); }
  /// Sends to another process. Returns at once: the packet is kept until it has left.
  virtual void send(int to, Packet packet) = 0;
  /// Takes a packet that has arrived. Returns false where there is none.
  virtual bool receive(Arrival& arrival) = 0;
  /// Whether all packets have left this process.
  virtual bool all_sent() = 0;
  /// Whether large packets move piece by piece, each time that sender and receiver both call the link.
  virtual bool moves_in_pieces() const { return false; }
  struct Wait {
    std::chrono::nanoseconds idle;  ///< for how long nothing has come
    std::chrono::nanoseconds most;
    uint32_t packets = 1;  ///< so many at least are still to arrive before there is anything to do
  };
  /// Returns when so many packets may have arrived, at the latest after `most`, and where it likes earlier.
  virtual void wait(const Wait& wait) = 0;
  /// Makes the `wait` that goes on, or else the next one, return. False: the link cannot do that, and cannot
  /// sleep until something arrives either, so a `wait` takes turns looking and sleeping.
  virtual bool wake() { return false; }
  /// The clock that silence is measured by. It never goes back.
  virtual std::chrono::nanoseconds now() const = 0;
  /// Leaves in good order, at the same time as all others. Nothing may be sent after it.
  virtual void close() = 0;
  /// Ends all processes, where a process is lost that would have to take part in `close`. Returns only where
  /// the link cannot do that.
  virtual void abort(int status) = 0;
};

/// What a plug-in exports under the name kOpenLink. It is refused where its version is not the one of the
/// program that loads it. The caller owns the link. Throws LinkError.
struct LinkPlugin {
  const char* version;
  Link* (*open)();
};
inline constexpr const char* kLinkPluginName = "hiaton_link_plugin";

}  // namespace hiaton::net
#pragma GCC visibility pop
