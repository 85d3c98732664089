#!/bin/sh
# A task of an array job of AWS Batch; the image has it as /opt/pairalign/shard.sh:
#
#   aws batch register-job-definition --cli-input-json file://job-definition.json
#   aws batch submit-job --job-name swissprot --job-queue gpu --job-definition pairalign-shard \
#       --array-properties size=512
#
# SHARDS is the size of the array, which AWS does not tell; index 0 is shard 1. THREADS, MEMORY and
# DEVICE are what the definition asks for.
set -eu
exec pairalign align "$1" -o "$2" --shard "$((AWS_BATCH_JOB_ARRAY_INDEX + 1))/$SHARDS" --resume -q \
    --format paf --device "$DEVICE" --threads "$THREADS" --memory "$MEMORY" \
    --mode local --max-evalue 1e-3 --search-space 1e11
