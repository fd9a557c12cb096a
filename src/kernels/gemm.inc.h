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

/// Rows of x and g that are summed at a time: as many as the second-level cache keeps while the result
/// passes.
constexpr int64_t kOuterChunk = 256;

/// Adds to kRows rows of the result, from `first` on. `edge` holds the last panel of g[rows, columns] if that
/// is not a whole one, filled up with zeros.
template <class T, int kRows, int kPanels>
[[gnu::noinline]] void outer_rows(const OuterArguments<T>& args, int64_t first, const T* edge) {
  T left[kOuterChunk * kRows];
  for (int64_t i = 0; i < args.rows; ++i)
    for (int64_t r = 0; r < kRows; ++r) left[i * kRows + r] = args.x[i * args.x_stride + first + r];
  T* const out = args.out + first * args.out_stride;
  const auto add = [&]<int kWidth>(int64_t column, const T* right, int64_t step) {
    Block<T, kRows, kWidth> block;
    block.load(out + column, args.out_stride, args.columns - column);
    block.multiply_add(left, 1, kRows, right, step, kPanelColumns<T>, args.rows);
    block.store(out + column, args.out_stride, args.columns - column);
  };
  int64_t column = 0;
  for (; column + kPanels * kPanelColumns<T> <= args.columns; column += kPanels * kPanelColumns<T>)
    add.template operator()<kPanels>(column, args.g + column, args.g_stride);
  for (; column + kPanelColumns<T> <= args.columns; column += kPanelColumns<T>)
    add.template operator()<1>(column, args.g + column, args.g_stride);
  if (column < args.columns) add.template operator()<1>(column, edge, kPanelColumns<T>);
}

template <class T>
void outer_blocks(const OuterArguments<T>& args, const T* edge) {
  int64_t first = 0;
  for (int64_t blocks = (args.depth + kOuterRows - 1) / kOuterRows; blocks > 0; --blocks) {
    const int64_t rows = (args.depth - first + blocks - 1) / blocks;
    with_constant<kOuterRows>(rows,
                              [&]<int kRows>() { outer_rows<T, kRows, kOuterPanels>(args, first, edge); });
    first += rows;
  }
}

template <class T>
void accumulate_outer(const OuterArguments<T>& all) {
  T edge[kOuterChunk * kPanelColumns<T>];
  const int64_t whole = all.columns / kPanelColumns<T> * kPanelColumns<T>;
  for (int64_t start = 0; start < all.rows; start += kOuterChunk) {
    OuterArguments<T> args = all;
    args.x += start * all.x_stride;
    args.g += start * all.g_stride;
    args.rows = smaller(kOuterChunk, all.rows - start);
    if (whole < all.columns)
      for (int64_t i = 0; i < args.rows; ++i)
        for (int64_t c = 0; c < kPanelColumns<T>; ++c)
          edge[i * kPanelColumns<T> + c] =
              whole + c < all.columns ? args.g[i * all.g_stride + whole + c] : T{};
    outer_blocks<T>(args, edge);
  }
}

template <class T>
GemmKernels<T> gemm_kernels() {
  return {multiply<T>, accumulate_outer<T>};
}
template GemmKernels<float> gemm_kernels();
template GemmKernels<double> gemm_kernels();
