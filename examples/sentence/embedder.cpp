#include "embedder.hpp"

#include <algorithm>
#include <numeric>
#include <weft/files/load.hpp>

namespace sentence {

embedder::embedder(const std::filesystem::path& folder, weft::precision weights)
    : pieces_(folder / "vocab.txt"),
      // The file has more: the pooler of BERT's first task, and position numbers.
      net_(weft::weights(folder / "model.safetensors", {.ignore_others = true}), weights) {
  if (pieces_.size() != model::Vocab::extent)
    throw weft::error((folder / "vocab.txt").string() + " has " + std::to_string(pieces_.size()) +
                      " pieces, and the model has " + std::to_string(model::Vocab::extent));
}

std::vector<embedder::embedding> embedder::embed(const std::vector<std::string>& texts,
                                                 std::size_t most) {
  std::vector<std::vector<std::int32_t>> tokens;
  for (const auto& text : texts) tokens.push_back(pieces_.tokens(text, most));
  std::vector<embedding> all(texts.size());
  for (std::size_t first = 0, next; first < texts.size(); first = next) {
    // One text after another, without padding.
    std::vector<std::int32_t> ids, begins, ends;
    for (next = first; next < texts.size() && next - first < sentences_of_run; ++next) {
      const auto& own = tokens[next];
      if (ids.size() + own.size() > tokens_of_run) break;
      begins.push_back(static_cast<std::int32_t>(ids.size()));
      ids.insert(ids.end(), own.begin(), own.end());
      ends.push_back(static_cast<std::int32_t>(ids.size()));
    }
    tokens_done_ += ids.size();
    const auto result =
        net_(weft::arg<"tokens">(ids), weft::arg<"begins">(begins), weft::arg<"ends">(ends))
            .get<"embedding">();
    for (std::size_t s = 0; s < begins.size(); ++s)
      for (std::size_t e = 0; e < width; ++e) all[first + s].push_back(result(s, e));
  }
  return all;
}

double cosine(const embedder::embedding& a, const embedder::embedding& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace sentence
