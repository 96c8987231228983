// What a program writes to /dev/uhid and /dev/uinput, in the layout of the kernel's own headers.
//
// Every function returns -1 and errno when the kernel refuses it. None keeps a descriptor or a pointer.
#ifndef CVIRTUAL_H
#define CVIRTUAL_H

#include <stddef.h>
#include <stdint.h>

/// What the kernel asks of a HID device, or tells it.
enum cvirtual_kind {
    CVIRTUAL_OTHER,
    /// A driver has begun, or ended, to look after the device.
    CVIRTUAL_START,
    CVIRTUAL_STOP,
    /// Somebody has begun, or ended, to use it.
    CVIRTUAL_OPEN,
    CVIRTUAL_CLOSE,
    /// A report is asked for, or given; both want an answer.
    CVIRTUAL_GET_REPORT,
    CVIRTUAL_SET_REPORT,
};

/// Which of a device's reports is meant.
enum cvirtual_report {
    CVIRTUAL_FEATURE,
    CVIRTUAL_OUTPUT,
    CVIRTUAL_INPUT,
};

/// More than any report of ours.
#define CVIRTUAL_REPORT_MAX 64

struct cvirtual_request {
    enum cvirtual_kind kind;
    enum cvirtual_report report;
    /// By which an answer is known.
    uint32_t identifier;
    uint8_t report_number;
    /// The bytes of a report that is given, its number first; those beyond the room are left out.
    uint16_t size;
    uint8_t data[CVIRTUAL_REPORT_MAX];
};

struct cvirtual_identity {
    const char *name;
    uint16_t bus;
    uint16_t vendor;
    uint16_t product;
    uint16_t version;
};

/// UHID_CREATE2: makes a HID device of a report descriptor. EMSGSIZE: the descriptor is longer than HID allows.
int cvirtual_hid_create(int file, const struct cvirtual_identity *identity, const uint8_t *descriptor, size_t size);

/// UHID_DESTROY: takes it away.
int cvirtual_hid_destroy(int file);

/// UHID_INPUT2: an input report, its number first. EMSGSIZE: longer than the kernel takes.
int cvirtual_hid_input(int file, const uint8_t *report, size_t size);

/// UHID_GET_REPORT_REPLY: the report that was asked for, or an error number and no report.
int cvirtual_hid_answer_get(int file, uint32_t identifier, uint16_t error, const uint8_t *report, size_t size);

/// UHID_SET_REPORT_REPLY: whether the report that was given is taken; 0, or an error number.
int cvirtual_hid_answer_set(int file, uint32_t identifier, uint16_t error);

/// Reads what the kernel says; 0 when it will say nothing any more. EAGAIN: nothing yet.
int cvirtual_hid_read(int file, struct cvirtual_request *request);

/// Makes an accelerometer of the input layer, with axes from -limit to limit.
///
/// has_time: whether its frames carry a counter of microseconds (MSC_TIMESTAMP).
int cvirtual_input_create(int file, const struct cvirtual_identity *identity, int32_t limit, int32_t resolution,
                          int has_time);

/// UI_DEV_DESTROY: takes it away.
int cvirtual_input_destroy(int file);

/// One frame: three axes, the counter unless it is NULL, and the end of the frame. The kernel adds its own time.
int cvirtual_input_frame(int file, int32_t x, int32_t y, int32_t z, const uint32_t *microseconds);

#endif
