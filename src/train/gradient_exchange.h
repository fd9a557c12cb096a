// The gradients of a batch whose parts several processes have computed, added up so that each of them has the
// sum, with the bits that one process alone would get.
//
// Each process has whole subtrees of the tree over the parts (base/part_tree.h), and sends their sums. Of a
// dense gradient each process gets the same elements of all subtrees, adds them up along the tree, and sends
// the sum to all. Small gradients go to all processes instead, and of two processes all gradients: that is
// one round, and for two as many bytes. Where the parameter is divided, each process also updates the
// elements whose sums it has, and sends their new values instead of the sums: what an optimizer does is
// shared like this. Of a sparse gradient that is divided by rows each process gets its own rows; the rows of
// others go to all at once, and each process adds them up by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/part_tree.h"
#include "hiaton/run.h"
#include "hiaton/train.h"
#include "net/bytes.h"
#include "net/transport.h"
#include "train/division.h"
#include "train/gradient.h"

namespace hiaton::train {

/// The gradients of the parts of one subtree, added up along it.
struct SubtreeSum {
  PartRange parts;
  const Gradients* sums;
};

/// One batch. In the order of the calls: write_early() of parameters whose sums are complete before the
/// others, write_parts(), read_parts() of what came from each other process, read_early() of what had gone
/// ahead, and take_own(), add_up(), and, where sums are exchanged, write_sums() for each other process,
/// read_sums() of what came from each; the same of write_updates() and read_updates() once divided parameters
/// have been updated. What is written borrows the bytes of the gradients and parameters.
class GradientExchange {
 public:
  /// For a batch of `parts` parts, which `processes` processes share; this one is `self`. Of each `group`
  /// consecutive ones only the first has parts and adds up. Writes to `sums`, of which no row and no
  /// parameter is marked as one that may differ from zero; they must outlive this. The others get what
  /// `holders`, by parameter, says that they hold. `divided` says by parameter how they are divided; none
  /// is where it is empty.
  GradientExchange(std::size_t parts, std::size_t processes, std::size_t self, Gradients& sums,
                   std::size_t group = 1, std::span<const std::optional<int>> holders = {},
                   std::span<const DividedBy> divided = {});

  /// Whether the process gets the gradient of the parameter. Each group holds it on the same of its
  /// processes.
  bool gets(std::size_t process, std::size_t parameter) const {
    if (process % group_ == 0) return true;
    if (holders_.empty() || !holders_[parameter]) return false;
    return static_cast<std::size_t>(*holders_[parameter]) % group_ == process % group_;
  }
  /// What the others get, by process, of a parameter of the one subtree of this one, ahead of the others.
  void write_early(const Gradients& sums, std::size_t parameter, std::span<net::ByteWriter> out);
  /// The same of a dense gradient all of whose elements stand in the message, from byte kEarlyElements on:
  /// writes what stands before them.
  static void begin_early_dense(std::span<std::byte> message);
  static constexpr std::size_t kEarlyElements = net::Packet::kAlignment - net::Payload::kBegin;
  /// How many bytes are sent of it to a process that gets all elements.
  std::size_t early_bytes(const Gradients::Sum& sum, std::size_t parameter) const;
  /// write_early() has been called.
  void set_early(std::size_t parameter) { is_early_[parameter] = true; }
  bool is_early(std::size_t parameter) const { return is_early_[parameter]; }
  /// What the others get, by process, of the subtrees of this one.
  void write_parts(std::span<const SubtreeSum> own, std::span<net::ByteWriter> out);
  /// Takes what process `from` has written. The bytes must outlive add_up().
  void read_parts(std::size_t from, net::ByteReader& in);
  void read_early(std::size_t from, std::size_t parameter, net::ByteReader& in);
  /// How many parameters that have gone ahead are still to be read, according to read_parts().
  std::size_t early_to_come() const { return early_to_come_; }
  /// Takes the subtrees of this process, which must outlive add_up() and not be the sums.
  void take_own(std::span<const SubtreeSum> own);
  /// Adds up what has come: the rows of sparse gradients, and the elements of this process of dense ones.
  void add_up();
  /// Whether all elements of dense gradients go to all processes, but for divided parameters.
  bool sends_whole() const { return processes_ == 2 && group_ == 1; }
  /// Whether the parameter is divided, and to be updated in this batch.
  bool is_divided(std::size_t parameter) const { return parameters_[parameter].is_divided(); }
  /// Whether there is one.
  bool has_divided() const;
  /// Whether there is a second round: some process has not added up all itself.
  bool exchanges_sums() const { return has_ranges() || has_divided(); }
  /// Whether that round may wait until divided parameters are updated: it is about their squares alone.
  bool may_exchange_sums_later() const { return !has_ranges(); }
  /// Once all parts are read, where parameters are divided: whether all gradients are so small that no sum of
  /// theirs, and no square, is not finite.
  bool are_small() const { return are_small_; }
  /// The sums of the elements of this process, as far as process `to` gets them; of divided parameters the
  /// sums of their squares.
  void write_sums(std::size_t to, net::ByteWriter& out) const;
  void read_sums(std::size_t from, net::ByteReader& in);
  /// The squares of the gradient of a divided parameter, once sums have been exchanged.
  double squares(std::size_t parameter) const;
  /// The elements that this process has the sums of where a parameter is divided by elements. The gradient of
  /// one that is divided by rows has the rows of this process alone.
  PartRange own_elements(std::size_t parameter) const { return elements_of(self_, parameters_[parameter]); }
  /// The new values of what this process has the sums of.
  void write_updates(const std::vector<ParameterValues>& parameters, net::ByteWriter& out) const;
  void read_updates(std::size_t from, std::vector<ParameterValues>& parameters, net::ByteReader& in) const;

 private:
  struct Row {
    std::size_t row;
    std::size_t leaf;
    const std::byte* values;
  };
  struct RowSquares {
    std::size_t row;
    double squares;
  };
  struct ParameterGradient {
    DType dtype;  ///< f32 or f64
    std::size_t rows;
    std::size_t width;
    bool is_dense = false;                ///< in any subtree
    std::vector<const std::byte*> dense;  ///< by leaf: the elements of this process; null: it is sparse there
    std::vector<Row> sparse;
    DividedBy divided;
    std::vector<double> squares{};                       ///< divided by elements: by piece
    std::vector<std::vector<RowSquares>> row_squares{};  ///< divided by rows: by process, in order

    std::size_t size() const { return rows * width; }
    std::size_t element() const { return size_of(dtype); }
    bool has_rows() const { return divided == DividedBy::Rows; }
    bool is_divided() const { return has_rows() || (divided == DividedBy::Elements && is_dense); }
  };
  /// Whole: dense, with all elements also where the receiver adds up some.
  enum class Form : uint8_t { Sparse, Dense, Early, Whole };
  struct Leaf {
    std::size_t process;
    PartRange parts;
  };

  bool is_added_by_all(const ParameterGradient& parameter) const;
  bool has_ranges() const;
  PartRange elements_of(std::size_t process, const ParameterGradient& parameter) const;
  static Form form_of(const Gradients::Sum& sum) { return sum.dense ? Form::Dense : Form::Sparse; }
  void write_form(Form form, std::size_t index, std::span<net::ByteWriter> out) const;
  void write_values(const Gradients::Sum& sum, std::size_t index, std::span<net::ByteWriter> out);
  void read_parameter(std::size_t leaf, std::size_t index, Form form, net::ByteReader& in);
  void read_rows(std::size_t leaf, ParameterGradient& parameter, net::ByteReader& in);
  void add_rows(std::size_t index);
  void add_elements(std::size_t index);
  void add_squares(std::size_t index);
  void add_squares_of_rows(std::size_t index);
  void write_row_squares(const ParameterGradient& parameter, net::ByteWriter& out) const;
  void read_row_squares(std::size_t from, ParameterGradient& parameter, net::ByteReader& in);
  void add_mixed(const ParameterGradient& parameter, PartRange elements, std::byte* sum);
  std::size_t first_leaf(PartRange parts) const;
  template <class Act>
  void for_each_sum(std::size_t from, std::size_t to, const Act& act) const;
  std::byte* scratch(std::size_t leaf, std::size_t bytes);
  void fold(const ParameterGradient& parameter, std::size_t width, std::byte* sum);
  const std::byte* fold(const ParameterGradient& parameter, PartRange parts, std::size_t width,
                        std::byte* room);

  std::size_t processes_;
  std::size_t self_;
  std::size_t group_;
  std::span<const std::optional<int>> holders_;
  std::size_t parts_;
  Gradients& sums_;
  std::vector<Leaf> leaves_;  ///< leaves of all processes, in the order of the parts
  std::vector<ParameterGradient> parameters_;
  std::vector<bool> is_early_;  ///< by parameter: this process has sent it ahead
  std::size_t early_to_come_ = 0;
  bool are_small_;
  std::vector<const std::byte*> addends_;      ///< by leaf; null: zero, and not added
  std::vector<std::vector<double>> scratch_;   ///< by leaf: room for sums
  std::vector<std::vector<int64_t>> rows_to_;  ///< by process: the rows of a gradient that it gets
};

}  // namespace hiaton::train
