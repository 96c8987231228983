// A device node of the test bed: a pipe, into which we write what the hardware says.

#ifndef NODE_H
#define NODE_H

#include <linux/input.h>
#include <umockdev.h>

#define EVENT_TYPES 32
#define BITMAP_BYTES 96

// What an input device says about itself when it is asked with ioctl.
struct evdev_face {
    char *name;
    struct input_id id;
    unsigned char properties[BITMAP_BYTES];
    // [0] are the event types, [EV_ABS] the axes, and so on.
    unsigned char bits[EVENT_TYPES][BITMAP_BYTES];
    struct input_absinfo axes[ABS_CNT];
};

struct node {
    // Without /dev/ in front.
    char *name;
    char *devpath;
    gboolean is_input;
    int hardware;
    UMockdevIoctlBase *handler;
    // Guards what follows: umockdev asks on a thread of its own.
    GMutex lock;
    gboolean is_gone;
    // Bytes that were written and that no program has read.
    gint64 unread;
    struct evdev_face face;
};

// Makes the node and says who answers its ioctls; NULL when that fails, with the reason in `problem`. It lives as long
// as the process, since umockdev's thread may be serving a program that has it open.
//
// With `is_again` there was a node of that name. Its ioctls are answered until now, because the preloaded library ends a
// program that was about to open it when its ioctls have no answer any more.
struct node *node_create(
    UMockdevTestbed *bed, const char *name, const char *devpath, gboolean is_again, const char **problem);

// Takes the node out of /dev. A program that has it open gets ENODEV from a read, as from the kernel; with `hang_up` a
// wait for it ends, as for an input device, and without it does not, as for a buffer of industrial I/O.
void node_remove(UMockdevTestbed *bed, struct node *node, gboolean hang_up);

// Reads a bitmap as sysfs prints it: words of 64 bits in hexadecimal, the highest first.
void parse_bitmap(const char *text, unsigned char *bytes);

#endif
