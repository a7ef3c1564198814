// Eigen's matrices over the memory of a task.
#pragma once

#include <Eigen/Dense>
#include <cstddef>

namespace bench {

template <int Rows = Eigen::Dynamic, int Columns = Eigen::Dynamic>
using matrix = Eigen::Matrix<float, Rows, Columns, Eigen::RowMajor>;
template <int Columns = Eigen::Dynamic>
using row_vector = Eigen::Matrix<float, 1, Columns>;

// Dense rows.
template <int Rows = Eigen::Dynamic, int Columns = Eigen::Dynamic>
using dense = Eigen::Map<matrix<Rows, Columns>, Eigen::Aligned64>;
// Rows that lie apart: a head's part of all heads.
using apart = Eigen::Map<matrix<>, Eigen::Unaligned, Eigen::OuterStride<>>;

}  // namespace bench
