"""The laws that are drawn from: name, and the law itself."""

import os
import random

MODERATE = ["gaussian", "mtj:B=0.15,w=0.5", "mtj:B=0.05,w=0.3", "ecram:B=0.1,w=0.6",
            "bimodal:m=0.9"]
HARD = ["mtj:B=0.003,w=0.5", "bimodal:m=0.99"]
MEASURED = "rram_level08.csv"
SAMPLES = 4000


def laws(bench):
    """All of them; the measured one where the data is at hand."""
    made = {text: bench.xb.law(text) for text in MODERATE}
    source = random.Random(5)
    made["empirical: exponential sample"] = bench.xb.law_from_samples(
        [source.expovariate(1) for _ in range(SAMPLES)])
    path = os.path.join(bench.data, "noise", MEASURED) if bench.data else ""
    if os.path.exists(path):
        made["empirical: measured RRAM"] = bench.xb.law_from_samples(
            bench.xb.column(path))
    made.update({text: bench.xb.law(text) for text in HARD})
    return made
