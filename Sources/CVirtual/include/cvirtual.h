// The protocol of /dev/uhid, in the layout of the kernel's own headers.
//
// Every function returns -1 and errno when the kernel refuses it. None keeps a descriptor or a pointer.
#ifndef CVIRTUAL_H
#define CVIRTUAL_H

#include <stddef.h>
#include <stdint.h>

enum cvirtual_kind {
    /// A driver was bound or unbound, or the device was opened or closed.
    CVIRTUAL_OTHER,
    /// A report is requested or set; both need an answer.
    CVIRTUAL_GET_REPORT,
    CVIRTUAL_SET_REPORT,
};

enum cvirtual_report {
    CVIRTUAL_FEATURE,
    CVIRTUAL_OUTPUT,
    CVIRTUAL_INPUT,
};

/// Larger than any report of a virtual device.
#define CVIRTUAL_REPORT_MAX 64

struct cvirtual_request {
    enum cvirtual_kind kind;
    enum cvirtual_report report;
    /// Identifies the answer.
    uint32_t identifier;
    uint8_t report_number;
    /// The bytes of a report that is set, its number first; truncated to the size of `data`.
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

/// UHID_CREATE2: creates a HID device. EMSGSIZE: the report descriptor is longer than HID allows.
int cvirtual_hid_create(int file, const struct cvirtual_identity *identity, const uint8_t *descriptor, size_t size);

/// UHID_DESTROY: removes it.
int cvirtual_hid_destroy(int file);

/// UHID_INPUT2: sends an input report, its number first. EMSGSIZE: longer than the kernel accepts.
int cvirtual_hid_input(int file, const uint8_t *report, size_t size);

/// UHID_GET_REPORT_REPLY: the requested report, or an error number and no report.
int cvirtual_hid_answer_get(int file, uint32_t identifier, uint16_t error, const uint8_t *report, size_t size);

/// UHID_SET_REPORT_REPLY: 0 if the report was accepted, or an error number.
int cvirtual_hid_answer_set(int file, uint32_t identifier, uint16_t error);

/// Reads the next request; 0 at the end of the file. EAGAIN: there is none yet.
int cvirtual_hid_read(int file, struct cvirtual_request *request);

#endif
