// libudev, loaded when it is first used: a program that only plays recordings starts without it.
//
// The functions in use are defined here under the library's own names, and call the library.
#ifndef CUDEV_H
#define CUDEV_H

#include <libudev.h>

/// Why the library cannot be used, in the loader's words; a null pointer when it can. Any thread may ask.
const char *_Nullable cudev_problem(void);

#endif
