// All pairs of a FASTA file in shards; threads and memory are those that Nextflow gives a task:
//
//   nextflow run recipes/nextflow --fasta proteins.fa --shards 64
//   nextflow run recipes/nextflow --fasta proteins.fa --shards 512 -profile gpu

params.fasta = 'proteins.fa'
params.shards = 64
params.format = 'paf'
params.options = '--mode local --max-evalue 1e-3 --search-space 1e11'
params.device = 'cpu'

process SHARD {
    label 'shard'
    tag "${k}"

    input:
    tuple val(k), path(fasta)

    output:
    path 'parts/*'

    script:
    """
    pairalign align $fasta -o parts --shard $k/$params.shards --format $params.format -q \\
        --device $params.device --threads $task.cpus --memory ${task.memory.toMega()}M $params.options
    """
}

process MERGE {
    label 'merge'
    publishDir '.', mode: 'copy'

    input:
    path 'parts/*'

    output:
    path "all.${params.format}.zst"

    script:
    """
    pairalign merge parts -o all.${params.format}.zst --threads $task.cpus -q
    """
}

workflow {
    shards = Channel.of(1..params.shards).combine(Channel.fromPath(params.fasta))
    MERGE(SHARD(shards).collect())
}
