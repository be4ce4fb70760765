#!/bin/sh
# A training run longer than the queue allows: Slurm sends SIGTERM 120 s before the end of
# each job, `train` saves its checkpoint and ends with status 143, and the job puts itself
# into the queue again until it is done. The model has the bytes of one long run.
#   sbatch restart.sh rows.csv y model.safetensors
#SBATCH --job-name=crossbayes-train
#SBATCH --cpus-per-task=16
#SBATCH --time=01:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
set -eu
crossbayes train "$1" --target "$2" -o "$3" --resume \
    --threads "${SLURM_CPUS_PER_TASK:-0}" &
train=$!
trap 'kill -TERM $train' TERM
status=0
wait $train || status=$?
[ $status -gt 128 ] && kill -0 $train 2>/dev/null && { wait $train || status=$?; }
[ $status -eq 143 ] && [ -n "${SLURM_JOB_ID-}" ] && scontrol requeue "$SLURM_JOB_ID"
exit $status
