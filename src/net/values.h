// Values as bytes: what a process sends another one of arguments and results.
//
//   scalar       8 bytes; those that its type does not use are zero
//   tensor       the sizes that the type leaves open, then the elements in row-major order
//   data value   a head: 4 * variant, and one more where the value is referred to several times; or
//                4 * number + 2, which is the number-th value of those again
//                then its scalars and tensors, then its fields of data types, in their order
//
// The static type says which of these it is: a data value does not know its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hiaton/value.h"
#include "net/bytes.h"

namespace hiaton::net {

/// Writes and reads values of one type. Without recursion: lists and trees of any depth. What is shared in
/// the value is written once, and shared again where it is read.
class ValueCodec {
 public:
  explicit ValueCodec(const Type& type);

  /// The value is of the type.
  void write(const Value& value, ByteWriter& out) const;
  /// Takes any bytes. Throws ProgramError where they are not a value of the type.
  Value read(ByteReader& in) const;

 private:
  struct Form {
    FieldKind kind = FieldKind::None;
    DType dtype = DType::I64;     ///< of the elements of a tensor
    std::vector<int64_t> dims{};  ///< of a tensor; -1: open
    uint32_t data = 0;            ///< of a data value: in forms_
  };
  struct VariantForm {
    std::string name;
    std::vector<Form> fields;
    bool has_data = false;
  };
  struct DataForm {
    std::string name;
    std::vector<VariantForm> variants;
  };
  class Writer;
  class Reader;

  Form form_of(const Type& type, std::vector<Type>& found);
  void write_flat(const Form& form, const ValueView& value, ByteWriter& out) const;
  static Value read_scalar(const Form& form, ByteReader& in);
  static Value read_tensor(const Form& form, ByteReader& in);

  Form root_;
  std::vector<DataForm> forms_;
};

}  // namespace hiaton::net
