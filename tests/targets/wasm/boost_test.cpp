// The library of Boost.Test, whose headers contain its sources; test programs have their own main.
#define BOOST_TEST_SOURCE
#define BOOST_TEST_DYN_LINK
#define BOOST_TEST_ALTERNATIVE_INIT_API
#define BOOST_TEST_NO_MAIN
#include <boost/test/included/unit_test.hpp>
