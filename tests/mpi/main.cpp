#define BOOST_TEST_NO_MAIN
#define BOOST_TEST_MODULE weft on ranks
#include <boost/test/unit_test.hpp>
#include <weft/mpi/communicator.hpp>

// Every rank runs the same cases, in the same order. A failed check of one rank alone does not keep
// the others from going on, as checks call nothing that is collective.
int main(int argc, char** argv) {
  return weft::mpi_main(argc, argv, [&](const weft::communicator& ranks) {
    const int failed = boost::unit_test::unit_test_main(init_unit_test, argc, argv);
    int any = 0;
    for (const int of_rank : ranks.all(failed)) any = std::max(any, of_rank);
    return any;
  });
}
