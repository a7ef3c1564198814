#include <vector>
#include <weft/weft.hpp>

#include "../../words.hpp"

using namespace words;
using weft::arg;

struct Out : weft::axis<2> {};
struct Rows : weft::axis<weft::up_to<4>> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto a = s.input<"a", float, Rows, Out>();
    auto b = s.input<"b", float, Rows, Pos>();
    auto loss = weft::mean<Rows, Out>(a * s.param<"weight", Out>()) + weft::mean<Rows, Pos>(b);
    return weft::results(weft::as<"loss">(loss), weft::as<"sum">(weft::sum<Out>(a)));
  }
};

struct counter {
  constexpr auto operator()(weft::scope s) const {
    auto count = s.state<"count", std::int32_t, Out>();
    s.update(count, count + 1);
    return count;
  }
};

struct more_columns {
  constexpr auto operator()(weft::scope s) const { return s.param<"weight", Pos>() * 2.0f; }
};

namespace {
struct unnamed : model {};
}  // namespace

struct two_parameters {
  constexpr auto operator()(weft::scope s) const {
    return s.param<"a", Out>() + s.param<"a", Out>();
  }
};
struct shared_with_other_axes {
  constexpr auto operator()(weft::scope s) const {
    return s.param<"a", Out>() + s.shared().param<"a", Pos>();
  }
};
struct two_inputs {
  constexpr auto operator()(weft::scope s) const {
    return s.input<"a", float, Out>() + (s / "b").input<"a", float, Out>();
  }
};
struct two_states {
  constexpr auto operator()(weft::scope s) const {
    return s.state<"a", float, Out>() + s.state<"a", float, Out>();
  }
};
struct result_named_as_state {
  constexpr auto operator()(weft::scope s) const {
    auto a = s.state<"a", float, Out>();
    s.update(a, a + 1.0f);
    return weft::results(weft::as<"a">(a));
  }
};
struct two_results {
  constexpr auto operator()(weft::scope s) const {
    auto a = s.param<"a", Out>();
    return weft::results(weft::as<"a">(a), weft::as<"a">(a));
  }
};
struct losses {
  constexpr auto operator()(weft::scope s) const {
    auto state = s.state<"count", float>();
    s.update(state, state + 1.0f);
    auto a = s.param<"a", Out>();
    return weft::results(weft::as<"axes">(a), weft::as<"whole">(weft::cast<int>(weft::sum<Out>(a))),
                         weft::as<"state">(weft::sum<Out>(a) * state));
  }
};

void wrong(const weft::parameters<losses>& parameters) {
  // error: param: two parameters have the same name; give each a name, or each layer a scope, of
  // its own, as in s / "layers" / i
  weft::module<two_parameters> parameter_twice;
  // error: param: a shared parameter is declared with other axes
  weft::trainer<shared_with_other_axes> shared;
  // error: input: two inputs have the same name
  weft::monte_carlo<two_inputs> input_twice;
  // error: state: two states have the same name
  weft::module<two_states> state_twice;
  weft::module<result_named_as_state> right;
  // error: results: two have the same name
  weft::module<two_results, "a"> result_twice;
  // error: module: the model has no result of this name
  weft::module<losses, "axes", "loss"> module;
  // error: monte_carlo: the model has no result of this name
  weft::monte_carlo<losses, "loss"> sample(parameters);
  // error: trainer: the model has no result with the name of the loss
  weft::trainer<losses> trainer({}, {.clip_norm = 1});
  // error: trainer: the loss has axes; take its mean over them
  weft::trainer<losses, weft::adamw, "axes"> axes(parameters);
  // error: trainer: the loss is not float
  weft::trainer<losses, weft::adamw, "whole"> whole(parameters, weft::adamw{}, {.clip_norm = 1});
  // error: trainer: the loss depends on a state, and no gradient goes through one
  weft::trainer<losses, weft::adamw, "state"> state(weft::adamw{}, {.seed = 1});
}

void wrong(weft::module<more_columns>& net, const weft::module<model>& other) {
  // error: exchange: the other model lacks a parameter of this one, or has it with other extents
  net.exchange(weft::sharing(other));
}

void wrong(const weft::parameters<model>& shared) {
  // errors: parameters: the other model lacks a parameter of this one, or has it with other extents
  weft::parameters<losses> lacks(shared);
  weft::parameters<more_columns> differs(shared);
}

void wrong(weft::module<model>& net, weft::trainer<model>& trainer, weft::module<model, "sum">& sum,
           const weft::view<const float, weft::shape<Rows, Out>>& a,
           const weft::view<const float, weft::shape<Rows, Pos>>& b,
           const std::vector<float>& floats, const std::vector<int>& integers,
           weft::module<counter>& counts) {
  // errors: argument: nothing that is computed needs an input of this name
  net(arg<"c">(a), arg<"b">(b));
  sum(arg<"a">(a), arg<"b">(b));
  trainer.step(arg<"c">(a), arg<"b">(b));
  // errors: argument: without a name; give each with weft::arg<"name">(x)
  net(a, arg<"b">(b));
  trainer.step(arg<"a">(a), b);
  // errors: argument: the axes are not those of the input
  net(arg<"a">(2.0f), arg<"b">(b));
  net(arg<"a">(b), arg<"b">(b));
  trainer.step(arg<"a">(b), arg<"b">(b));
  // errors: argument: an input is given twice
  net(arg<"a">(a), arg<"a">(a));
  trainer.step(arg<"a">(a), arg<"a">(a));
  // errors: argument: an input is missing; give each with weft::arg<"name">(x)
  net(arg<"a">(a));
  net();
  trainer.step(arg<"a">(a));
  trainer.step();
  trainer.compute_gradients(arg<"a">(a));
  trainer.accumulate(arg<"a">(a));
  // errors: argument: the elements are not those of the input
  net(arg<"a">(integers), arg<"b">(b));
  trainer.step(arg<"a">(integers), arg<"b">(b));
  // errors: argument: more than one length is unknown; give a weft::view or a weft::array
  net(arg<"a">(floats), arg<"b">(floats));
  trainer.step(arg<"a">(floats), arg<"b">(floats));
  // error: generated: the model has no result of this name
  weft::generated<model, "mean">();
  // error: generated: the model is in an unnamed namespace, and so in this file alone;
  // weft_add_model needs it in a header and under a name
  weft::generated<unnamed>();
  // error: generated_training: the model has no result with the name of the loss
  weft::generated_training<model, "mean">();
  // error: generated_training: the model is in an unnamed namespace, and so in this file alone;
  // weft_add_model needs it in a header and under a name
  weft::generated_training<unnamed>();
  // errors: parameters: the model has no parameter of this name with these axes
  net.parameters().get<"weights", Out>();
  net.parameters().get<"weight", Embed>();
  trainer.parameters().get<"weight">();
  // errors: results: this module does not compute a result of this name
  net(arg<"a">(a), arg<"b">(b)).get<"result">();
  sum(arg<"a">(a)).get<"loss">();
  // error: results: there are several; an element is y.get<"name">()(i, j)
  net(arg<"a">(a), arg<"b">(b))(0u, 0u);
  // errors: state: these results depend on no state of this name, elements and axes
  counts.state<"count", float, Out>();
  net.state<"count", std::int32_t, Out>();
  // error: reset: no state that these results depend on has the axis
  counts.reset<Rows>(0);
}
