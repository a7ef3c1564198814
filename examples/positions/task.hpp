// The tasks: texts, and the answers at their positions.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>
#include <weft/run.hpp>

#include "model.hpp"
#include "support/corpus.hpp"

namespace positions {

using random_engine = std::mt19937_64;

// A text, and the expected character at each of its positions; '\0': none.
struct sample {
  std::string text, answer;
};

enum class part { train, held_out };

struct task {
  std::string name;
  std::string description;
  bool causal = false;              // whether a position sees only itself and earlier ones
  std::size_t least = 0, most = 0;  // sizes in training
  std::size_t samples = 32;         // per training step
  bool nats = false;                // whether it is measured by the loss instead of the accuracy
  std::function<sample(std::size_t size, part from, random_engine& random)> draw;
};

// Digits reversed, sorted, and each three positions later; the sum of two numbers. `size` is the
// number of digits, of each number. The digits are between < and >, so that both ends can be found;
// a sum is expected at the positions of the second number, digit for digit. All positions see each
// other, and answers are not fed back: without an encoding, equal digits cannot be distinguished.
sample reversed(std::size_t size, random_engine& random);
sample sorted(std::size_t size, random_engine& random);
sample back(std::size_t size, random_engine& random);
sample added(std::size_t size, random_engine& random);

// All tasks: these, and predicting the next character of a text, which the task keeps.
std::vector<task> tasks(examples::corpus text);
// The longest piece of a text in a sample.
inline constexpr std::size_t longest_text = Pos::extent;

// A batch of samples, which have the same length.
struct batch {
  weft::array<std::int32_t, Batch, Pos> tokens, targets;
  weft::array<std::int32_t, Pos> visible;

  batch(const std::vector<sample>& samples, bool causal);
};

// For training: all of one size, which is drawn at random.
batch draw_to_learn(const task& t, random_engine& random);
// For measuring, from the held-out part.
batch draw_to_measure(const task& t, std::size_t size, random_engine& random);

}  // namespace positions
