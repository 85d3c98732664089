process PAIRALIGN_GUIDETREE {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container ?
        'https://depot.galaxyproject.org/singularity/pairalign:0.2.0':
        'quay.io/biocontainers/pairalign:0.2.0' }"

    input:
    tuple val(meta), path(fasta)

    output:
    tuple val(meta), path("${prefix}.dnd")                                                            , emit: tree
    tuple val("${task.process}"), val('pairalign'), eval("pairalign --version | sed 's/pairalign //'"), topic: versions, emit: versions_pairalign

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    pairalign tree \\
        --measure score \\
        $args \\
        --threads $task.cpus \\
        --format newick \\
        --quiet \\
        -o ${prefix}.dnd \\
        $fasta
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.dnd
    """
}
