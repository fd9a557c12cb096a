// The register blocks of the matrix products, as templates over the element type and the block's size.
//
// Included once by each gemm_<instruction set>.cpp, inside a namespace of its own, hence without guard. That
// file defines kVectorBytes, and the most rows and the panels of the blocks: kBlockRows and kBlockPanels;
// kWideRows and kWidePanels where there are few rows; kOuterRows and kOuterPanels for outer products, which
// read and write the result and so want it in long rows.
//
// Every element of a result is one chain of multiply-adds in the order of the summed index, in every block;
// a bias comes last, as if it were added to the product.

#include "kernels/vector.inc.h"

constexpr int kPanelVectors = static_cast<int>(kPanelBytes) / kVectorBytes;

template <class T>
constexpr int64_t kPanelColumns = kPanelBytes / int64_t{sizeof(T)};

constexpr int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/// The sums of kRows rows times kPanels panels, in registers.
template <class T, int kRows, int kPanels>
struct Block {
  using V = Vector<T>;
  static constexpr int kVectors = kPanels * kPanelVectors;
  static constexpr int64_t kColumns = kPanels * kPanelColumns<T>;
  typename V::Register sum[kRows][kVectors];

  [[gnu::always_inline]] void clear() {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sum[r][v] = typename V::Register{};
  }

  /// Takes rows of which only the first `columns` elements exist.
  [[gnu::always_inline]] void load(const T* from, int64_t stride, int64_t columns) {
    if (columns >= kColumns) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) sum[r][v] = V::load(from + r * stride + v * V::kLanes);
      return;
    }
    T whole[kRows][kColumns] = {};
    for (int r = 0; r < kRows; ++r)
      for (int64_t c = 0; c < columns; ++c) whole[r][c] = from[r * stride + c];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sum[r][v] = V::load(whole[r] + v * V::kLanes);
  }

  /// Adds a row, of which only the first `columns` elements exist, to each.
  [[gnu::always_inline]] void add(const T* row, int64_t columns) {
    T whole[kColumns] = {};
    if (columns < kColumns) {
      for (int64_t c = 0; c < columns; ++c) whole[c] = row[c];
      row = whole;
    }
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      const typename V::Register part = V::load(row + v * V::kLanes);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) sum[r][v] += part;
    }
  }

  [[gnu::always_inline]] void store(T* to, int64_t stride, int64_t columns) const {
    if (columns >= kColumns) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) V::store(to + r * stride + v * V::kLanes, sum[r][v]);
      return;
    }
    T whole[kRows][kColumns];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) V::store(whole[r] + v * V::kLanes, sum[r][v]);
    for (int r = 0; r < kRows; ++r)
      for (int64_t c = 0; c < columns; ++c) to[r * stride + c] = whole[r][c];
  }

  /// sum[r] += left(r, i) * right(i) for i = 0, 1, ... depth - 1, with left(r, i) = left[r * left_row + i *
  /// left_step], and panel p of right(i) at right[i * right_step + p * right_panel].
  [[gnu::always_inline]] void multiply_add(const T* left, int64_t left_row, int64_t left_step, const T* right,
                                           int64_t right_step, int64_t right_panel, int64_t depth) {
    for (int64_t i = 0; i < depth; ++i) {
      typename V::Register row[kVectors];
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v)
        row[v] = V::load(right + v / kPanelVectors * right_panel + v % kPanelVectors * V::kLanes);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const T factor = left[r * left_row];
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) sum[r][v] += factor * row[v];
      }
      left += left_step;
      right += right_step;
    }
  }
};

/// Calls `function.template operator()<rows>()`, where 1 <= rows <= kMax.
template <int kMax, class Function>
[[gnu::always_inline]] inline void with_constant(int64_t rows, Function function) {
  if constexpr (kMax == 1) {
    function.template operator()<1>();
  } else {
    if (rows == kMax)
      function.template operator()<kMax>();
    else
      with_constant<kMax - 1>(rows, function);
  }
}

/// The rows [first, first + kRows) times the panels [panel, panel + kPanels).
template <class T, int kRows, int kPanels>
[[gnu::noinline]] void multiply_block(const MultiplyArguments<T>& args, int64_t first, int64_t panel) {
  Block<T, kRows, kPanels> block;
  const int64_t column = panel * kPanelColumns<T>;
  const int64_t columns = args.columns - column;
  T* const out = args.out + first * args.out_stride + column;
  if (args.accumulate)
    block.load(out, args.out_stride, columns);
  else
    block.clear();
  block.multiply_add(args.x + first * args.x_stride, args.x_stride, 1, args.w + panel * args.panel_stride,
                     args.step, args.panel_stride, args.depth);
  if (args.bias != nullptr) block.add(args.bias + column, columns);
  block.store(out, args.out_stride, columns);
}

/// Rows [first, end) times kPanels panels, in blocks of nearly equal height.
template <class T, int kPanels, int kMaxRows>
void multiply_rows(const MultiplyArguments<T>& args, int64_t first, int64_t end, int64_t panel) {
  for (int64_t blocks = (end - first + kMaxRows - 1) / kMaxRows; blocks > 0; --blocks) {
    const int64_t rows = (end - first + blocks - 1) / blocks;
    with_constant<kMaxRows>(rows,
                            [&]<int kRows>() { multiply_block<T, kRows, kPanels>(args, first, panel); });
    first += rows;
  }
}

template <class T, int kPanels, int kMaxRows>
int64_t multiply_panels(const MultiplyArguments<T>& args, int64_t first, int64_t end, int64_t panel,
                        int64_t panels) {
  for (; panel + kPanels <= panels; panel += kPanels)
    multiply_rows<T, kPanels, kMaxRows>(args, first, end, panel);
  return panel;
}

/// So many rows of x stay in the second-level cache while the panels pass.
constexpr int64_t kGroupBytes = int64_t{256} * 1024;

template <class T>
void multiply(const MultiplyArguments<T>& args) {
  const int64_t panels = (args.columns + kPanelColumns<T> - 1) / kPanelColumns<T>;
  const int64_t fitting = kGroupBytes / (args.depth * int64_t{sizeof(T)} + 1) / kBlockRows;
  const int64_t group = (fitting < 1 ? 1 : fitting) * kBlockRows;
  for (int64_t first = 0; first < args.rows; first += group) {
    const int64_t end = smaller(first + group, args.rows);
    int64_t panel = 0;
    if (end - first <= kWideRows)
      panel = multiply_panels<T, kWidePanels, kWideRows>(args, first, end, panel, panels);
    if constexpr (kBlockPanels > 1)
      panel = multiply_panels<T, kBlockPanels, kBlockRows>(args, first, end, panel, panels);
    multiply_panels<T, 1, kBlockRows>(args, first, end, panel, panels);
  }
}

/// Rows of x and g that are summed at a time: as many as the first-level cache keeps of kOuterPanels panels
/// of g while the result passes.
template <class T>
constexpr int64_t kOuterChunk = int64_t{16} * 1024 / (kOuterPanels * kPanelBytes);

/// Columns [first, first + count) of from[rows, columns], in rows of kWidth that are filled up with zeros.
template <class T, int64_t kWidth>
[[gnu::always_inline]] inline void copy_columns(const T* from, int64_t stride, int64_t rows, int64_t first,
                                                int64_t count, T* to) {
  for (int64_t i = 0; i < rows; ++i) {
    const T* const row = from + i * stride + first;
    if (count == kWidth) {
      for (int64_t c = 0; c < kWidth; ++c) to[i * kWidth + c] = row[c];
    } else {
      for (int64_t c = 0; c < kWidth; ++c) to[i * kWidth + c] = c < count ? row[c] : T{};
    }
  }
}

/// Adds to kPanels panels of the result, from `column` on. `left` holds x in blocks of about kOuterRows
/// columns.
template <class T, int kPanels>
[[gnu::noinline]] void outer_columns(const OuterArguments<T>& args, int64_t column, const T* left) {
  constexpr int64_t kWidth = kPanels * kPanelColumns<T>;
  alignas(kPanelBytes) T right[kOuterChunk<T> * kWidth];
  copy_columns<T, kWidth>(args.g, args.g_stride, args.rows, column, smaller(kWidth, args.columns - column),
                          right);
  int64_t first = 0;
  for (int64_t blocks = (args.depth + kOuterRows - 1) / kOuterRows; blocks > 0; --blocks) {
    const int64_t rows = (args.depth - first + blocks - 1) / blocks;
    T* const out = args.out + first * args.out_stride + column;
    with_constant<kOuterRows>(rows, [&]<int kRows>() {
      Block<T, kRows, kPanels> block;
      block.load(out, args.out_stride, kWidth);
      block.multiply_add(left + first * args.rows, 1, kRows, right, kWidth, kPanelColumns<T>, args.rows);
      block.store(out, args.out_stride, kWidth);
    });
    first += rows;
  }
}

template <class T>
void outer_chunk(const OuterArguments<T>& args, T* left) {
  int64_t first = 0;
  for (int64_t blocks = (args.depth + kOuterRows - 1) / kOuterRows; blocks > 0; --blocks) {
    const int64_t rows = (args.depth - first + blocks - 1) / blocks;
    with_constant<kOuterRows>(rows, [&]<int kRows>() {
      copy_columns<T, kRows>(args.x, args.x_stride, args.rows, first, kRows, left + first * args.rows);
    });
    first += rows;
  }
  int64_t panels = (args.columns + kPanelColumns<T> - 1) / kPanelColumns<T>;
  int64_t column = 0;
  for (int64_t groups = (panels + kOuterPanels - 1) / kOuterPanels; groups > 0; --groups) {
    const int64_t group = (panels + groups - 1) / groups;
    with_constant<kOuterPanels>(group, [&]<int kPanels>() { outer_columns<T, kPanels>(args, column, left); });
    column += group * kPanelColumns<T>;
    panels -= group;
  }
}

/// Where the rows of the result have room for whole panels.
template <class T>
void outer_panels(const OuterArguments<T>& all) {
  for (int64_t start = 0; start < all.rows; start += kOuterChunk<T>) {
    OuterArguments<T> args = all;
    args.x += start * all.x_stride;
    args.g += start * all.g_stride;
    args.rows = smaller(kOuterChunk<T>, all.rows - start);
    outer_chunk<T>(args, all.memory);
  }
}

template <class T>
int64_t whole_panels(int64_t columns) {
  return (columns + kPanelColumns<T> - 1) / kPanelColumns<T> * kPanelColumns<T>;
}

/// Where there are less columns than a panel has: the transposed result, whose rows are long.
template <class T>
void outer_edge(const OuterArguments<T>& args) {
  const int64_t width = whole_panels<T>(args.depth);
  T* const sum = args.memory;
  for (int64_t c = 0; c < args.columns; ++c)
    for (int64_t d = 0; d < width; ++d)
      sum[c * width + d] = d < args.depth ? args.out[d * args.out_stride + c] : T{};
  outer_panels<T>({.x = args.g,
                   .x_stride = args.g_stride,
                   .g = args.x,
                   .g_stride = args.x_stride,
                   .rows = args.rows,
                   .depth = args.columns,
                   .columns = args.depth,
                   .out = sum,
                   .out_stride = width,
                   .memory = sum + args.columns * width});
  for (int64_t d = 0; d < args.depth; ++d)
    for (int64_t c = 0; c < args.columns; ++c) args.out[d * args.out_stride + c] = sum[c * width + d];
}

/// A chunk of x; or, of less columns than a panel has, the result and a chunk of g.
template <class T>
int64_t outer_memory(int64_t depth) {
  const int64_t wide = kOuterChunk<T> * depth;
  const int64_t narrow = kPanelColumns<T> * (whole_panels<T>(depth) + kOuterChunk<T>);
  return wide < narrow ? narrow : wide;
}

template <class T>
void accumulate_outer(const OuterArguments<T>& all) {
  if (all.rows == 0 || all.depth == 0) return;
  OuterArguments<T> panels = all;
  panels.columns = all.columns / kPanelColumns<T> * kPanelColumns<T>;
  if (panels.columns > 0) outer_panels<T>(panels);
  OuterArguments<T> edge = all;
  edge.g += panels.columns;
  edge.out += panels.columns;
  edge.columns -= panels.columns;
  if (edge.columns > 0) outer_edge<T>(edge);
}

template <class T>
GemmKernels<T> gemm_kernels() {
  return {multiply<T>, accumulate_outer<T>, outer_memory<T>};
}
template GemmKernels<float> gemm_kernels();
template GemmKernels<double> gemm_kernels();
