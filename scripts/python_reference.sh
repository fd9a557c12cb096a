#!/usr/bin/env bash
# scripts/python_reference.sh [PYTHON [FOLDER]]: writes the reference of the Python package to build/docs/python, or to FOLDER, by
# pdoc; a warning fails. PYTHON is that of a virtual environment with the package, as scripts/test_python.sh makes it; pdoc is
# installed there.
# Exit status 77: what this needs from PyPI cannot be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python="${1:-build/python_package/environment/bin/python}"
folder="${2:-build/docs/python}"

if ! "$python" -c "import pdoc" 2>/dev/null; then
  "$python" -m pip --disable-pip-version-check --quiet install --retries 1 --timeout 30 pdoc ||
    { echo "skipped: PyPI cannot be reached"; exit 77; }
fi
"$python" -W error scripts/python_reference.py "$folder"
echo "the reference begins at $folder/hiaton.html"
