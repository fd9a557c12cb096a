// Learned parameters that one process of several holds, with its state of the optimizer: the others ask it
// for the rows that they read.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "hiaton/run.h"
#include "hiaton/train.h"
#include "net/bytes.h"
#include "net/transport.h"

namespace hiaton::train {

/// A question holds how many rounds its process has ended: who holds the rows answers once it has ended as
/// many, and so has changed them as often.
class PlacedTables : public RowSource {
 public:
  /// By parameter: the process that holds it; nothing: all that compute.
  using Holders = std::vector<std::optional<int>>;

  /// `parameters` and the transport must outlive it.
  PlacedTables(net::Transport& transport, std::vector<ParameterValues>& parameters, Holders holders,
               bool computes);
  PlacedTables(const PlacedTables&) = delete;
  PlacedTables& operator=(const PlacedTables&) = delete;
  ~PlacedTables() override;

  static constexpr uint32_t kChannel = 1;

  const Holders& holders() const { return holders_; }
  bool is_here(std::size_t parameter) const;
  /// Stands for a parameter that is not here: there is no memory behind its elements.
  Tensor stand_in(std::size_t parameter);
  /// All elements of a parameter that is not here.
  Tensor fetch(std::size_t parameter);

  bool is_elsewhere(const std::byte* elements) const override;
  void gather(const std::byte* elements, std::span<const int64_t> rows, std::byte* to) override;

  /// So many rounds are over.
  void set_rounds(uint64_t rounds) { rounds_ = rounds; }
  /// Answers the questions that waited for that.
  void answer_waiting();
  /// Takes a message of kChannel.
  void take(int from, const net::Header& header, std::span<const std::byte> payload);

 private:
  class Reserved;
  struct Question {
    int from;
    uint64_t name;
    std::vector<std::byte> payload;
  };

  std::size_t row_bytes(std::size_t parameter) const;
  void ask(std::size_t parameter, std::span<const int64_t> rows, std::span<std::byte> to);
  /// False: it is to wait for a round.
  bool answer(int from, uint64_t name, std::span<const std::byte> payload);

  net::Transport& transport_;
  std::vector<ParameterValues>& parameters_;
  const Holders holders_;
  const bool computes_;                                    ///< this process
  std::vector<std::shared_ptr<const Reserved>> reserved_;  ///< by parameter; null where it is here
  std::mutex mutex_;                                       ///< one question at a time
  uint64_t rounds_ = 0;
  uint64_t questions_ = 0;
  std::deque<Question> waiting_;
};

}  // namespace hiaton::train
