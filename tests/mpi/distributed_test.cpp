// Training on ranks: run by mpirun with 1, 2, 3, 4 and 8 of them.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "mpi/model.hpp"
#include "run/pool.hpp"

namespace {

using namespace weft::testing;
using weft::arg;

template <class Trainer>
float step(Trainer& t, const batch& b) {
  return t.step(arg<"tokens">(b.tokens), arg<"targets">(b.targets), arg<"weight">(b.weight));
}

const weft::adamw optimizer{.learning_rate = 3e-3, .weight_decay = 0.1};
weft::training_options options(std::uint64_t seed = 11) {
  return {.clip_norm = 0.5,
          .schedule = weft::warmup_cosine{.warmup = 2, .total = 10},
          .dropout_seed = 5,
          .groups = {{.pattern = "*bias", .decay = 0}},
          .seed = seed};
}

std::vector<float> values(const weft::parameters<next_token>& p) {
  const auto all = p.floats();
  return {all.begin(), all.end()};
}

struct outcome {
  std::vector<float> parameters;
  std::vector<float> losses;
  friend bool operator==(const outcome&, const outcome&) = default;
};

// What is trained, on which threads.
struct plan {
  std::size_t batch = 20;
  int steps = 3;
  weft::sharding_options sharding{};
  int threads = 1;
};

outcome train(const weft::communicator& ranks, const plan& p) {
  weft::distributed<next_token, Batch> t(ranks, optimizer, options(), p.sharding);
  pool threads(p.threads);
  if (p.threads > 1) t.run_on(on(threads, p.threads));
  outcome o;
  for (int s = 0; s < p.steps; ++s) o.losses.push_back(step(t, examples(s, t.part(p.batch))));
  o.parameters = values(t.parameters());
  return o;
}

weft::communicator world() {
  return weft::communicator(MPI_COMM_WORLD);
}
weft::communicator alone() {
  return weft::communicator(MPI_COMM_SELF);
}

// What one rank alone comes to: rank 0 trains, and tells the others.
outcome trained_alone(const plan& p) {
  const auto ranks = world();
  outcome o;
  if (ranks.rank() == 0) o = train(alone(), p);
  o.losses.resize(static_cast<std::size_t>(p.steps));
  o.parameters.resize(weft::parameters<next_token>::bytes / sizeof(float));
  ranks.broadcast(std::as_writable_bytes(std::span(o.losses)));
  ranks.broadcast(std::as_writable_bytes(std::span(o.parameters)));
  return o;
}

// A path that all ranks know, and no other run: rank 0 draws it.
std::string shared_path(const weft::communicator& ranks) {
  unsigned run = std::random_device()();
  ranks.broadcast(std::as_writable_bytes(std::span(&run, 1)));
  return (std::filesystem::temp_directory_path() / ("weft_ranks_" + std::to_string(run))).string();
}

// The rank_error that all ranks throw.
template <class F>
std::string rank_error_of(F f) {
  try {
    f();
  } catch (const weft::rank_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(equal_bits)

BOOST_AUTO_TEST_CASE(any_number_of_ranks_gives_the_bits_of_one) {
  for (const std::size_t size : {20u, 16u, 8u, 3u, 1u}) {
    const plan p{.batch = size};
    BOOST_TEST((train(world(), p) == trained_alone(p)), "batches of " << size);
  }
}

BOOST_AUTO_TEST_CASE(divided_states_and_threads_change_no_bit) {
  const plan p{};
  const auto expected = trained_alone(p);
  plan divided = p, threads = p, both = p;
  divided.sharding.divides_state = both.sharding.divides_state = true;
  threads.threads = both.threads = 2;
  BOOST_TEST((train(world(), divided) == expected));
  BOOST_TEST((train(world(), threads) == expected));
  BOOST_TEST((train(world(), both) == expected));
}

BOOST_AUTO_TEST_CASE(any_number_of_shards_is_possible) {
  for (const int shards : {8, 9, 13, 32}) {
    plan p{.batch = 33, .steps = 2};
    p.sharding.shards = shards;
    BOOST_TEST((train(world(), p) == trained_alone(p)), shards << " shards");
  }
}

// Layers of attention, and a scan, on two threads of each rank.
template <class Model, class Optimizer>
std::vector<float> train_tokens(const weft::communicator& ranks, Optimizer optimizer,
                                weft::sharding_options sharding) {
  weft::distributed<Model, Batch, Optimizer> t(ranks, optimizer, {.seed = 3}, sharding);
  pool threads(2);
  t.run_on(on(threads, 2));
  for (int s = 0; s < 2; ++s) t.step(arg<"tokens">(examples(s, t.part(11)).tokens));
  const auto all = t.parameters().floats();
  return {all.begin(), all.end()};
}
BOOST_AUTO_TEST_CASE(attention_and_scans_have_equal_bits) {
  const weft::sgd momentum{.learning_rate = 0.1, .momentum = 0.9};
  const weft::sharding_options divided{.divides_state = true};
  BOOST_TEST((train_tokens<attending>(world(), momentum, divided) ==
              train_tokens<attending>(alone(), momentum, {})));
  BOOST_TEST((train_tokens<recurrent>(world(), optimizer, divided) ==
              train_tokens<recurrent>(alone(), optimizer, {})));
}

BOOST_AUTO_TEST_CASE(one_shard_on_one_rank_is_a_trainer) {
  plan p{.batch = 7};
  p.sharding.shards = 1;
  const auto o = train(alone(), p);
  weft::trainer<next_token> t(optimizer, options());
  for (int s = 0; s < p.steps; ++s)
    BOOST_TEST(step(t, examples(s, {0, 7})) == o.losses[static_cast<std::size_t>(s)]);
  BOOST_TEST((values(t.parameters()) == o.parameters));
}

BOOST_AUTO_TEST_CASE(shards_have_dropout_masks_of_their_own) {
  // All examples are alike, so only the masks can make the shards' gradients differ.
  weft::distributed<next_token, Batch> one(alone(), optimizer, options(), {.shards = 1});
  weft::distributed<next_token, Batch> two(alone(), optimizer, options(), {.shards = 2});
  const batch b = examples(0, {0, 1});
  weft::array<std::int32_t, Batch, Pos> tokens(2, 5), targets(2, 5);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t p = 0; p < 5; ++p) {
      tokens(i, p) = b.tokens(0, p);
      targets(i, p) = b.targets(0, p);
    }
  const float first = step(one, b);
  const float mean =
      two.step(arg<"tokens">(tokens), arg<"targets">(targets), arg<"weight">(b.weight));
  BOOST_TEST(first != mean);
  BOOST_TEST(std::abs(first - mean) < 0.1f * first);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(unlike_sizes)

// Ranks have any parts of at most 16 examples; some have none, and shards differ. The loss and the
// gradients are those of a trainer with all examples, but for rounding.
BOOST_AUTO_TEST_CASE(any_parts_give_the_mean_over_all_examples) {
  const auto ranks = world();
  weft::distributed<plain_next_token, Batch> t(ranks, optimizer, {.clip_norm = 1, .seed = 11},
                                               {.shards = 8});
  weft::trainer<plain_next_token> expected(optimizer, {.clip_norm = 1, .seed = 11});
  const auto n = ranks.size();
  // The odd ranks have twice as many as the others, and every third rank none.
  std::vector<std::size_t> sizes;
  std::size_t all = 0;
  for (int r = 0; r < n; ++r) {
    sizes.push_back(n > 1 && r % 3 == 2 ? 0 : r % 2 == 1 ? 2 : 1);
    all += sizes.back();
  }
  const std::size_t times = Batch::extent / all;
  for (std::size_t& size : sizes) size *= times;
  all *= times;
  std::size_t begin = 0;
  for (int r = 0; r < ranks.rank(); ++r) begin += sizes[static_cast<std::size_t>(r)];
  const batch whole = examples(0, {0, all});
  const batch own = examples(0, {begin, begin + sizes[static_cast<std::size_t>(ranks.rank())]});
  const float loss = t.compute_gradients(arg<"tokens">(own.tokens), arg<"targets">(own.targets));
  const float wanted =
      expected.compute_gradients(arg<"tokens">(whole.tokens), arg<"targets">(whole.targets));
  // Each loss is a mean of some dozen sums of 500 exponentials.
  BOOST_TEST(std::abs(loss - wanted) < 1e-5f * wanted);
  t.apply();
  expected.apply();
  BOOST_TEST(std::abs(t.gradient_norm() - expected.gradient_norm()) <
             1e-5 * expected.gradient_norm());
}

// Each rank's sequences have another length; an example counts the same in all.
BOOST_AUTO_TEST_CASE(ranks_have_sequences_of_other_lengths) {
  const auto ranks = world();
  weft::distributed<plain_next_token, Batch> t(ranks, optimizer, {.seed = 11});
  weft::trainer<plain_next_token> each(optimizer, {.seed = 11});
  const auto size = [](int rank) { return static_cast<std::size_t>(1 + rank % 2); };
  const auto length = [](int rank) { return static_cast<std::size_t>(1 + rank % 6); };
  const batch own = examples(ranks.rank(), {0, size(ranks.rank())}, length(ranks.rank()));
  const float loss = t.compute_gradients(arg<"tokens">(own.tokens), arg<"targets">(own.targets));
  double sum = 0, count = 0;
  for (int r = 0; r < ranks.size(); ++r) {
    const batch b = examples(r, {0, size(r)}, length(r));
    sum += static_cast<double>(size(r)) * static_cast<double>(each.compute_gradients(
                                              arg<"tokens">(b.tokens), arg<"targets">(b.targets)));
    count += static_cast<double>(size(r));
  }
  BOOST_TEST(std::abs(static_cast<double>(loss) - sum / count) < 1e-5 * sum / count);
}

// A rank's examples may be more than the model's bound: a shard has at most as many.
BOOST_AUTO_TEST_CASE(a_large_batch_is_computed_shard_by_shard) {
  const auto ranks = world();
  weft::distributed<next_token, Batch> t(ranks, optimizer, options());
  BOOST_TEST(std::isfinite(step(t, examples(0, t.part(8 * Batch::extent)))));
  const auto what = rank_error_of([&] { step(t, examples(0, t.part(8 * Batch::extent + 8))); });
  BOOST_TEST(what.find("axis Batch has length 17, and may have at most 16") != what.npos, what);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(explanations)

BOOST_AUTO_TEST_CASE(explain_says_which_instruction_finishes_a_bucket) {
  const auto ranks = world();
  weft::distributed<next_token, Batch> t(ranks, optimizer, options());
  std::ostringstream out;
  weft::explain(t, out);
  const std::string text = out.str();
  BOOST_TEST(text.starts_with(std::to_string(ranks.size()) +
                              " ranks, 8 shards; the optimizer's state is whole on each rank\n"));
  // The last layer is finished first, and its bucket is the last in memory.
  const std::string first =
      text.substr(text.find('\n') + 1, text.find('\n', text.find('\n') + 1) - text.find('\n'));
  BOOST_TEST(first.find("head.") != first.npos, text);
  BOOST_TEST(first.find(", after instruction ") != first.npos, text);
  BOOST_TEST(text.find("tokens.weight") > text.find("head."), text);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(checkpoints)

// Saved on all ranks and loaded on half of them, and the other way round.
BOOST_AUTO_TEST_CASE(any_number_of_ranks_goes_on_from_a_file) {
  const auto ranks = world();
  const auto expected = trained_alone({.steps = 4});
  const bool in_half = ranks.rank() < (ranks.size() + 1) / 2;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, in_half ? 0 : MPI_UNDEFINED, 0, &half);
  const auto file = shared_path(ranks);
  const auto run = [&](const weft::communicator& on, int from, int to, bool divides) {
    weft::distributed<next_token, Batch> t(on, optimizer, options(from == 0 ? 11 : 12),
                                           {.divides_state = divides});
    if (from > 0) weft::load(t, file);
    BOOST_TEST(t.steps() == from);
    float loss = 0;
    for (int s = from; s < to; ++s) loss = step(t, examples(s, t.part(20)));
    BOOST_TEST(loss == expected.losses[static_cast<std::size_t>(to - 1)]);
    if (to < 4) weft::save(t, file);
    return values(t.parameters());
  };
  for (const bool divides : {false, true}) {
    run(ranks, 0, 2, divides);
    MPI_Barrier(MPI_COMM_WORLD);
    if (in_half) BOOST_TEST((run(weft::communicator(half), 2, 4, !divides) == expected.parameters));
    MPI_Barrier(MPI_COMM_WORLD);
    if (in_half) run(weft::communicator(half), 0, 2, divides);
    MPI_Barrier(MPI_COMM_WORLD);
    BOOST_TEST((run(ranks, 2, 4, divides) == expected.parameters));
  }
  // A trainer goes on from it too.
  MPI_Barrier(MPI_COMM_WORLD);
  if (in_half) MPI_Comm_free(&half);
  weft::trainer<next_token> t(optimizer, options());
  weft::load(t, file);
  BOOST_TEST(t.steps() == 2);
  MPI_Barrier(MPI_COMM_WORLD);
  if (ranks.rank() == 0) std::filesystem::remove(file);
}

BOOST_AUTO_TEST_CASE(another_models_file_is_refused_by_all_ranks) {
  const auto ranks = world();
  const auto file = shared_path(ranks);
  weft::distributed<plain_next_token, Batch> other(ranks);
  weft::save(other, file);
  weft::distributed<next_token, Batch> t(ranks, optimizer, options());
  const auto before = values(t.parameters());
  const auto what = rank_error_of([&] { weft::load(t, file); });
  BOOST_TEST(what.starts_with("rank 0 of " + std::to_string(ranks.size()) + ": " + file), what);
  BOOST_TEST((values(t.parameters()) == before));
  const auto missing = rank_error_of([&] { weft::load(t, file + ".missing"); });
  BOOST_TEST(missing.find(".missing") != missing.npos, missing);
  const auto unwritable = rank_error_of([&] { weft::save(t, "/no/such/folder/file"); });
  BOOST_TEST(unwritable.find("/no/such/folder/file") != unwritable.npos, unwritable);
  MPI_Barrier(MPI_COMM_WORLD);
  if (ranks.rank() == 0) std::filesystem::remove(file);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(faults)

BOOST_AUTO_TEST_CASE(a_wrong_argument_of_one_rank_is_an_error_of_all) {
  const auto ranks = world();
  weft::distributed<next_token, Batch> t(ranks, optimizer, options());
  const int last = ranks.size() - 1;
  batch right = examples(0, t.part(20)), wrong = right;
  if (ranks.rank() == last) wrong.tokens(0, 1) = 500;
  const auto before = values(t.parameters());
  const auto what = rank_error_of([&] { step(t, wrong); });
  BOOST_TEST(what == "rank " + std::to_string(last) + " of " + std::to_string(ranks.size()) +
                         ": argument 'tokens': element 1 is 500, and an index into axis Vocab is "
                         "less than 500 and not negative");
  BOOST_TEST((values(t.parameters()) == before));
  // It goes on as if nothing had happened.
  BOOST_TEST(step(t, right) == trained_alone({.steps = 1}).losses[0]);
}

// The error of all ranks passes by another trainer, which does not take it for that of one.
BOOST_AUTO_TEST_CASE(an_error_of_all_ranks_ends_none) {
  const auto ranks = world();
  const auto what = rank_error_of([&] {
    weft::distributed<plain_next_token, Batch> bystander(ranks);
    weft::distributed<next_token, Batch> t(ranks);
    step(t, examples(0, {0, 0}));
  });
  BOOST_TEST(what == "distributed: no rank has an example");
  BOOST_TEST(!weft::rank_error::is_thrown());
}

BOOST_AUTO_TEST_CASE(arguments_disagree_about_the_batch) {
  const auto ranks = world();
  weft::distributed<next_token, Batch> t(ranks);
  batch b = examples(0, {0, 2});
  if (ranks.rank() == 0) b.targets = weft::array<std::int32_t, Batch, Pos>(3, 5);
  const auto what = rank_error_of([&] { step(t, b); });
  BOOST_TEST(what == "rank 0 of " + std::to_string(ranks.size()) +
                         ": argument 'targets': axis Batch has length 3, and 2 in 'tokens'");
}

BOOST_AUTO_TEST_CASE(a_batch_without_examples_is_refused) {
  weft::distributed<next_token, Batch> t(world());
  BOOST_TEST(rank_error_of([&] {
               step(t, examples(0, {0, 0}));
             }) == "distributed: no rank has an example");
}

BOOST_AUTO_TEST_CASE(more_ranks_with_examples_than_shards_are_refused) {
  const auto ranks = world();
  if (ranks.size() < 3) return;
  weft::distributed<next_token, Batch> t(ranks, optimizer, {}, {.shards = 2});
  const auto what = rank_error_of([&] { step(t, examples(0, {0, 1})); });
  BOOST_TEST(what.find(" ranks have examples, and the batch is cut into 2 shards") != what.npos,
             what);
}

BOOST_AUTO_TEST_CASE(ranks_with_another_configuration_are_named) {
  const auto ranks = world();
  if (ranks.size() == 1) return;
  const int odd = ranks.size() - 1;
  const bool other = ranks.rank() == odd;
  const auto check = [&](const std::string& what, weft::adamw o, weft::training_options t,
                         weft::sharding_options s) {
    const auto said =
        rank_error_of([&] { weft::distributed<next_token, Batch>(ranks, o, std::move(t), s); });
    BOOST_TEST(said == "rank " + std::to_string(odd) + " of " + std::to_string(ranks.size()) +
                           ": " + what + " than rank 0");
  };
  const auto changed = [&](auto value, auto instead) { return other ? instead : value; };
  auto o = options();
  check("another optimizer, or a processor that computes it otherwise",
        {.learning_rate = changed(1e-3, 2e-3)}, o, {});
  check("another optimizer, or a processor that computes it otherwise",
        {.epsilon = changed(1e-8, 1e-9)}, o, {});
  check("other sharding_options", optimizer, o, {.shards = changed(8, 9)});
  check("other sharding_options", optimizer, o, {.shards = changed(8, 0)});
  o.clip_norm = changed(1.0, 2.0);
  check("another clip_norm in its training_options", optimizer, o, {});
  o = options();
  o.dropout_seed = changed(1u, 2u);
  check("another dropout_seed in its training_options", optimizer, o, {});
  o = options();
  o.schedule = weft::warmup_cosine{.warmup = 2, .total = changed(10, 11)};
  check("another schedule in its training_options", optimizer, o, {});
  o = options();
  if (other) o.groups[0] = {};
  check("other groups of parameters in its training_options", optimizer, o, {});
  const auto model = rank_error_of([&] {
    if (other)
      weft::distributed<short_next_token<true>, Batch> t(ranks, optimizer, options());
    else
      weft::distributed<plain_next_token, Batch> t(ranks, optimizer, options());
  });
  BOOST_TEST(model == "rank " + std::to_string(odd) + " of " + std::to_string(ranks.size()) +
                          ": another model than rank 0");
}

BOOST_AUTO_TEST_CASE(ranks_at_different_steps_are_named) {
  const auto ranks = world();
  if (ranks.size() == 1) return;
  const weft::parameters<next_token> p({.seed = 1});
  weft::distributed<next_token, Batch> t(ranks, p);
  // One rank calls apply() once more, which is no collective call without divided states.
  if (ranks.rank() == 1) t.apply();
  const auto what = rank_error_of([&] { step(t, examples(0, t.part(8))); });
  BOOST_TEST(what.starts_with("rank 1 of " + std::to_string(ranks.size()) + ": it is at step 1 "),
             what);
}

BOOST_AUTO_TEST_CASE(all_ranks_begin_with_the_parameters_of_rank_0) {
  const auto ranks = world();
  weft::distributed<next_token, Batch> t(ranks, optimizer,
                                         {.seed = static_cast<std::uint64_t>(ranks.rank())});
  BOOST_TEST((values(t.parameters()) == values(weft::parameters<next_token>())));
}

BOOST_AUTO_TEST_SUITE_END()
