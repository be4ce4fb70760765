/* faces.h: procedural faces whose age can be read from them; see faces.c. */
#ifndef XB_STUDY_FACES_H
#define XB_STUDY_FACES_H

#include "crossbayes/extend.h"
#include "crossbayes/study.h"

/* How an age looks, each in [0, 1] (S3). */
typedef struct xb_face_signs {
    double eyes, grey, wrinkles;
} xb_face_signs;

xb_face_signs xb_face_signs_at(double age);

#endif
