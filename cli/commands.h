/* commands.h: one row per command; main.c has the table. */
#ifndef XB_CLI_COMMANDS_H
#define XB_CLI_COMMANDS_H

#include "options.h"

extern const cli_command cli_command_completion;
extern const cli_command cli_command_crossbar;
extern const cli_command cli_command_demo;
extern const cli_command cli_command_design;
extern const cli_command cli_command_eval;
extern const cli_command cli_command_fit;
extern const cli_command cli_command_device;
extern const cli_command cli_command_law;
extern const cli_command cli_command_manual;
extern const cli_command cli_command_merge;
extern const cli_command cli_command_plan;
extern const cli_command cli_command_predict;
extern const cli_command cli_command_reproduce;
extern const cli_command cli_command_sample;
extern const cli_command cli_command_study;
extern const cli_command cli_command_train;

/* The table, in the order of the help. */
extern const cli_command *const cli_commands[];
extern const int cli_commands_count;

/* Explains LAW, for the help of commands that take one. */
void cli_help_families(FILE *out);

#endif
