#include "net/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <unordered_map>

#include "base/check.h"
#include "base/product_of_sizes.h"
#include "hiaton/error.h"
#include "tensor/data_references.h"

namespace hiaton::net {
namespace {

constexpr uint64_t kShared = 1;
constexpr uint64_t kAgain = 2;
constexpr uint64_t kHeadBits = 2;
/// The largest dimension of a tensor without elements, for nothing else bounds its other dimensions.
constexpr uint64_t kMostEmptyDim = uint64_t{1} << 31;

uint64_t used_bits(DType dtype) {
  if (dtype == DType::Bool) return 1;
  return UINT64_MAX >> (64 - 8 * size_of(dtype));
}

}  // namespace

ValueCodec::ValueCodec(std::span<const Type> types) {
  std::vector<Type> found;
  for (const Type& type : types) {
    const Form form = form_of(type, found);
    has_like_roots_ |= form.kind == FieldKind::Data && std::ranges::any_of(roots_, [&](const Form& root) {
                         return root.kind == FieldKind::Data && root.data == form.data;
                       });
    roots_.push_back(form);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Type data = found[i];
    DataForm form{data.data->name, {}};
    for (std::size_t v = 0; v < data.data->variants.size(); ++v) {
      const Variant& variant = data.data->variants[v];
      VariantForm fields{variant.name, {}, FieldLayout(field_kinds(variant))};
      for (std::size_t f = 0; f < variant.fields.size(); ++f) {
        fields.fields.push_back(form_of(field_type(data, v, f), found));
        const bool is_data = fields.fields.back().kind == FieldKind::Data;
        (is_data ? fields.references : fields.flat).push_back(static_cast<uint32_t>(f));
      }
      form.variants.push_back(std::move(fields));
    }
    forms_.push_back(std::move(form));
  }
}

ValueCodec::Form ValueCodec::form_of(const Type& type, std::vector<Type>& found) {
  if (type.is_scalar())
    return {.kind = field_kind(type.dtype), .dtype = type.dtype, .bits = used_bits(type.dtype)};
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

/// Returns the bytes of the elements.
std::size_t ValueCodec::write_open_dims(const Form& form, std::span<const int64_t> dims, ByteWriter& out) {
  HIATON_CHECK(dims.size() == form.dims.size());
  std::size_t bytes = size_of(form.dtype);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    HIATON_CHECK(form.dims[i] < 0 || form.dims[i] == dims[i]);
    if (form.dims[i] < 0) out.compact(static_cast<uint64_t>(dims[i]));
    bytes *= static_cast<std::size_t>(dims[i]);
  }
  return bytes;
}

void ValueCodec::write_flat(const Form& form, const ValueView& value, ByteWriter& out) const {
  HIATON_CHECK(value.kind == form.kind);
  if (value.is_scalar()) return out.number(value.slot.bits & form.bits);
  const TensorObject& tensor = *value.slot.tensor;
  HIATON_CHECK(tensor.dtype == form.dtype);
  out.raw(tensor.elements, write_open_dims(form, {tensor.dims.data(), tensor.rank}, out));
}

/// Depth first, in the order of the fields.
class ValueCodec::Writer {
 public:
  Writer(const ValueCodec& codec, ByteWriter& out) : codec_(codec), out_(out) {}

  void write(const ValueView& value, const Form& form) {
    if (form.kind != FieldKind::Data) return codec_.write_flat(form, value, out_);
    HIATON_CHECK(value.is_data());
    // Who passes the same value twice may hold it once.
    bool may_come_again = codec_.has_like_roots_;
    for (Open next{value.slot.data, form.data};;) {
      if (!write_one(next, may_come_again)) {
        if (open_.empty()) break;
        next = open_.back();
        open_.pop_back();
      }
      may_come_again = false;
    }
  }

 private:
  struct Open {
    DataObject* object;
    uint32_t form;
  };

  /// Whether there is a first one below it: that is the next one then.
  bool write_one(Open& next, bool may_come_again) {
    const std::vector<VariantForm>& variants = codec_.forms_[next.form].variants;
    const uint32_t variant = Data::variant_of(next.object);
    HIATON_CHECK(variant < variants.size());
    uint64_t head = uint64_t{variant} << kHeadBits;
    if (Data::has_object(next.object) && (may_come_again || is_shared(next.object))) {
      const auto [known, is_new] = numbers_.emplace(next.object, numbers_.size());
      if (!is_new) {
        out_.compact(known->second << kHeadBits | kAgain);
        return false;
      }
      head |= kShared;
    }
    out_.compact(head);
    return Data::has_object(next.object) && write_fields(next, variants[variant]);
  }

  bool write_fields(Open& next, const VariantForm& variant) {
    HIATON_CHECK(next.object->layout == variant.layout.code());
    const Slot* const slots = next.object->slots();
    for (const uint32_t field : variant.flat) {
      const Form& form = variant.fields[field];
      codec_.write_flat(form, {form.kind, slots[field]}, out_);
    }
    for (std::size_t i = variant.references.size(); i-- > 1;) {
      const uint32_t field = variant.references[i];
      open_.push_back({slots[field].data, variant.fields[field].data});
    }
    if (variant.references.empty()) return false;
    const uint32_t first = variant.references[0];
    next = {slots[first].data, variant.fields[first].data};
    return true;
  }

  const ValueCodec& codec_;
  ByteWriter& out_;
  std::vector<Open> open_;
  std::unordered_map<const DataObject*, uint64_t> numbers_;  ///< numbers of the values that are shared
};

/// Where values outside of runs are made.
class ValueCodec::OutsideMemory {
 public:
  static DataObject* make(uint32_t variant, FieldLayout layout, std::span<const Slot> fields) {
    return Data::take(variant, layout, fields).detach();
  }
  static void retain(DataObject* object) { Data::retain(object); }
  static void release(DataObject* object) { Data::release(object); }
  static TensorObject* make_tensor(DType dtype, std::span<const int64_t> dims, std::size_t /*bytes*/) {
    return Value(Tensor::uninitialized(dtype, dims)).detach().tensor;
  }
  static void release_tensor(TensorObject* tensor) { Tensor::release(tensor); }
};

/// Where the values of a run are made.
class ValueCodec::RunMemory {
 public:
  explicit RunMemory(const RunCells& cells) : cells_(cells) {}

  DataObject* make(uint32_t variant, FieldLayout layout, std::span<const Slot> fields) const {
    if (fields.empty()) return reinterpret_cast<DataObject*>(Data::bits_of_variant(variant));
    DataObject* made = cells_.data->make(fields.size());
    if (made == nullptr) throw std::bad_alloc();
    made->layout = layout.code();
    made->variant_bits = static_cast<uint16_t>(variant << 1 | 1);
    made->references = 1;
    std::ranges::copy(fields, made->slots());
    return made;
  }
  static void retain(DataObject* object) { DataCells::retain(object); }
  void release(DataObject* object) const { cells_.data->release(object); }
  TensorObject* make_tensor(DType dtype, std::span<const int64_t> dims, std::size_t bytes) const {
    TensorObject* made = cells_.tensors->make(dtype, dims, bytes);
    if (made == nullptr) throw std::bad_alloc();
    return made;
  }
  void release_tensor(TensorObject* tensor) const { cells_.tensors->release(tensor); }

 private:
  const RunCells& cells_;
};

/// Makes each value with holes for its fields of data types, which hold a variant without fields until they
/// are filled: whatever ends the reading, all that has been read hangs at the root and is freed with it.
template <class Memory>
class ValueCodec::Reader {
 public:
  Reader(const ValueCodec& codec, Memory memory, ByteReader& in)
      : codec_(codec), memory_(std::move(memory)), in_(in) {}

  /// The elements of a tensor whose dimensions are all known.
  void read_row(const Form& form, std::byte* to) { copy(take_elements(form, form.dims), to); }

  Slot read(const Form& form) {
    if (form.kind == FieldKind::Data) return read_data(form);
    Slot slot;
    if (form.kind == FieldKind::Tensor) {
      slot.tensor = read_tensor(form);
    } else {
      slot = read_scalar(form, in_);
    }
    return slot;
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

  Slot read_data(const Form& form) {
    Slot root = no_value();
    Hole next{&root, form.data};
    try {
      for (;;) {
        const bool goes_on_below = fill(next);
        close_complete(goes_on_below);
        if (goes_on_below) continue;
        if (holes_.empty()) break;
        next = holes_.back();
        holes_.pop_back();
      }
    } catch (...) {
      memory_.release(root.data);
      throw;
    }
    return root;
  }

  static void copy(std::span<const std::byte> elements, std::byte* to) {
    if (!elements.empty()) std::memcpy(to, elements.data(), elements.size());
  }

  static Slot no_value() {
    Slot slot;
    slot.data = reinterpret_cast<DataObject*>(Data::bits_of_variant(0));
    return slot;
  }

  /// `goes_on_below`: there is one more hole, that is filled next.
  void close_complete(bool goes_on_below) {
    const std::size_t holes = holes_.size() + (goes_on_below ? 1 : 0);
    for (; !incomplete_.empty() && holes <= incomplete_.back().holes_before; incomplete_.pop_back()) {
      shared_[incomplete_.back().shared].is_complete = true;
    }
  }

  /// Whether the value has holes of its own, of which `hole` is the first one then.
  bool fill(Hole& hole) {
    const uint64_t head = in_.compact();
    const uint64_t rest = head >> kHeadBits;
    if ((head & kAgain) != 0) {
      fill_again(hole, head, rest);
      return false;
    }
    const DataForm& form = codec_.forms_[hole.form];
    if (rest >= form.variants.size()) {
      in_.fail(fmt::format("expected one of the {} variants of {}, found number {}", form.variants.size(),
                           form.name, rest));
    }
    const VariantForm& variant = form.variants[rest];
    hole.slot->data = make(static_cast<uint32_t>(rest), variant);
    DataObject* object = hole.slot->data;
    if ((head & kShared) != 0) {
      if (!Data::has_object(object))
        in_.fail(fmt::format("expected a value that can be shared, found {}()", variant.name));
      incomplete_.push_back({shared_.size(), holes_.size()});
      shared_.push_back({object, hole.form, false});
    }
    if (variant.references.empty()) return false;
    const auto hole_of = [&](uint32_t field) {
      return Hole{&object->slots()[field], variant.fields[field].data};
    };
    for (std::size_t i = variant.references.size(); i-- > 1;)
      holes_.push_back(hole_of(variant.references[i]));
    hole = hole_of(variant.references[0]);
    return true;
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
    memory_.retain(shared.object);
    hole.slot->data = shared.object;
  }

  DataObject* make(uint32_t variant, const VariantForm& form) {
    fields_.clear();
    try {
      for (const Form& field : form.fields) fields_.push_back(read_field(field));
    } catch (...) {
      for (std::size_t i = 0; i < fields_.size(); ++i) {
        if (form.fields[i].kind == FieldKind::Tensor) memory_.release_tensor(fields_[i].tensor);
      }
      throw;
    }
    return memory_.make(variant, form.layout, fields_);
  }

  Slot read_field(const Form& field) { return field.kind == FieldKind::Data ? no_value() : read(field); }

  TensorObject* read_tensor(const Form& form) {
    std::array<int64_t, kMaxRank> all_dims{};
    const std::span<const int64_t> dims = read_dims(form, all_dims);
    const std::span<const std::byte> elements = take_elements(form, dims);
    TensorObject* tensor = memory_.make_tensor(form.dtype, dims, elements.size());
    copy(elements, tensor->elements);
    return tensor;
  }

  std::span<const int64_t> read_dims(const Form& form, std::array<int64_t, kMaxRank>& all_dims) {
    bool fits = true;
    for (std::size_t i = 0; i < form.dims.size(); ++i) {
      const uint64_t size = form.dims[i] < 0 ? in_.compact() : static_cast<uint64_t>(form.dims[i]);
      fits = fits && size <= std::max<uint64_t>(in_.left(), kMostEmptyDim);
      all_dims[i] = static_cast<int64_t>(size);
    }
    const std::span<const int64_t> dims(all_dims.data(), form.dims.size());
    if (!fits) fail_short(form, dims);
    return dims;
  }

  std::span<const std::byte> take_elements(const Form& form, std::span<const int64_t> dims) {
    const std::optional<std::size_t> possible = product_of_sizes(size_of(form.dtype), dims);
    if (possible.value_or(SIZE_MAX) > in_.left()) fail_short(form, dims);
    const std::size_t bytes = *possible;
    const std::byte* elements = in_.take(bytes);
    if (form.dtype == DType::Bool &&
        std::any_of(elements, elements + bytes, [](std::byte element) { return element > std::byte{1}; })) {
      in_.fail("expected elements that are 0 or 1, found others");
    }
    return {elements, bytes};
  }

  [[noreturn]] void fail_short(const Form& form, std::span<const int64_t> dims) const {
    in_.fail(fmt::format("expected the elements of a tensor of type {}[{}], found {} bytes",
                         name_of(form.dtype), fmt::join(dims, ", "), in_.left()));
  }

  const ValueCodec& codec_;
  Memory memory_;
  ByteReader& in_;
  std::vector<Hole> holes_;
  std::vector<Shared> shared_;
  std::vector<Incomplete> incomplete_;
  std::vector<Slot> fields_;
};

Slot ValueCodec::read_scalar(const Form& form, ByteReader& in) {
  Slot slot;
  slot.bits = in.number<uint64_t>();
  if ((slot.bits & ~form.bits) != 0) {
    in.fail(fmt::format("expected a scalar of type {}, found more bits", name_of(form.dtype)));
  }
  return slot;
}

void ValueCodec::write(const Value& value, ByteWriter& out) const {
  Writer(*this, out).write(ValueView(value), roots_.front());
}

Value ValueCodec::read(ByteReader& in) const {
  const Form& root = roots_.front();
  const Slot slot = Reader<OutsideMemory>(*this, {}, in).read(root);
  if (root.kind == FieldKind::Data) return Data::adopt(slot.data);
  return root.kind == FieldKind::Tensor ? Value(Tensor::adopt(slot.tensor)) : Value(root.dtype, slot);
}

bool ValueCodec::is_of_scalars() const {
  return std::ranges::none_of(roots_, [](const Form& root) { return is_reference(root.kind); });
}

void ValueCodec::write_slots(std::span<const Slot> slots, ByteWriter& out) const {
  Writer writer(*this, out);
  for (std::size_t i = 0; i < roots_.size(); ++i) writer.write({roots_[i].kind, slots[i]}, roots_[i]);
}

void ValueCodec::write_borrowed(std::span<const Written> values, ByteWriter& out) const {
  constexpr std::size_t kWorthBorrowing = 128;
  Writer writer(*this, out);
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    const Form& form = roots_[i];
    const Written& value = values[i];
    if (form.kind != FieldKind::Tensor) {
      writer.write({form.kind, value.slot}, form);
      continue;
    }
    const std::size_t bytes = write_open_dims(form, value.dims, out);
    bytes < kWorthBorrowing ? out.raw(value.elements, bytes) : out.borrow(value.elements, bytes);
  }
}

std::optional<ValueCodec::KnownSize> ValueCodec::known_size(std::size_t number) const {
  const Form& form = roots_[number];
  const bool is_open = std::ranges::any_of(form.dims, [](int64_t dim) { return dim < 0; });
  if (form.kind != FieldKind::Tensor || is_open) return std::nullopt;
  const std::optional<std::size_t> bytes = product_of_sizes(size_of(form.dtype), form.dims);
  if (!bytes) return std::nullopt;
  return KnownSize{form.dtype, form.dims, *bytes};
}

template <class Memory>
void ValueCodec::read_all(ByteReader& in, Memory memory, std::span<Slot> slots,
                          std::span<std::byte* const> rows) const {
  const auto row_of = [rows](std::size_t i) { return rows.empty() ? nullptr : rows[i]; };
  Reader<Memory> reader(*this, memory, in);
  std::size_t count = 0;
  try {
    for (; count < roots_.size(); ++count) {
      if (std::byte* const row = row_of(count)) {
        reader.read_row(roots_[count], row);
      } else {
        slots[count] = reader.read(roots_[count]);
      }
    }
  } catch (...) {
    for (std::size_t i = 0; i < count; ++i) {
      if (roots_[i].kind == FieldKind::Data) memory.release(slots[i].data);
      if (roots_[i].kind == FieldKind::Tensor && row_of(i) == nullptr) memory.release_tensor(slots[i].tensor);
    }
    throw;
  }
}

void ValueCodec::read_slots(ByteReader& in, const RunCells& cells, std::span<Slot> slots) const {
  read_all(in, RunMemory(cells), slots, {});
}

void ValueCodec::read_slots(ByteReader& in, std::span<Slot> slots, std::span<std::byte* const> rows) const {
  read_all(in, OutsideMemory(), slots, rows);
}

void ValueCodec::release_slot(const RunCells& cells, std::size_t number, Slot slot) const {
  if (roots_[number].kind == FieldKind::Data) cells.data->release(slot.data);
  if (roots_[number].kind == FieldKind::Tensor) cells.tensors->release(slot.tensor);
}

}  // namespace hiaton::net
