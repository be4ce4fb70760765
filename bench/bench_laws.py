"""The laws that are drawn from: name, and the law itself."""

import os
import random

MODERATE = ["gaussian", "mtj:B=0.15,w=0.5", "mtj:B=0.05,w=0.3", "ecram:B=0.1,w=0.6",
            "bimodal:m=0.9", "laplace", "student:nu=4", "sinh-arcsinh:epsilon=0.5,delta=0.8",
            "levels:x=-1/0.5,p=0.3/0.7,s=0.3"]
HARD = ["mtj:B=0.003,w=0.5", "bimodal:m=0.99", "levels:x=-1/0/1,p=0.3/0.4/0.3,s=0.05"]
MEASURED = {"RRAM": "rram_level08.csv", "RRAM level 00": "rram_level00.csv",
            "RRAM level 16": "rram_level16.csv"}
SAMPLES = 4000


def laws(bench):
    """All of them; the measured ones where the data is at hand."""
    made = {text: bench.xb.law(text) for text in MODERATE}
    source = random.Random(5)
    made["empirical: exponential sample"] = bench.xb.law_from_samples(
        [source.expovariate(1) for _ in range(SAMPLES)])
    for name, file in MEASURED.items():
        path = os.path.join(bench.data, "noise", file) if bench.data else ""
        if os.path.exists(path):
            made[f"empirical: measured {name}"] = bench.xb.law_from_samples(
                bench.xb.column(path))
    made.update({text: bench.xb.law(text) for text in HARD})
    return made
