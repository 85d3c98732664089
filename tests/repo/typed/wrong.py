"""Calls that cannot work, a line each; mypy names every one of them and nothing else."""

import pairalign

pairalign.align(5)  # wrong
pairalign.align(["ACGT"], mode="glocal")  # wrong
pairalign.align(["ACGT"], identity_of="longest")  # wrong
pairalign.align(["ACGT"], detail=2)  # wrong
pairalign.align(["ACGT"], memory=0.5)  # wrong
pairalign.align(["ACGT"], memory_bytes=1)  # wrong
pairalign.align(["ACGT"], top=2)  # wrong
pairalign.stream(["ACGT"], top=2)  # wrong
pairalign.align(["ACGT"]).score.write("a.paf")  # wrong
pairalign.distance(["ACGT"], sparse=True, max_edits=2).square()  # wrong
pairalign.cluster(min_identity=0.5)  # wrong
pairalign.cluster(["ACGT"], min_identity=0.5, coverage_of="all")  # wrong
pairalign.split(["ACGT"], min_identity=0.5, folds="5")  # wrong
pairalign.guide_tree(["ACGT"])  # wrong
pairalign.msa(["a.afa", "b.afa"], merge="yes")  # wrong
pairalign.merge_alignments(["a.afa", "b.afa"])  # wrong
