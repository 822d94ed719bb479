#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""C of shape files.  gen-shapes.py OUTPUT FILE..."""
import pathlib
import sys


def literal(text):
    return "".join('"%s\\n"\n' % line.replace("\\", "\\\\").replace('"', '\\"')
                   for line in text.splitlines())


def main():
    files = sorted(map(pathlib.Path, sys.argv[2:]))
    out = ['/* SPDX-License-Identifier: Apache-2.0 */\n#include "node/shapes.h"\n']
    for number, file in enumerate(files):
        out.append(f"static const char TEXT_{number}[] =\n{literal(file.read_text())};\n")
    out.append("const struct shipped_shape shipped_shapes[] = {")
    out += [f'{{"{file.stem}", TEXT_{number}, sizeof TEXT_{number} - 1}},'
            for number, file in enumerate(files)]
    names = ", ".join(file.stem for file in files)
    out.append(f'{{0}}}};\nconst char shipped_shape_names[] = "{names}";\n')
    pathlib.Path(sys.argv[1]).write_text("\n".join(out))


main()
