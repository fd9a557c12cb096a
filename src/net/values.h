// Values as bytes: what a process sends another one of arguments and results.
//
//   scalar       8 bytes; those that its type does not use are zero
//   tensor       the sizes that the type leaves open, then the elements in row-major order
//   data value   a head: 4 * variant, and one more where the value is referred to several times; or
//                4 * number + 2, which is the number-th value of those again
//                then its scalars and tensors, then its fields of data types, in their order
//
// The static type says which of these it is: a data value does not know its own. The values of one message
// are contiguous, and number what they share in common.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hiaton/value.h"
#include "net/bytes.h"
#include "tensor/data_heap.h"
#include "tensor/tensor_heap.h"

namespace hiaton::net {

/// Where a worker makes the values of a run. Null what no value of the run needs.
struct RunCells {
  DataCells* data = nullptr;
  TensorCells* tensors = nullptr;
};

/// Writes and reads values of one type, or of one type each. Without recursion: lists and trees of any depth.
/// What is shared within the values of a message is written once, and shared again where it is read.
class ValueCodec {
 public:
  explicit ValueCodec(const Type& type) : ValueCodec(std::span(&type, 1)) {}
  explicit ValueCodec(std::span<const Type> types);

  /// The value is of the type.
  void write(const Value& value, ByteWriter& out) const;
  /// Takes any bytes. Throws ProgramError where they are not a value of the type.
  Value read(ByteReader& in) const;

  /// One slot for each type. They stay with whoever holds them.
  void write_slots(std::span<const Slot> slots, ByteWriter& out) const;
  /// What is written in the place of a slot.
  struct Written {
    Slot slot;                        ///< a scalar or a data value
    std::span<const int64_t> dims{};  ///< the dimensions of a tensor
    const std::byte* elements = nullptr;
  };
  /// The same of tensors that may be parts of others. `out` borrows elements: they stay until it is copied.
  void write_borrowed(std::span<const Written> values, ByteWriter& out) const;
  /// Takes any bytes. Each slot gets a reference of its own. Throws ProgramError where the bytes are not
  /// values of the types, and std::bad_alloc where there is no memory; nothing is left behind then.
  void read_slots(ByteReader& in, const RunCells& cells, std::span<Slot> slots) const;
  /// The same for values outside of runs.
  void read_slots(ByteReader& in, std::span<Slot> slots) const { read_slots(in, slots, {}); }
  /// Where `rows` has an address for a value, which is a tensor of known_size(), its elements go there, and
  /// its slot stays as it is.
  void read_slots(ByteReader& in, std::span<Slot> slots, std::span<std::byte* const> rows) const;
  /// A tensor whose dimensions are all known.
  struct KnownSize {
    DType dtype;
    std::span<const int64_t> dims;
    std::size_t bytes;
  };
  /// The size of all values of the type with this number; nothing where it is no tensor or leaves one open.
  std::optional<KnownSize> known_size(std::size_t number) const;
  /// Lets go of the reference in the slot of this number.
  void release_slot(const RunCells& cells, std::size_t number, Slot slot) const;
  /// Whether all types are scalars, which need no memory.
  bool is_of_scalars() const;

 private:
  struct Form {
    FieldKind kind = FieldKind::None;
    DType dtype = DType::I64;     ///< the type of a tensor's elements
    uint64_t bits = 0;            ///< those of a scalar that may be set
    std::vector<int64_t> dims{};  ///< the dimensions of a tensor; -1: open
    uint32_t data = 0;            ///< where the form of a data value stands in forms_
  };
  struct VariantForm {
    std::string name;
    std::vector<Form> fields;
    FieldLayout layout{};
    std::vector<uint32_t> flat{};        ///< which fields are scalars and tensors
    std::vector<uint32_t> references{};  ///< which fields are data values
  };
  struct DataForm {
    std::string name;
    std::vector<VariantForm> variants;
  };
  class Writer;
  class OutsideMemory;
  class RunMemory;
  template <class Memory>
  class Reader;
  template <class Memory>
  void read_all(ByteReader& in, Memory memory, std::span<Slot> slots, std::span<std::byte* const> rows) const;

  Form form_of(const Type& type, std::vector<Type>& found);
  void write_flat(const Form& form, const ValueView& value, ByteWriter& out) const;
  static std::size_t write_open_dims(const Form& form, std::span<const int64_t> dims, ByteWriter& out);
  static Slot read_scalar(const Form& form, ByteReader& in);

  std::vector<Form> roots_;
  bool has_like_roots_ = false;  ///< two of them are of one data type, and may be the same value
  std::vector<DataForm> forms_;
};

}  // namespace hiaton::net
