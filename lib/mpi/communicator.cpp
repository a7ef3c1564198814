#include "weft/mpi/communicator.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace weft {

namespace {

std::string named(int rank, int ranks) {
  return "rank " + std::to_string(rank) + " of " + std::to_string(ranks);
}

}  // namespace

namespace detail {

void check_mpi(int returned, const char* called) {
  if (returned == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int size = 0;
  MPI_Error_string(returned, text.data(), &size);
  throw error(std::string(called) + ": " +
              std::string(text.data(), static_cast<std::size_t>(size)));
}

void check_thread_level() {
  int provided = 0;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_SERIALIZED)
    throw error(
        "distributed: to run on threads, initialize MPI by MPI_Init_thread with "
        "MPI_THREAD_SERIALIZED, or by weft::mpi_main");
}

}  // namespace detail

using detail::check_mpi;

rank_error::rank_error(int of, int ranks, const std::string& what)
    : error(named(of, ranks) + ": " + what), rank_(of) {}

communicator::shared::~shared() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized && comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

communicator::communicator(MPI_Comm ranks) : shared_(std::make_shared<shared>()) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (!initialized)
    throw error(
        "communicator: MPI is not initialized; call MPI_Init_thread before, or weft::mpi_main");
  check_mpi(MPI_Comm_dup(ranks, &shared_->comm), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(handle(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  MPI_Comm_rank(handle(), &rank_);
  MPI_Comm_size(handle(), &size_);
}

void communicator::broadcast(std::span<std::byte> bytes, int root) const {
  constexpr std::size_t most = std::size_t{1} << 30;  // MPI counts in int
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), most)))
    check_mpi(MPI_Bcast(bytes.data(), static_cast<int>(std::min(bytes.size(), most)), MPI_BYTE,
                        root, handle()),
              "MPI_Bcast");
}

void communicator::gather(std::span<const std::byte> mine, std::span<std::byte> all) const {
  const auto size = static_cast<int>(mine.size());
  check_mpi(MPI_Allgather(mine.data(), size, MPI_BYTE, all.data(), size, MPI_BYTE, handle()),
            "MPI_Allgather");
}

void communicator::agree(const std::string& failure) const {
  const auto sizes = all(static_cast<std::uint64_t>(failure.size()));
  const auto failed = std::ranges::find_if(sizes, [](std::uint64_t n) { return n > 0; });
  if (failed == sizes.end()) return;
  const auto rank = static_cast<int>(failed - sizes.begin());
  std::string text = failure;
  text.resize(*failed);
  broadcast(std::as_writable_bytes(std::span(text)), rank);
  throw rank_error(rank, size_, text);
}

void communicator::leave() const noexcept {
  if (!shared_->guarded) abort("left by an exception, without the others");
  shared_->left = true;
}

void communicator::abort(const std::string& why) const {
  std::fprintf(stderr, "%s: %s; all ranks end\n", named(rank_, size_).c_str(), why.c_str());
  std::fflush(stderr);
  MPI_Abort(handle(), 1);
  std::abort();  // MPI_Abort does not return, which its declaration does not say
}

int mpi_main(int argc, char** argv, const std::function<int(const communicator&)>& program) {
  int provided = 0;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
    std::fprintf(stderr, "MPI_Init_thread failed\n");
    return 1;
  }
  int status = 1;
  {
    const communicator ranks(MPI_COMM_WORLD);
    ranks.shared_->guarded = true;
    try {
      if (provided < MPI_THREAD_SERIALIZED)
        throw error("this MPI is built without support for threads (MPI_THREAD_SERIALIZED)");
      status = program(ranks);
      if (ranks.shared_->left) ranks.abort("left by an exception, without the others");
    } catch (const rank_error& e) {
      if (ranks.rank() == 0) std::fprintf(stderr, "%s\n", e.what());
    } catch (const std::exception& e) {
      ranks.abort(e.what());
    } catch (...) {
      ranks.abort("an exception that is no std::exception");
    }
  }
  MPI_Finalize();
  return status;
}

}  // namespace weft
