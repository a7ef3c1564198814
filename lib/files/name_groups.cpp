#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>

#include "extents.hpp"

namespace weft::detail {

namespace {

// The names with a common beginning, such as "layer.6", and how each continues after it.
struct group {
  std::string prefix;  // "layer."
  std::string number;  // "6"; empty for a name without a number, which is its own group
  unsigned value = 0;
  std::vector<remark> rest;  // "attn.wq"

  std::string begin() const { return prefix + number; }
};

// Splits a name after its first part that is a number.
group split(const remark& r) {
  const std::string_view name = r.name;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('.', at), name.size());
    unsigned value = 0;
    const auto [to, failed] = std::from_chars(name.data() + at, name.data() + end, value);
    if (failed == std::errc() && to == name.data() + end)
      return {std::string(name.substr(0, at)),
              std::string(name.substr(at, end - at)),
              value,
              {{std::string(name.substr(std::min(end + 1, name.size()))), r.what}}};
    at = end + 1;
  }
  return {r.name, "", 0, {{"", r.what}}};
}

bool same(const group& a, const group& b) {
  return std::equal(a.rest.begin(), a.rest.end(), b.rest.begin(), b.rest.end(),
                    [](auto& x, auto& y) { return x.name == y.name && x.what == y.what; });
}

// Returns the line for the groups from `first` to `last`, and how many names it stands for.
std::pair<std::string, std::size_t> line(const group* first, const group* last,
                                         std::string_view word) {
  constexpr std::size_t most = 2;
  const auto groups = static_cast<std::size_t>(last - first) + 1;
  const std::size_t count = first->rest.size();
  const auto text = [](const remark& r) {
    return shortened(r.name) + (r.name.empty() ? "" : ", ") + r.what;
  };
  std::string all = shortened(first->begin());
  if (groups == 1 && count == 1) {
    const remark& only = first->rest.front();
    return {
        shortened(first->begin() + (only.name.empty() ? "" : "." + only.name)) + ", " + only.what,
        1};
  }
  if (groups > 1) all += " to " + shortened(last->begin()) + ", each";
  if (count > 1)
    all += (groups > 1 ? " of " : ", ") + std::to_string(count) + " " + std::string(word);
  all += ": ";
  for (std::size_t i = 0; i < std::min(count, most); ++i)
    all += (i > 0 ? "; " : "") + text(first->rest[i]);
  if (count > most) all += "; and " + std::to_string(count - most) + " more";
  return {all, groups * count};
}

}  // namespace

std::vector<std::string> grouped(const std::vector<remark>& remarks, std::string_view word,
                                 std::size_t lines) {
  // Groups are sorted by prefix, in the order of first appearance, and then by number.
  std::map<std::string, std::size_t> order;
  std::map<std::pair<std::string, std::string>, std::size_t> place;
  std::vector<group> groups;
  for (const remark& r : remarks) {
    group g = split(r);
    order.emplace(g.prefix, order.size());
    const auto [at, is_new] = place.emplace(std::pair(g.prefix, g.number), groups.size());
    if (is_new)
      groups.push_back(std::move(g));
    else
      groups[at->second].rest.push_back(std::move(g.rest.front()));
  }
  std::sort(groups.begin(), groups.end(), [&](const group& a, const group& b) {
    return std::tuple(order.at(a.prefix), a.value, a.number) <
           std::tuple(order.at(b.prefix), b.value, b.number);
  });
  std::vector<std::pair<std::string, std::size_t>> all;
  for (const group *g = groups.data(), *const end = g + groups.size(); g != end;) {
    const group* last = g;
    while (last + 1 != end && !g->number.empty() && last[1].prefix == g->prefix &&
           last[1].value == last->value + 1 && same(*g, last[1]))
      ++last;
    all.push_back(line(g, last, word));
    g = last + 1;
  }
  std::vector<std::string> shown;
  std::size_t more = 0;
  for (auto& [text, count] : all)
    if (all.size() <= lines || shown.size() + 1 < lines)
      shown.push_back(std::move(text));
    else
      more += count;
  if (more > 0) shown.push_back("and " + std::to_string(more) + " more " + std::string(word));
  return shown;
}

}  // namespace weft::detail
