#include "cudev.h"

#include <cloading.h>
#include <errno.h>
#include <pthread.h>

#define FUNCTIONS(FUNCTION) \
    FUNCTION(udev_new) \
    FUNCTION(udev_unref) \
    FUNCTION(udev_enumerate_new) \
    FUNCTION(udev_enumerate_unref) \
    FUNCTION(udev_enumerate_add_match_subsystem) \
    FUNCTION(udev_enumerate_scan_devices) \
    FUNCTION(udev_enumerate_get_list_entry) \
    FUNCTION(udev_list_entry_get_name) \
    FUNCTION(udev_list_entry_get_value) \
    FUNCTION(udev_list_entry_get_next) \
    FUNCTION(udev_device_new_from_syspath) \
    FUNCTION(udev_device_unref) \
    FUNCTION(udev_device_get_syspath) \
    FUNCTION(udev_device_get_subsystem) \
    FUNCTION(udev_device_get_devnode) \
    FUNCTION(udev_device_get_action) \
    FUNCTION(udev_device_get_property_value) \
    FUNCTION(udev_device_get_properties_list_entry) \
    FUNCTION(udev_device_get_parent) \
    FUNCTION(udev_monitor_new_from_netlink) \
    FUNCTION(udev_monitor_unref) \
    FUNCTION(udev_monitor_filter_add_match_subsystem_devtype) \
    FUNCTION(udev_monitor_enable_receiving) \
    FUNCTION(udev_monitor_get_fd) \
    FUNCTION(udev_monitor_receive_device)

static pthread_once_t once = PTHREAD_ONCE_INIT;
// Both are written once, before cudev_problem() first returns.
static char problem[256];
static struct {
#define FUNCTION(name) __typeof__(&name) name;
    FUNCTIONS(FUNCTION)
#undef FUNCTION
} library;

static void load(void)
{
    void *handle = cloading_open("libudev.so.1", problem, sizeof problem);
    if (!handle)
        return;
#define FUNCTION(name) \
    library.name = (__typeof__(&name))cloading_find(handle, "libudev.so.1", #name, problem, sizeof problem);
    FUNCTIONS(FUNCTION)
#undef FUNCTION
}

const char *cudev_problem(void)
{
    pthread_once(&once, load);
    return problem[0] ? problem : NULL;
}

// A caller has an object of the library, except in the functions that make the first one.

struct udev *udev_new(void)
{
    if (cudev_problem()) {
        errno = ELIBACC;
        return NULL;
    }
    return library.udev_new();
}

struct udev *udev_unref(struct udev *udev)
{
    return library.udev_unref(udev);
}

struct udev_enumerate *udev_enumerate_new(struct udev *udev)
{
    return library.udev_enumerate_new(udev);
}

struct udev_enumerate *udev_enumerate_unref(struct udev_enumerate *enumeration)
{
    return library.udev_enumerate_unref(enumeration);
}

int udev_enumerate_add_match_subsystem(struct udev_enumerate *enumeration, const char *name)
{
    return library.udev_enumerate_add_match_subsystem(enumeration, name);
}

int udev_enumerate_scan_devices(struct udev_enumerate *enumeration)
{
    return library.udev_enumerate_scan_devices(enumeration);
}

struct udev_list_entry *udev_enumerate_get_list_entry(struct udev_enumerate *enumeration)
{
    return library.udev_enumerate_get_list_entry(enumeration);
}

const char *udev_list_entry_get_name(struct udev_list_entry *entry)
{
    return library.udev_list_entry_get_name(entry);
}

const char *udev_list_entry_get_value(struct udev_list_entry *entry)
{
    return library.udev_list_entry_get_value(entry);
}

struct udev_list_entry *udev_list_entry_get_next(struct udev_list_entry *entry)
{
    return library.udev_list_entry_get_next(entry);
}

struct udev_device *udev_device_new_from_syspath(struct udev *udev, const char *path)
{
    return library.udev_device_new_from_syspath(udev, path);
}

struct udev_device *udev_device_unref(struct udev_device *device)
{
    return library.udev_device_unref(device);
}

const char *udev_device_get_syspath(struct udev_device *device)
{
    return library.udev_device_get_syspath(device);
}

const char *udev_device_get_subsystem(struct udev_device *device)
{
    return library.udev_device_get_subsystem(device);
}

const char *udev_device_get_devnode(struct udev_device *device)
{
    return library.udev_device_get_devnode(device);
}

const char *udev_device_get_action(struct udev_device *device)
{
    return library.udev_device_get_action(device);
}

const char *udev_device_get_property_value(struct udev_device *device, const char *key)
{
    return library.udev_device_get_property_value(device, key);
}

struct udev_list_entry *udev_device_get_properties_list_entry(struct udev_device *device)
{
    return library.udev_device_get_properties_list_entry(device);
}

struct udev_device *udev_device_get_parent(struct udev_device *device)
{
    return library.udev_device_get_parent(device);
}

struct udev_monitor *udev_monitor_new_from_netlink(struct udev *udev, const char *name)
{
    return library.udev_monitor_new_from_netlink(udev, name);
}

struct udev_monitor *udev_monitor_unref(struct udev_monitor *monitor)
{
    return library.udev_monitor_unref(monitor);
}

int udev_monitor_filter_add_match_subsystem_devtype(struct udev_monitor *monitor, const char *subsystem, const char *type)
{
    return library.udev_monitor_filter_add_match_subsystem_devtype(monitor, subsystem, type);
}

int udev_monitor_enable_receiving(struct udev_monitor *monitor)
{
    return library.udev_monitor_enable_receiving(monitor);
}

int udev_monitor_get_fd(struct udev_monitor *monitor)
{
    return library.udev_monitor_get_fd(monitor);
}

struct udev_device *udev_monitor_receive_device(struct udev_monitor *monitor)
{
    return library.udev_monitor_receive_device(monitor);
}
