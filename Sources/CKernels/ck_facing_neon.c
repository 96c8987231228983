#include "ck_target.h"

#if defined(CK_ARM)
#include "ck_lanes_neon.h"

#include "ck_facing_form.h"
#endif
