#include "ck_target.h"

#if defined(CK_ARM)
#include "ck_lanes_neon.h"

#include "ck_facing_form.h"
#include "ck_threshold_form.h"
#endif
