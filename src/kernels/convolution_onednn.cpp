// Convolutions in single precision through oneDNN. A primitive is made once for each shape and thread, and
// kept as long as there are not too many of them; it chooses how its operands are laid out, and what is laid
// out otherwise is brought into that order.
//
// Large convolutions go piece by piece, some images each, on this thread and on those that idle. What the
// pieces are depends on the shape alone, since oneDNN may choose another order of sums for another shape: so
// the bits do not depend on how many threads there are.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/per_thread.h"
#include "kernels/aligned.h"
#include "kernels/convolution.h"
#include "kernels/launch_helpers.h"
#include "kernels/onednn.h"

namespace hiaton::kernels {
namespace {

using Descriptor = OneDnnHandle<dnnl_primitive_desc_t>;
using Primitive = OneDnnHandle<dnnl_primitive_t>;
using Memory = OneDnnHandle<dnnl_memory_t>;
using Stream = OneDnnHandle<dnnl_stream_t>;

Memory make_memory(const dnnl_memory_desc_t& layout, void* elements) {
  dnnl_memory_t made = nullptr;
  check_onednn(onednn().memory_create(&made, &layout, onednn_cpu(), elements), "make a memory");
  return {made, onednn().memory_destroy};
}

Stream make_stream() {
  dnnl_stream_t made = nullptr;
  check_onednn(onednn().stream_create(&made, onednn_cpu(), dnnl_stream_default_flags), "make a stream");
  return {made, onednn().stream_destroy};
}

Descriptor describe(const dnnl_convolution_desc_t& convolution, const Descriptor& forward) {
  dnnl_primitive_desc_t made = nullptr;
  check_onednn(onednn().primitive_desc_create(&made, &convolution, nullptr, onednn_cpu(), forward.get()),
               "compute a convolution of this shape");
  return {made, onednn().primitive_desc_destroy};
}

Primitive make_primitive(const Descriptor& descriptor) {
  dnnl_primitive_t made = nullptr;
  check_onednn(onednn().primitive_create(&made, descriptor.get()), "make a primitive");
  return {made, onednn().primitive_destroy};
}

Primitive make_reorder(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to) {
  dnnl_primitive_desc_t made = nullptr;
  check_onednn(onednn().reorder_primitive_desc_create(&made, &from, onednn_cpu(), &to, onednn_cpu(), nullptr),
               "bring a tensor into another order");
  return make_primitive({made, onednn().primitive_desc_destroy});
}

void execute(const Primitive& primitive, const Stream& stream, std::span<const dnnl_exec_arg_t> arguments) {
  check_onednn(onednn().primitive_execute(primitive.get(), stream.get(), static_cast<int>(arguments.size()),
                                          arguments.data()),
               "run a primitive");
}

/// A tensor as the caller has it, and as the primitive wants it.
struct Port {
  int argument;
  dnnl_memory_desc_t given;
  dnnl_memory_desc_t wanted;
};

/// A port of a computation: where it reads a tensor, or writes it.
class BoundPort {
 public:
  BoundPort(const Port& port, bool is_result)
      : argument_(port.argument), outside_(make_memory(port.given, DNNL_MEMORY_NONE)) {
    if (onednn().memory_desc_equal(&port.given, &port.wanted) != 0) return;
    own_.emplace(make_memory(port.wanted, DNNL_MEMORY_ALLOCATE));
    reorder_.emplace(is_result ? make_reorder(port.wanted, port.given)
                               : make_reorder(port.given, port.wanted));
  }

  void set(const float* elements) {
    check_onednn(onednn().memory_set_data_handle(outside_.get(), const_cast<float*>(elements)),
                 "read a tensor");
  }
  dnnl_exec_arg_t argument() const { return {argument_, own_ ? own_->get() : outside_.get()}; }
  void read(const Stream& stream) const {
    if (reorder_) move(outside_, *own_, stream);
  }
  void write(const Stream& stream) const {
    if (reorder_) move(*own_, outside_, stream);
  }

 private:
  void move(const Memory& from, const Memory& to, const Stream& stream) const {
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}};
    execute(*reorder_, stream, arguments);
  }

  int argument_;
  Memory outside_;
  std::optional<Memory> own_;  ///< in the wanted order; none where that is the given one
  std::optional<Primitive> reorder_;
};

/// A primitive that makes one tensor of two.
class Computation {
 public:
  Computation(const Descriptor& chosen, const Port& first, const Port& second, const Port& result)
      : primitive_(make_primitive(chosen)),
        stream_(make_stream()),
        first_(first, false),
        second_(second, false),
        result_(result, true) {}

  void run(const float* first, const float* second, float* result) {
    const OneThread one_thread;
    first_.set(first);
    second_.set(second);
    result_.set(result);
    first_.read(stream_);
    second_.read(stream_);
    const dnnl_exec_arg_t arguments[] = {first_.argument(), second_.argument(), result_.argument()};
    execute(primitive_, stream_, arguments);
    result_.write(stream_);
    check_onednn(onednn().stream_wait(stream_.get()), "end a primitive");
  }

 private:
  Primitive primitive_;
  Stream stream_;
  BoundPort first_, second_, result_;
};

/// Four dimensions, or five for filters in groups.
struct Dims {
  std::array<dnnl_dim_t, 5> sizes;
  int count = 4;
};

dnnl_memory_desc_t layout_of(const Dims& dims, dnnl_format_tag_t order) {
  dnnl_memory_desc_t layout;
  check_onednn(onednn().memory_desc_init_by_tag(&layout, dims.count, dims.sizes.data(), dnnl_f32, order),
               "lay out a tensor");
  return layout;
}

Dims filters_of(const Convolution& s) {
  if (s.groups == 1) return {{s.outputs, s.channels, s.filter_height, s.filter_width}};
  return {{s.groups, s.outputs / s.groups, s.channels / s.groups, s.filter_height, s.filter_width}, 5};
}

/// The tensors of a convolution, as the caller has them and in any order, and how oneDNN describes it.
struct Shape {
  explicit Shape(const Convolution& s)
      : x{{s.images, s.channels, s.height, s.width}},
        w(filters_of(s)),
        y{{s.images, s.outputs, s.out_height(), s.out_width()}},
        strides{s.stride[0], s.stride[1]},
        dilation{s.dilation[0] - 1, s.dilation[1] - 1},
        padding{s.padding[0], s.padding[1]} {}

  static dnnl_memory_desc_t dense(const Dims& dims) {
    return layout_of(dims, dims.count == 4 ? dnnl_abcd : dnnl_abcde);
  }
  static dnnl_memory_desc_t any(const Dims& dims) { return layout_of(dims, dnnl_format_tag_any); }

  Descriptor forward() const {
    dnnl_convolution_desc_t convolution;
    const dnnl_memory_desc_t any_x = any(x), any_w = any(w), any_y = any(y);
    check_onednn(onednn().dilated_convolution_forward_desc_init(
                     &convolution, dnnl_forward_training, dnnl_convolution_direct, &any_x, &any_w, nullptr,
                     &any_y, strides, dilation, padding, padding),
                 "describe a convolution");
    return describe(convolution, {nullptr, onednn().primitive_desc_destroy});
  }
  /// `init`: of the gradient of the input or of the filters; its first operands are `a` and `b`.
  Descriptor backward(const auto& init, const Dims& a, const Dims& b, const Dims& c) const {
    dnnl_convolution_desc_t convolution;
    const dnnl_memory_desc_t any_a = any(a), any_b = any(b), any_c = any(c);
    check_onednn(init(&convolution, &any_a, &any_b, &any_c), "describe the gradient of a convolution");
    return describe(convolution, forward());
  }

  const Dims x, w, y;
  const dnnl_dims_t strides;
  const dnnl_dims_t dilation;  ///< oneDNN counts what lies between two elements
  const dnnl_dims_t padding;
};

/// The port for a tensor of these dimensions, in the order that the primitive has chosen.
Port port(int argument, const Dims& dims, const Descriptor& chosen, dnnl_query_t query) {
  return {argument, Shape::dense(dims), *onednn().primitive_desc_query_md(chosen.get(), query, 0)};
}

Computation make_forward(const Convolution& convolution) {
  const Shape s(convolution);
  const Descriptor chosen = s.forward();
  return {chosen, port(DNNL_ARG_SRC, s.x, chosen, dnnl_query_src_md),
          port(DNNL_ARG_WEIGHTS, s.w, chosen, dnnl_query_weights_md),
          port(DNNL_ARG_DST, s.y, chosen, dnnl_query_dst_md)};
}

Computation make_input_gradient(const Convolution& convolution) {
  const Shape s(convolution);
  const auto init = [&](auto* made, const auto* dx, const auto* w, const auto* g) {
    return onednn().dilated_convolution_backward_data_desc_init(made, dnnl_convolution_direct, dx, w, g,
                                                                s.strides, s.dilation, s.padding, s.padding);
  };
  const Descriptor chosen = s.backward(init, s.x, s.w, s.y);
  return {chosen, port(DNNL_ARG_DIFF_DST, s.y, chosen, dnnl_query_diff_dst_md),
          port(DNNL_ARG_WEIGHTS, s.w, chosen, dnnl_query_weights_md),
          port(DNNL_ARG_DIFF_SRC, s.x, chosen, dnnl_query_diff_src_md)};
}

Computation make_filter_gradient(const Convolution& convolution) {
  const Shape s(convolution);
  const auto init = [&](auto* made, const auto* x, const auto* dw, const auto* g) {
    return onednn().dilated_convolution_backward_weights_desc_init(
        made, dnnl_convolution_direct, x, dw, nullptr, g, s.strides, s.dilation, s.padding, s.padding);
  };
  const Descriptor chosen = s.backward(init, s.x, s.w, s.y);
  return {chosen, port(DNNL_ARG_DIFF_DST, s.y, chosen, dnnl_query_diff_dst_md),
          port(DNNL_ARG_SRC, s.x, chosen, dnnl_query_src_md),
          port(DNNL_ARG_DIFF_WEIGHTS, s.w, chosen, dnnl_query_diff_weights_md)};
}

/// How many computations of a kind a thread keeps: each has memory of its own.
constexpr std::size_t kMostKept = 128;

/// The computation for a shape, valid until that for another one is asked for.
template <Computation (*make)(const Convolution&)>
Computation& computation_for(const Convolution& shape) {
  onednn();  // it is loaded before there is anything made with it, which therefore goes before it does
  static PerThread<std::map<Convolution, Computation>> all_made;
  std::map<Convolution, Computation>& made = all_made.get();
  const auto found = made.find(shape);
  if (found != made.end()) return found->second;
  if (made.size() == kMostKept) made.clear();
  const OneThread one_thread;
  return made.emplace(shape, make(shape)).first->second;
}

int64_t image_size(const Convolution& s) {
  return s.channels * s.height * s.width;
}
int64_t result_size(const Convolution& s) {
  return s.outputs * s.out_height() * s.out_width();
}
int64_t filters_size(const Convolution& s) {
  return s.outputs * (s.channels / s.groups) * s.filter_height * s.filter_width;
}
/// Multiply-adds of an image.
int64_t work_of_image(const Convolution& s) {
  return s.out_height() * s.out_width() * filters_size(s);
}

/// Images of a piece.
int64_t images_of_piece(const Convolution& s, int64_t most_pieces) {
  constexpr int64_t kWorkOfPiece = int64_t{1} << 23;
  const int64_t enough = kWorkOfPiece / std::max<int64_t>(1, work_of_image(s)) + 1;
  return std::max(enough, (s.images + most_pieces - 1) / most_pieces);
}

/// Calls f(the convolution of a piece, its first image, its number) for all pieces.
template <class F>
void for_pieces(const Convolution& shape, int64_t images, F f) {
  const int64_t pieces = (shape.images + images - 1) / images;
  in_ranges(pieces, 1, shape.images * work_of_image(shape), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Convolution piece = shape;
      piece.images = std::min(images, shape.images - i * images);
      f(piece, i * images, i);
    }
  });
}

constexpr int64_t kMostPieces = 64;
/// Each has a sum of its own.
constexpr int64_t kMostPiecesOfSum = 8;

float* memory_for_sums(int64_t size) {
  static PerThread<AlignedBuffer<float>> memories;
  AlignedBuffer<float>& memory = memories.get();
  memory.reserve(size);
  return memory.data();
}

}  // namespace

template <>
void convolve(const Convolution& shape, const float* x, const float* w, float* y) {
  for_pieces(shape, images_of_piece(shape, kMostPieces),
             [&](const Convolution& piece, int64_t first, int64_t) {
               computation_for<make_forward>(piece).run(x + first * image_size(shape), w,
                                                        y + first * result_size(shape));
             });
}

template <>
void convolve_input_gradient(const Convolution& shape, const float* g, const float* w, float* dx) {
  for_pieces(shape, images_of_piece(shape, kMostPieces),
             [&](const Convolution& piece, int64_t first, int64_t) {
               computation_for<make_input_gradient>(piece).run(g + first * result_size(shape), w,
                                                               dx + first * image_size(shape));
             });
}

/// The sums of the pieces, added in their order.
template <>
void convolve_filter_gradient(const Convolution& shape, const float* g, const float* x, float* dw) {
  const int64_t images = images_of_piece(shape, kMostPiecesOfSum);
  const int64_t size = filters_size(shape);
  const int64_t others = std::max<int64_t>(0, (shape.images - 1) / images);
  float* const sums = memory_for_sums(others * size);
  for_pieces(shape, images, [&](const Convolution& piece, int64_t first, int64_t number) {
    computation_for<make_filter_gradient>(piece).run(g + first * result_size(shape),
                                                     x + first * image_size(shape),
                                                     number == 0 ? dw : sums + (number - 1) * size);
  });
  for (int64_t i = 0; i < others; ++i) {
    for (int64_t k = 0; k < size; ++k) dw[k] += sums[i * size + k];
  }
}

}  // namespace hiaton::kernels
