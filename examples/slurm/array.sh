#!/bin/sh
# A job array without MPI: each task does one share of a prediction on its own node, and
# another job, which waits for all of them, puts the shares together.
#   array=$(sbatch --parsable array.sh model.safetensors rows.csv pred.csv)
#   sbatch --dependency=afterok:$array merge.sh pred.csv
# If one task failed, submit that one again: sbatch --array=7 array.sh ...
#SBATCH --job-name=crossbayes-predict
#SBATCH --array=1-16
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
set -eu
shares=${SHARES:-16} # the same number for all tasks, also for those that are submitted again
crossbayes predict "$1" "$2" -o "$3" --draws "${DRAWS:-1e5}" --threads "${SLURM_CPUS_PER_TASK:-0}" \
    --share "$SLURM_ARRAY_TASK_ID/$shares"
