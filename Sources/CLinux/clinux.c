// The header has everything; a target in C needs a source.
#include "clinux.h"
