// What the page's worker calls: a small char_lm that trains, writes and is saved. The functions are
// exports of a WebAssembly module; memory that they return stays until the next call of the same
// one.
#include <algorithm>
#include <cstring>
#include <memory>
#include <weft/files/load.hpp>

#include "char_lm/baseline.hpp"
#include "char_lm/text.hpp"

namespace {

// Small enough for a telephone: 140,000 parameters.
struct axes {
  struct Batch : weft::axis<weft::up_to<16>> {};
  struct Pos : weft::axis<weft::up_to<64>> {};
  struct KeyPos : weft::alias<Pos> {};
  struct Vocab : weft::axis<256> {};
  struct Embed : weft::axis<64> {};
  struct Heads : weft::axis<4> {};
  struct HeadDim : weft::axis<16> {};
  struct Hidden : weft::axis<256> {};
};
using net = char_lm::model<2, axes>;
using Batch = net::Batch;
using Pos = net::Pos;

constexpr long steps = 3000;  // after them, the learning rate stays at its least
constexpr double learning_rate = 4e-3;
constexpr std::size_t most_held_out = 1 << 14;  // bytes, so that measuring them takes a moment

class demo {
 public:
  // The last tenth of the text is held out, and measured on at most most_held_out of its bytes.
  demo(std::span<const unsigned char> text, std::uint32_t seed)
      : text_(text.begin(), text.end()),
        random_(seed),
        net_(char_lm::optimizer(learning_rate), char_lm::training(steps, seed)) {
    if (held_out().size() <= Pos::extent)
      throw weft::error("The text is too short: at least " + std::to_string(11 * Pos::extent) +
                        " bytes are needed.");
    bigram_ = char_lm::count(train(), held_out()).bigram;
  }

  float step() {
    std::uniform_int_distribution<std::size_t> begin(0, train().size() - Pos::extent - 1);
    for (std::size_t b = 0; b < Batch::extent; ++b) batch_.set(b, train(), begin(random_));
    return net_.step(weft::arg<"tokens">(batch_.in), weft::arg<"targets">(batch_.target));
  }
  double held_out_loss() { return char_lm::loss(measured_, held_out()); }
  double bigram() const { return bigram_; }

  const std::string& write(std::size_t count, double temperature) {
    written_ = "// ";  // as a comment in the text begins
    while (written_.size() < count)
      written_.push_back(char_lm::next_byte(writing_, written_, temperature, random_));
    return written_;
  }
  // A row for each position.
  std::span<const float> positions() const {
    return net_.parameters().find("positions.weight").values;
  }
  std::size_t parameters() const { return net_.parameters().elements(); }
  std::span<const std::byte> save() { return saved_ = weft::saved(net_.parameters()); }
  std::span<const std::byte> saved() const { return saved_; }

 private:
  std::span<const std::int32_t> train() const {
    return std::span(text_).first(text_.size() - text_.size() / 10);
  }
  std::span<const std::int32_t> held_out() const {
    const auto all = std::span(text_).subspan(train().size());
    return all.first(std::min(all.size(), most_held_out));
  }

  std::vector<std::int32_t> text_;
  std::mt19937_64 random_;
  weft::trainer<net> net_;
  // They share the trainer's parameters.
  weft::module<net, "loss"> measured_{net_.parameters()};
  weft::module<net, "logits"> writing_{net_.parameters()};
  char_lm::windows<net> batch_{Batch::extent, Pos::extent};
  double bigram_ = 0;
  std::string written_;
  std::vector<std::byte> saved_;
};

// A module of WebAssembly is itself an object: these are its members.
struct {
  std::vector<unsigned char> text;
  std::string message;
  std::unique_ptr<demo> model;
} page;

}  // namespace

// The functions by which the page knows the module; the C library has other ones of some names.
namespace exported {

#define WEFT_EXPORT(name) __attribute__((export_name(name)))

// Memory for a text, which begin() trains on.
WEFT_EXPORT("room") unsigned char* room(std::size_t bytes) {
  page.text.resize(bytes);
  return page.text.data();
}
// Makes a new model. Returns why that is impossible, or nothing.
WEFT_EXPORT("begin") const char* begin(std::uint32_t seed) {
  page.message.clear();
  try {
    page.model = std::make_unique<demo>(page.text, seed);
  } catch (const std::exception& e) {
    page.message = e.what();
  }
  return page.message.c_str();
}
WEFT_EXPORT("parameters") std::size_t parameters() {
  return page.model->parameters();
}

// A step of training on a batch; returns its loss, in nats per byte.
WEFT_EXPORT("step") float step() {
  return page.model->step();
}
// The loss on the held-out text: the model's, and that of counting pairs of bytes.
WEFT_EXPORT("held_out") double held_out() {
  return page.model->held_out_loss();
}
WEFT_EXPORT("bigram") double bigram() {
  return page.model->bigram();
}

// The learned position encoding.
WEFT_EXPORT("positions") const float* positions() {
  return page.model->positions().data();
}
WEFT_EXPORT("position_count") std::size_t position_count() {
  return Pos::extent;
}
WEFT_EXPORT("position_width") std::size_t position_width() {
  return axes::Embed::extent;
}

// Text by the model, `count` bytes long.
WEFT_EXPORT("write") const char* write(std::size_t count, double temperature) {
  return page.model->write(count, temperature).c_str();
}
// The content of a safetensors file of the weights: its size, and then where it is.
WEFT_EXPORT("save") std::size_t save() {
  return page.model->save().size();
}
WEFT_EXPORT("saved") const std::byte* saved() {
  return page.model->saved().data();
}

}  // namespace exported
