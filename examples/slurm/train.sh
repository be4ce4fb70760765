#!/bin/sh
# A training run on many ranks that share the rows of each step, longer than the queue allows:
# Slurm sends SIGUSR1 to all ranks 120 s before the end of each job, rank 0 saves the
# checkpoint, and the job puts itself into the queue again. Each job may have another number
# of ranks: the model has the bytes of one process.
#   sbatch train.sh faces/ age model.safetensors
#SBATCH --job-name=crossbayes-train
#SBATCH --ntasks=8
#SBATCH --cpus-per-task=4
#SBATCH --time=01:00:00
#SBATCH --signal=USR1@120
#SBATCH --requeue
set -eu
status=0
srun --mpi=pmix --cpus-per-task="$SLURM_CPUS_PER_TASK" \
    crossbayes train "$1" --target "$2" -o "$3" --resume --threads "$SLURM_CPUS_PER_TASK" || status=$?
[ $status -eq 138 ] && [ -n "${SLURM_JOB_ID-}" ] && scontrol requeue "$SLURM_JOB_ID"
exit $status
