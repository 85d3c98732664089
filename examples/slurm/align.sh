#!/usr/bin/env bash
# All pairs of a FASTA file as a Slurm job array, each task a shard of them:
#
#   sbatch --array=1-64 examples/slurm/align.sh proteins.fa parts --mode local --min-score 100
#   sbatch --dependency=afterok:JOB --wrap "pairalign merge parts -o all.paf.gz"
#
# A task that is killed or requeued goes on where it was (--resume). To do again what failed:
#
#   pairalign merge parts --plan            # "... are missing: 3,17-20"
#   sbatch --array=3,17-20 --export=ALL,SHARDS=64 examples/slurm/align.sh proteins.fa parts ...
#
# With GPUs add --gres=gpu:1 to sbatch. Threads, memory (sbatch --mem) and GPU are those that Slurm
# gives the task. PAIRALIGN is the program, where it is not on the PATH.
#SBATCH --job-name=pairalign
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail

input=$1 parts=$2
shift 2
shards=${SHARDS:-$SLURM_ARRAY_TASK_COUNT} # the same for all tasks, also when only some are done again

given=(--threads "${SLURM_CPUS_PER_TASK:-1}")
[ -z "${SLURM_MEM_PER_NODE:-}" ] || given+=(--memory "$((SLURM_MEM_PER_NODE * 3 / 4))M")
[ -z "${SLURM_JOB_GPUS:-}" ] || given+=(--device cuda)
case " $* " in
*" -q "* | *" --quiet "*) ;;
*) given+=(--progress) ;;
esac

exec ${PAIRALIGN:-pairalign} align "$input" -o "$parts" --shard "$SLURM_ARRAY_TASK_ID/$shards" --resume \
    "${given[@]}" "$@"
