/* image_report.c: access to the numbers of the report on images. */
#include "data/images.h"

int64_t xb_image_report_files(const xb_image_report *r) { return r->files; }
int64_t xb_image_report_others(const xb_image_report *r) { return r->others; }
int64_t xb_image_report_corrupt(const xb_image_report *r) { return r->corrupt; }
const char *xb_image_report_corrupt_name(const xb_image_report *r)
{
    return r->corrupt_name;
}
int64_t xb_image_report_unlabelled(const xb_image_report *r) { return r->unlabelled; }
const char *xb_image_report_unlabelled_name(const xb_image_report *r)
{
    return r->unlabelled_name;
}
int64_t xb_image_report_odd(const xb_image_report *r) { return r->odd; }
const char *xb_image_report_odd_name(const xb_image_report *r) { return r->odd_name; }
int64_t xb_image_report_duplicates(const xb_image_report *r) { return r->duplicates; }
int64_t xb_image_report_conflicting(const xb_image_report *r) { return r->conflicting; }
bool xb_image_report_cache_used(const xb_image_report *r) { return r->cache_used; }
bool xb_image_report_cache_kept(const xb_image_report *r) { return r->cache_kept; }
const char *xb_image_report_cache(const xb_image_report *r) { return r->cache; }
