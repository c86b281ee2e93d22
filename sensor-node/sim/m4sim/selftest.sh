#!/bin/bash
# Self-test: unit tests of the timing model, then a Rust firmware that checks
# itself in the simulator. Needs cargo and the thumbv7em-none-eabihf target.
set -euo pipefail
cd "$(dirname "$0")"
out=${CARGO_TARGET_DIR:-$PWD/target}
export CARGO_TARGET_DIR=$out
cargo test --release --quiet
cargo build --release --quiet
(cd example-fw && CARGO_TARGET_DIR=$out/fw cargo build --release --quiet)
fw=$out/fw/thumbv7em-none-eabihf/release/m4sim-example
"$out/release/m4sim" run "$fw"
a=$("$out/release/m4sim" bench "$fw" --csv)
b=$("$out/release/m4sim" bench "$fw" --csv)
[ "$a" = "$b" ] || { echo "not deterministic"; exit 1; }
echo "$a"
if python3 -c 'import unicorn' 2>/dev/null; then
  python3 tests/difftest.py "$out/release/m4sim" 5000
else
  echo 'the difference test needs: pip install unicorn' >&2; exit 1
fi
echo "m4sim selftest: passed"
