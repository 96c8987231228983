#include "cudev.h"

#include <cloading.h>

// A caller of udev_new has asked cudev_problem() before; callers of the others have an object of the library.
#define FUNCTIONS(FUNCTION) \
    FUNCTION(struct udev *, udev_new, (void), ()) \
    FUNCTION(struct udev *, udev_unref, (struct udev *udev), (udev)) \
    FUNCTION(struct udev_enumerate *, udev_enumerate_new, (struct udev *udev), (udev)) \
    FUNCTION(struct udev_enumerate *, udev_enumerate_unref, (struct udev_enumerate *enumeration), (enumeration)) \
    FUNCTION(int, udev_enumerate_add_match_subsystem, \
             (struct udev_enumerate *enumeration, const char *name), (enumeration, name)) \
    FUNCTION(int, udev_enumerate_scan_devices, (struct udev_enumerate *enumeration), (enumeration)) \
    FUNCTION(struct udev_list_entry *, udev_enumerate_get_list_entry, (struct udev_enumerate *enumeration), (enumeration)) \
    FUNCTION(const char *, udev_list_entry_get_name, (struct udev_list_entry *entry), (entry)) \
    FUNCTION(const char *, udev_list_entry_get_value, (struct udev_list_entry *entry), (entry)) \
    FUNCTION(struct udev_list_entry *, udev_list_entry_get_next, (struct udev_list_entry *entry), (entry)) \
    FUNCTION(struct udev_device *, udev_device_new_from_syspath, (struct udev *udev, const char *path), (udev, path)) \
    FUNCTION(struct udev_device *, udev_device_unref, (struct udev_device *device), (device)) \
    FUNCTION(const char *, udev_device_get_syspath, (struct udev_device *device), (device)) \
    FUNCTION(const char *, udev_device_get_subsystem, (struct udev_device *device), (device)) \
    FUNCTION(const char *, udev_device_get_devnode, (struct udev_device *device), (device)) \
    FUNCTION(const char *, udev_device_get_action, (struct udev_device *device), (device)) \
    FUNCTION(const char *, udev_device_get_property_value, (struct udev_device *device, const char *key), (device, key)) \
    FUNCTION(struct udev_list_entry *, udev_device_get_properties_list_entry, (struct udev_device *device), (device)) \
    FUNCTION(struct udev_monitor *, udev_monitor_new_from_netlink, (struct udev *udev, const char *name), (udev, name)) \
    FUNCTION(struct udev_monitor *, udev_monitor_unref, (struct udev_monitor *monitor), (monitor)) \
    FUNCTION(int, udev_monitor_filter_add_match_subsystem_devtype, \
             (struct udev_monitor *monitor, const char *subsystem, const char *type), (monitor, subsystem, type)) \
    FUNCTION(int, udev_monitor_enable_receiving, (struct udev_monitor *monitor), (monitor)) \
    FUNCTION(int, udev_monitor_get_fd, (struct udev_monitor *monitor), (monitor)) \
    FUNCTION(struct udev_device *, udev_monitor_receive_device, (struct udev_monitor *monitor), (monitor))

static struct {
    FUNCTIONS(CLOADING_MEMBER)
} functions;
static const char *const names[] = {FUNCTIONS(CLOADING_NAME)};
static struct cloading library = CLOADING("libudev.so.1", names, functions, NULL);

FUNCTIONS(CLOADING_CALL)

const char *cudev_problem(void)
{
    const char *reason;
    return cloading_load(&library, &reason) ? NULL : reason;
}
