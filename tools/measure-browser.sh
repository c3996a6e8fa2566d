#!/bin/sh
# Verifying and proving in Chromium beside the native figures, as one table.  SPDX-License-Identifier: MIT OR Apache-2.0
#
#     sh tools/measure-browser.sh [--rounds N] [--json]
#
# Brings what it needs first, as tools/test-browser.sh does. On a busy machine only the ratios mean something.
set -eu
cd "$(dirname "$0")/.."
bash tools/test-browser.sh --setup
exec node tests/js/browser/measure.mjs "$@"
