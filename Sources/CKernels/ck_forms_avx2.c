#include "ck_target.h"

#if defined(CK_X86)
#include "ck_lanes_avx2.h"

#include "ck_forms.h"
#endif
