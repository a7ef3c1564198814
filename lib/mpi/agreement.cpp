#include "weft/mpi/agreement.hpp"

#include <bit>

#include "run/fnv_hash.hpp"

namespace weft::detail {

namespace {

class program_hash {
 public:
  explicit program_hash(const program& p) : p_(&p) {}

  void add(const extent_ref& e) { numbers(e.most, e.length); }
  void add(const operand_ref& o, int loops) {
    numbers(static_cast<int>(o.where), o.leaf, static_cast<int>(o.type), o.offset, o.shift_count);
    for (int l = 0; l < loops; ++l) numbers(o.stride[l]);
    for (int s = 0; s < o.shift_count; ++s)
      numbers(p_->shifts[o.first_shift + s].slot, p_->shifts[o.first_shift + s].stride);
  }
  void add(const kernels::dropout_params& d) { numbers(d.stream, d.threshold); }
  void add(const instruction& s) {
    numbers(static_cast<int>(s.run), static_cast<int>(s.kind), s.loops, s.operands, s.over,
            static_cast<int>(s.epilogue), s.fused_count, s.axis_stride);
    for (int l = 0; l < s.loops; ++l) add(s.extent[l]);
    for (int o = 0; o < s.operands; ++o) add(operands_of(*p_, s)[o], s.loops);
    numbers(std::bit_cast<std::int64_t>(s.scalar), std::bit_cast<std::int64_t>(s.scale));
    add(s.axis);
    for (int f = 0; f < s.fused_count; ++f) {
      const kernels::fused_op& op = p_->fused_ops[s.first_fused + f];
      numbers(static_cast<int>(op.kind), static_cast<int>(op.type), op.from[0], op.from[1],
              op.from[2]);
      add(op.drop);
    }
  }
  void add(const lowered_attention& a) {
    numbers(a.lowest, a.highest, a.length_more, a.distances, a.origin);
    add(a.drop);
  }
  std::uint64_t value() {
    for (const parameter_ref& p : p_->parameters) {
      of_.add(p_->name(p.name));
      numbers(p.offset, p.rank);
      for (int a = 0; a < p.rank; ++a) numbers(p.extent[a]);
    }
    for (const input_ref& i : p_->inputs) {
      of_.add(p_->name(i.name));
      numbers(static_cast<int>(i.type), i.rank);
      for (int a = 0; a < i.rank; ++a) {
        add(i.extent[a]);
        of_.add(p_->name(i.axis_name[a]));
      }
    }
    for (const loop_ref& l : p_->loops) numbers(l.first, l.last, l.backwards);
    for (const instruction& s : p_->instructions) add(s);
    for (const lowered_attention& a : p_->attentions) add(a);
    of_.add(std::string_view(reinterpret_cast<const char*>(p_->constants.begin()),
                             p_->constants.size()));
    return of_.value();
  }

 private:
  template <class... N>
  void numbers(N... n) {
    (of_.add(static_cast<std::int64_t>(n)), ...);
  }

  const program* p_;
  fnv_hash of_;
};

}  // namespace

std::uint64_t hash_of(const program& p) {
  return program_hash(p).value();
}

std::uint64_t hash_of(std::span<const std::byte> bytes) {
  return hash_of(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

std::uint64_t hash_of(std::span<const double> numbers) {
  return hash_of(std::as_bytes(numbers));
}

std::uint64_t hash_of(std::string_view text) {
  fnv_hash h;
  h.add(text);
  return h.value();
}

std::string_view version() noexcept {
  return WEFT_VERSION;
}

void agreement::check(const communicator& ranks) const {
  std::string failure;
  for (const auto& [what, hash] : of_) {
    const auto all = ranks.all(hash);
    if (failure.empty() && hash != all.front()) failure = what + " than rank 0";
  }
  ranks.agree(failure);
}

}  // namespace weft::detail
