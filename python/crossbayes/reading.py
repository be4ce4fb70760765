"""Tables on disk as data frames: Parquet and what else pandas reads.

The program reads CSV and NPY by itself; Parquet comes through pandas, which needs pyarrow
(or fastparquet) for it. Nothing here is imported before it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

_READERS = {
    ".parquet": "read_parquet",
    ".pq": "read_parquet",
    ".feather": "read_feather",
    ".csv": "read_csv",
}


def read_table(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> Any:
    """Reads a table into a pandas data frame, as `train`, `Model` and the estimators take it.

    Parquet (.parquet, .pq), Feather (.feather) or CSV (.csv), by the name's ending;
    `columns` are the ones to read, all where it is None. Words, missing cells and dates
    stay as they are: training makes features of them as the program does.
    """
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in _READERS:
        raise ValueError(
            f"{path}: a table named *{ending}, expected one of {', '.join(_READERS)}"
        )
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("reading tables needs pandas: pip install pandas pyarrow") from error
    names = None if columns is None else list(columns)
    wanted = {"usecols" if ending == ".csv" else "columns": names}
    try:
        frame = getattr(pd, _READERS[ending])(path, **wanted)
    except ImportError as error:
        raise ImportError(
            f"{path}: pandas needs pyarrow for it: pip install pyarrow"
        ) from error
    return frame if names is None else frame[names]
