#include "cevdev.h"

#include <cloading.h>
#include <errno.h>

// A caller of libevdev_new has asked cevdev_problem() before; callers of the others have an object of the library.
#define CALLS(FUNCTION) \
    FUNCTION(struct libevdev *, libevdev_new, (void), ()) \
    FUNCTION(void, libevdev_free, (struct libevdev *device), (device)) \
    FUNCTION(int, libevdev_next_event, \
             (struct libevdev *device, unsigned flags, struct input_event *event), (device, flags, event)) \
    FUNCTION(int, libevdev_get_event_value, \
             (const struct libevdev *device, unsigned type, unsigned code), (device, type, code)) \
    FUNCTION(int, libevdev_get_abs_minimum, (const struct libevdev *device, unsigned code), (device, code)) \
    FUNCTION(int, libevdev_get_abs_maximum, (const struct libevdev *device, unsigned code), (device, code)) \
    FUNCTION(int, libevdev_get_abs_resolution, (const struct libevdev *device, unsigned code), (device, code)) \
    FUNCTION(int, libevdev_has_event_code, \
             (const struct libevdev *device, unsigned type, unsigned code), (device, type, code)) \
    FUNCTION(void, libevdev_set_name, (struct libevdev *device, const char *name), (device, name)) \
    FUNCTION(void, libevdev_set_id_bustype, (struct libevdev *device, int bus), (device, bus)) \
    FUNCTION(void, libevdev_set_id_vendor, (struct libevdev *device, int vendor), (device, vendor)) \
    FUNCTION(void, libevdev_set_id_product, (struct libevdev *device, int product), (device, product)) \
    FUNCTION(void, libevdev_set_id_version, (struct libevdev *device, int version), (device, version)) \
    FUNCTION(int, libevdev_enable_property, (struct libevdev *device, unsigned property), (device, property)) \
    FUNCTION(int, libevdev_enable_event_code, \
             (struct libevdev *device, unsigned type, unsigned code, const void *data), (device, type, code, data)) \
    FUNCTION(int, libevdev_uinput_create_from_device, \
             (const struct libevdev *device, int descriptor, struct libevdev_uinput **created), (device, descriptor, created)) \
    FUNCTION(void, libevdev_uinput_destroy, (struct libevdev_uinput *device), (device))
#define FUNCTIONS(FUNCTION) \
    FUNCTION(int, libevdev_new_from_fd, (int descriptor, struct libevdev **device), (descriptor, device)) \
    CALLS(FUNCTION)

static struct {
    FUNCTIONS(CLOADING_MEMBER)
} functions;
static const char *const names[] = {FUNCTIONS(CLOADING_NAME)};
static struct cloading library = CLOADING("libevdev.so.2", names, functions, NULL);

CALLS(CLOADING_CALL)

int libevdev_new_from_fd(int descriptor, struct libevdev **device)
{
    return cevdev_problem() ? -ELIBACC : functions.libevdev_new_from_fd(descriptor, device);
}

const char *cevdev_problem(void)
{
    const char *reason;
    return cloading_load(&library, &reason) ? NULL : reason;
}
