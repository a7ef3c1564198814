#define BOOST_TEST_MODULE weft layers
#include <boost/test/unit_test.hpp>
