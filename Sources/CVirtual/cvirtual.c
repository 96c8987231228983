// The kernel's structures are filled here, because Swift sees neither packed unions nor ioctl numbers with sizes in them.
#include "cvirtual.h"

#include <errno.h>
#include <linux/uhid.h>
#include <linux/uinput.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/// Writes the first bytes of an event: the kernel takes those that are missing for zeros.
static int put(int file, const struct uhid_event *event, size_t size)
{
    return write(file, event, size) == -1 ? -1 : 0;
}

/// How many bytes of an event are written when its last member is filled up to a length.
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
    // What the kernel leaves out is zero.
    struct uhid_event event;
    memset(&event, 0, sizeof event);
    ssize_t count = read(file, &event, sizeof event);
    if (count <= 0)
        return (int)count;
    memset(request, 0, sizeof *request);
    switch (event.type) {
    case UHID_START: request->kind = CVIRTUAL_START; break;
    case UHID_STOP: request->kind = CVIRTUAL_STOP; break;
    case UHID_OPEN: request->kind = CVIRTUAL_OPEN; break;
    case UHID_CLOSE: request->kind = CVIRTUAL_CLOSE; break;
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

int cvirtual_input_create(int file, const struct cvirtual_identity *identity, int32_t limit, int32_t resolution,
                          int has_time)
{
    struct uinput_setup setup = {
        .id = {.bustype = identity->bus,
               .vendor = identity->vendor,
               .product = identity->product,
               .version = identity->version}};
    strncpy(setup.name, identity->name, sizeof setup.name - 1);
    if (ioctl(file, UI_SET_EVBIT, EV_ABS) == -1 || ioctl(file, UI_SET_PROPBIT, INPUT_PROP_ACCELEROMETER) == -1)
        return -1;
    if (has_time && (ioctl(file, UI_SET_EVBIT, EV_MSC) == -1 || ioctl(file, UI_SET_MSCBIT, MSC_TIMESTAMP) == -1))
        return -1;
    for (uint16_t axis = ABS_X; axis <= ABS_Z; axis++) {
        struct uinput_abs_setup range = {
            .code = axis, .absinfo = {.minimum = -limit, .maximum = limit, .resolution = resolution}};
        if (ioctl(file, UI_SET_ABSBIT, axis) == -1 || ioctl(file, UI_ABS_SETUP, &range) == -1)
            return -1;
    }
    return ioctl(file, UI_DEV_SETUP, &setup) == -1 || ioctl(file, UI_DEV_CREATE) == -1 ? -1 : 0;
}

int cvirtual_input_destroy(int file)
{
    return ioctl(file, UI_DEV_DESTROY);
}

int cvirtual_input_frame(int file, int32_t x, int32_t y, int32_t z, const uint32_t *microseconds)
{
    struct input_event frame[5] = {
        {.type = EV_ABS, .code = ABS_X, .value = x},
        {.type = EV_ABS, .code = ABS_Y, .value = y},
        {.type = EV_ABS, .code = ABS_Z, .value = z},
    };
    size_t count = 3;
    if (microseconds)
        frame[count++] = (struct input_event){.type = EV_MSC, .code = MSC_TIMESTAMP, .value = (int32_t)*microseconds};
    frame[count++] = (struct input_event){.type = EV_SYN, .code = SYN_REPORT};
    return write(file, frame, count * sizeof *frame) == -1 ? -1 : 0;
}
