"""Checks that schemathesis does not have as `api.rs` needs them."""

import json

import jsonschema_rs
import schemathesis
from schemathesis.specs.openapi import checks


@schemathesis.check
def wrong_data_is_refused(ctx, response, case):
    """Is the check `negative_data_rejection`, but for bodies that fit the document after all.

    Random data counts as wrong where it breaks one branch of an `anyOf`, also where it fits another.
    """
    # What is wrong with a definition is the answer to its check.
    is_check = case.operation.path.endswith("/validation/check") and response.status_code == 200
    if is_check and response.content and not response.json()["isValid"]:
        return None
    if case.meta is not None and only_the_body_is_wrong(case) and fits(case):
        return None
    return checks.negative_data_rejection(ctx, response, case)


def only_the_body_is_wrong(case):
    wrong = [place.name for place, part in case.meta.components.items() if part.mode.is_negative]
    return wrong == ["BODY"]


def fits(case):
    body = case.operation.get_body_for_media_type(case.media_type)
    if body is None:
        return False
    value = case.body
    if isinstance(value, bytes):  # sent as they are, and perhaps no JSON at all
        try:
            value = json.loads(value)
        except ValueError:
            return False
    return jsonschema_rs.is_valid(body.optimized_schema, as_written(value))


def as_written(value):
    """The value with numbers that are none of a schema's integers where they are written with a point or
    an exponent: the document bounds integers alone, and to a schema 1e300 is an integer.
    """
    if isinstance(value, float):
        return 0.5
    if isinstance(value, list):
        return [as_written(one) for one in value]
    if isinstance(value, dict):
        return {name: as_written(one) for name, one in value.items()}
    return value


@schemathesis.hook
def before_process_path(context, path, methods):
    """Leaves out headers whose fixed value would make every request after the first another one's repeat,
    or a change of a version that is not the latest, or one whose body has another name.
    """
    for operation in methods.values():
        parameters = operation.get("parameters", []) if isinstance(operation, dict) else []
        parameters[:] = [one for one in parameters if one.get("name") not in PRECONDITIONS]


PRECONDITIONS = {"Idempotency-Key", "If-Match", "If-None-Match", "X-Staunch-Payload"}
