#include "csdbus.h"

#include <cloading.h>
#include <stdlib.h>

static const unsigned *vtable_format;
static void begin(void *handle);

#define NAME(name) "sd_bus_" #name,
static const char *const names[] = {CSDBUS_FUNCTIONS(NAME)};
static struct csdbus functions;
static struct cloading library = CLOADING("libsystemd.so.0", names, functions, begin);

static void begin(void *handle)
{
    vtable_format = cloading_find(
        handle, library.library, "sd_bus_object_vtable_format", library.problem, sizeof library.problem);
}

const struct csdbus *csdbus_load(const char **reason)
{
    return cloading_load(&library, reason);
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
        switch (member->kind) {
        case 'm':
            entry->type = _SD_BUS_VTABLE_METHOD;
            entry->flags = SD_BUS_VTABLE_UNPRIVILEGED;
            entry->x.method.member = member->name;
            entry->x.method.signature = member->signature;
            entry->x.method.result = member->result;
            entry->x.method.handler = call;
            entry->x.method.names = member->names;
            break;
        case 'p':
            entry->type = _SD_BUS_VTABLE_PROPERTY;
            entry->flags = SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE;
            entry->x.property.member = member->name;
            entry->x.property.signature = member->signature;
            entry->x.property.get = get;
            break;
        default:
            entry->type = _SD_BUS_VTABLE_SIGNAL;
            entry->x.signal.member = member->name;
            entry->x.signal.signature = member->signature;
            entry->x.signal.names = member->names;
        }
    }
    table[count + 1].type = _SD_BUS_VTABLE_END;
    return table;
}
