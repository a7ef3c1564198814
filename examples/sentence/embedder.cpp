#include "embedder.hpp"

#include <algorithm>
#include <numeric>
#include <weft/io/load.hpp>

namespace sentence {

embedder::embedder(const std::filesystem::path& folder)
    : pieces_(folder / "vocab.txt"),
      // The file has more: the pooler of BERT's first task, and position numbers.
      net_(weft::weights(folder / "model.safetensors", {.ignore_others = true})) {
  if (pieces_.size() != model::Vocab::extent)
    throw weft::error((folder / "vocab.txt").string() + " has " + std::to_string(pieces_.size()) +
                      " pieces, and the model has " + std::to_string(model::Vocab::extent));
  net_.freeze();
}

std::vector<embedder::embedding> embedder::embed(const std::vector<std::string>& texts,
                                                 std::size_t most) {
  std::vector<std::vector<std::int32_t>> tokens;
  for (auto const& text : texts) tokens.push_back(pieces_.tokens(text, most));
  // Texts of about the same length are computed together: shorter ones are padded.
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return tokens[i].size(); });
  std::vector<embedding> all(texts.size());
  for (std::size_t first = 0; first < order.size(); first += batch) {
    std::size_t const count = std::min(batch, order.size() - first);
    std::size_t const longest = tokens[order[first + count - 1]].size();
    weft::array<std::int32_t, model::Sentence, model::Pos> ids(count, longest);
    weft::array<std::int32_t, model::Sentence> lengths(count);
    for (std::size_t s = 0; s < count; ++s) {
      auto const& own = tokens[order[first + s]];
      for (std::size_t p = 0; p < own.size(); ++p) ids(s, p) = own[p];
      lengths(s) = static_cast<std::int32_t>(own.size());
      tokens_done_ += own.size();
    }
    auto const result =
        net_(weft::arg<"tokens">(ids), weft::arg<"lengths">(lengths)).get<"embedding">();
    for (std::size_t s = 0; s < count; ++s)
      for (std::size_t e = 0; e < width; ++e) all[order[first + s]].push_back(result(s, e));
  }
  return all;
}

double cosine(const embedder::embedding& a, const embedder::embedding& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace sentence
