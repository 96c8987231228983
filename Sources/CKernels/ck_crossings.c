#include "ck_crossings.h"

#if defined(CK_X86)

uint64_t ck_bit_numbers[256];

__attribute__((constructor)) static void fill_bit_numbers(void)
{
    for (int byte = 0; byte < 256; byte++) {
        int count = 0;
        for (uint64_t bit = 0; bit < 8; bit++)
            if (byte >> bit & 1)
                ck_bit_numbers[byte] |= bit << 8 * count++;
    }
}

#endif
