#include "compare.hpp"

#include <chrono>
#include <cstdio>
#include <numeric>

#include "stream.hpp"

namespace chat {

namespace {

using right_model = reference<models::smollm2_135m, 128, 512>;
using judged_model = judged<models::smollm2_135m, 128, 512>;
using answering_model = right_model::whole;

constexpr std::size_t most_tokens = 5000;
constexpr std::size_t worst = 3;  // blocks that are named

// Weights to compare.
struct kept_weights {
  std::string name;
  const weft::gguf_file* file;
  weft::mixed_precision as;
};

bool is_quantised(const weft::gguf_file& file) {
  return std::ranges::any_of(file.tensors(), [](const weft::stored_tensor& t) {
    return t.type != weft::stored_type::float32 && t.type != weft::stored_type::float16 &&
           t.type != weft::stored_type::bfloat16;
  });
}

// Tokens per second of an answer: the most of eight times eight, after a prompt.
double rate_of(weft::module<judged_model>& net, const weft::executor& threads,
               std::span<const std::int32_t> tokens) {
  using clock = std::chrono::steady_clock;
  weft::module<answering_model> answering(weft::sharing(net));
  answering.run_on(threads);
  answering(weft::arg<"tokens">(tokens.first(std::min<std::size_t>(tokens.size(), 128))));
  double most = 0;
  for (int i = 0; i < 8; ++i) {
    const auto begin = clock::now();
    for (int j = 0; j < 8; ++j) answering(weft::arg<"tokens">(tokens.first(1)));
    most = std::max(most, 8 / std::chrono::duration<double>(clock::now() - begin).count());
  }
  return most;
}

void print_blocks(const char* what, const std::vector<double>& off) {
  std::vector<std::size_t> order(off.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::greater(), [&](std::size_t i) { return off[i]; });
  std::printf("  %s", what);
  for (std::size_t i = 0; i < worst; ++i)
    std::printf("%s model.layers.%zu %.2f%%", i > 0 ? "," : "", order[i], 100 * off[order[i]]);
  std::printf("\n");
}

}  // namespace

void compare(const std::string& model, const weft::executor& threads, const std::string& text,
             const std::vector<std::string>& others, const std::vector<std::string>& wide) {
  const std::string read = text_of("--text", text, most_tokens);
  const weft::gguf_file file(model);
  std::vector<std::int32_t> tokens = tokenizer_of(file).tokens_of_plain(read);
  tokens.resize(std::min(tokens.size(), most_tokens + 1));
  if (tokens.size() < 2) throw weft::error("--text: " + text + " has fewer than two tokens");
  std::vector<weft::gguf_file> files;
  for (const auto& other : others) tokenizer_of(files.emplace_back(other));
  std::vector<kept_weights> all;
  for (const auto p : {weft::precision::float32, weft::precision::bfloat16, weft::precision::q8_0,
                       weft::precision::q4_0, weft::precision::int8_products})
    all.push_back({weft::detail::name_of(p), &file, {p}});
  if (!wide.empty()) {
    weft::mixed_precision rules{weft::precision::q4_0};
    for (const auto& pattern : wide) rules.others.push_back({pattern, weft::precision::bfloat16});
    all.push_back({"q4_0 but --wide", &file, rules});
    // A pattern without a match is refused before the first row, which takes minutes.
    weft::module<judged_model>(source_of(file, {}), rules, threads);
  }
  if (is_quantised(file)) all.push_back({"stored", &file, {weft::precision::stored}});
  for (std::size_t i = 0; i < files.size(); ++i)
    all.push_back({std::filesystem::path(others[i]).filename().string(),
                   &files[i],
                   {weft::precision::stored}});

  weft::module<right_model> right(source_of(file, {}), weft::precision::float32, threads);
  std::printf("%zu tokens of %s, in parts of %d\n", tokens.size() - 1, text.c_str(),
              int{judged_model::Cache::extent});
  std::printf("%-18s %6s %9s %7s %10s %7s\n", "weights", "MB", "tokens/s", "loss", "divergence",
              "same");
  std::vector<scores> found;
  for (const auto& [name, of, as] : all) {
    weft::module<judged_model> net(source_of(*of, {}), as, threads);
    weft::module<judged_model> alone(weft::sharing(net));
    alone.run_on(threads);
    found.push_back(compare(right, net, alone, tokens));
    std::printf("%-18s %6.1f %9.1f %7.4f %10.5f %6.2f%%\n", name.c_str(),
                static_cast<double>(net.packed().memory.size()) / 1e6,
                rate_of(net, threads, tokens), found.back().loss, found.back().divergence,
                100 * found.back().same);
    std::fflush(stdout);
  }
  std::printf(
      "\nHow far the outputs of blocks are from float32's: the worst, over all tokens; and"
      "\nalone, where each reads float32's output of the one before, over the first %d:\n",
      int{judged_model::Cache::extent});
  for (std::size_t i = 1; i < all.size(); ++i) {
    std::printf("%s\n", all[i].name.c_str());
    print_blocks("in all: ", found[i].off);
    print_blocks("alone:  ", found[i].off_alone);
  }
}

}  // namespace chat
