// Arrays, views, arguments, and what is not copied or not const.
#include <span>
#include <vector>
#include <weft/weft.hpp>

#include "../../words.hpp"

using namespace words;

struct Out : weft::axis<4> {};
struct model {
  constexpr auto operator()(weft::scope s) const {
    auto y = s.input<"x", float, Pos, Embed>() * s.param<"w", Embed>();
    return weft::results(weft::as<"loss">(weft::mean<Pos, Embed>(y)), weft::as<"y">(y));
  }
};
using array = weft::array<float, Pos, Embed>;
using view = weft::view<float, weft::shape<Pos, Embed>>;
using read_only = weft::view<const float, weft::shape<Pos>>;

void wrong(std::vector<float>& floats, const std::vector<double>& doubles, array& a, view v,
           const weft::array<double, Pos, Embed>& of_doubles, double* pointer) {
  // errors: array: a range is not copied; make the array of its lengths, then
  // std::ranges::copy(range, x.begin())
  array(std::vector<double>(10));
  array b(floats);
  // errors: array: only a view of the same elements and axes is copied, as x.view()
  array c(of_doubles);
  array d(of_doubles.view());
  array e(weft::view<float, weft::shape<Embed, Pos>>(floats.data(), 1));
  // errors: array: give one length for each axis whose length is known at run time only, in their
  // order
  array f;
  array g(3, 384);
  array h(floats, 3);
  // errors: array: an element is x(i, j), with one index for each axis in their order, or
  // x(weft::at<A>(i), weft::at<B>(j)) for its axes in any order
  a(1) = 2;
  a(1, 2, 3);
  a[1] = 2;
  a(1, "Embed");
  a(weft::at<Pos>(1), weft::at<Heads>(2)) = 1;
  a(weft::at<Pos>(1)) = 1;
  a(weft::at<Pos>(1), weft::at<Pos>(2)) = 1;
  // errors: view: it is made of a pointer to the elements, such as x.data(), then one length for
  // each axis whose length is known at run time only, in their order
  view i(floats, 1);
  view j(floats.data());
  view k(pointer, 1);
  read_only l(doubles.data(), 1);
  // errors: view: an element is x(i, j), with one index for each axis in their order, or
  // x(weft::at<A>(i), weft::at<B>(j)) for its axes in any order
  v(1) = 2;
  v[0];
  v(weft::at<Pos>(1), 2);
  v(weft::at<Heads>(1), weft::at<Pos>(1), weft::at<Embed>(2));
  v(weft::at<Embed>(1)) = 1;
  // error: at: the view has no such axis
  v.at<Heads>(0);
  // error: length: the view has no such axis
  v.length<Heads>();
  // errors: arg: it is a weft::array or a weft::view, a contiguous range such as a std::vector, or
  // a number, of float, std::int32_t, bool or weft::bfloat16
  weft::arg<"x">(1.0);
  weft::arg<"x">(pointer);
  weft::arg<"x">(std::vector<bool>(3));
  // errors: fingerprint: it is of one weft::array or weft::view, of the results of a run, or of
  // parameters
  weft::fingerprint(floats);
  weft::fingerprint(a, v);
  // errors: arg: the name stands in angle brackets, as in weft::arg<"x">(x)
  weft::arg("x", a);
  weft::arg(a);
}

void wrong(weft::module<model>& net, const weft::module<model>& fixed,
           const weft::trainer<model>& fixed_trainer, weft::trainer<model>& trainer,
           weft::monte_carlo<model>& samples, const array& data) {
  // errors: module: it is not copied; move it, or share its weights: module<Model>
  // other(sharing(net))
  auto a = net;
  [](weft::module<model>) {}(net);
  auto b = [net] { return 1; };
  // error: monte_carlo: it is not copied; move it, or share its weights: weft::sharing(net)
  auto c = samples;
  // error: trainer: it is not copied; move it, or give another one its parameters()
  auto d = trainer;
  // errors: module: a run writes to it, and it is const here; take it as weft::module<Model>&, and
  // write mutable behind the parameters of a lambda that has it
  fixed(weft::arg<"x">(data)).get<"y">()(0, 1);
  // errors: trainer: it changes, and is const here; take it as weft::trainer<Model>&
  fixed_trainer.step(weft::arg<"x">(data));
  fixed_trainer.compute_gradients(weft::arg<"x">(data));
  fixed_trainer.accumulate(weft::arg<"x">(data));
  // errors: module: it is made of {.seed = 1}, of parameters or a file such as
  // weft::tensor_file("name"), or of weft::sharing(module), each with what may follow it
  weft::module<model> k(7);
  weft::module<model> e("model.safetensors");
  weft::module<model, "y"> f(model{});
  weft::monte_carlo<model> g(trainer);
  // errors: trainer: it is made of an optimizer such as weft::adamw{.learning_rate = 1e-3}, then
  // options such as {.clip_norm = 1, .seed = 2}; or of parameters, then both
  weft::trainer<model> l(weft::adamw{}, weft::training_options{}, 7);
  weft::trainer<model> h(1e-3);
  weft::trainer<model> i(weft::adamw{}, 1.0);
  weft::trainer<model> j(net);
}

// What they are made of, and what moves, compiles.
void right(weft::module<model>& net, weft::trainer<model>& trainer, std::vector<float>& floats) {
  const view v(floats.data(), 2);
  const view strided(floats.data(), {2, 384}, {384, 1});
  array x(v), y = x, z(2);
  const weft::view<const float, weft::shape<Pos, Embed>> r(v), s = z.view();
  z(weft::at<Embed>(3), weft::at<Pos>(1)) = v(weft::at<Embed>(3), weft::at<Pos>(1));
  auto moved = std::move(net);
  net = std::move(moved);
  weft::module<model> second(weft::sharing(net)), third(trainer.parameters()), fourth({.seed = 7});
  weft::trainer<model> t(weft::adamw{}, {.clip_norm = 1, .seed = 2}), u(net.parameters());
  second(weft::arg<"x">(x));
}
