// What the models learn: texts, and what is to be written at their positions.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "model.hpp"
#include "support/corpus.hpp"

namespace positions {

using random_engine = std::mt19937_64;

// A text, and the character that is asked for at each position of it; '\0' where nothing is.
struct sample {
  std::string text, answer;
};

enum class part { train, held_out };

struct task {
  std::string name;
  std::string description;
  bool causal = false;              // does a position see only itself and those before it?
  std::size_t least = 0, most = 0;  // the sizes that are learnt
  std::size_t samples = 32;         // in a step
  bool nats = false;  // is it measured by the loss, and not by the share that is right?
  std::function<sample(std::size_t size, part from, random_engine& random)> draw;
};

// Digits backwards, in order, and each three places later; the sum of two numbers. `size` is the
// number of digits, of each number. The digits stand between < and >, so that either end can be
// found; a sum is asked for where the second number stands, digit for digit. All positions see one
// another, and answers are not read back: without an encoding, nothing tells equal digits apart.
sample reversed(std::size_t size, random_engine& random);
sample sorted(std::size_t size, random_engine& random);
sample back(std::size_t size, random_engine& random);
sample added(std::size_t size, random_engine& random);

// All tasks: these, and the next character of a text, which the task keeps.
std::vector<task> tasks(examples::corpus text);
// The longest piece of a text that is asked for.
inline constexpr std::size_t longest_text = Pos::extent;

// Samples side by side, which are of one length.
struct batch {
  weft::array<std::int32_t, Batch, Pos> tokens, targets;
  weft::array<std::int32_t, Pos> visible;

  batch(const std::vector<sample>& samples, bool causal);
};

// To learn from: all of one size, which is drawn.
batch draw_to_learn(const task& t, random_engine& random);
// To measure by, from what is held out.
batch draw_to_measure(const task& t, std::size_t size, random_engine& random);

}  // namespace positions
