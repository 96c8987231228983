// The style and the scripts of the page, whose bytes become part of the program.
#ifndef CPAGE_H
#define CPAGE_H

#include <stddef.h>
#include <stdint.h>

/// A file in the program's memory, which nothing writes to or frees.
typedef struct {
    const uint8_t *bytes;
    size_t count;
} cpage_file;

cpage_file cpage_style(void);
/// The drawing script, which a recording's page also has.
cpage_file cpage_drawing(void);
/// The script of the instruments.
cpage_file cpage_instruments(void);
/// The script that fetches readings, events and the state of a calibration.
cpage_file cpage_fetching(void);

#endif
