"""Parquet files that learnt does not write itself: with page checksums, with Brotli, with decimals.

Needs pyarrow. Run from the root of the checkout.
"""

from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = "tests/golden/data"
ROWS = 60

table = pa.table(
    {
        "x": pa.array([i * 1.5 for i in range(ROWS)]),
        "c": pa.array([f"level{i % 7}" for i in range(ROWS)]),
    }
)
pq.write_table(
    table, f"{FOLDER}/checksums.parquet", write_page_checksum=True, compression="snappy"
)
pq.write_table(table, f"{FOLDER}/brotli.parquet", compression="brotli")

texts = ["1.25", "12345678901234567890.12", "0.10", "9007199254740993.00", "123456789012345.67"]
decimals = pa.array([Decimal(text) for text in texts], type=pa.decimal128(30, 2))
pq.write_table(pa.table({"d": decimals}), f"{FOLDER}/decimals.parquet")

# Names that are numbers, of which float64 cannot tell neighbours apart.
ids = {"signed": pa.array([2**53 + 1, 2**53, -(2**62) - 1]), "unsigned": pa.array([2**64 - 1, 7, 2**64 - 2], pa.uint64())}
pq.write_table(pa.table(ids), f"{FOLDER}/ids.parquet")
