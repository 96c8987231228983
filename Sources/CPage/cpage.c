#include "cpage.h"

// A part of C23, which the compiler knows in every mode.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const uint8_t style[] = {
#embed "page.css"
};

static const uint8_t drawing[] = {
#embed "page.js"
};

static const uint8_t instruments[] = {
#embed "panel.js"
};

static const uint8_t fetching[] = {
#embed "web.js"
};

cpage_file cpage_style(void) { return (cpage_file){style, sizeof style}; }
cpage_file cpage_drawing(void) { return (cpage_file){drawing, sizeof drawing}; }
cpage_file cpage_instruments(void) { return (cpage_file){instruments, sizeof instruments}; }
cpage_file cpage_fetching(void) { return (cpage_file){fetching, sizeof fetching}; }
