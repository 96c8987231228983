#include "ck_lanes_baseline.h"

#include "ck_forms.h"
