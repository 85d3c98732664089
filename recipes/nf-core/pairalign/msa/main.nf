process PAIRALIGN_MSA {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container ?
        'https://depot.galaxyproject.org/singularity/pairalign:0.2.0':
        'quay.io/biocontainers/pairalign:0.2.0' }"

    input:
    tuple val(meta), path(fasta)
    tuple val(meta2), path(tree)

    output:
    tuple val(meta), path("${prefix}.aln.gz")                                                         , emit: alignment
    tuple val("${task.process}"), val('pairalign'), eval("pairalign --version | sed 's/pairalign //'"), topic: versions, emit: versions_pairalign

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def guide = tree ? "--tree-in $tree" : ''
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    pairalign msa \\
        $args \\
        $guide \\
        --threads $task.cpus \\
        --format fasta \\
        --quiet \\
        -o ${prefix}.aln.gz \\
        $fasta
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    echo "" | gzip > ${prefix}.aln.gz
    """
}
