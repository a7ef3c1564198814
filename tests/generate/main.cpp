#define BOOST_TEST_MODULE weft generates
#include <boost/test/unit_test.hpp>
