#define BOOST_TEST_MODULE weft runs
#include <boost/test/unit_test.hpp>
