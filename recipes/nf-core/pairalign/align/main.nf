process PAIRALIGN_ALIGN {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"

    input:
    tuple val(meta), path(fasta)
    val format  // a text format: paf, tsv, blast6, ...

    output:
    tuple val(meta), path("${prefix}.${format}.gz"), emit: alignments
    path "versions.yml"                            , emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    pairalign align $fasta -o ${prefix}.${format}.gz --format $format --threads $task.cpus --quiet $args

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        pairalign: \$(pairalign --version | sed 's/pairalign //')
    END_VERSIONS
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    echo | gzip > ${prefix}.${format}.gz

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        pairalign: \$(pairalign --version | sed 's/pairalign //')
    END_VERSIONS
    """
}
