# SPDX-License-Identifier: Apache-2.0
"""What the tests of custom resources have in common."""
import time

from apiserver import LATE


def until(what, seconds=3 * LATE):
    end = time.monotonic() + seconds
    while True:
        found = what()
        if found or time.monotonic() > end:
            return found
        time.sleep(0.05)
