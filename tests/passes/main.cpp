#define BOOST_TEST_MODULE weft passes
#include <boost/test/unit_test.hpp>
