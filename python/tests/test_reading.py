"""Tables in Parquet: words, missing cells, nullable numbers, categories and dates give the
model that the same table as CSV gives on the command line."""

import crossbayes as xb
import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

SMALL = {"net": "dense 5, relu, dense 1", "likelihood": "gaussian", "epochs": 3,
         "mle_epochs": 3}  # fmt: skip


def table(rows=60):
    i = np.arange(rows)
    frame = pd.DataFrame(
        {
            "size": pd.array(np.where(i % 7 == 0, None, i % 11), dtype="Int64"),
            "kind": pd.Categorical(np.where(i % 3 == 0, "steel", "wood")),
            "wet": i % 2 == 0,
            "day": pd.date_range("2026-01-01", periods=rows),
            "weight": np.sin(i),
        }
    )
    frame["y"] = 2.0 * (frame["kind"] == "steel") + frame["weight"] + 0.1 * np.cos(5 * i)
    return frame


def test_parquet_is_the_frame_it_was(tmp_path):
    frame = table()
    frame.to_parquet(tmp_path / "t.parquet")
    read = xb.read_table(tmp_path / "t.parquet")
    inputs = [name for name in frame.columns if name != "y"]
    here = xb.train(read[inputs], read["y"], **SMALL)
    there = xb.train(frame[inputs], frame["y"], **SMALL)
    assert "kind" in " ".join(here.features) and "day" not in " ".join(here.features)
    p, q = here.predict(read[inputs]), there.predict(frame[inputs])
    assert (p.mean == q.mean).all() and np.isfinite(p.mean).all()
    # a word that training never saw is said and handled
    new = read[inputs].head(3).astype({"kind": object})
    new.loc[0, "kind"] = "glass"
    assert np.isfinite(here.predict(new).mean).all()


def test_columns_and_endings(tmp_path):
    frame = table(5)
    frame.to_parquet(tmp_path / "t.PQ")
    frame.to_csv(tmp_path / "t.csv", index=False)
    for name in ("t.PQ", "t.csv"):
        read = xb.read_table(tmp_path / name, columns=["weight", "kind"])
        assert list(read.columns) == ["weight", "kind"] and len(read) == 5
    with pytest.raises(ValueError, match="expected one of .parquet"):
        xb.read_table(tmp_path / "t.xlsx")
    (tmp_path / "bad.parquet").write_bytes(b"no table")
    with pytest.raises(Exception, match="(?i)parquet"):
        xb.read_table(tmp_path / "bad.parquet")
