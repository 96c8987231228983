// A library that is preloaded has no interface.
