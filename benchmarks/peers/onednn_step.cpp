#include "benchmarks/peers/onednn_step.hpp"

#include <utility>

namespace bench {
namespace {

using dnnl::memory;

#if DNNL_VERSION_MAJOR < 3
template <class Primitive, class... Arguments>
auto describe(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
              const Arguments&... arguments) {
  return typename Primitive::primitive_desc(typename Primitive::desc(arguments...), attributes,
                                            engine);
}
auto describe_softmax(const dnnl::engine& engine, const memory::desc& x, const memory::desc& y) {
  const int axis = static_cast<int>(x.dims().size()) - 1;
  return describe<dnnl::softmax_v2_forward>(engine, {}, dnnl::prop_kind::forward_inference,
                                            dnnl::algorithm::softmax_accurate, x, y, axis);
}
auto describe_layer_norm(const dnnl::engine& engine, const memory::desc& x, const memory::desc&) {
  using flags = dnnl::normalization_flags;
  return describe<dnnl::layer_normalization_forward>(engine, {}, dnnl::prop_kind::forward_inference,
                                                     x, 1e-5F, flags::use_scale | flags::use_shift);
}
auto describe_eltwise(const dnnl::engine& engine, dnnl::algorithm kind, const memory::desc& x,
                      const memory::desc&) {
  return describe<dnnl::eltwise_forward>(engine, {}, dnnl::prop_kind::forward_inference, kind, x,
                                         0.F, 0.F);
}
void append(dnnl::post_ops& all, dnnl::algorithm kind, float alpha) {
  all.append_eltwise(1, kind, alpha, 0);
}
using softmax_primitive = dnnl::softmax_v2_forward;
#else
template <class Primitive, class... Arguments>
auto describe(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
              const Arguments&... arguments) {
  return typename Primitive::primitive_desc(engine, arguments..., attributes);
}
auto describe_softmax(const dnnl::engine& engine, const memory::desc& x, const memory::desc& y) {
  const int axis = static_cast<int>(x.get_ndims()) - 1;
  return describe<dnnl::softmax_forward>(engine, {}, dnnl::prop_kind::forward_inference,
                                         dnnl::algorithm::softmax_accurate, x, y, axis);
}
auto describe_layer_norm(const dnnl::engine& engine, const memory::desc& x, const memory::desc& y) {
  using flags = dnnl::normalization_flags;
  return describe<dnnl::layer_normalization_forward>(engine, {}, dnnl::prop_kind::forward_inference,
                                                     x, y, 1e-5F,
                                                     flags::use_scale | flags::use_shift);
}
auto describe_eltwise(const dnnl::engine& engine, dnnl::algorithm kind, const memory::desc& x,
                      const memory::desc& y) {
  return describe<dnnl::eltwise_forward>(engine, {}, dnnl::prop_kind::forward_inference, kind, x, y,
                                         0.F, 0.F);
}
void append(dnnl::post_ops& all, dnnl::algorithm kind, float alpha) {
  all.append_eltwise(kind, alpha, 0);
}
using softmax_primitive = dnnl::softmax_forward;
#endif

// A descriptor with the weight's extents and the other factor's type, in any layout.
memory::desc any_layout(const memory::desc& weight, const memory::desc& other) {
#if DNNL_VERSION_MAJOR < 3
  return {weight.dims(), other.data_type(), memory::format_tag::any};
#else
  return {weight.get_dims(), other.get_data_type(), memory::format_tag::any};
#endif
}

}  // namespace

memory::desc layout(const dims& extents) {
  dims strides(extents.size(), 1);
  for (std::size_t i = extents.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * extents[i + 1];
  return layout(extents, strides);
}
memory::desc layout(const dims& extents, const dims& strides) {
  return {extents, memory::data_type::f32, strides};
}
memory at(const dnnl::engine& engine, const memory::desc& desc, float* data) {
  return {desc, engine, data};
}

step step::copy(const memory& from, const memory& to) {
  return {dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}};
}

step step::product(const dnnl::engine& engine, const memory& x, const memory& w, const memory* bias,
                   const memory& y, weight_layout how, const finish& then) {
  dnnl::post_ops after;
  if (then.scale != 1) append(after, dnnl::algorithm::eltwise_linear, then.scale);
  if (then.adds) after.append_sum(1);
  if (then.gelu) append(after, dnnl::algorithm::eltwise_gelu_erf, 0);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  const memory::desc weight =
      how == weight_layout::nowhere ? w.get_desc() : any_layout(w.get_desc(), x.get_desc());
  const dnnl::matmul::primitive_desc found =
      bias ? describe<dnnl::matmul>(engine, attributes, x.get_desc(), weight, bias->get_desc(),
                                    y.get_desc())
           : describe<dnnl::matmul>(engine, attributes, x.get_desc(), weight, y.get_desc());
  const bool as_is = found.weights_desc() == w.get_desc();
  const memory laid_out = as_is ? w : memory(found.weights_desc(), engine);
  arguments given{{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, laid_out}, {DNNL_ARG_DST, y}};
  if (bias) given[DNNL_ARG_BIAS] = *bias;
  step made(dnnl::matmul(found), std::move(given));
  if (as_is) return made;
  const dnnl::reorder reorder(w, laid_out);
  const arguments between{{DNNL_ARG_FROM, w}, {DNNL_ARG_TO, laid_out}};
  if (how == weight_layout::in_each_run) {
    made.before_ = reorder;
    made.before_arguments_ = between;
  } else {
    dnnl::stream stream(engine);
    reorder.execute(stream, between);
    stream.wait();
  }
  return made;
}

step step::softmax(const dnnl::engine& engine, const memory& x, const memory& y) {
  return {softmax_primitive(describe_softmax(engine, x.get_desc(), y.get_desc())),
          {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}}};
}

step step::layer_norm(const dnnl::engine& engine, const memory& x, const memory& gain,
                      const memory& bias, const memory& y) {
  return {
      dnnl::layer_normalization_forward(describe_layer_norm(engine, x.get_desc(), y.get_desc())),
      {{DNNL_ARG_SRC, x}, {DNNL_ARG_SCALE, gain}, {DNNL_ARG_SHIFT, bias}, {DNNL_ARG_DST, y}}};
}

step step::eltwise(const dnnl::engine& engine, dnnl::algorithm kind, const memory& x,
                   const memory& y) {
  return {dnnl::eltwise_forward(describe_eltwise(engine, kind, x.get_desc(), y.get_desc())),
          {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}}};
}

}  // namespace bench
