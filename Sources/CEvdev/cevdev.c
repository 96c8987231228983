#include "cevdev.h"

#include <cloading.h>
#include <errno.h>
#include <pthread.h>

#define FUNCTIONS(FUNCTION) \
    FUNCTION(libevdev_new_from_fd) \
    FUNCTION(libevdev_new) \
    FUNCTION(libevdev_free) \
    FUNCTION(libevdev_next_event) \
    FUNCTION(libevdev_get_event_value) \
    FUNCTION(libevdev_get_abs_minimum) \
    FUNCTION(libevdev_get_abs_maximum) \
    FUNCTION(libevdev_get_abs_resolution) \
    FUNCTION(libevdev_has_event_code) \
    FUNCTION(libevdev_set_name) \
    FUNCTION(libevdev_set_id_bustype) \
    FUNCTION(libevdev_set_id_vendor) \
    FUNCTION(libevdev_set_id_product) \
    FUNCTION(libevdev_set_id_version) \
    FUNCTION(libevdev_enable_property) \
    FUNCTION(libevdev_enable_event_code) \
    FUNCTION(libevdev_uinput_create_from_device) \
    FUNCTION(libevdev_uinput_destroy)

static pthread_once_t once = PTHREAD_ONCE_INIT;
// Both are written once, before cevdev_problem() first returns.
static char problem[256];
static struct {
#define FUNCTION(name) __typeof__(&name) name;
    FUNCTIONS(FUNCTION)
#undef FUNCTION
} library;

static void load(void)
{
    void *handle = cloading_open("libevdev.so.2", problem, sizeof problem);
    if (!handle)
        return;
#define FUNCTION(name) \
    library.name = (__typeof__(&name))cloading_find(handle, "libevdev.so.2", #name, problem, sizeof problem);
    FUNCTIONS(FUNCTION)
#undef FUNCTION
}

const char *cevdev_problem(void)
{
    pthread_once(&once, load);
    return problem[0] ? problem : NULL;
}

// A caller has an object of the library, except in the functions that make the first one.

int libevdev_new_from_fd(int descriptor, struct libevdev **device)
{
    if (cevdev_problem()) {
        errno = ELIBACC;
        return -ELIBACC;
    }
    return library.libevdev_new_from_fd(descriptor, device);
}

struct libevdev *libevdev_new(void)
{
    if (cevdev_problem()) {
        errno = ELIBACC;
        return NULL;
    }
    return library.libevdev_new();
}

void libevdev_free(struct libevdev *device)
{
    library.libevdev_free(device);
}

int libevdev_next_event(struct libevdev *device, unsigned flags, struct input_event *event)
{
    return library.libevdev_next_event(device, flags, event);
}

int libevdev_get_event_value(const struct libevdev *device, unsigned type, unsigned code)
{
    return library.libevdev_get_event_value(device, type, code);
}

int libevdev_get_abs_minimum(const struct libevdev *device, unsigned code)
{
    return library.libevdev_get_abs_minimum(device, code);
}

int libevdev_get_abs_maximum(const struct libevdev *device, unsigned code)
{
    return library.libevdev_get_abs_maximum(device, code);
}

int libevdev_get_abs_resolution(const struct libevdev *device, unsigned code)
{
    return library.libevdev_get_abs_resolution(device, code);
}

int libevdev_has_event_code(const struct libevdev *device, unsigned type, unsigned code)
{
    return library.libevdev_has_event_code(device, type, code);
}

void libevdev_set_name(struct libevdev *device, const char *name)
{
    library.libevdev_set_name(device, name);
}

void libevdev_set_id_bustype(struct libevdev *device, int bus)
{
    library.libevdev_set_id_bustype(device, bus);
}

void libevdev_set_id_vendor(struct libevdev *device, int vendor)
{
    library.libevdev_set_id_vendor(device, vendor);
}

void libevdev_set_id_product(struct libevdev *device, int product)
{
    library.libevdev_set_id_product(device, product);
}

void libevdev_set_id_version(struct libevdev *device, int version)
{
    library.libevdev_set_id_version(device, version);
}

int libevdev_enable_property(struct libevdev *device, unsigned property)
{
    return library.libevdev_enable_property(device, property);
}

int libevdev_enable_event_code(struct libevdev *device, unsigned type, unsigned code, const void *data)
{
    return library.libevdev_enable_event_code(device, type, code, data);
}

int libevdev_uinput_create_from_device(const struct libevdev *device, int descriptor, struct libevdev_uinput **created)
{
    return library.libevdev_uinput_create_from_device(device, descriptor, created);
}

void libevdev_uinput_destroy(struct libevdev_uinput *device)
{
    library.libevdev_uinput_destroy(device);
}
