#define BOOST_TEST_MODULE weft reference
#include <boost/test/unit_test.hpp>
