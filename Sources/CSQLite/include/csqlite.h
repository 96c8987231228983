// libsqlite3, loaded when it is used.
#ifndef CSQLITE_H
#define CSQLITE_H

#include <sqlite3.h>

#endif
