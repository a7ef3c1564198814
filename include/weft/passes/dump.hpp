// A graph as text, while compiling and at run time: one line a node, as
//   %10 = dot(%5, %7) times 0.125: float [Batch, Pos, Heads, KeyPos]
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "weft/axes/fixed_string.hpp"
#include "weft/graph/attributes.hpp"
#include "weft/graph/compact_graph.hpp"
#include "weft/graph/graph.hpp"
#include "weft/graph/op_table.hpp"

namespace weft::detail {

// Counts what is written to it, and keeps the first Size characters.
template <std::size_t Size>
struct text_writer {
  char characters[Size + 1]{};
  std::size_t size = 0;

  constexpr text_writer& operator<<(std::string_view s) {
    for (const char c : s) {
      if (size < Size) characters[size] = c;
      ++size;
    }
    return *this;
  }
};

template <class Out>
constexpr void write_integer(Out& out, std::int64_t x) {
  char digits[20]{};
  int n = 20;
  const bool negative = x < 0;
  auto rest =
      negative ? std::uint64_t{0} - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
  do digits[--n] = static_cast<char>('0' + rest % 10);
  while (rest /= 10);
  out << (negative ? "-" : "") << std::string_view(digits + n, static_cast<std::size_t>(20 - n));
}

// To six decimals; times a power of ten below 1e-3, and from 1e9 on.
template <class Out>
constexpr void write_number(Out& out, double x) {
  if (x != x) return void(out << "nan");
  if (x < 0) return out << "-", write_number(out, -x);
  if (x > std::numeric_limits<double>::max()) return void(out << "infinity");
  int exponent = 0;
  if (x >= 1e9)
    for (; x >= 10; x /= 10) ++exponent;
  if (x != 0 && x < 1e-3)
    for (; x < 1; x *= 10) --exponent;
  auto whole = static_cast<std::int64_t>(x);
  auto decimals = static_cast<std::int64_t>((x - static_cast<double>(whole)) * 1e6 + 0.5);
  if (decimals == 1'000'000) ++whole, decimals = 0;
  if (exponent != 0 && whole == 10) whole = 1, ++exponent;
  write_integer(out, whole);
  if (decimals > 0) {
    char digits[7]{'.'};
    for (int d = 6; d > 0; --d, decimals /= 10) digits[d] = static_cast<char>('0' + decimals % 10);
    std::size_t n = 7;
    while (digits[n - 1] == '0') --n;
    out << std::string_view(digits, n);
  }
  if (exponent != 0) out << "e", write_integer(out, exponent);
}

template <class Out>
constexpr void write_axes(Out& out, const axis_list& axes) {
  out << "[";
  for (int a = 0; a < axes.count; ++a) out << (a > 0 ? ", " : "") << axes.at[a]->name;
  out << "]";
}

// The axes that a node names, by what they are to its operation.
template <class Out>
constexpr void write_named_axes(Out& out, const node& n) {
  const auto& words = info(n.kind).names.named;
  for (int a = 0; a < n.named.count;) {
    out << " " << words[a] << " ";
    axis_list of{};
    do of.push(n.named.at[a++]);
    while (a < n.named.count && (a >= 4 || !words[a]));
    write_axes(out, of);
  }
}

// Attributes that are not what make_node gives, but no axes.
template <class Out>
constexpr void write_numbers(Out& out, const node& n) {
  if (n.scale != 1) out << " times ", write_number(out, n.scale);
  for_each_number(n, [&](const auto& words, auto x, auto usual) {
    const bool choice = words[1], alone = !choice && words[0] && !*words[0];
    if (!choice && !alone && x == usual) return;
    if (!words[0]) the_operation_has_no_such_attribute();
    const std::string_view word = words[choice && x != 0];
    out << (word.empty() ? "" : " ") << word;
    if (choice) return;
    out << " ";
    if constexpr (std::is_same_v<decltype(x), double>)
      write_number(out, x);
    else
      write_integer(out, x);
  });
  if (n.epilogue != op::copy) out << " then " << name_of(n.epilogue);
}

template <class Out>
constexpr void write_graph(Out& out, const graph_parts& g) {
  const auto name = [&](name_ref r) {
    return std::string_view(g.text.first + r.begin, static_cast<std::size_t>(r.size));
  };
  if (g.fault != model_fault::none)
    out << sentence_of(g.fault) << " " << name(g.fault_name) << "\n";
  for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i) {
    const node& n = g.nodes[i];
    out << "%", write_integer(out, i);
    out << " = " << name_of(n.kind);
    if (n.kind == op::input) out << " " << name(g.inputs[n.leaf].name);
    if (n.kind == op::parameter) out << " " << name(g.parameters[n.leaf].name);
    if (n.kind == op::state) out << " " << name(g.states[n.leaf].name);
    int written = 0;
    for_each_operand(n, [&](const slot& s, int id) {
      out << (written++ > 0 ? ", " : "(");
      if (s.is == presence::optional) out << name_of(s.what) << " ";
      out << "%", write_integer(out, id);
    });
    if (written > 0) out << ")";
    for_each_result(n, [&](const slot& s) {
      if (s.is == presence::optional) out << " and " << name_of(s.what);
    });
    write_named_axes(out, n);
    write_numbers(out, n);
    if (n.region != 0) out << " in scan ", write_integer(out, n.region);
    if (n.once) out << " once";
    if (n.fused) out << " fused";
    out << ": " << name_of_type(n.type) << " ";
    write_axes(out, n.axes);
    out << "\n";
  }
  for (const output& o : g.outputs) {
    out << (o.kind == output_kind::result     ? "result "
            : o.kind == output_kind::gradient ? "gradient of "
                                              : "new value of ")
        << name(o.name) << " = %";
    write_integer(out, o.node);
    out << "\n";
  }
}

// The text of the graph that Maker::make() gives.
template <class Maker>
struct text_of_graph {
  static constexpr auto g = compact<Maker>();
  static constexpr std::size_t measure() {
    text_writer<0> counter;
    write_graph(counter, g.parts());
    return counter.size;
  }
  static constexpr auto write() {
    constexpr std::size_t size = measure();
    text_writer<size> text;
    write_graph(text, g.parts());
    fixed_string<size + 1> s;
    for (std::size_t i = 0; i < size; ++i) s.chars[i] = text.characters[i];
    return s;
  }
};
template <class Maker>
constexpr auto graph_text() {
  return text_of_graph<Maker>::write();
}

}  // namespace weft::detail
#include "weft/header_end.hpp"
