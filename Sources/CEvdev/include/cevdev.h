// libevdev, loaded when it is first used: a program that only plays recordings starts without it.
//
// The functions in use are defined here under the library's own names, and call the library.
#ifndef CEVDEV_H
#define CEVDEV_H

// With its folder, because there is no pkg-config for a target of C.
#include <libevdev-1.0/libevdev/libevdev.h>
#include <linux/input.h>

// libevdev-uinput.h includes the other header by another path.
struct libevdev_uinput;
int libevdev_uinput_create_from_device(
    const struct libevdev *_Nonnull device, int descriptor, struct libevdev_uinput *_Nullable *_Nonnull created);
void libevdev_uinput_destroy(struct libevdev_uinput *_Nonnull device);

/// Why the library cannot be used, in the loader's words; a null pointer when it can. Any thread may ask.
const char *_Nullable cevdev_problem(void);

#endif
