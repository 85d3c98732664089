"""Three examples of each command, which its help begins with and the tests run."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "align": (
        ("every pair, as a table", "align proteins.fasta -o pairs.tsv"),
        (
            "the ten best hits of each query, as BLAST writes them",
            "align queries.fasta database.fasta --mode local -k 10 -o hits.b6",
        ),
        (
            "pairs at least 90% identical, on two cores",
            "align genes.fasta --min-identity 0.9 -t 2 -o alike.paf",
        ),
    ),
    "distance": (
        ("a matrix for programs that make trees", "distance proteins.fasta -o proteins.phy"),
        (
            "identities, as a table",
            "distance genes.fasta --measure identity --similarity -o genes.tsv",
        ),
        (
            "peptides within two edits, as SciPy's matrix",
            "distance cdr3.fasta --max-edits 2 -o cdr3.npz",
        ),
    ),
    "tree": (
        ("for Clustal Omega", "tree family.fasta --for clustalo -o family.nwk"),
        ("in the terminal", "tree family.fasta --format ascii -o -"),
        ("of distances that are there", "tree family.phy --method mixed -o mixed.nwk"),
    ),
    "overlap": (
        ("for miniasm", "overlap reads.fastq.gz -o overlaps.paf"),
        (
            "an assembly graph of accurate reads",
            "overlap reads.fasta --preset short --unitigs -o unitigs.gfa",
        ),
        ("what is wrong with reads", "overlap reads.fasta -o reads.paf --read-report reads.tsv"),
    ),
    "merge": (
        ("which parts are missing, as commands", "merge parts --plan"),
        ("the file that a single run writes", "merge parts -o all.paf"),
        ("compressed", "merge parts -o all.paf.gz"),
    ),
    "update": (
        ("into a folder, so that more can be added", "update run1 new.fasta -o run2/"),
        ("into a file", "update run1 new.fasta -o updated.paf"),
        ("of several files", "update run1 new.fasta newer.fasta -o more.paf"),
    ),
    "cluster": (
        ("at 90% identity", "cluster proteins.fasta --min-identity 0.9 -o clusters.tsv"),
        (
            "as vsearch writes them, with the representatives",
            "cluster amplicons.fasta --min-identity 97% -o otus.uc --representatives otus.fasta",
        ),
        (
            "single linkage, as a network",
            "cluster proteins.fasta --linkage single --min-identity 0.5 -o net.graphml",
        ),
    ),
    "split": (
        ("five folds without homologs across them", "split proteins.fasta -o folds.csv"),
        (
            "training, validation and test",
            "split proteins.fasta --min-identity 0.95 --test 0.2 --val 0.2 -o sets.csv",
        ),
        (
            "say what was removed",
            "split proteins.fasta --min-identity 0.9 --folds 2 -o two.csv --removed gone.csv",
        ),
    ),
    "audit": (
        ("folds of split", "audit folds.csv proteins.fasta -o leaks.csv"),
        (
            "clusters of vsearch or ours",
            "audit otus.uc amplicons.fasta --min-identity 97% --identity-of columns -o otus.csv",
        ),
        (
            "a training and a test set",
            "audit queries.fasta database.fasta --min-identity 0.9 -o leaks2.csv",
        ),
    ),
    "verify": (
        ("legal, and scored as it says?", "verify pairs.tsv proteins.fasta -o checked.tsv"),
        (
            "how far from the optimum",
            "verify alike.paf genes.fasta --mode global --optimal -o optimal.tsv",
        ),
        (
            "only what is wrong",
            "verify hits.b6 queries.fasta database.fasta --mode local --illegal -o wrong.tsv",
        ),
    ),
    "msa": (
        ("a family, with the confidence of each residue", "msa family.fasta -o family.sto"),
        (
            "rows and tree in the same order",
            "msa family.fasta -o family.afa --order tree --tree-out guide.nwk",
        ),
        (
            "how sure another program's alignment is",
            "msa family.fasta --confidence-of theirs.afa -o sure.html",
        ),
    ),
    "posterior": (
        ("as a table", "posterior family.fasta -o posteriors.tsv"),
        ("a library for T-Coffee", "posterior family.fasta -o family.tc_lib"),
        (
            "only what is likely, for NumPy",
            "posterior family.fasta --threshold 0.5 -o posteriors.npz",
        ),
    ),
    "rotate": (
        ("to where s0 begins", "rotate genomes.fasta --to s0 -o same_start.fasta"),
        (
            "to a gene's coordinate, on either strand",
            "rotate genomes.fasta --to s0:577 --strand both -o from_gene.fasta",
        ),
        ("compressed", "rotate genomes.fasta --to s0 -o same_start.fasta.gz"),
    ),
    "pack": (
        ("a store", "pack proteins.fasta -o proteins.pairset"),
        ("of a compressed file", "pack reads.fastq.gz -o reads.pairset"),
        ("of two files", "pack proteins.fasta --also new.fasta -o more.pairset"),
    ),
    "devices": (
        ("what is here", "devices"),
        ("what kernels can do", "devices --kernels"),
        ("keep it", "devices > devices.txt"),
    ),
    "help": (
        ("of the program", "help"),
        ("of a command", "help align"),
        ("of another one", "help cluster"),
    ),
    "completion": (
        ("bash, for this shell", "completion bash > pairalign.bash"),
        ("zsh, in a folder of $fpath", "completion zsh > _pairalign"),
        ("look at it", "completion bash"),
    ),
}
"""What an example does, and the arguments; later ones may read what earlier ones have written."""


_FIRST = ("align", "distance", "cluster", "msa")
"""Commands whose first examples the help of the program shows."""


def describe_examples(command: str | None) -> str:
    """Return the lines with which the help of a command begins, or that of the program."""
    shown = [EXAMPLES[name][0] for name in _FIRST] if command is None else EXAMPLES[command]
    return "examples:\n" + "".join(f"  # {what}\n  pairalign {words}\n" for what, words in shown)
