#!/bin/sh
# Puts the shares of array.sh together: the result has the bytes of one run. If a share is
# missing, one line names it.
#   sbatch --dependency=afterok:ARRAY merge.sh pred.csv
#SBATCH --job-name=crossbayes-merge
#SBATCH --time=00:10:00
set -eu
crossbayes merge "$1".*-of-*.share
