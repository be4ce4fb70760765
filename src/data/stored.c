/* stored.c: types and sizes of tensors in a file, for safetensors.c (reading) and
 * safetensors_write.c. */
#include "crossbayes/safetensors.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "tensors are read and written as they lie in memory");

static const struct {
    const char *name;
    int64_t size;
} types[] = {
    [XB_STORED_I64] = {"I64", 8},
    [XB_STORED_F64] = {"F64", 8},
    [XB_STORED_F32] = {"F32", 4},
    [XB_STORED_U8] = {"U8", 1},
};

const char *xb_stored_type_name(xb_stored_type type) { return types[type].name; }
int64_t xb_stored_type_size(xb_stored_type type) { return types[type].size; }

bool xb_stored_bytes(int64_t *out, const xb_stored *tensor)
{
    int64_t bytes = types[tensor->type].size;
    for (int k = 0; k < tensor->ndim; k++)
        if (tensor->shape[k] < 0 ||
            __builtin_mul_overflow(bytes, tensor->shape[k], &bytes))
            return false;
    *out = bytes;
    return true;
}
