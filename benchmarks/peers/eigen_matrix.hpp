// Eigen maps of a task's memory.
#pragma once

#include <Eigen/Dense>
#include <cstddef>

namespace bench {

template <int Rows = Eigen::Dynamic, int Columns = Eigen::Dynamic>
using matrix = Eigen::Matrix<float, Rows, Columns, Eigen::RowMajor>;
template <int Columns = Eigen::Dynamic>
using row_vector = Eigen::Matrix<float, 1, Columns>;

// Contiguous and row-major.
template <int Rows = Eigen::Dynamic, int Columns = Eigen::Dynamic>
using dense = Eigen::Map<matrix<Rows, Columns>, Eigen::Aligned64>;
// Rows with an outer stride: one head's slice of all heads.
using apart = Eigen::Map<matrix<>, Eigen::Unaligned, Eigen::OuterStride<>>;

}  // namespace bench
