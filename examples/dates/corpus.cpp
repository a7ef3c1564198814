#include "corpus.hpp"

#include <algorithm>
#include <weft/run/error.hpp>

namespace dates {

namespace {

template <class List>
const auto& any_of(const List& list, random_engine& random) {
  return list[std::uniform_int_distribution<std::size_t>(0, list.size() - 1)(random)];
}

std::vector<std::string> texts_of(std::span<const sample> samples) {
  std::vector<std::string> texts;
  for (const sample& s : samples) texts.push_back(s.text);
  return texts;
}

std::vector<std::vector<std::int32_t>> encoded(std::span<const std::string> texts) {
  std::vector<std::vector<std::int32_t>> all;
  for (const std::string& text : texts) {
    all.push_back(encode(text));
    if (const std::size_t n = all.back().size(); n == 0 || n > Pos::extent)
      throw weft::error("'" + text + "' has " + std::to_string(n) + " characters; 1 to " +
                        std::to_string(Pos::extent) + " are allowed");
  }
  return all;
}

std::size_t longest(const std::vector<std::vector<std::int32_t>>& texts) {
  std::size_t length = 0;
  for (const auto& text : texts) length = std::max(length, text.size());
  return length;
}

}  // namespace

sample write_somehow(date day, random_engine& random) {
  const locale& language = any_of(locales(), random);
  return {day, write(day, language, any_of(language.patterns, random))};
}

split::split(random_engine& random) {
  for (auto day = first_day; day <= last_day; day += std::chrono::days(1)) train.push_back(day);
  std::shuffle(train.begin(), train.end(), random);
  const auto begin = train.end() - std::ssize(train) / 10;
  held_out.assign(begin, train.end());
  train.erase(begin, train.end());
}

batch::batch(const std::vector<std::vector<std::int32_t>>& texts)
    : text(texts.size(), longest(texts)), valid(texts.size()), date(texts.size()) {
  for (std::size_t b = 0; b < texts.size(); ++b) {
    std::copy(texts[b].begin(), texts[b].end(), &text(b, 0));
    valid(b) = static_cast<std::int32_t>(texts[b].size());
  }
  std::fill(date.begin(), date.end(), -1);
}

batch::batch(std::span<const std::string> texts) : batch(encoded(texts)) {}

batch::batch(std::span<const sample> samples) : batch(texts_of(samples)) {
  for (std::size_t b = 0; b < samples.size(); ++b) {
    const std::string wanted = iso(samples[b].day);
    for (std::size_t s = 0; s < wanted.size(); ++s)
      date(b, s) = static_cast<std::int32_t>(symbols.find(wanted[s]));
  }
}

reader::reader(std::vector<date> days, std::size_t batch_size, random_engine& random)
    : days_(std::move(days)), batch_size_(batch_size), random_(random) {}

batch reader::next() {
  constexpr std::size_t together = 16;
  if (drawn_.empty()) {
    std::vector<sample> samples;
    while (samples.size() < together * batch_size_)
      samples.push_back(write_somehow(any_of(days_, random_), random_));
    std::ranges::sort(samples, {}, [](const sample& s) { return s.text.size(); });
    for (std::size_t b = 0; b < together; ++b)
      drawn_.emplace_back(std::span(samples).subspan(b * batch_size_, batch_size_));
    std::ranges::shuffle(drawn_, random_);
  }
  batch last = std::move(drawn_.back());
  drawn_.pop_back();
  return last;
}

}  // namespace dates
