#include "csdbus.h"

#include <cloading.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
// Both are written once, before csdbus_load() first returns.
static struct csdbus functions;
static char problem[256];
static const unsigned *vtable_format;

static void load(void)
{
    static const char name[] = "libsystemd.so.0";
    void *library = cloading_open(name, problem, sizeof problem);
    if (!library)
        return;
#define FUNCTION(function) \
    functions.function = \
        (__typeof__(&sd_bus_##function))cloading_find(library, name, "sd_bus_" #function, problem, sizeof problem);
    CSDBUS_FUNCTIONS(FUNCTION)
#undef FUNCTION
    vtable_format = cloading_find(library, name, "sd_bus_object_vtable_format", problem, sizeof problem);
}

const struct csdbus *csdbus_load(const char **reason)
{
    pthread_once(&once, load);
    *reason = problem;
    return problem[0] ? NULL : &functions;
}

static void *copy(const void *bytes, size_t size)
{
    // With a zero byte more, which ends a list of names.
    char *copied = calloc(1, size + 1);
    if (!copied)
        abort();
    memcpy(copied, bytes, size);
    return copied;
}

const sd_bus_vtable *csdbus_vtable(const struct csdbus_member *members, size_t count, sd_bus_message_handler_t call,
                                   sd_bus_property_get_t get)
{
    // Zeros, because sd-bus asks that the unused parts of the entries are.
    sd_bus_vtable *table = calloc(count + 2, sizeof *table);
    if (!table)
        abort();
    table[0].type = _SD_BUS_VTABLE_START;
    table[0].x.start.element_size = sizeof *table;
    table[0].x.start.features = _SD_BUS_VTABLE_PARAM_NAMES;
    table[0].x.start.vtable_format_reference = vtable_format;
    for (size_t i = 0; i < count; i++) {
        const struct csdbus_member *member = &members[i];
        sd_bus_vtable *entry = &table[i + 1];
        const char *name = copy(member->name, strlen(member->name));
        const char *signature = copy(member->signature, strlen(member->signature));
        switch (member->kind) {
        case 'm':
            entry->type = _SD_BUS_VTABLE_METHOD;
            entry->flags = SD_BUS_VTABLE_UNPRIVILEGED;
            entry->x.method.member = name;
            entry->x.method.signature = signature;
            entry->x.method.result = copy(member->result, strlen(member->result));
            entry->x.method.handler = call;
            entry->x.method.names = copy(member->names, member->name_bytes);
            break;
        case 'p':
            entry->type = _SD_BUS_VTABLE_PROPERTY;
            entry->flags = SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE;
            entry->x.property.member = name;
            entry->x.property.signature = signature;
            entry->x.property.get = get;
            break;
        default:
            entry->type = _SD_BUS_VTABLE_SIGNAL;
            entry->x.signal.member = name;
            entry->x.signal.signature = signature;
            entry->x.signal.names = copy(member->names, member->name_bytes);
        }
    }
    table[count + 1].type = _SD_BUS_VTABLE_END;
    return table;
}
