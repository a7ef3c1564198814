#define BOOST_TEST_MODULE weft conformance
#include <boost/test/unit_test.hpp>
