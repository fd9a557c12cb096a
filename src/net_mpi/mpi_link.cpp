// Processes that MPI connects. One source, compiled against Open MPI and against MPICH: two plug-ins, so that
// nothing else needs either. MPI-3 calls only, by one thread at a time.
#include <dirent.h>
#include <dlfcn.h>
#include <mpi.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include "net/link.h"
#include "net/shared_memory.h"
#include "net_mpi/mpi_calls.h"

namespace hiaton::net {
namespace {

/// Receives that wait for packets, of all senders together; credits bound what comes besides.
constexpr std::size_t kReceives = 64;
/// After so long without an arrival a process gives its processor away now and then, and after so long it
/// sleeps: at once where the processes of a host are more than its processors. A large packet moves in
/// pieces, a few each time that both sides look, so a process that takes part in one sleeps later.
constexpr std::chrono::microseconds kSpins(20);
constexpr std::chrono::milliseconds kYields(1);
constexpr std::chrono::milliseconds kYieldsForLarge(50);
/// How long it sleeps until it looks whether MPI has moved something, and where a bell wakes it: MPI may move
/// something late. Where a processor has nothing else to do, sleeps begin short: it wakes slower from longer
/// ones.
constexpr std::chrono::microseconds kLongestNap(200);
constexpr std::chrono::milliseconds kLongestSleep(4);
/// By how much the system may make a sleep longer; it is 50 us where nobody says so.
constexpr std::chrono::nanoseconds kSlack(1000);
/// Tags of packets that come by MPI, of notes where one is in shared memory, and of notes that say how large
/// the next packet among the large ones of the sender is: so nobody has to ask MPI for these again and again.
constexpr int kPacketTag = 0;
constexpr int kSharedTag = 1;
constexpr int kLargeTag = 2;
/// Most bytes of packets in shared memory; more go by MPI.
constexpr std::size_t kSharedBytes = std::size_t{256} << 20;
/// How long all processes may take until MPI has begun, and from then on until each knows of the others what
/// it needs. Nothing is said meanwhile that would tell whether one still runs.
constexpr std::chrono::minutes kLongestStart(2);
constexpr std::chrono::seconds kLongestJoin(10);
constexpr std::chrono::milliseconds kLimitStep(100);
/// How long the launcher gets to end this process, when it is asked to end all.
constexpr std::chrono::seconds kEndByLauncher(1);

/// Lets what is written to TCP connections of this process leave at once. MPI tells its launcher several
/// small things when it ends, the last of which waits otherwise until the launcher's system acknowledges the
/// ones before: for 40 ms.
void send_at_once() {
  DIR* const files = opendir("/proc/self/fd");
  if (files == nullptr) return;
  while (const dirent* const file = readdir(files)) {
    const int descriptor = std::atoi(file->d_name);
    int protocol = 0;
    socklen_t size = sizeof protocol;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) != 0 || protocol != IPPROTO_TCP)
      continue;
    const int yes = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  closedir(files);
}

/// Sets whether each look of MPI that finds nothing gives the processor away, where MPI can do that. Returns
/// what was set before.
bool set_yields(bool yields) {
  using Set = bool (*)(bool);
  // Open MPI has no other way to say it once it has begun.
  const auto set = reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle"));
  return set != nullptr && set(yields);
}

/// Ends this process where it lives longer: MPI waits for another that does not come, and not every launcher
/// ends the others then.
class TimeLimit {
 public:
  TimeLimit(std::chrono::seconds longest, std::string error)
      : thread_([this, longest, error = std::move(error)](const std::stop_token& is_over) {
          std::unique_lock lock(mutex_);
          // In steps: while this process is stopped with all others, only one of them passes.
          for (std::chrono::milliseconds waited(0); waited < longest; waited += kLimitStep) {
            never_.wait_for(lock, is_over, kLimitStep, [] { return false; });
            if (is_over.stop_requested()) return;
          }
          std::fputs(error.c_str(), stderr);
          std::_Exit(1);
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any never_;
  std::jthread thread_;
};

class MpiLink : public Link {
 public:
  MpiLink() {
    int provided = 0;
    {
      const TimeLimit limit(
          kLongestStart,
          "error: not all processes of the launcher have joined within two minutes: one has ended "
          "before\n");
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided));
    }
    const TimeLimit limit(
        kLongestJoin,
        "error: one of the processes has stopped, or cannot be reached: it has not joined the others "
        "within 10 seconds of the start of MPI\n");
    if (provided < MPI_THREAD_SERIALIZED) {
      MPI_Finalize();
      throw LinkError(-1, "expected an MPI that threads may call in turn, found one without threads");
    }
    prctl(PR_SET_TIMERSLACK, kSlack.count());
    send_at_once();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check(MPI_Comm_dup(MPI_COMM_WORLD, &small_));
    check(MPI_Comm_dup(MPI_COMM_WORLD, &large_));
    check(MPI_Comm_rank(small_, &self_));
    check(MPI_Comm_size(small_, &size_));
    find_hosts();
    share_memory();
    for (std::size_t i = 0; i < kReceives; ++i) {
      receives_.emplace_back();
      start(receives_.back());
    }
    // Open MPI yields where the processes are more than its slots. That is right while all join and leave,
    // but a look of a process that computes, or that has slept before, must not wait until others have
    // computed.
    yields_ = set_yields(false);
  }

  int self() const override { return self_; }
  int size() const override { return size_; }
  std::string host(int process) const override { return hosts_[static_cast<std::size_t>(process)]; }

  bool is_near(int process) const override { return reads_packets_of_this(process) && !is_crowded_; }

  Packet large_packet(int to, std::size_t bytes) override {
    if (reads_packets_of_this(to)) {
      if (std::optional<Packet> packet = own_packets_->take(bytes)) return std::move(*packet);
    }
    return Packet(bytes);
  }

  void send(int to, Packet packet) override {
    if (reads_packets_of_this(to)) {
      if (const auto shared = own_packets_->give(packet)) return send_note(to, *shared, kSharedTag);
    }
    if (is_large(packet)) send_note(to, uint64_t{packet.size()}, kLargeTag);
    const Bytes bytes(packet.size());
    send(to, std::move(packet), bytes, kPacketTag);
  }

  bool receive(Arrival& arrival) override {
    forget_sent();
    return receive_small(arrival) || receive_large(arrival);
  }

  bool all_sent() override {
    forget_sent();
    return sends_.empty();
  }

  bool moves_in_pieces() const override { return !shares_all_memory_; }

  void wait(const Wait& wait) override {
    const auto [idle, most, packets] = wait;
    if (idle < kSpins) return;
    const bool is_large_under_way = is_receiving_large_.load(std::memory_order_relaxed) ||
                                    large_sends_.load(std::memory_order_relaxed) != 0;
    const std::chrono::milliseconds yields = is_large_under_way ? kYieldsForLarge : kYields;
    if (idle < yields && (is_large_under_way || !is_crowded_)) return std::this_thread::yield();
    if (has_bell() && sends_under_way_.load(std::memory_order_relaxed) == 0) {
      const std::chrono::nanoseconds length = is_crowded_ ? kLongestSleep : idle / 16;
      return sleep(std::min<std::chrono::nanoseconds>({length, kLongestSleep, most}), packets);
    }
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>({idle / 4, kLongestNap, most}));
  }

  bool wake() override {
    if (has_bell()) bell().wake();
    return has_bell();
  }

  std::chrono::nanoseconds now() const override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }

  void close() override {
    set_yields(yields_);
    // Nobody sends any more once all have come here.
    meet();
    for (Transfer& transfer : receives_) {
      MPI_Cancel(&transfer.request);
      MPI_Wait(&transfer.request, MPI_STATUS_IGNORE);
    }
    receives_.clear();
    MPI_Comm_free(&small_);
    MPI_Comm_free(&large_);
    MPI_Finalize();
  }

  /// A launcher that does not reach its other half may not answer for minutes.
  void abort(int status) override {
    std::thread([status] {
      std::this_thread::sleep_for(kEndByLauncher);
      std::_Exit(status);
    }).detach();
    MPI_Abort(MPI_COMM_WORLD, status);
  }

 private:
  struct Transfer {
    Packet packet;
    MPI_Request request = MPI_REQUEST_NULL;
    int process = -1;
  };
  struct LargePacket {
    int from;
    uint64_t bytes;
  };

  bool reads_packets_of_this(int process) const {
    return own_packets_ != nullptr && reads_own_memory_[static_cast<std::size_t>(process)];
  }
  static bool is_large(const Packet& packet) { return packet.size() > kPacketBytes; }

  /// Waits until all processes have called this, and leaves the processor meanwhile to those that have not:
  /// a barrier of MPI keeps it. An error is left to the call that comes next.
  void meet() {
    MPI_Request request = MPI_REQUEST_NULL;
    int is_done = 0;
    MPI_Ibarrier(small_, &request);
    while (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && is_done == 0)
      std::this_thread::sleep_for(kLongestNap);
  }

  void find_hosts() {
    std::array<char, MPI_MAX_PROCESSOR_NAME> own{};
    int length = 0;
    check(MPI_Get_processor_name(own.data(), &length));
    meet();
    std::vector<char> all(own.size() * static_cast<std::size_t>(size_));
    constexpr int kLength = MPI_MAX_PROCESSOR_NAME;
    check(MPI_Allgather(own.data(), kLength, MPI_CHAR, all.data(), kLength, MPI_CHAR, small_));
    for (int i = 0; i < size_; ++i)
      hosts_.emplace_back(all.data() + own.size() * static_cast<std::size_t>(i));
    is_crowded_ = std::ranges::count(hosts_, host(self_)) > processors_of_host();
  }

  /// How many processors some process of this host may run on: the launcher may have bound each process to
  /// some, and taskset or a container may have bound all of them to few.
  int processors_of_host() const {
    cpu_set_t own;
    CPU_ZERO(&own);
    // More processors than the set has bits are enough for all.
    if (sched_getaffinity(0, sizeof own, &own) != 0) std::memset(&own, 0xFF, sizeof own);
    std::vector<cpu_set_t> all(static_cast<std::size_t>(size_));
    constexpr int kBytes = sizeof own;
    check(MPI_Allgather(&own, kBytes, MPI_BYTE, all.data(), kBytes, MPI_BYTE, small_));
    for (int i = 0; i < size_; ++i) {
      if (host(i) == host(self_)) CPU_OR(&own, &own, &all[static_cast<std::size_t>(i)]);
    }
    return CPU_COUNT(&own);
  }

  /// Makes memory that other processes of this machine read, and opens theirs.
  void share_memory() {
    struct Offer {
      int process;
      SharedMemory::Offer memory;
    };
    MPI_Comm machine = MPI_COMM_NULL;
    check(MPI_Comm_split_type(small_, MPI_COMM_TYPE_SHARED, self_, MPI_INFO_NULL, &machine));
    int count = 0;
    check(MPI_Comm_size(machine, &count));
    reads_own_memory_.resize(static_cast<std::size_t>(size_));
    memory_of_others_.resize(static_cast<std::size_t>(size_));
    if (count > 1) {
      std::random_device random;
      auto memory = SharedMemory::make(kSharedBytes, uint64_t{random()} << 32 | random());
      const Offer own{self_, memory == nullptr ? SharedMemory::Offer() : memory->offer()};
      const auto all_count = static_cast<std::size_t>(count);
      std::vector<Offer> all(all_count);
      constexpr int kOffer = sizeof(Offer);
      check(MPI_Allgather(&own, kOffer, MPI_BYTE, all.data(), kOffer, MPI_BYTE, machine));
      std::vector<char> reads(all_count);
      std::vector<char> is_read_by(all_count);
      for (std::size_t i = 0; i < all_count; ++i) {
        if (all[i].process == self_) continue;
        auto& other = memory_of_others_[static_cast<std::size_t>(all[i].process)];
        other = SharedMemory::open(all[i].memory);
        reads[i] = other != nullptr ? 1 : 0;
      }
      check(MPI_Alltoall(reads.data(), 1, MPI_CHAR, is_read_by.data(), 1, MPI_CHAR, machine));
      for (std::size_t i = 0; i < all_count; ++i)
        reads_own_memory_[static_cast<std::size_t>(all[i].process)] = is_read_by[i] != 0;
      shares_all_memory_ = memory != nullptr && count == size_;
      for (std::size_t i = 0; i < all_count; ++i)
        shares_all_memory_ &= all[i].process == self_ || (reads[i] != 0 && is_read_by[i] != 0);
      own_memory_ = memory;
      if (memory != nullptr) own_packets_ = std::make_unique<SharedPackets>(std::move(memory));
    }
    MPI_Comm_free(&machine);
  }

  /// Whether all others ring at this process.
  bool has_bell() const { return shares_all_memory_; }
  Doorbell& bell() const { return own_memory_->bell(); }
  /// Until so many packets have rung. Sleeps only the second time: whoever waits looks once more in between.
  void sleep(std::chrono::nanoseconds most, uint32_t packets) {
    constexpr int kBits = 32;
    const uint64_t expected = expected_.exchange(0);
    const uint64_t rings = expected >> kBits;
    if (rings == 0 || rings > packets)
      return expected_.store(uint64_t{packets} << kBits | bell().expect(packets));
    bell().sleep(static_cast<uint32_t>(expected), most);
  }
  void ring_at(int process) const {
    const auto& memory = memory_of_others_[static_cast<std::size_t>(process)];
    if (memory != nullptr) memory->bell().ring();
  }

  void send(int to, Packet packet, const Bytes& bytes, int tag) {
    const bool large = is_large(packet);
    Transfer transfer{std::move(packet), MPI_REQUEST_NULL, to};
    check(MPI_Isend(transfer.packet.data(), bytes.count(), bytes.type(), to, tag, large ? large_ : small_,
                    &transfer.request),
          to);
    int is_done = 0;
    check(MPI_Test(&transfer.request, &is_done, MPI_STATUS_IGNORE), to);
    ring_at(to);
    if (is_done != 0) return keep(std::move(transfer.packet));
    sends_.push_back(std::move(transfer));
    sends_under_way_.fetch_add(1, std::memory_order_relaxed);
    if (large) large_sends_.fetch_add(1, std::memory_order_relaxed);
  }

  /// Tells another process what the tag says about its packet.
  template <class Note>
  void send_note(int to, const Note& note, int tag) {
    Packet packet(sizeof note);
    packet.resize(sizeof note);
    std::memcpy(packet.data(), &note, sizeof note);
    send(to, std::move(packet), Bytes(sizeof note), tag);
  }

  Packet shared_packet(int from, const Packet& note) {
    const auto& memory = memory_of_others_[static_cast<std::size_t>(from)];
    SharedPacket shared;
    if (note.size() == sizeof shared) std::memcpy(&shared, note.data(), sizeof shared);
    if (memory == nullptr || !shared.fits(memory->size()))
      throw LinkError(from, "expected a packet in shared memory, found none");
    auto* const block = reinterpret_cast<SharedBlock*>(memory->begin() + shared.offset);
    return packet_in(block, memory, shared.size, shared.size);
  }

  /// The memory of what was sent is for what comes.
  void keep(Packet packet) {
    if (packet.capacity() == kPacketBytes && spare_.size() < kReceives) spare_.push_back(std::move(packet));
  }

  void start(Transfer& transfer) {
    if (spare_.empty()) {
      transfer.packet = Packet(kPacketBytes);
    } else {
      transfer.packet = std::move(spare_.back());
      spare_.pop_back();
    }
    check(MPI_Irecv(transfer.packet.data(), static_cast<int>(kPacketBytes), MPI_BYTE, MPI_ANY_SOURCE,
                    MPI_ANY_TAG, small_, &transfer.request));
  }

  /// Receives complete in the order in which they were started, but for long packets, which may come late:
  /// those behind wait for them.
  bool receive_small(Arrival& arrival) {
    int is_done = 0;
    MPI_Status status;
    do {
      Transfer& oldest = receives_.front();
      check(MPI_Test(&oldest.request, &is_done, &status));
      if (is_done == 0) return false;
      take(oldest, status, arrival);
      receives_.pop_front();
      receives_.emplace_back();
      start(receives_.back());
      if (status.MPI_TAG == kLargeTag) expected_large_.push_back(large_packet_of(arrival));
    } while (status.MPI_TAG == kLargeTag);
    if (status.MPI_TAG == kSharedTag) arrival.packet = shared_packet(arrival.from, arrival.packet);
    return true;
  }

  static LargePacket large_packet_of(const Arrival& note) {
    LargePacket packet{note.from, 0};
    if (note.packet.size() != sizeof packet.bytes)
      throw LinkError(note.from, "expected the size of a packet, found other bytes");
    std::memcpy(&packet.bytes, note.packet.data(), sizeof packet.bytes);
    return packet;
  }

  /// One at a time: what it takes memory for is bounded by the sender's credits.
  bool receive_large(Arrival& arrival) {
    if (incoming_.request == MPI_REQUEST_NULL) {
      if (expected_large_.empty()) return false;
      const auto [from, size] = expected_large_.front();
      expected_large_.pop_front();
      incoming_.packet = Packet(size);
      incoming_.process = from;
      const Bytes bytes(size);
      check(MPI_Irecv(incoming_.packet.data(), bytes.count(), bytes.type(), from, kPacketTag, large_,
                      &incoming_.request),
            from);
      is_receiving_large_.store(true, std::memory_order_relaxed);
    }
    int is_done = 0;
    MPI_Status status;
    check(MPI_Test(&incoming_.request, &is_done, &status), incoming_.process);
    if (is_done == 0) return false;
    take(incoming_, status, arrival);
    is_receiving_large_.store(false, std::memory_order_relaxed);
    return true;
  }

  static void take(Transfer& transfer, const MPI_Status& status, Arrival& arrival) {
    transfer.packet.resize(bytes_in(status));
    arrival.from = status.MPI_SOURCE;
    arrival.packet = std::exchange(transfer.packet, Packet());
  }

  void forget_sent() {
    while (!sends_.empty()) {
      int is_done = 0;
      check(MPI_Test(&sends_.front().request, &is_done, MPI_STATUS_IGNORE), sends_.front().process);
      if (is_done == 0) return;
      ring_at(sends_.front().process);  // it may have looked before all was there
      if (is_large(sends_.front().packet)) large_sends_.fetch_sub(1, std::memory_order_relaxed);
      sends_under_way_.fetch_sub(1, std::memory_order_relaxed);
      keep(std::move(sends_.front().packet));
      sends_.pop_front();
    }
  }

  MPI_Comm small_ = MPI_COMM_NULL;
  MPI_Comm large_ = MPI_COMM_NULL;
  int self_ = 0;
  int size_ = 1;
  std::vector<std::string> hosts_;
  bool yields_ = false;      ///< what MPI does while processes join and leave
  bool is_crowded_ = false;  ///< the processes of this host are more than the processors for them
  std::shared_ptr<SharedMemory> own_memory_;    ///< null: no other process reads memory of this one
  std::unique_ptr<SharedPackets> own_packets_;  ///< in it
  std::vector<bool> reads_own_memory_;          ///< by process
  std::vector<std::shared_ptr<SharedMemory>> memory_of_others_;  ///< by process; null: cannot be read
  bool shares_all_memory_ = false;  ///< each other process reads that of this one, and this one theirs
  std::deque<Transfer> sends_;
  std::deque<Transfer> receives_;
  std::vector<Packet> spare_;  ///< of what was sent: receives take them
  std::deque<LargePacket> expected_large_;
  Transfer incoming_;
  /// Read by wait(), which another thread may call.
  std::atomic<bool> is_receiving_large_{false};
  std::atomic<std::size_t> sends_under_way_{0};
  std::atomic<std::size_t> large_sends_{0};  ///< sends of large packets among them
  /// What the bell's expect() has returned, and above it how often the bell is to ring; 0: it is not
  /// expected.
  std::atomic<uint64_t> expected_{0};
};

Link* open_link() {
  return new MpiLink;
}

}  // namespace
}  // namespace hiaton::net

extern "C" __attribute__((visibility("default")))
const hiaton::net::LinkPlugin hiaton_link_plugin = {HIATON_VERSION, &hiaton::net::open_link};
