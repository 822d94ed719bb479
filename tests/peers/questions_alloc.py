# SPDX-License-Identifier: Apache-2.0
from questions_num import Mode
class Allocator(Mode):
    name = "allocator"
