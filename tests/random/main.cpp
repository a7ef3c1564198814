#define BOOST_TEST_MODULE "weft random"
#include <boost/test/unit_test.hpp>
