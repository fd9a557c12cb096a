// Convolutions in single precision through oneDNN. A primitive is made once for each shape and thread, and
// kept as long as there are not too many of them; it chooses how its operands are laid out, and what is laid
// out otherwise is brought into that order.
//
// Large convolutions go piece by piece, some images each, on this thread and on those that idle. What the
// pieces are depends on the shape alone, since oneDNN may choose another order of sums for another shape: so
// the bits do not depend on how many threads there are.
#include <algorithm>
#include <dnnl.hpp>
#include <map>

#include "base/per_thread.h"
#include "kernels/aligned.h"
#include "kernels/convolution.h"
#include "kernels/launch.h"

// Of OpenMP, by which oneDNN runs its threads. Its header is another package for each compiler.
extern "C" {
int omp_get_max_threads();
void omp_set_num_threads(int);
}

namespace hiaton::kernels {
namespace {

using dnnl::memory;

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

/// One thread for what it runs: the callers are the threads.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

memory::desc dense(const memory::dims& dims) {
  return {dims, memory::data_type::f32, memory::format_tag::nchw};
}
memory::desc any_order(const memory::dims& dims) {
  return {dims, memory::data_type::f32, memory::format_tag::any};
}

/// A tensor as the caller has it, and as the primitive wants it.
struct Port {
  int argument;
  memory::desc given;
  memory::desc wanted;
  memory own{};  ///< in the wanted order; empty where that is the given one
};

/// A primitive that makes one tensor of two.
class Computation {
 public:
  Computation(const dnnl::primitive& primitive, Port first, Port second, Port result)
      : primitive_(primitive), ports_{std::move(first), std::move(second), std::move(result)} {
    for (Port& port : ports_) {
      if (port.given != port.wanted) port.own = memory(port.wanted, cpu());
    }
  }

  void run(const float* first, const float* second, float* result) {
    const OneThread one_thread;
    dnnl::stream stream(cpu());
    float* const given[] = {const_cast<float*>(first), const_cast<float*>(second), result};
    std::unordered_map<int, memory> arguments;
    memory outside[3];
    for (std::size_t i = 0; i < 3; ++i) {
      Port& port = ports_[i];
      outside[i] = memory(port.given, cpu(), given[i]);
      if (port.own && i < 2) dnnl::reorder(outside[i], port.own).execute(stream, outside[i], port.own);
      arguments.emplace(port.argument, port.own ? port.own : outside[i]);
    }
    primitive_.execute(stream, arguments);
    if (ports_[2].own) dnnl::reorder(ports_[2].own, outside[2]).execute(stream, ports_[2].own, outside[2]);
    stream.wait();
  }

 private:
  dnnl::primitive primitive_;
  Port ports_[3];
};

/// The dimensions of a convolution in oneDNN's words.
struct Dims {
  memory::dims x, w, y, strides, padding;
};
Dims dims_of(const Convolution& s) {
  return {.x = {s.images, s.channels, s.height, s.width},
          .w = {s.outputs, s.channels, s.filter_height, s.filter_width},
          .y = {s.images, s.outputs, s.out_height(), s.out_width()},
          .strides = {s.stride, s.stride},
          .padding = {s.padding, s.padding}};
}

dnnl::convolution_forward::primitive_desc forward_of(const Dims& d) {
  return {{dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, any_order(d.x),
           any_order(d.w), any_order(d.y), d.strides, d.padding, d.padding},
          cpu()};
}

Computation make_forward(const Convolution& s) {
  const Dims d = dims_of(s);
  const auto chosen = forward_of(d);
  return {dnnl::convolution_forward(chosen),
          {DNNL_ARG_SRC, dense(d.x), chosen.src_desc()},
          {DNNL_ARG_WEIGHTS, dense(d.w), chosen.weights_desc()},
          {DNNL_ARG_DST, dense(d.y), chosen.dst_desc()}};
}

Computation make_input_gradient(const Convolution& s) {
  const Dims d = dims_of(s);
  const dnnl::convolution_backward_data::primitive_desc chosen(
      {dnnl::algorithm::convolution_direct, any_order(d.x), any_order(d.w), any_order(d.y), d.strides,
       d.padding, d.padding},
      cpu(), forward_of(d));
  return {dnnl::convolution_backward_data(chosen),
          {DNNL_ARG_DIFF_DST, dense(d.y), chosen.diff_dst_desc()},
          {DNNL_ARG_WEIGHTS, dense(d.w), chosen.weights_desc()},
          {DNNL_ARG_DIFF_SRC, dense(d.x), chosen.diff_src_desc()}};
}

Computation make_filter_gradient(const Convolution& s) {
  const Dims d = dims_of(s);
  const dnnl::convolution_backward_weights::primitive_desc chosen(
      {dnnl::algorithm::convolution_direct, any_order(d.x), any_order(d.w), any_order(d.y), d.strides,
       d.padding, d.padding},
      cpu(), forward_of(d));
  return {dnnl::convolution_backward_weights(chosen),
          {DNNL_ARG_DIFF_DST, dense(d.y), chosen.diff_dst_desc()},
          {DNNL_ARG_SRC, dense(d.x), chosen.src_desc()},
          {DNNL_ARG_DIFF_WEIGHTS, dense(d.w), chosen.diff_weights_desc()}};
}

/// How many computations of a kind a thread keeps: each has memory of its own.
constexpr std::size_t kMostKept = 128;

/// The computation for a shape, valid until that for another one is asked for.
template <Computation (*make)(const Convolution&)>
Computation& computation_for(const Convolution& shape) {
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
  return s.outputs * s.channels * s.filter_height * s.filter_width;
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
