/* slow_avx512.h: a part of kernel_slow.h: slow draws on AVX-512, eight at a time. Every
 * operation is that of the scalar code in the same order, so the bytes are the same.
 *
 * Measured on three narrow levels: make_all() takes 6.7 ns a draw, the scalar code 13. */

/* As group_start() of kernel_slow.h. */
LANE_INLINE void group_start(slow_batch *q, const uint32_t *word, int from,
                             const xb_draw_source *d)
{
    const __m256i w = _mm256_loadu_si256((const void *)(word + from));
    const __m256i k = _mm256_and_si256(w, _mm256_set1_epi32(0x7fffffff));
    /* 2 v, (D9); exact */
    const __m512d twice = (_mm512_cvtepi32_pd(k) + _mm512_set1_pd(0.5)) * 0x1p-31;
    const __m512d s = _mm512_sqrt_pd(twice);
    const __m256i i = _mm512_cvttpd_epi32(s * (double)XB_PIECE_INDEX);
    /* entries i and i + 1 of the index at once; behind the last one the half goes on */
    const __mmask8 upper = d->symmetric ? 0 : _mm256_movepi32_mask(w);
    const __m256i start = _mm256_mask_mov_epi32(
        _mm256_setzero_si256(), upper, _mm256_set1_epi32((int)sizeof(xb_pieces)));
    const __m256i both =
        _mm256_i32gather_epi32((const void *)d->half[0].index,
                               _mm256_add_epi32(start, _mm256_add_epi32(i, i)), 1);
    const __m256i low = _mm256_and_si256(both, _mm256_set1_epi32(0xffff));
    const __m256i last =
        _mm256_mask_mov_epi32(_mm256_set1_epi32((int)d->half[0].n - 1), upper,
                              _mm256_set1_epi32((int)d->half[1].n - 1));
    const __m256i end = _mm256_mask_mov_epi32(
        _mm256_srli_epi32(both, 16),
        _mm256_cmpeq_epi32_mask(i, _mm256_set1_epi32(XB_PIECE_INDEX - 1)), last);
    _mm512_store_pd(q->s + from, s);
    _mm512_store_si512(q->low + from, _mm512_cvtepi32_epi64(low));
    _mm512_store_si512(q->more + from, _mm512_cvtepi32_epi64(_mm256_sub_epi32(end, low)));
}

/* What a piece has besides its coefficients, of eight pieces. */
typedef struct piece_lanes {
    __m512d middle, inverse_half, origin;
    __mmask8 times_s;
} piece_lanes;

/* Two pieces' middle, inverse_half, origin and times_s */
LANE_INLINE __m512d two_heads(const xb_piece *a, const xb_piece *b)
{
    return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(&a->middle)),
                              _mm256_loadu_pd(&b->middle), 1);
}

/* Lanes 0 to 7 are those of the pieces; a transposition. */
LANE_INLINE piece_lanes heads_of(const xb_piece *const piece[8])
{
    const __m512d a = two_heads(piece[0], piece[4]), b = two_heads(piece[1], piece[5]);
    const __m512d c = two_heads(piece[2], piece[6]), e = two_heads(piece[3], piece[7]);
    const __m512i first = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
    const __m512i second = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
    const __m512d ab_low = _mm512_unpacklo_pd(a, b), ab_high = _mm512_unpackhi_pd(a, b);
    const __m512d ce_low = _mm512_unpacklo_pd(c, e), ce_high = _mm512_unpackhi_pd(c, e);
    const __m512i flag =
        _mm512_castpd_si512(_mm512_permutex2var_pd(ab_high, second, ce_high));
    return (piece_lanes){
        _mm512_permutex2var_pd(ab_low, first, ce_low),
        _mm512_permutex2var_pd(ab_high, first, ce_high),
        _mm512_permutex2var_pd(ab_low, second, ce_low),
        _mm512_test_epi64_mask(flag, _mm512_set1_epi64(0xff)), /* the rest is padding */
    };
}

/* The pairs of xb_estrin16(), of coefficients (0, 1), (8, 9), (2, 3), (10, 11), ... */
LANE_INLINE __m512d pairs_of(const xb_piece *piece, __m512d r)
{
    const __m512d a = _mm512_loadu_pd(piece->coef), b = _mm512_loadu_pd(piece->coef + 8);
    return _mm512_unpacklo_pd(a, b) + r * _mm512_unpackhi_pd(a, b);
}
/* Of two vectors, their even quarters, and `power` times the odd ones */
LANE_INLINE __m512d quarters_joined(__m512d a, __m512d b, __m512d power)
{
    return _mm512_shuffle_f64x2(a, b, 0x88) + power * _mm512_shuffle_f64x2(a, b, 0xdd);
}

/* xb_estrin16() of eight pieces. Each fold joins the vectors of two draws, so that all
 * lanes stay in use: the four draws 0, 2, 4, 6, and the four 1, 3, 5, 7. */
LANE_INLINE __m512d estrin_lanes(const xb_piece *const piece[8], __m512d r)
{
    const __m512d r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    __m512d four[2];
#pragma GCC unroll 2
    for (int odd = 0; odd < 2; odd++) {
        __m512d two[2];
#pragma GCC unroll 2
        for (int i = 0; i < 2; i++) {
            const int a = 4 * i + odd, b = a + 2;
            const __m512i of_a = _mm512_set1_epi64(a), of_b = _mm512_set1_epi64(b);
            two[i] = quarters_joined(
                pairs_of(piece[a], _mm512_permutexvar_pd(of_a, r)),
                pairs_of(piece[b], _mm512_permutexvar_pd(of_b, r)),
                _mm512_permutexvar_pd(_mm512_mask_mov_epi64(of_a, 0xf0, of_b), r2));
        }
        const __m512d power =
            odd ? _mm512_unpackhi_pd(r4, r4) : _mm512_unpacklo_pd(r4, r4);
        four[odd] = quarters_joined(two[0], two[1], power);
    }
    return _mm512_unpacklo_pd(four[0], four[1]) +
           r8 * _mm512_unpackhi_pd(four[0], four[1]);
}

/* As group_values() of kernel_slow.h. */
LANE_INLINE void group_values(float *value, const slow_batch *q, const uint32_t *word,
                              int from, const xb_draw_source *d)
{
    const __mmask8 upper =
        _mm256_movepi32_mask(_mm256_loadu_si256((const void *)(word + from)));
    const __m512d s = _mm512_load_pd(q->s + from);
    const xb_piece *piece[8];
    for (int j = 0; j < 8; j++)
        piece[j] = half_of(d, word[from + j])->piece + q->low[from + j];
    const piece_lanes head = heads_of(piece);
    __m512d y = estrin_lanes(piece, (s - head.middle) * head.inverse_half);
    y = _mm512_mask_mul_pd(y, head.times_s, y, s);
    __m512d x = head.origin + y;
    if (d->symmetric) /* the mirror image */
        x = _mm512_mask_xor_pd(x, upper, x, _mm512_set1_pd(-0.0));
    x = (x - d->affine.shift) * d->affine.inverse;
    _mm256_storeu_ps(value + from, _mm512_cvtpd_ps(x));
}
