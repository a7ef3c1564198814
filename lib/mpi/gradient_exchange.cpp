#include "weft/mpi/gradient_exchange.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <string_view>
#include <utility>

#include "weft/graph/op_table.hpp"

namespace weft::detail {

namespace {

// MPI counts in int.
constexpr std::size_t most_in_bucket = std::size_t{1} << 28;
// A megabyte takes longer to send than to begin to send, over the networks and the shared memory
// that MPI runs on.
constexpr std::size_t least_in_bucket = std::size_t{1} << 18;  // floats

// Two loops, and not one of multiply-adds, so that the bits do not depend on how this is compiled.
void scale(float* to, const float* from, std::size_t n, float factor) noexcept {
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i] * factor;
}
void add_to(float* to, const float* more, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) to[i] += more[i];
}

// The floats of a bucket of whole blocks: enough for each rank to have a block.
std::size_t least_for(std::span<const gradient_block> blocks, int ranks) {
  std::size_t longest = 0;
  for (const gradient_block& b : blocks) longest = std::max(longest, b.end - b.begin);
  return std::min(most_in_bucket,
                  std::max(least_in_bucket, static_cast<std::size_t>(ranks) * longest));
}

}  // namespace

std::vector<gradient_bucket> buckets_of(std::span<const gradient_block> blocks, std::size_t least) {
  std::vector<gradient_bucket> buckets;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const bool full = buckets.empty() || blocks[b].begin != blocks[b - 1].end ||
                      blocks[b].begin - blocks[buckets.back().first].begin >= least ||
                      blocks[b].end - blocks[buckets.back().first].begin > most_in_bucket;
    if (full) buckets.push_back({b, b, 0});
    buckets.back().last = b + 1;
    buckets.back().finished_by = std::max(buckets.back().finished_by, blocks[b].finished_by);
  }
  return buckets;
}

gradient_exchange::gradient_exchange(communicator ranks, std::span<float> gradients,
                                     std::vector<gradient_block> blocks, bool keeps_segments)
    : ranks_(std::move(ranks)),
      gradients_(gradients),
      blocks_(std::move(blocks)),
      buckets_(buckets_of(blocks_,
                          keeps_segments ? least_for(blocks_, ranks_.size()) : least_in_bucket)),
      owner_(blocks_.size()),
      keeps_segments_(keeps_segments) {
  for (const gradient_bucket& b : buckets_) {
    auto& sizes = size_.emplace_back();
    auto& begins = begin_.emplace_back();
    for (int r = 0; r < ranks_.size(); ++r) {
      const auto [first, last] = blocks_of(b, r);
      std::fill(owner_.begin() + static_cast<std::ptrdiff_t>(first),
                owner_.begin() + static_cast<std::ptrdiff_t>(last), r);
      const segment_range s = segment(b, r);
      sizes.push_back(static_cast<int>(s.size()));
      begins.push_back(static_cast<int>(s.begin - blocks_[b.first].begin));
    }
    own_floats_ += segment(b, ranks_.rank()).size();
  }
  for (std::size_t b = 0; b < buckets_.size(); ++b) transfers_.push_back({b, nullptr, {}, {}});
  std::ranges::sort(transfers_, {}, [&](const transfer& t) {
    return std::pair(buckets_[t.bucket].finished_by, t.bucket);
  });
  gathers_.resize(buckets_.size(), MPI_REQUEST_NULL);
}

segment_range segment_of(std::size_t begin, std::size_t n, std::size_t unit, int rank, int ranks) {
  const std::size_t units = (n + unit - 1) / unit;
  const auto at = [&](int r) {
    const auto all = static_cast<std::size_t>(ranks), before = static_cast<std::size_t>(r);
    return begin + std::min(n, units * before / all * unit);
  };
  return {at(rank), at(rank + 1)};
}

segment_range gradient_exchange::blocks_of(const gradient_bucket& b, int rank) const {
  return segment_of(b.first, b.last - b.first, 1, rank, ranks_.size());
}

segment_range gradient_exchange::segment(const gradient_bucket& b, int rank) const {
  const std::size_t begin = blocks_[b.first].begin;
  constexpr std::size_t line = 16;  // floats of a cache line
  if (!keeps_segments_)
    return segment_of(begin, blocks_[b.last - 1].end - begin, line, rank, ranks_.size());
  const auto [first, last] = blocks_of(b, rank);
  if (first == last) return {begin, begin};
  return {blocks_[first].begin, blocks_[last - 1].end};
}

std::string gradient_exchange::explained(const program& p) const {
  std::string text;
  const auto all = static_cast<int>(p.instructions.size());
  for (const transfer& t : transfers_) {
    const gradient_bucket& b = buckets_[t.bucket];
    const std::size_t begin = blocks_[b.first].begin, end = blocks_[b.last - 1].end;
    std::string_view first, last;
    for (const parameter_ref& parameter : p.parameters) {
      const std::size_t at = parameter.offset / sizeof(float);
      if (at >= end || at + parameter.size <= begin) continue;
      if (first.empty()) first = p.name(parameter.name);
      last = p.name(parameter.name);
    }
    text += "bucket " + std::to_string(t.bucket) + ": " +
            std::to_string((end - begin) * sizeof(float)) + " bytes, " + std::string(first);
    if (first != last) text.append(" to ").append(last);
    if (b.finished_by < all)
      text.append(", after instruction ")
          .append(std::to_string(b.finished_by + 1))
          .append(" of ")
          .append(std::to_string(all))
          .append(" (")
          .append(name_of(p.instructions[b.finished_by].kind))
          .append(")");
    else
      text += ", after the run";
    text += "\n";
  }
  return text;
}

float* gradient_exchange::buffer(int number) const {
  return reinterpret_cast<float*>(buffers_[static_cast<std::size_t>(number)].get());
}

void gradient_exchange::check(int returned, const char* called) const noexcept {
  try {
    check_mpi(returned, called);
  } catch (const std::exception& e) {
    ranks_.abort(e.what());
  }
}

float* gradient_exchange::partial_sum(const transfer& t, int rank, int number) const {
  const segment_range own = segment(buckets_[t.bucket], ranks_.rank());
  if (rank == ranks_.rank()) return buffer(number) + own.begin;
  const auto at = first_received_[static_cast<std::size_t>(rank)] + number;
  return t.received + static_cast<std::size_t>(at) * own.size();
}

void gradient_exchange::begin(const sharding& cut) {
  cut_ = &cut;
  int most = 0;
  for (const tree_step& s : cut.within)
    if (s.rank == ranks_.rank()) most = std::max(most, s.buffer + 1);
  while (static_cast<int>(buffers_.size()) < most)
    buffers_.push_back(allocate(gradients_.size_bytes()));
  std::size_t others = 0;
  first_received_.assign(cut.partial_sums.size(), 0);
  for (std::size_t r = 0; r < cut.partial_sums.size(); ++r) {
    first_received_[r] = static_cast<int>(others);
    if (static_cast<int>(r) != ranks_.rank())
      others += static_cast<std::size_t>(cut.partial_sums[r]);
  }
  const std::size_t needed = others * own_floats_ * sizeof(float);
  if (needed > received_bytes_) {
    received_ = allocate(needed);
    received_bytes_ = needed;
  }
  next_received_ = reinterpret_cast<float*>(received_.get());
  sent_ = added_ = 0;
}

void gradient_exchange::add(std::size_t bucket, const tree_step& step) noexcept {
  const gradient_bucket& b = buckets_[bucket];
  const std::size_t begin = blocks_[b.first].begin, n = blocks_[b.last - 1].end - begin;
  const shard& of = cut_->shards[static_cast<std::size_t>(step.shard)];
  int top = step.buffer;
  scale(buffer(top) + begin, gradients_.data() + begin, n, static_cast<float>(cut_->share(of)));
  for (int m = 0; m < step.merges; ++m, --top)
    add_to(buffer(top - 1) + begin, buffer(top) + begin, n);
}

void gradient_exchange::send_next() noexcept {
  transfer& t = transfers_[sent_++];
  t.received = next_received_;
  t.receives.clear();
  t.sends.clear();
  send_segments(t);
}

void gradient_exchange::send_segments(transfer& t) noexcept {
  const gradient_bucket& b = buckets_[t.bucket];
  const auto tag = static_cast<int>(t.bucket % 32768);  // MPI promises as many
  const auto sums = [&](int rank) { return cut_->partial_sums[static_cast<std::size_t>(rank)]; };
  const auto own = static_cast<int>(segment(b, ranks_.rank()).size());
  for (int i = 1; i < ranks_.size(); ++i) {
    // Each rank begins with another one, so that none gets everything at once.
    const int other = (ranks_.rank() + i) % ranks_.size();
    for (int p = 0; own > 0 && p < sums(other); ++p, next_received_ += own)
      check(MPI_Irecv(partial_sum(t, other, p), own, MPI_FLOAT, other, tag, ranks_.handle(),
                      &t.receives.emplace_back()),
            "MPI_Irecv");
    const segment_range s = segment(b, other);
    for (int p = 0; s.size() > 0 && p < sums(ranks_.rank()); ++p)
      check(MPI_Isend(buffer(p) + s.begin, static_cast<int>(s.size()), MPI_FLOAT, other, tag,
                      ranks_.handle(), &t.sends.emplace_back()),
            "MPI_Isend");
  }
}

void gradient_exchange::add_partial_sums(const transfer& t) noexcept {
  const segment_range own = segment(buckets_[t.bucket], ranks_.rank());
  stack_.clear();
  for (const tree_step& s : cut_->above) {
    stack_.push_back(partial_sum(t, s.rank, s.buffer));
    for (int m = 0; m < s.merges; ++m) {
      const float* const more = stack_.back();
      stack_.pop_back();
      add_to(stack_.back(), more, own.size());
    }
  }
  std::copy_n(stack_.back(), own.size(), gradients_.data() + own.begin);
  if (ranks_.size() == 1 || keeps_segments_) return;
  gather(t.bucket, gradients_.data(), gathers_[t.bucket]);
}

void gradient_exchange::gather(std::size_t bucket, float* all, MPI_Request& done) const noexcept {
  check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL,
                        all + blocks_[buckets_[bucket].first].begin, size_[bucket].data(),
                        begin_[bucket].data(), MPI_FLOAT, ranks_.handle(), &done),
        "MPI_Iallgatherv");
}

bool gradient_exchange::complete(std::vector<MPI_Request>& requests, bool waits) const noexcept {
  const auto n = static_cast<int>(requests.size());
  int done = 1;
  if (waits)
    check(MPI_Waitall(n, requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  else
    check(MPI_Testall(n, requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
  return done != 0;
}

// In the order in which they were sent, as all ranks have to begin collective calls in one order.
void gradient_exchange::advance(bool waits) noexcept {
  for (; added_ < sent_; ++added_) {
    if (!complete(transfers_[added_].receives, waits)) return;
    add_partial_sums(transfers_[added_]);
  }
}

void gradient_exchange::run(engine& e, const tree_step& step, bool is_last) noexcept {
  if (!is_last) {
    e.run();
    e.in_parts(std::ssize(buckets_), [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      for (std::ptrdiff_t b = begin; b < end; ++b) add(static_cast<std::size_t>(b), step);
    });
    return;
  }
  const auto send_finished = [&](int instruction) noexcept {
    for (; sent_ < transfers_.size(); send_next()) {
      const std::size_t bucket = transfers_[sent_].bucket;
      if (buckets_[bucket].finished_by > instruction) break;
      add(bucket, step);
    }
    advance(false);
  };
  e.run(send_finished);
  send_finished(std::numeric_limits<int>::max());
}

void gradient_exchange::finish() noexcept {
  while (sent_ < transfers_.size()) send_next();
  advance(true);
  for (transfer& t : transfers_) complete(t.sends, true);
  complete(gathers_, true);
}

void gradient_exchange::sum(std::span<double> numbers) const noexcept {
  check(MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE,
                      MPI_SUM, ranks_.handle()),
        "MPI_Allreduce");
}

void gradient_exchange::gather_segments(std::span<float> floats) const noexcept {
  if (ranks_.size() == 1) return;
  std::vector<MPI_Request> gathers(buckets_.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < buckets_.size(); ++i) gather(i, floats.data(), gathers[i]);
  complete(gathers, true);
}

void gradient_exchange::gather_segments(std::span<float> floats, int root) const noexcept {
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    float* const all = floats.data() + blocks_[buckets_[i].first].begin;
    const auto own = static_cast<std::size_t>(ranks_.rank());
    const bool is_root = ranks_.rank() == root;
    check(MPI_Gatherv(is_root ? MPI_IN_PLACE : static_cast<const void*>(all + begin_[i][own]),
                      size_[i][own], MPI_FLOAT, all, size_[i].data(), begin_[i].data(), MPI_FLOAT,
                      root, ranks_.handle()),
          "MPI_Gatherv");
  }
}

}  // namespace weft::detail
