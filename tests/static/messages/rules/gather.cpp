#include "weft/ops/gather.hpp"

#include "../../words.hpp"

using namespace words;

constexpr floats<Vocab, Embed> table{};
constexpr floats<Batch, Pos, Vocab> logits{};

void wrong() {
  // error: gather: the indices are a tensor of int32; for one index write weft::constant(0)
  weft::gather<Embed>(x, 0);
  // errors: gather: the indices are not int32
  weft::gather<Vocab>(table, x);
  weft::gather<Heads>(table, causal);
  weft::gather<Vocab>(table, causal);
  // error: gather: the table has no such axis
  weft::gather<Heads>(table, tokens);
  // errors: gather: the indices have the axis that they pick from
  weft::gather<Pos>(x, tokens);
  weft::gather<Vocab>(table, integers<Vocab>{});
  // error: segment_sum: the elements are not float; convert with weft::cast<float>
  weft::segment_sum<Pos, Vocab>(tokens, tokens);
  // error: segment_sum: the operand has no such axis to sum along
  weft::segment_sum<KeyPos, Vocab>(x, tokens);
  // error: segment_sum: what stands for the sums' axis is none; derive from weft::axis or
  // weft::alias
  weft::segment_sum<Pos, int>(x, tokens);
  // error: segment_sum: the operand has the sums' axis already
  weft::segment_sum<Pos, Embed>(x, tokens);
  // error: segment_sum: the indices are not int32
  weft::segment_sum<Pos, Vocab>(x, x);
  // error: segment_sum: the indices have an axis that the operand lacks
  weft::segment_sum<Pos, Vocab>(x, integers<Pos, KeyPos>{});
  // error: top_k: the elements are not float; convert with weft::cast<float>
  weft::top_k<Pos, Heads>(tokens);
  // error: top_k: the operand has no such axis to select from
  weft::top_k<KeyPos, Heads>(x);
  // error: top_k: what stands for the selected elements' axis is none; derive from weft::axis
  weft::top_k<Embed, int>(x);
  // error: top_k: the operand has the selected elements' axis already
  weft::top_k<Embed, Batch>(x);
  // error: top_k: the number of selected elements is known at run time only
  weft::top_k<Embed, KeyPos>(x);
  // error: top_k: more elements are selected than the axis has
  weft::top_k<Batch, Vocab>(x);
  // errors: cross_entropy: the logits have no such axis of classes
  weft::cross_entropy<Vocab>(x, tokens);
  weft::cross_entropy<Vocab>(x, x);
  weft::cross_entropy<Heads>(logits, tokens);
  // errors: cross_entropy: the targets are not int32
  weft::cross_entropy<Embed>(x, x);
  weft::cross_entropy<Vocab>(logits, x);
  // error: gather: the operands have more than 8 axes between them
  weft::gather<Level<4>>(five_more<float>, integers<Level<0>, Level<1>, Level<2>, Level<3>>{});
  // errors: cross_entropy: the logits are not float; convert with weft::cast<float>
  weft::cross_entropy<Pos>(tokens, x);
  weft::cross_entropy<Vocab>(integers<Batch, Vocab>{}, tokens);
  // errors: cross_entropy: the targets have the axis of classes
  weft::cross_entropy<Pos>(x, tokens);
  weft::cross_entropy<Pos>(logits, tokens);
  // errors: cross_entropy: the operands have more than 8 axes between them
  weft::cross_entropy<Level<4>>(five_more<float>,
                                integers<Level<0>, Level<1>, Level<2>, Level<3>>{});
  weft::cross_entropy<Level<5>>(five_more<float>,
                                integers<Level<0>, Level<1>, Level<2>, Level<3>>{});
  // error: argmax: the operand has no such axis
  weft::argmax<Heads>(x);
  // error: argmax: the elements are not float; convert with weft::cast<float>
  weft::argmax<Pos>(tokens);
  // error: argmin: the operand has no such axis
  weft::argmin<Heads>(x);
  // error: argmin: the elements are not float; convert with weft::cast<float>
  weft::argmin<Pos>(tokens);
  // error: one_hot: the classes are no axis
  weft::one_hot<int>(tokens);
  // error: one_hot: the indices are not int32
  weft::one_hot<Vocab>(x);
  // error: one_hot: the indices have the axis of classes
  weft::one_hot<Pos>(tokens);
  // error: one_hot: the operands have more than 8 axes between them
  weft::one_hot<Vocab>(
      integers<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<5>, Level<6>, Level<7>>{});
}
