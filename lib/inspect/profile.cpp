#include "weft/inspect/profile.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <ostream>

#include "inspect/instruction_costs.hpp"
#include "weft/kernels/peak.hpp"
#include "weft/run/memory.hpp"

namespace weft {

namespace {

constexpr double nanosecond = 1e-9;

double seconds_now() noexcept {
  return static_cast<double>(recording::now()) * nanosecond;
}

// All threads measure at the same time.
machine_peak measure(const executor& threads, std::size_t bytes) {
  const auto width = static_cast<std::size_t>(threads.width());
  bytes = std::clamp<std::size_t>(bytes, 4096, 64 << 20);
  const std::size_t each = bytes / sizeof(float) / width;
  const auto memory = allocate(bytes);
  auto* const floats = reinterpret_cast<float*>(memory.get());
  std::fill_n(floats, each * width, 1.0f);  // pages that were never written share one of zeros
  std::vector<machine_peak> of(width);
  const auto of_thread = [&](int i) {
    const auto t = static_cast<std::size_t>(i);
    of[t] = {kernels::peak_flops(seconds_now),
             kernels::read_bandwidth(floats + t * each, each, seconds_now)};
  };
  threads(threads.width(), job(of_thread));
  machine_peak sum;
  for (const machine_peak& p : of) {
    sum.flops += p.flops;
    sum.bytes += p.bytes;
  }
  return sum;
}

// The time of all instructions of a run.
std::int64_t instructions_of(const recording& r, std::size_t run) {
  std::int64_t sum = 0;
  for (const std::int64_t t : r.instructions_of(run)) sum += t;
  return sum;
}

double median(std::vector<double> x) {
  if (x.empty()) return 0;
  const auto middle = x.begin() + std::ssize(x) / 2;
  std::nth_element(x.begin(), middle, x.end());
  return *middle;
}

template <class Time>
profile::time time_of(std::size_t runs, Time of_run) {
  std::vector<double> all(runs);
  profile::time t;
  for (std::size_t r = 0; r < runs; ++r)
    t.total += all[r] = static_cast<double>(of_run(r)) * nanosecond;
  t.median = median(std::move(all));
  return t;
}

// Fills in what follows from the time and cost of each run.
template <class Time, class Cost>
void summarize(profile::line& l, std::size_t runs, Time time, Cost cost) {
  l.spent = time_of(runs, time);
  std::vector<double> flop_rate, byte_rate;
  for (std::size_t r = 0; r < runs; ++r) {
    const operation_cost c = cost(r);
    l.cost.flops += c.flops;
    l.cost.bytes += c.bytes;
    const double spent = static_cast<double>(std::max<std::int64_t>(time(r), 1)) * nanosecond;
    flop_rate.push_back(c.flops / spent);
    byte_rate.push_back(c.bytes / spent);
  }
  const auto n = static_cast<double>(std::max<std::size_t>(runs, 1));
  l.cost = {l.cost.flops / n, l.cost.bytes / n};
  l.flop_rate = median(std::move(flop_rate));
  l.byte_rate = median(std::move(byte_rate));
}

}  // namespace

profile::profile(const program& p, const graph_parts& g, profile_options options)
    : program_(&p),
      graph_(g),
      peak_(options.peak),
      recording_(std::make_shared<recording>(p, options.runs)) {}

std::vector<profile::line> profile::lines() const {
  const recording& r = *recording_;
  const auto once = static_cast<std::size_t>(program_->once);
  const auto texts = detail::instruction_texts(*program_, graph_);
  // The costs of the instructions, and their sum, for all lengths that occur.
  std::map<std::vector<std::size_t>, std::vector<operation_cost>> at_lengths;
  std::vector<const std::vector<operation_cost>*> costs;
  for (std::size_t run = 0; run < runs(); ++run) {
    const auto given = r.lengths_of(run);
    const auto [at, is_new] = at_lengths.try_emplace({given.begin(), given.end()});
    if (is_new) {
      const auto all = detail::instruction_costs(*program_, graph_, given);
      at->second.assign(all.begin() + program_->once, all.end());
      operation_cost sum;
      for (const operation_cost& c : at->second) {
        sum.flops += c.flops;
        sum.bytes += c.bytes;
      }
      at->second.push_back(sum);
    }
    costs.push_back(&at->second);
  }
  std::vector<line> all(texts.size() - once + 1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto time = [&](std::size_t run) {
      return i + 1 < all.size() ? r.instructions_of(run)[i] : instructions_of(r, run);
    };
    if (i + 1 < all.size()) {
      all[i].operation = texts[once + i].operation;
      all[i].axes = texts[once + i].axes;
    } else {
      all[i].operation = "sum of " + std::to_string(i) + " instructions";
    }
    summarize(all[i], runs(), time, [&](std::size_t run) { return (*costs[run])[i]; });
  }
  return all;
}

std::vector<profile::line> profile::instructions() const {
  auto all = lines();
  all.pop_back();
  return all;
}
profile::line profile::sum() const {
  return lines().back();
}
profile::time profile::run() const {
  return time_of(runs(), [&](std::size_t r) { return recording_->phases_of(r).run; });
}
profile::time profile::binding() const {
  return time_of(runs(), [&](std::size_t r) { return recording_->phases_of(r).binding; });
}
profile::time profile::optimizer() const {
  return time_of(runs(), [&](std::size_t r) { return recording_->phases_of(r).optimizer; });
}

machine_peak profile::peak() const {
  if (!peak_)
    peak_ = measure(recording_->threads(), program_->parameter_bytes + program_->gradient_bytes +
                                               program_->workspace_bytes);
  return *peak_;
}

double profile::share_of_peak(const line& l) const {
  const machine_peak most = peak();
  return std::max(most.flops > 0 ? l.flop_rate / most.flops : 0,
                  most.bytes > 0 ? l.byte_rate / most.bytes : 0);
}

namespace {

// 0.00123 as 1.23 ms.
std::string time_text(double s) {
  struct unit {
    double seconds;
    const char* name;
  };
  char text[32];
  for (const unit u : {unit{1, "s"}, unit{1e-3, "ms"}, unit{1e-6, "us"}, unit{1e-9, "ns"}}) {
    std::snprintf(text, sizeof text, "%.3g %s", s / u.seconds, u.name);
    if (s >= 0.9995 * u.seconds) break;
  }
  return text;
}
std::string percent(double part, const char* format = "%.1f %%") {
  char text[32];
  std::snprintf(text, sizeof text, format, 100 * part);
  return text;
}
std::string giga(double rate) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", rate / 1e9);
  return text;
}

struct columns {
  std::string median{}, of_run{}, total{}, flops{}, bytes{}, flop_rate{}, byte_rate{}, of_peak{};
};
std::string row(const columns& c) {
  std::string text;
  const auto right = [&](const std::string& s, std::size_t width) {
    if (s.size() < width) text.append(width - s.size(), ' ');
    text.append(s);
  };
  right(c.median, 8);
  right(c.of_run, 8);
  right(c.total, 9);
  right(c.flops, 8);
  right(c.bytes, 8);
  right(c.flop_rate, 9);
  right(c.byte_rate, 7);
  right(c.of_peak, 9);
  return text + "  ";
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const profile& p) {
  if (p.runs() == 0) return out << "profile: no run yet\n";
  const machine_peak peak = p.peak();
  const profile::time whole = p.run();
  const auto times = [&](const profile::time& t) {
    return columns{time_text(t.median), percent(t.median / whole.median), time_text(t.total)};
  };
  const auto print = [&](const profile::line& l) {
    columns c = times(l.spent);
    if (l.cost.flops > 0) {
      c.flops = detail::short_number(l.cost.flops);
      c.flop_rate = giga(l.flop_rate);
    }
    if (l.cost.bytes > 0) {
      c.bytes = detail::short_number(l.cost.bytes);
      c.byte_rate = giga(l.byte_rate);
    }
    const double share = p.share_of_peak(l);
    const bool computes = peak.flops > 0 && l.flop_rate / peak.flops >= share;
    if (share > 0) c.of_peak = percent(share, computes ? "%.0f %% P" : "%.0f %% B");
    out << row(c) << l.operation << (l.axes.empty() ? "" : "  ") << l.axes << "\n";
  };
  const auto print_time = [&](const profile::time& t, const char* what) {
    if (t.total > 0) out << row(times(t)) << what << "\n";
  };
  out << row({"median", "of run", "total", "flop", "B", "GFLOP/s", "GB/s", "of peak"})
      << "instruction\n";
  const auto lines = p.lines();
  const auto texts = detail::instruction_texts(*p.program_, p.graph_);
  const std::string indent = row({});
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    const auto& [before, operation, axes, after] =
        texts[static_cast<std::size_t>(p.program_->once) + i];
    if (!before.empty()) out << indent << before;
    print(lines[i]);
    if (!after.empty()) out << indent << after;
  }
  print(lines.back());
  const auto outside = [&](std::size_t r) {
    return p.recording_->phases_of(r).run - instructions_of(*p.recording_, r);
  };
  print_time(time_of(p.runs(), outside), "outside of instructions");
  print_time(whole, "a run");
  print_time(p.binding(), "before it: checks and copies of arguments");
  print_time(p.optimizer(), "after it: the optimizer");
  return out << p.runs() << " runs; P = " << giga(peak.flops)
             << " GFLOP/s, B = " << giga(peak.bytes) << " GB/s\n";
}

}  // namespace weft
