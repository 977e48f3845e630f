"""Holds OpenAPI documents to the schemas of OpenAPI 3.1."""

import json
import sys

from openapi_spec_validator import OpenAPIV31SpecValidator

problems = 0
for path in sys.argv[1:]:
    with open(path) as file:
        document = json.load(file)
    for problem in OpenAPIV31SpecValidator(document).iter_errors():
        print(f"{path}: {list(problem.absolute_path)}: {problem.message}")
        problems += 1
sys.exit(1 if problems else 0)
