"""What the environment variable HIATON_LOG=function prints: each conversion of a function, and why it was needed."""

import os
import sys


def is_on():
    return "function" in os.environ.get("HIATON_LOG", "").split(",")


def tell(message):
    if is_on():
        print(f"hiaton: {message}", file=sys.stderr, flush=True)
