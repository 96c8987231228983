// What the kernels have to give, in C: one loop a kernel, without a thought for speed. The fuzz of the Swift forms and the
// harness of the C forms compare with the same functions.
#ifndef KERNEL_REFERENCES_H
#define KERNEL_REFERENCES_H

#include <stddef.h>
#include <stdint.h>

/// Writes the indices at which the side changes, and says how many there are. Inside above `high` and below `under`; outside
/// from `floor` up to but not including `low`. `inside` is the side before, 0 or 1, and receives the side after.
size_t reference_crossings_column(
    const float *values, size_t count, float high, float low, float under, float floor, uint64_t *inside,
    uint32_t *crossings);

/// The same with x² + y² + z² of vectors.
size_t reference_crossings_vectors(
    const float *x, const float *y, const float *z, size_t count, float high, float low, float under, float floor,
    uint64_t *inside, uint32_t *crossings);

/// The least and the greatest value; a NaN counts as nothing, and a zero has no sign.
void reference_extremes_column(const float *values, size_t count, float *least, float *greatest);

/// The same with x² + y² + z² of vectors.
void reference_extremes_vectors(
    const float *x, const float *y, const float *z, size_t count, float *least, float *greatest);

/// A sector of headings around a bearing: all angles in degrees.
struct reference_sector {
    int axis, is_reversed;
    double bearing, tolerance, exit;
};

/// Where the axis points in a sector, by the arc tangent: 1 inside the tolerance, -1 beyond the exit angle, 0 in between.
///
/// `nearest` receives how far from a limit the heading is, in degrees: a form that works with Float may answer otherwise
/// where that is next to nothing.
int reference_facing(const struct reference_sector *sector, const float a[3], const float m[3], double *nearest);

#endif
