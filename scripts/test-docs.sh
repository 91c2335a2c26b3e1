#!/usr/bin/env bash
# Crawls real documentation, served by nginx, and compares with `wget -r` and the file list. Installs what it needs (Debian packages).
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v nginx >/dev/null || ! command -v wget >/dev/null ||
  [[ ! -d /usr/share/doc/python3-doc/html || ! -d /usr/share/doc/postgresql-doc-15/html ]]; then
  root=()
  if ((EUID != 0)); then root=(sudo); fi
  "${root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends \
    nginx-light wget python3-doc postgresql-doc-15
fi
exec node --test dist/test/suites/docs.suite.js
