// For the headers that are precompiled for test programs which are not optimised.
