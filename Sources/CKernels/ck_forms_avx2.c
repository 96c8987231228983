#include "ck_target.h"

#if defined(CK_X86)
#include "ck_lanes_avx2.h"

#include "ck_facing_form.h"
#include "ck_threshold_form.h"
#endif
