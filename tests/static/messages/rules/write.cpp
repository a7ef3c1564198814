#include "weft/ops/write.hpp"

#include "../../words.hpp"

using namespace words;

struct Cache : weft::axis<weft::up_to<1024>> {};
constexpr floats<Batch, Cache, Heads, HeadDim> buffer{};
constexpr integers<Batch> at{};

void wrong() {
  // error: write: the buffer has no such axis
  weft::write<Vocab, Pos>(buffer, query, at);
  // errors: write: the rows have no such axis, or the buffer has it already
  weft::write<Cache, KeyPos>(buffer, query, at);
  weft::write<Cache, Heads>(buffer, query, at);
  // error: write: the rows' elements are not those of the buffer; convert with weft::cast
  weft::write<Cache, Pos>(buffer, tokens, at);
  // error: write: the rows have an axis that the buffer lacks
  weft::write<Cache, Pos>(buffer, x, at);
  // errors: write: name a buffer, rows, their place and, if any, their count
  weft::write<Cache, Pos>(buffer, query);
  weft::write<Cache, Pos>(buffer, query, at, at, at);
  // errors: write: the places and counts are not int32
  weft::write<Cache, Pos>(buffer, query, at, floats<Batch>{});
  weft::write<Cache, Pos>(buffer, query, floats<Batch>{});
  // errors: write: the places or counts have an axis that the buffer lacks, or the one that rows
  // are put along
  weft::write<Cache, Pos>(buffer, query, tokens);
  weft::write<Cache, Pos>(buffer, query, integers<Batch, Pos>{});
  weft::write<Cache, Pos>(buffer, query, at, integers<Cache>{});
}
