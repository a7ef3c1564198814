// Lists of cases in which every two values of different options meet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::kernels {

template <class V>
std::string text_of(const V& v) {
  std::ostringstream text;
  if constexpr (requires { v.has_value(); }) {
    return v ? text_of(*v) : "none";
  } else if constexpr (requires { v.empty(); }) {
    for (const auto& x : v) text << x << (&x == &v.back() ? "" : " ");
    return v.empty() ? "none" : text.str();
  } else if constexpr (std::is_enum_v<V>) {
    text << static_cast<int>(v);
  } else {
    text << v;
  }
  return text.str();
}

// An option of T, which has a member `name`: the words for each of its values, and what it changes.
template <class T>
struct option {
  struct value {
    std::string words;
    std::function<void(T&)> set;
  };
  std::vector<value> values;

  option(std::vector<value> of) : values(std::move(of)) {}
  // A member with one of these values, whose words are those of text_of.
  template <class V>
  option(const std::string& name, V T::*member, const std::vector<std::type_identity_t<V>>& of) {
    for (const V& v : of) values.push_back({name + ' ' + text_of(v), [=](T& t) { t.*member = v; }});
  }
};

// As one option, whose values are all pairs: these meet each value of other options.
template <class T>
option<T> crossed(const option<T>& a, const option<T>& b) {
  std::vector<typename option<T>::value> all;
  for (const auto& x : a.values)
    for (const auto& y : b.values)
      all.push_back({x.words + ", " + y.words, [=](T& t) { x.set(t), y.set(t); }});
  return all;
}

// Copies of `base`, each with one value of each option and the words for all of them. The list is
// the same each time: as long as a pair has not met, a case begins with the first such pair, and
// each other option takes the value that meets the most of those before it for the first time.
template <class T>
std::vector<T> pairwise(const T& base, const std::vector<option<T>>& options) {
  std::vector<std::size_t> first;  // the number of the first value of each option
  std::size_t count = 0;
  for (const option<T>& o : options) first.push_back(std::exchange(count, count + o.values.size()));
  std::vector<char> met(count * count);
  const auto has_met = [&](std::size_t v, std::size_t w) -> char& {
    return met[std::min(v, w) * count + std::max(v, w)];
  };
  const auto values_of = [&](std::size_t o, auto f) {
    for (std::size_t v = first[o]; v < first[o] + options[o].values.size(); ++v) f(v);
  };
  std::vector<T> all;
  const auto add_case = [&](std::size_t o, std::size_t v, std::size_t p, std::size_t w) {
    std::vector<std::size_t> chosen(options.size(), count);
    chosen[o] = v, chosen[p] = w;
    for (std::size_t other = 0; other < options.size(); ++other) {
      if (chosen[other] != count) continue;
      std::ptrdiff_t most = -1;
      const std::size_t shift = all.size() % options[other].values.size();  // ties take turns
      for (std::size_t i = 0; i < options[other].values.size(); ++i) {
        const std::size_t x = first[other] + (i + shift) % options[other].values.size();
        const auto fresh = std::count_if(chosen.begin(), chosen.end(), [&](std::size_t y) {
          return y != count && y != chosen[other] && !has_met(x, y);
        });
        if (fresh > most) most = fresh, chosen[other] = x;
      }
    }
    T one = base;
    for (std::size_t i = 0; i < options.size(); ++i) {
      const auto& value = options[i].values[chosen[i] - first[i]];
      value.set(one);
      one.name += ", " + value.words;
      for (std::size_t j = 0; j < i; ++j) has_met(chosen[i], chosen[j]) = 1;
    }
    all.push_back(one);
  };
  for (std::size_t o = 0; o < options.size(); ++o)
    for (std::size_t p = o + 1; p < options.size(); ++p)
      values_of(o, [&](std::size_t v) {
        values_of(p, [&](std::size_t w) {
          if (!has_met(v, w)) add_case(o, v, p, w);
        });
      });
  return all;
}

}  // namespace weft::kernels
