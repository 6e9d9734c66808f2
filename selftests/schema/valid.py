#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""valid.py NAME FILE: is the JSON in FILE as the schema NAME.json wants it"""

import json
import os
import sys

import jsonschema

name, file = sys.argv[1:]
with open(os.path.join(os.path.dirname(__file__), f"{name}.json"),
          encoding="ascii") as f:
    schema = json.load(f)
with open(file, encoding="utf-8") as f:
    errors = list(jsonschema.Draft7Validator(schema).iter_errors(json.load(f)))
for error in errors:
    print(f"{'/'.join(map(str, error.absolute_path))}: {error.message}")
sys.exit(bool(errors))
