process PAIRALIGN_ALIGN {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container ?
        'https://depot.galaxyproject.org/singularity/pairalign:0.2.0':
        'quay.io/biocontainers/pairalign:0.2.0' }"

    input:
    tuple val(meta), path(fasta)
    val format

    output:
    tuple val(meta), path("${prefix}.${format}.gz")                                                   , emit: alignments
    tuple val("${task.process}"), val('pairalign'), eval("pairalign --version | sed 's/pairalign //'"), topic: versions, emit: versions_pairalign

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    pairalign align \\
        $args \\
        --threads $task.cpus \\
        --format $format \\
        --quiet \\
        -o ${prefix}.${format}.gz \\
        $fasta
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    echo "" | gzip > ${prefix}.${format}.gz
    """
}
