#!/usr/bin/env bash
# Installs the packed JavaScript package into fresh projects and runs them.  SPDX-License-Identifier: MIT OR Apache-2.0
#
#     tools/test-packages.sh     needs the npm registry, and web/wasm (node tools/wasm-files.mjs); Chromium where there is one
#
# Plain pages, Vite, webpack, esbuild, a Next.js server build, TypeScript, ESM and CommonJS, Node 18, 22 and 24. The last line
# is `js: N passed, N failed, N skipped`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
node tools/wasm-files.mjs --check
[ -d node_modules/playwright-core ] || npm ci --silent
exec node tests/js/run.mjs packages/packages
