// The marks of a text in every form that can be called here: the bits that a loop over its bytes gives.
#include "forms.h"

#include "ckernels.h"

#if defined(HAS_AVX2)
struct form {
    const char *name;
    void (*mark)(const uint8_t *, size_t, const uint8_t *, uint64_t *);
    int is_here;
};

static void test_form(const void *which, uint64_t number)
{
    const struct form *form = which;
    static const char bytes[] = ",;\t\n.0123456789-+ \xff";
    static uint64_t words[41];
    form_seed(number);
    uint8_t sought[4];
    for (int i = 0; i < 4; i++)
        sought[i] = (uint8_t)bytes[form_below(sizeof bytes)];
    size_t blocks = number % 41;
    uint8_t *text = (uint8_t *)form_column(16 * blocks + 1) + form_below(5);
    for (size_t i = 0; i < 64 * blocks; i++)
        text[i] = (uint8_t)bytes[form_below(sizeof bytes)];
    words[blocks] = number;
    form->mark(text, blocks, sought, words);
    for (size_t i = 0; i < 64 * blocks; i++) {
        int is_sought = text[i] == sought[0] || text[i] == sought[1] || text[i] == sought[2] || text[i] == sought[3];
        if ((words[i / 64] >> i % 64 & 1) != (uint64_t)is_sought)
            form_fail(form->name, number, "another bit than the loop");
    }
    if (words[blocks] != number)
        form_fail(form->name, number, "writes behind the words");
    form_release();
}
#endif

void test_mark_forms(uint64_t cases)
{
#if defined(HAS_AVX2)
    const struct form forms[] = {
        {"marks avx2", ck_marks_avx2, HAS_AVX2},
        {"marks avx512", ck_marks_avx512, HAS_AVX512},
    };
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++)
        form_run((struct form_run){forms[f].name, forms[f].is_here, test_form, &forms[f]}, cases);
#else
    (void)cases;
#endif
}
