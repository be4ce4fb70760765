#!/bin/sh
# One job of many ranks: the nets of the study "energy", divided among 32 ranks of 2 threads each.
#   sbatch job.sh
# The results have the bytes of one process. If a job runs out of time, submit it again
# with the same command, on any number of ranks: finished nets are in energy/nets.
#SBATCH --job-name=crossbayes-energy
#SBATCH --ntasks=32
#SBATCH --cpus-per-task=2
#SBATCH --time=04:00:00
set -eu
# srun has to be told the cores of a rank: since Slurm 22.05 it does not take them from the job.
srun --mpi=pmix --cpus-per-task="$SLURM_CPUS_PER_TASK" \
    crossbayes study energy --full --threads "$SLURM_CPUS_PER_TASK" -o energy
