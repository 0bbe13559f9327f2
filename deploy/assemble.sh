#!/bin/sh
# Puts together what runs: the built server and page, production dependencies, and of their binaries this platform's alone. Run after
# `npm ci && npm run build`, from the repository's root.
#     sh deploy/assemble.sh <directory>
set -eu
[ "$#" -eq 1 ] || { echo 'usage: sh deploy/assemble.sh <directory>' >&2; exit 64; }
root=$(cd "$(dirname "$0")/.." && pwd)
out=$1
[ -f "$root/dist/main.js" ] || { echo 'npm run build first' >&2; exit 1; }
mkdir -p "$out/empty"
[ -z "$(ls "$out" | grep -v '^empty$')" ] || { echo "$out is not empty" >&2; exit 1; }

cp "$root/package.json" "$root/package-lock.json" "$root/LICENSE" "$out/"
cp "$root/deploy/probe.mjs" "$out/"
cp -R "$root/dist" "$out/dist"
(cd "$out" && npm ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error)
node "$root/deploy/prune.mjs" "$out"
