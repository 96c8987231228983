// The kernel's structures are filled here, because Swift does not import packed unions.
#include "cvirtual.h"

#include <errno.h>
#include <linux/uhid.h>
#include <string.h>
#include <unistd.h>

// Writes the first bytes of an event; the kernel takes the missing ones as zeros.
static int put(int file, const struct uhid_event *event, size_t size)
{
    return write(file, event, size) == -1 ? -1 : 0;
}

// The size of an event whose last member is filled up to a length.
#define SIZE(member, length) (offsetof(struct uhid_event, member) + (length))

int cvirtual_hid_create(int file, const struct cvirtual_identity *identity, const uint8_t *descriptor, size_t size)
{
    struct uhid_event event = {.type = UHID_CREATE2};
    if (size > sizeof event.u.create2.rd_data) {
        errno = EMSGSIZE;
        return -1;
    }
    strncpy((char *)event.u.create2.name, identity->name, sizeof event.u.create2.name - 1);
    event.u.create2.rd_size = (uint16_t)size;
    event.u.create2.bus = identity->bus;
    event.u.create2.vendor = identity->vendor;
    event.u.create2.product = identity->product;
    event.u.create2.version = identity->version;
    memcpy(event.u.create2.rd_data, descriptor, size);
    return put(file, &event, SIZE(u.create2.rd_data, size));
}

int cvirtual_hid_destroy(int file)
{
    struct uhid_event event = {.type = UHID_DESTROY};
    return put(file, &event, sizeof event.type);
}

int cvirtual_hid_input(int file, const uint8_t *report, size_t size)
{
    struct uhid_event event;
    if (size > sizeof event.u.input2.data) {
        errno = EMSGSIZE;
        return -1;
    }
    event.type = UHID_INPUT2;
    event.u.input2.size = (uint16_t)size;
    memcpy(event.u.input2.data, report, size);
    return put(file, &event, SIZE(u.input2.data, size));
}

int cvirtual_hid_answer_get(int file, uint32_t identifier, uint16_t error, const uint8_t *report, size_t size)
{
    struct uhid_event event;
    if (size > sizeof event.u.get_report_reply.data) {
        errno = EMSGSIZE;
        return -1;
    }
    event.type = UHID_GET_REPORT_REPLY;
    event.u.get_report_reply.id = identifier;
    event.u.get_report_reply.err = error;
    event.u.get_report_reply.size = (uint16_t)size;
    memcpy(event.u.get_report_reply.data, report, size);
    return put(file, &event, SIZE(u.get_report_reply.data, size));
}

int cvirtual_hid_answer_set(int file, uint32_t identifier, uint16_t error)
{
    struct uhid_event event = {.type = UHID_SET_REPORT_REPLY};
    event.u.set_report_reply.id = identifier;
    event.u.set_report_reply.err = error;
    return put(file, &event, SIZE(u.set_report_reply, sizeof event.u.set_report_reply));
}

static enum cvirtual_report report(uint8_t type)
{
    switch (type) {
    case UHID_FEATURE_REPORT: return CVIRTUAL_FEATURE;
    case UHID_INPUT_REPORT: return CVIRTUAL_INPUT;
    default: return CVIRTUAL_OUTPUT;
    }
}

int cvirtual_hid_read(int file, struct cvirtual_request *request)
{
    // Bytes that the kernel omits are zero.
    struct uhid_event event;
    memset(&event, 0, sizeof event);
    ssize_t count = read(file, &event, sizeof event);
    if (count <= 0)
        return (int)count;
    memset(request, 0, sizeof *request);
    switch (event.type) {
    case UHID_GET_REPORT:
        request->kind = CVIRTUAL_GET_REPORT;
        request->identifier = event.u.get_report.id;
        request->report_number = event.u.get_report.rnum;
        request->report = report(event.u.get_report.rtype);
        break;
    case UHID_SET_REPORT: {
        uint16_t size = event.u.set_report.size;
        request->kind = CVIRTUAL_SET_REPORT;
        request->identifier = event.u.set_report.id;
        request->report_number = event.u.set_report.rnum;
        request->report = report(event.u.set_report.rtype);
        request->size = size < sizeof request->data ? size : sizeof request->data;
        memcpy(request->data, event.u.set_report.data, request->size);
        break;
    }
    default: request->kind = CVIRTUAL_OTHER;
    }
    return 1;
}
