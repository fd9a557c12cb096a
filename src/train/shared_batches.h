// How the processes of a training run share each batch: who computes what, and what they tell each other.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hiaton/train.h"
#include "net/rounds.h"
#include "train/gradient_exchange.h"
#include "train/placed_tables.h"

namespace hiaton::train {

/// The part of one process in shared batches. All processes call its functions in the same order, for the
/// same batches.
///
/// Consecutive processes are groups, the replicas, each of which holds all parameters. The first process of a
/// group computes, and holds what is not placed; the others hold the parameters that are placed on them
/// (placed_tables.h), and answer while they wait in a round. Without placements each process is a group.
class SharedBatches {
 public:
  /// `cancel` is that of process 0, and null in the others.
  SharedBatches(net::Transport& transport, const std::atomic<bool>* cancel)
      : rounds_(transport, [this](int from, const net::Header& header,
                                  net::Payload payload) { take_other(from, header, std::move(payload)); }),
        transport_(transport),
        cancel_(cancel) {}
  SharedBatches(const SharedBatches&) = delete;
  SharedBatches& operator=(const SharedBatches&) = delete;

  std::size_t processes() const { return static_cast<std::size_t>(transport_.size()); }
  net::Transport& transport() const { return transport_; }
  std::size_t self() const { return static_cast<std::size_t>(transport_.self()); }

  /// From now on there are so many replicas. Throws ProgramError where the processes are no multiple of
  /// them.
  void set_replicas(std::size_t replicas);
  std::size_t replicas() const { return processes() / group_; }
  std::size_t group() const { return group_; }
  /// The number of the first process of this one's group.
  std::size_t first_of_group() const { return self() / group_ * group_; }
  bool computes() const { return self() % group_ == 0; }
  /// The range of `things` things that this process has.
  PartRange own(std::size_t things) const { return owned_parts(self(), processes(), group_, things); }

  /// From now on `parameters` are held as `holders` says.
  void hold(std::vector<ParameterValues>& parameters, PlacedTables::Holders holders);
  /// Null: every process holds all parameters.
  PlacedTables* tables() const { return tables_.get(); }
  /// Instead of sharing batches the processes are given examples of their own (net/deal.h): there are no
  /// rounds. Where they are few, and nothing is placed, all processes run them together instead: those that
  /// have nothing to do get calls of the others.
  void deal_out(bool are_few) {
    is_dealt_ = true;
    are_few_ = are_few;
  }
  bool is_dealt() const { return is_dealt_; }
  bool are_few() const { return are_few_; }
  /// From now on all processes of a group, of which there are so many, run each batch together: what is
  /// placed runs where it is placed. There are rounds, and all hold all parameters.
  /// Throws ProgramError as set_replicas().
  void run_together(std::size_t replicas);
  /// How many processes run a batch together; 1: each runs its own.
  std::size_t together() const { return together_; }
  /// How many of these groups there are.
  std::size_t groups_together() const { return processes() / together_; }
  /// The range of `examples` examples that this process begins.
  PartRange own_examples(std::size_t examples) const {
    return owned_parts(self(), processes(), std::max(group_, together_), examples);
  }
  /// Called by a process that does not compute, where examples are dealt out: answers until all is over.
  void serve();
  /// Returns when all processes are here, and answers until then.
  void meet() { gather({}); }
  /// Whether a round takes microseconds (net/link.h); the same in all processes, which call it together.
  bool are_near();
  /// Sends what each process has to process 0, which gets it by process; the others get nothing.
  std::vector<std::vector<std::byte>> collect(std::span<const std::byte> own);
  /// Sends the state of the parameter from the first process that holds it to process 0, which gets it here;
  /// the others give and get nothing.
  std::vector<std::byte> bring(std::size_t parameter, std::span<const std::byte> own);

  /// What process 0 knew of `cancel` when it last exchanged something: the same in all processes at the same
  /// place of the training, so that all end together.
  const std::atomic<bool>& cancelled() const { return cancelled_; }

  /// Begins to add up the gradients of a batch of `parts` parts to `sums`, in which nothing is marked. Of
  /// parameters that are `divided` each process gets the sums of some elements or rows, and updates these.
  void begin_sums(std::size_t parts, Gradients& sums, std::span<const DividedBy> divided = {});
  /// Puts large gradients of the first subtree that this process computes into memory that nobody reads and
  /// that they can be sent from without being copied, as far as they were dense in the batch before. By the
  /// marks of that one they are still to be cleared.
  void make_sendable(Gradients& own);
  /// Sends the sum of a parameter, which is complete, of the one subtree that this process computes, where it
  /// is large enough. It may be sent from where it stands, and stays as it is until make_sendable().
  void send_early(const Gradients& own, std::size_t parameter);
  /// Adds up what all have computed, this process `own`. `losses` are those of the trees of this process, and
  /// become those of all, process by process. Squares of divided parameters are left to exchange_sums().
  void add_up(std::span<const SubtreeSum> own, std::vector<double>& losses);
  /// What add_up() has found of divided parameters.
  const GradientExchange& sums() const { return *gradients_; }
  /// The round in which the processes tell each other the sums that add_up() has made, unless it is over.
  void exchange_sums();
  /// Once the own elements of divided parameters are updated: gives them to the others, and takes theirs. The
  /// same is done with sums that are still to be exchanged.
  void exchange_updates(std::vector<ParameterValues>& parameters);

  /// The numbers of all processes, process by process.
  std::vector<double> gather(std::span<const double> own);

  /// For each process what a round begins with, to be added to and given to exchange().
  std::vector<net::ByteWriter> begin_exchange();
  /// Sends it. Returns what the others have added, by process: what was aligned there is so here.
  std::vector<std::vector<std::byte>> exchange(std::span<const net::ByteWriter> out);

 private:
  std::size_t processes_of_each(std::size_t replicas) const;
  std::vector<net::ByteWriter> begin_round();
  /// Sends to each other process, and calls read(process, reader) for what came from each, and
  /// read_own() for this process, in the order of the processes.
  template <class Read, class ReadOwn>
  void exchange(std::span<const net::ByteWriter> out, const Read& read, const ReadOwn& read_own);
  void take_other(int from, const net::Header& header, net::Payload payload);
  bool is_sendable(const Gradients& own, std::size_t parameter) const;
  void read_early();

  /// Sums that are complete before the others: aux is the parameter, the name the round that they belong to.
  static constexpr uint32_t kEarlyChannel = 3;
  struct Early {
    std::size_t from;
    std::size_t parameter;
    uint64_t round;
    net::Payload payload;
  };

  net::Rounds rounds_;
  net::Transport& transport_;
  const std::atomic<bool>* cancel_;
  bool says_cancelled_ = false;  ///< what this process tells the others in this round
  std::atomic<bool> cancelled_{false};
  std::size_t group_ = 1;
  std::size_t together_ = 1;
  bool is_dealt_ = false;
  bool are_few_ = false;
  std::unique_ptr<PlacedTables> tables_;
  std::vector<net::Payload> arrived_;
  std::optional<GradientExchange> gradients_;  ///< of the batch that is under way
  bool has_sums_ = true;                       ///< they are exchanged
  std::vector<Early> early_;                   ///< of this round, and of the next one
  /// By parameter: where the gradients of this process are sent from without being copied; null: they are
  /// copied.
  std::vector<std::shared_ptr<net::Payload>> sendable_;
  net::HeldMessages held_;  ///< messages of what another process has begun after the round
};

}  // namespace hiaton::train
