#include "net/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "hiaton/error.h"

namespace hiaton::net {
namespace {

constexpr uint64_t kShared = 1;
constexpr uint64_t kAgain = 2;
constexpr uint64_t kHeadBits = 2;
/// Of a tensor without elements, whose other dimensions nothing bounds.
constexpr uint64_t kMostEmptyDim = uint64_t{1} << 31;

bool is_shared(DataObject* object) {
  const int32_t count = object->counter().load(std::memory_order_relaxed);
  if (count > 0) return count > 1;
  return count != -1 && count != DataObject::kOutside + 1;
}

uint64_t used_bits(DType dtype) {
  if (dtype == DType::Bool) return 1;
  return size_of(dtype) == 4 ? UINT32_MAX : UINT64_MAX;
}

}  // namespace

ValueCodec::ValueCodec(const Type& type) {
  std::vector<Type> found;
  root_ = form_of(type, found);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Type data = found[i];
    DataForm form{data.data->name, {}};
    for (std::size_t v = 0; v < data.data->variants.size(); ++v) {
      const Variant& variant = data.data->variants[v];
      VariantForm fields{variant.name, {}};
      for (std::size_t f = 0; f < variant.fields.size(); ++f) {
        fields.fields.push_back(form_of(field_type(data, v, f), found));
        fields.has_data |= fields.fields.back().kind == FieldKind::Data;
      }
      form.variants.push_back(std::move(fields));
    }
    forms_.push_back(std::move(form));
  }
}

ValueCodec::Form ValueCodec::form_of(const Type& type, std::vector<Type>& found) {
  if (type.is_scalar()) return {.kind = field_kind(type.dtype), .dtype = type.dtype};
  if (type.is_tensor()) {
    Form form{.kind = FieldKind::Tensor, .dtype = type.dtype};
    for (const Dim& dim : type.shape) form.dims.push_back(dim.size);
    return form;
  }
  const auto known = std::find(found.begin(), found.end(), type);
  const auto number = static_cast<uint32_t>(known - found.begin());
  if (known == found.end()) found.push_back(type);
  return {.kind = FieldKind::Data, .data = number};
}

void ValueCodec::write_flat(const Form& form, const ValueView& value, ByteWriter& out) const {
  HIATON_CHECK(value.kind == form.kind);
  if (value.is_scalar()) return out.number(value.slot.bits);
  const TensorObject& tensor = *value.slot.tensor;
  HIATON_CHECK(tensor.dtype == form.dtype && tensor.rank == form.dims.size());
  std::size_t bytes = size_of(tensor.dtype);
  for (std::size_t i = 0; i < form.dims.size(); ++i) {
    HIATON_CHECK(form.dims[i] < 0 || form.dims[i] == tensor.dims[i]);
    if (form.dims[i] < 0) out.compact(static_cast<uint64_t>(tensor.dims[i]));
    bytes *= static_cast<std::size_t>(tensor.dims[i]);
  }
  out.raw(tensor.elements, bytes);
}

/// Depth first, in the order of the fields.
class ValueCodec::Writer {
 public:
  Writer(const ValueCodec& codec, ByteWriter& out) : codec_(codec), out_(out) {}

  void write(DataObject* object) {
    open_.push_back({object, codec_.root_.data});
    while (!open_.empty()) {
      const Open next = open_.back();
      open_.pop_back();
      write_one(next);
    }
  }

 private:
  struct Open {
    DataObject* object;
    uint32_t form;
  };

  void write_one(const Open& next) {
    const uint32_t variant = Data::variant_of(next.object);
    HIATON_CHECK(variant < codec_.forms_[next.form].variants.size());
    uint64_t head = uint64_t{variant} << kHeadBits;
    if (Data::has_object(next.object) && is_shared(next.object)) {
      const auto [known, is_new] = numbers_.emplace(next.object, numbers_.size());
      if (!is_new) return out_.compact(known->second << kHeadBits | kAgain);
      head |= kShared;
    }
    out_.compact(head);
    write_fields(next.object, codec_.forms_[next.form].variants[variant]);
  }

  void write_fields(DataObject* object, const VariantForm& variant) {
    const DataFields fields(object);
    HIATON_CHECK(fields.size() == variant.fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Form& form = variant.fields[i];
      if (form.kind != FieldKind::Data) codec_.write_flat(form, fields.view(i), out_);
    }
    if (!variant.has_data) return;
    for (std::size_t i = fields.size(); i-- > 0;) {
      const Form& form = variant.fields[i];
      if (form.kind != FieldKind::Data) continue;
      HIATON_CHECK(fields.view(i).is_data());
      open_.push_back({fields.view(i).slot.data, form.data});
    }
  }

  const ValueCodec& codec_;
  ByteWriter& out_;
  std::vector<Open> open_;
  std::unordered_map<const DataObject*, uint64_t> numbers_;  ///< of the values that are shared
};

/// Makes each value with holes for its fields of data types, which hold a variant without fields until they
/// are filled: whatever ends the reading, all that has been read hangs at the root and is freed with it.
class ValueCodec::Reader {
 public:
  Reader(const ValueCodec& codec, ByteReader& in) : codec_(codec), in_(in) {}

  Data read() {
    Slot root;
    root.data = no_value().detach();
    Hole next{&root, codec_.root_.data};
    try {
      for (;;) {
        fill(next);
        close_complete();
        if (holes_.empty()) break;
        next = holes_.back();
        holes_.pop_back();
      }
    } catch (...) {
      Data::release(root.data);
      throw;
    }
    return Data::adopt(root.data);
  }

 private:
  struct Hole {
    Slot* slot;
    uint32_t form;
  };
  /// A value that is referred to several times.
  struct Shared {
    DataObject* object;
    uint32_t form;
    bool is_complete;
  };
  /// One of which something is still missing: as long as there are more holes than there were before it.
  struct Incomplete {
    std::size_t shared;
    std::size_t holes_before;
  };

  static Data no_value() { return Data::adopt(reinterpret_cast<DataObject*>(Data::bits_of_variant(0))); }

  void close_complete() {
    for (; !incomplete_.empty() && holes_.size() <= incomplete_.back().holes_before; incomplete_.pop_back()) {
      shared_[incomplete_.back().shared].is_complete = true;
    }
  }

  void fill(const Hole& hole) {
    const uint64_t head = in_.compact();
    const uint64_t rest = head >> kHeadBits;
    if ((head & kAgain) != 0) return fill_again(hole, head, rest);
    const DataForm& form = codec_.forms_[hole.form];
    if (rest >= form.variants.size()) {
      in_.fail(fmt::format("expected one of the {} variants of {}, found number {}", form.variants.size(),
                           form.name, rest));
    }
    const VariantForm& variant = form.variants[rest];
    hole.slot->data = make(static_cast<uint32_t>(rest), variant).detach();
    DataObject* object = hole.slot->data;
    if ((head & kShared) != 0) {
      if (!Data::has_object(object))
        in_.fail(fmt::format("expected a value that can be shared, found {}()", variant.name));
      incomplete_.push_back({shared_.size(), holes_.size()});
      shared_.push_back({object, hole.form, false});
    }
    if (variant.has_data) open_holes(object, variant);
  }

  void fill_again(const Hole& hole, uint64_t head, uint64_t number) {
    if ((head & kShared) != 0 || number >= shared_.size()) {
      in_.fail(fmt::format("expected one of the {} shared values so far, found number {}", shared_.size(),
                           number));
    }
    const Shared& shared = shared_[number];
    if (shared.form != hole.form) {
      in_.fail(fmt::format("expected a value of type {}, found a shared one of type {}",
                           codec_.forms_[hole.form].name, codec_.forms_[shared.form].name));
    }
    if (!shared.is_complete) in_.fail("expected a value that is complete, found one that contains itself");
    Data::retain(shared.object);
    hole.slot->data = shared.object;
  }

  Data make(uint32_t variant, const VariantForm& form) {
    fields_.clear();
    for (const Form& field : form.fields) {
      if (field.kind == FieldKind::Data) {
        fields_.emplace_back(no_value());
      } else if (field.kind == FieldKind::Tensor) {
        fields_.emplace_back(read_tensor(field, in_));
      } else {
        fields_.push_back(read_scalar(field, in_));
      }
    }
    return Data::take(variant, fields_);
  }

  void open_holes(DataObject* object, const VariantForm& variant) {
    for (std::size_t i = variant.fields.size(); i-- > 0;) {
      const Form& field = variant.fields[i];
      if (field.kind == FieldKind::Data) holes_.push_back({&object->slots()[i], field.data});
    }
  }

  const ValueCodec& codec_;
  ByteReader& in_;
  std::vector<Hole> holes_;
  std::vector<Shared> shared_;
  std::vector<Incomplete> incomplete_;
  std::vector<Value> fields_;
};

Value ValueCodec::read_scalar(const Form& form, ByteReader& in) {
  Slot slot;
  slot.bits = in.number<uint64_t>();
  if ((slot.bits & ~used_bits(form.dtype)) != 0) {
    in.fail(fmt::format("expected a scalar of type {}, found more bits", name_of(form.dtype)));
  }
  return Value(form.dtype, slot);
}

Value ValueCodec::read_tensor(const Form& form, ByteReader& in) {
  std::vector<int64_t> dims = form.dims;
  std::size_t bytes = size_of(form.dtype);
  bool fits = true;
  for (int64_t& dim : dims) {
    const uint64_t size = dim < 0 ? in.compact() : static_cast<uint64_t>(dim);
    fits = fits && size <= std::max<uint64_t>(in.left(), kMostEmptyDim) &&
           !__builtin_mul_overflow(bytes, size, &bytes);
    dim = static_cast<int64_t>(size);
  }
  if (!fits || bytes > in.left()) {
    in.fail(fmt::format("expected the elements of a tensor of type {}[{}], found {} bytes",
                        name_of(form.dtype), fmt::join(dims, ", "), in.left()));
  }
  Tensor tensor = Tensor::uninitialized(form.dtype, dims);
  const std::byte* elements = in.take(bytes);
  std::copy_n(elements, bytes, tensor.mutable_data<std::byte>());
  if (form.dtype == DType::Bool &&
      std::any_of(elements, elements + bytes, [](std::byte element) { return element > std::byte{1}; })) {
    in.fail("expected elements that are 0 or 1, found others");
  }
  return tensor;
}

void ValueCodec::write(const Value& value, ByteWriter& out) const {
  const ValueView view(value);
  if (root_.kind != FieldKind::Data) return write_flat(root_, view, out);
  HIATON_CHECK(view.is_data());
  Writer(*this, out).write(view.slot.data);
}

Value ValueCodec::read(ByteReader& in) const {
  if (root_.kind == FieldKind::Data) return Reader(*this, in).read();
  return root_.kind == FieldKind::Tensor ? read_tensor(root_, in) : read_scalar(root_, in);
}

}  // namespace hiaton::net
