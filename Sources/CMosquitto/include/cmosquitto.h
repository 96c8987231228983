// libmosquitto, loaded when it is used.
#ifndef CMOSQUITTO_H
#define CMOSQUITTO_H

#include <mosquitto.h>

#endif
