// libudev, loaded when it is first used: a program that only plays recordings starts without it.
//
// The functions in use are defined here under the library's own names, and call the library. They are hidden, so that the
// library itself does not find them.
#ifndef CUDEV_H
#define CUDEV_H

#pragma GCC visibility push(hidden)
#include <libudev.h>

/// Why the library cannot be used, in the loader's words; a null pointer when it can. Any thread may ask.
const char *_Nullable cudev_problem(void);
#pragma GCC visibility pop

#endif
