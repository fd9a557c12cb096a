// The tree T1 of the Unbalanced Tree Search benchmark, down to a depth, by processes that steal nodes from
// each other over MPI, as the published program with MPI does:
//   mpirun -n 2 uts_mpi DEPTH
// Process 0 prints the number of nodes and the seconds it took, as JSON.
//
// A process searches depth first and looks for messages now and then. One without nodes asks the others at
// random; who is asked gives some of its oldest nodes. Safra's token, which goes around while processes have
// nothing to do, finds that all is over.
#include <mpi.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

using Digest = std::array<uint32_t, 5>;

uint32_t rotated(uint32_t word, int bits) {
  return word << bits | word >> (32 - bits);
}

/// One block of SHA-1.
Digest sha1(std::array<uint32_t, 16> w) {
  uint32_t a = 0x67452301;
  uint32_t b = 0xEFCDAB89;
  uint32_t c = 0x98BADCFE;
  uint32_t d = 0x10325476;
  uint32_t e = 0xC3D2E1F0;
  const Digest begin{a, b, c, d, e};
  const auto round = [&](unsigned t, uint32_t mixed, uint32_t constant) {
    if (t >= 16) {
      w[t % 16] = rotated(w[(t + 13) % 16] ^ w[(t + 8) % 16] ^ w[(t + 2) % 16] ^ w[t % 16], 1);
    }
    const uint32_t next = rotated(a, 5) + mixed + e + constant + w[t % 16];
    e = d;
    d = c;
    c = rotated(b, 30);
    b = a;
    a = next;
  };
  for (unsigned t = 0; t < 20; ++t) round(t, d ^ (b & (c ^ d)), 0x5A827999);
  for (unsigned t = 20; t < 40; ++t) round(t, b ^ c ^ d, 0x6ED9EBA1);
  for (unsigned t = 40; t < 60; ++t) round(t, (b & c) | (d & (b | c)), 0x8F1BBCDC);
  for (unsigned t = 60; t < 80; ++t) round(t, b ^ c ^ d, 0xCA62C1D6);
  return {begin[0] + a, begin[1] + b, begin[2] + c, begin[3] + d, begin[4] + e};
}

constexpr uint32_t kEnd = 0x80000000;

struct Node {
  Digest state;
  uint32_t depth;

  static Node root() { return {sha1({0, 0, 0, 0, 19, kEnd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 160}), 0}; }
  Node child(uint32_t number) const {
    const Digest& s = state;
    return {sha1({s[0], s[1], s[2], s[3], s[4], number, kEnd, 0, 0, 0, 0, 0, 0, 0, 0, 192}), depth + 1};
  }
  /// Geometric, four as a rule.
  int children() const {
    const double drawn = static_cast<double>(state[4] & 0x7FFFFFFF) / 2147483648.0;
    return std::min(static_cast<int>(std::floor(std::log(1 - drawn) / std::log(1 - 1 / (1 + 4.0)))), 100);
  }
};

enum Tag : int { kAsk, kNodes, kToken, kOver };

class Search {
 public:
  Search(uint32_t depth, int self, int size) : depth_(depth), self_(self), size_(size), random_(self) {
    if (self_ == 0) {
      open_.push_back(Node::root());
      has_token_ = true;
    }
  }

  uint64_t run() {
    while (!is_over_) {
      if (first_ < open_.size()) {
        visit(kNodesBetweenLooks);
        look();
      } else {
        find_work();
      }
    }
    return count_;
  }

 private:
  static constexpr int kNodesBetweenLooks = 32;
  static constexpr std::size_t kMostGiven = 20;

  void visit(int most) {
    for (; most > 0 && first_ < open_.size(); --most) {
      const Node node = open_.back();
      open_.pop_back();
      ++count_;
      if (node.depth >= depth_) continue;
      const int children = node.children();
      for (int i = 0; i < children; ++i) open_.push_back(node.child(static_cast<uint32_t>(i)));
    }
    if (first_ >= open_.size()) {
      open_.clear();
      first_ = 0;
    }
  }

  /// Answers all messages that have arrived.
  void look() {
    int is_there = 1;
    while (!is_over_) {
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &status);
      if (is_there == 0) return;
      take(status);
    }
  }

  void take(const MPI_Status& status) {
    const int from = status.MPI_SOURCE;
    switch (status.MPI_TAG) {
      case kAsk:
        receive(nullptr, 0, from, kAsk);
        give(from);
        break;
      case kNodes:
        take_nodes(status);
        break;
      case kToken:
        receive(&token_, sizeof token_, from, kToken);
        has_token_ = true;
        break;
      default:
        receive(nullptr, 0, from, kOver);
        is_over_ = true;
    }
  }

  /// Half of the nodes at most, the oldest ones.
  void give(int to) {
    const std::size_t there = open_.size() - first_;
    const std::size_t given = std::min(kMostGiven, there / 2);
    send(open_.data() + first_, given * sizeof(Node), to, kNodes);
    first_ += given;
    if (given > 0) ++balance_;
  }

  void take_nodes(const MPI_Status& status) {
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    const std::size_t before = open_.size();
    open_.resize(before + static_cast<std::size_t>(bytes) / sizeof(Node));
    receive(open_.data() + before, bytes, status.MPI_SOURCE, kNodes);
    asks_ = false;
    if (bytes == 0) return;
    --balance_;
    is_black_ = true;
  }

  void find_work() {
    if (size_ == 1) {
      is_over_ = true;
      return;
    }
    pass_token();
    if (!asks_ && !is_over_) {
      int victim = static_cast<int>(random_() % static_cast<unsigned>(size_ - 1));
      if (victim >= self_) ++victim;
      send(nullptr, 0, victim, kAsk);
      asks_ = true;
    }
    look();
  }

  /// This process has nothing to do.
  void pass_token() {
    if (!has_token_) return;
    if (self_ == 0) {
      const bool is_first = !token_.goes_around;
      if (!is_first && !token_.is_black && !is_black_ && token_.balance + balance_ == 0) {
        for (int i = 1; i < size_; ++i) send(nullptr, 0, i, kOver);
        is_over_ = true;
        return;
      }
      token_ = {0, false, true};
    } else {
      token_.balance += balance_;
      token_.is_black = token_.is_black || is_black_;
    }
    is_black_ = false;
    has_token_ = false;
    send(&token_, sizeof token_, (self_ + 1) % size_, kToken);
  }

  static void send(const void* bytes, std::size_t size, int to, int tag) {
    MPI_Send(bytes, static_cast<int>(size), MPI_BYTE, to, tag, MPI_COMM_WORLD);
  }
  static void receive(void* bytes, int size, int from, int tag) {
    MPI_Recv(bytes, size, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  struct Token {
    int64_t balance = 0;
    bool is_black = false;
    bool goes_around = false;
  };

  const uint32_t depth_;
  const int self_;
  const int size_;
  std::mt19937 random_;
  std::vector<Node> open_;
  std::size_t first_ = 0;  ///< the first in open_ that has not been given away
  uint64_t count_ = 0;
  bool asks_ = false;
  bool is_over_ = false;
  bool has_token_ = false;
  bool is_black_ = false;
  int64_t balance_ = 0;  ///< messages with nodes that were sent, less those that came
  Token token_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int self = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 2) {
    std::fprintf(stderr, "expected a depth\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const auto depth = static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10));
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const uint64_t count = Search(depth, self, size).run();
  uint64_t all = 0;
  MPI_Reduce(&count, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begin;
  if (self == 0) std::printf("{\"results\": [%lu], \"seconds\": %.9f}\n", all, seconds);
  MPI_Finalize();
  return 0;
}
