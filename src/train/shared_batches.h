// How the processes of a training run share each batch: who computes what, and what they tell each other.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "hiaton/train.h"
#include "net/rounds.h"
#include "train/gradient_exchange.h"

namespace hiaton::train {

/// The part of one process in shared batches. All processes call its functions in the same order, for the
/// same batches.
class SharedBatches {
 public:
  /// `cancel` is that of process 0, and null in the others.
  SharedBatches(net::Transport& transport, const std::atomic<bool>* cancel)
      : rounds_(transport), transport_(transport), cancel_(cancel) {}

  std::size_t processes() const { return static_cast<std::size_t>(transport_.size()); }
  std::size_t self() const { return static_cast<std::size_t>(transport_.self()); }
  /// The range of `things` things that this process has.
  PartRange own(std::size_t things) const { return parts_of(self(), processes(), things); }

  /// What process 0 knew of `cancel` when it last exchanged something: the same in all processes at the same
  /// place of the training, so that all end together.
  const std::atomic<bool>& cancelled() const { return cancelled_; }

  /// Adds up the gradients of a batch of `parts` parts, of which this process has computed `own`, to `sums`,
  /// which are zero. `losses` are those of the trees of this process, and become those of all, process by
  /// process.
  void add_up(std::size_t parts, std::span<const SubtreeSum> own, std::vector<double>& losses,
              Gradients& sums);

  /// The numbers of all processes, process by process.
  std::vector<double> gather(std::span<const double> own);

 private:
  std::vector<net::ByteWriter> begin_round();
  /// Sends to each other process, and calls read(process, reader) for what came from each, and
  /// read_own() for this process, in the order of the processes.
  template <class Read, class ReadOwn>
  void exchange(std::span<const net::ByteWriter> out, const Read& read, const ReadOwn& read_own);

  net::Rounds rounds_;
  net::Transport& transport_;
  const std::atomic<bool>* cancel_;
  bool says_cancelled_ = false;  ///< what this process tells the others in this round
  std::atomic<bool> cancelled_{false};
  std::vector<net::Payload> arrived_;
};

}  // namespace hiaton::train
