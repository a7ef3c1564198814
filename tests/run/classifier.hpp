// A small model with every kind of argument that a run can take.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "weft/weft.hpp"

namespace {

struct Batch : weft::axis<weft::up_to<4>> {};
struct Pos : weft::axis<weft::up_to<6>> {};
struct Vocab : weft::axis<7> {};
struct Embed : weft::axis<5> {};

// Results: "loss"; "logits" [Batch, Pos, Vocab]; "scaled" [Batch, Pos, Embed], which needs no
// targets.
struct classifier {
  constexpr auto operator()(weft::scope s) const {
    auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    auto targets = s.input<"targets", std::int32_t, Batch, Pos>();
    auto scale = s.input<"scale", float, Embed>();
    auto table = s.param<"table", Vocab, Embed>(weft::init::normal());
    auto places = s.param<"places", Pos, Embed>(weft::init::normal());
    auto scaled = (weft::gather<Vocab>(table, tokens) + places) * scale;
    auto logits = weft::nn::linear<Embed, Vocab>(s / "head", scaled);
    auto loss = weft::mean<Batch, Pos>(weft::cross_entropy<Vocab>(logits, targets));
    return weft::results(weft::as<"loss">(loss), weft::as<"logits">(logits),
                         weft::as<"scaled">(scaled));
  }
};

// Arguments for two rows of three.
const std::vector<std::int32_t> six_tokens{0, 1, 2, 6, 5, 4};
const std::vector<std::int32_t> six_targets{1, 2, 3, 5, 4, 3};
std::array<float, 5> constexpr five_scales{1, 2, 0.5f, -1, 1};

// Two rows of three.
inline weft::view<const std::int32_t, weft::shape<Batch, Pos>> rows(
    const std::vector<std::int32_t>& v) {
  return weft::view<const std::int32_t, weft::shape<Batch, Pos>>(v.data(), 2, v.size() / 2);
}

}  // namespace
