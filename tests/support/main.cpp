// main() of the test programs that have none of their own.
#define BOOST_TEST_MODULE weft
#include <boost/test/unit_test.hpp>
