// Products of bfloat16 pairs on the matrix unit of x86-64 processors (AMX): Intel's Architectures
// Software Developer's Manual, volume 1, chapter 18. By assembly, as compilers give its
// instructions only to functions that are made for such a processor alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace weft::kernels {

// Whether this x86-64 processor's vectors of 512 bits should multiply bfloat16 pairs: it has the
// instruction, and either it or the matrix unit is faster than multiply-adds of floats.
bool multiplies_bfloat16_pairs() noexcept;

// Whether it multiplies int8 by AVX-512's VNNI.
bool multiplies_int8() noexcept;

// Whether it has the matrix unit, and the operating system lets this process use it, which the
// first call asks for, and keeps the answer. Linux refuses it while a thread has an alternate
// signal stack without room for the tile registers, and afterwards refuses such stacks.
bool may_use_amx() noexcept;

// A tile register has 16 rows of 16 floats or pairs of bfloat16.
inline constexpr std::size_t amx_rows = 16, amx_pairs = 16;

// At most this many rows are multiplied at a time, with at most this many columns.
inline constexpr std::size_t max_amx_rows = 2 * amx_rows, max_amx_columns = 3 * amx_pairs;

// What tiles multiply: `depth` pairs, a multiple of amx_pairs, of each row and column. Strides are
// in bytes: from one row to the next, and from the pairs of all columns at one depth to the next.
struct amx_panels {
  const std::byte* rows;
  std::ptrdiff_t row_stride;
  const std::byte* columns;
  std::ptrdiff_t column_stride;
  std::size_t depth;
  // What later products read: for each amx_pairs of the depth, this many cache lines are
  // prefetched.
  const std::byte* next = nullptr;
  std::size_t next_lines = 0;
};

#if defined(__x86_64__) && defined(__GNUC__)
#define WEFT_KERNELS_AMX 1
#else
#define WEFT_KERNELS_AMX 0
#endif

#if WEFT_KERNELS_AMX

// The tile registers of this thread, from the construction to the destruction. Registers 0 to 5
// hold the sums, those of row tile r and column tile c in 3 r + c; 6 has rows, 7 columns.
class amx_unit {
 public:
  amx_unit() { configure(amx_rows); }
  ~amx_unit() { asm volatile("tilerelease"); }
  amx_unit(const amx_unit&) = delete;
  amx_unit& operator=(const amx_unit&) = delete;

  // How many of `rows` rows are multiplied at a time.
  static std::size_t rows_at_once(std::size_t rows) {
    if (rows >= max_amx_rows) return max_amx_rows;
    return rows < amx_rows ? rows : amx_rows;
  }

  // The sums of the products of rows_at_once rows with 16 columns for each of `tiles` tiles:
  // sums[r * max_amx_columns + c]. `rest` is added where its depth is not 0.
  void multiply(std::size_t rows, std::size_t tiles, const amx_panels& all, const amx_panels& rest,
                float* sums) {
    const std::size_t of_tile = rows < amx_rows ? rows : amx_rows;
    if (of_tile != configured_) configure(of_tile);
    rows > amx_rows ? multiply<2>(tiles, all, rest, sums) : multiply<1>(tiles, all, rest, sums);
  }

 private:
  void configure(std::size_t rows) {
    struct alignas(64) {
      std::uint8_t palette = 1, start_row = 0, reserved[14]{};
      std::uint16_t row_bytes[16]{};
      std::uint8_t rows[16]{};
    } tiles;
    for (int i = 0; i < 8; ++i) {
      tiles.row_bytes[i] = amx_pairs * 4;
      tiles.rows[i] = static_cast<std::uint8_t>(i == 7 ? amx_pairs : rows);
    }
    asm volatile("ldtilecfg %0" ::"m"(tiles));
    configured_ = rows;
  }

  template <int Tile>
  static void clear() {
    asm volatile("tilezero %%tmm%c0" ::"i"(Tile));
  }
  template <int Tile>
  static void load(const std::byte* from, std::ptrdiff_t stride) {
    asm volatile("tileloadd (%1,%2,1), %%tmm%c0" ::"i"(Tile), "r"(from), "r"(stride) : "memory");
  }
  template <int Tile>
  static void store(float* to) {
    constexpr std::ptrdiff_t stride = max_amx_columns * sizeof(float);
    asm volatile("tilestored %%tmm%c0, (%1,%2,1)" ::"i"(Tile), "r"(to), "r"(stride) : "memory");
  }
  // Adds the products of the rows in register 6 and the columns in register 7.
  template <int Sums>
  static void add_products() {
    asm volatile("tdpbf16ps %%tmm7, %%tmm6, %%tmm%c0" ::"i"(Sums));
  }

  // With one register for columns, each tile of columns is loaded once; with one for rows, the tile
  // of rows that the last product used is used again before the other one is loaded.
  template <std::size_t Rows, std::size_t Columns>
  static void add(const amx_panels& p) {
    const std::byte* row = p.rows;
    const std::byte* const second = p.rows + std::ptrdiff_t{amx_rows} * p.row_stride;
    const std::byte* column = p.columns;
    const std::byte* next = p.next;
    std::ptrdiff_t at = 0;
    for (std::size_t k = 0; k < p.depth; k += amx_pairs) {
      for (std::size_t i = 0; i < p.next_lines; ++i, next += 64) __builtin_prefetch(next, 0, 2);
      load<7>(column, p.column_stride);
      load<6>(row + at, p.row_stride);
      add_products<0>();
      if constexpr (Rows > 1) {
        load<6>(second + at, p.row_stride);
        add_products<3>();
      }
      if constexpr (Columns > 1) {
        load<7>(column + 64, p.column_stride);
        if constexpr (Rows > 1) {
          add_products<4>();
          load<6>(row + at, p.row_stride);
        }
        add_products<1>();
      }
      if constexpr (Columns > 2) {
        load<7>(column + 128, p.column_stride);
        add_products<2>();
        if constexpr (Rows > 1) {
          load<6>(second + at, p.row_stride);
          add_products<5>();
        }
      }
      at += 64;
      column += std::ptrdiff_t{amx_pairs} * p.column_stride;
    }
  }

  template <std::size_t Rows>
  static void multiply(std::size_t tiles, const amx_panels& all, const amx_panels& rest,
                       float* sums) {
    if (tiles == 1) return multiply_tiles<Rows, 1>(all, rest, sums);
    if (tiles == 2) return multiply_tiles<Rows, 2>(all, rest, sums);
    multiply_tiles<Rows, 3>(all, rest, sums);
  }

  template <std::size_t Rows, std::size_t Columns>
  static void multiply_tiles(const amx_panels& all, const amx_panels& rest, float* sums) {
    clear<0>(), clear<1>(), clear<2>(), clear<3>(), clear<4>(), clear<5>();
    add<Rows, Columns>(all);
    add<Rows, Columns>(rest);
    float* const second = sums + amx_rows * max_amx_columns;
    store<0>(sums);
    if constexpr (Columns > 1) store<1>(sums + amx_pairs);
    if constexpr (Columns > 2) store<2>(sums + 2 * amx_pairs);
    if constexpr (Rows > 1) store<3>(second);
    if constexpr (Rows > 1 && Columns > 1) store<4>(second + amx_pairs);
    if constexpr (Rows > 1 && Columns > 2) store<5>(second + 2 * amx_pairs);
  }

  std::size_t configured_ = 0;
};

// Products of a block's rows with a panel of columns, in pairs. A depth that is no multiple of
// amx_pairs ends with zeros.
class amx_panel {
 public:
  struct row_block {
    const float* data;
    std::size_t count, pitch;
  };
  struct column_panel {
    const float* data;
    std::size_t tiles;  // of amx_pairs columns, contiguous for each pair of the depth
  };

  amx_panel(amx_unit& unit, const row_block& rows, const column_panel& columns, std::size_t pairs)
      : unit_(unit),
        rows_(rows),
        columns_(columns),
        rest_(pairs % amx_pairs),
        whole_(pairs - rest_) {
    const std::size_t width = columns.tiles * amx_pairs,
                      blocks = (rows.count + max_amx_rows - 1) / max_amx_rows;
    // The panel that follows in memory is the next one; each block of rows prefetches a part.
    next_lines_ = (width + blocks - 1) / blocks;
    next_ = columns.data + pairs * width;
    if (rest_ == 0) return;
    float* const zeros = std::copy_n(columns.data + whole_ * width, rest_ * width, end_of_columns_);
    std::fill_n(zeros, (amx_pairs - rest_) * width, 0.0F);
  }

  // The sums of these rows, as unit.multiply leaves them. Surplus rows up to the next multiple of
  // eight, which a tile of the result may have, repeat the last one.
  const float* multiply(std::size_t row, std::size_t count) {
    const float* const line = rows_.data + row * rows_.pitch;
    for (std::size_t i = 0; rest_ > 0 && i < count; ++i) {
      float* const zeros =
          std::copy_n(line + i * rows_.pitch + whole_, rest_, end_of_rows_ + i * amx_pairs);
      std::fill_n(zeros, amx_pairs - rest_, 0.0F);
    }
    const std::ptrdiff_t column_stride = bytes_of(columns_.tiles * amx_pairs);
    unit_.multiply(count, columns_.tiles,
                   {bytes(line), bytes_of(rows_.pitch), bytes(columns_.data), column_stride, whole_,
                    bytes(next_), next_lines_},
                   {bytes(end_of_rows_), bytes_of(amx_pairs), bytes(end_of_columns_), column_stride,
                    rest_ > 0 ? amx_pairs : 0},
                   sums_);
    next_ += whole_ * next_lines_;
    for (std::size_t i = count; i % 8 != 0; ++i)
      std::copy_n(sums_ + (count - 1) * max_amx_columns, max_amx_columns,
                  sums_ + i * max_amx_columns);
    return sums_;
  }

 private:
  static const std::byte* bytes(const float* p) { return reinterpret_cast<const std::byte*>(p); }
  static std::ptrdiff_t bytes_of(std::size_t pairs) {
    return static_cast<std::ptrdiff_t>(pairs * sizeof(float));
  }

  amx_unit& unit_;
  row_block rows_;
  column_panel columns_;
  std::size_t rest_, whole_, next_lines_;
  const float* next_;
  alignas(64) float end_of_rows_[max_amx_rows * amx_pairs];
  alignas(64) float end_of_columns_[amx_pairs * max_amx_columns];
  alignas(64) float sums_[max_amx_rows * max_amx_columns];
};

#else

class amx_unit {};  // never made

#endif

}  // namespace weft::kernels
