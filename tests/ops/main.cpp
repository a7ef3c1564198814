#define BOOST_TEST_MODULE weft operations
#include <boost/test/unit_test.hpp>
