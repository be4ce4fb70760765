/* machine.h: the capabilities of this processor. */
#ifndef XB_BASE_MACHINE_H
#define XB_BASE_MACHINE_H

/* The x86-64 level (1, 2, 3 or 4) of the processor; 1 on AArch64 (NEON), 0 on other
 * machines. This costs only a few loads, so it may be called often. */
int xb_machine_level(void);

#endif
