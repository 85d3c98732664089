"""Snakemake wrapper: a command of pairalign, from files of sequences to a file of results."""

from snakemake.shell import shell

command = snakemake.params.get("command", "align")
extra = snakemake.params.get("extra", "")
memory = snakemake.resources.get("mem_mb", 0)
limit = f"--memory {memory}M" if memory else ""
log = snakemake.log_fmt_shell(stdout=False, stderr=True)

shell(
    "pairalign {command} {snakemake.input:q} -o {snakemake.output[0]:q}"
    " --threads {snakemake.threads} {limit} {extra} {log}"
)
