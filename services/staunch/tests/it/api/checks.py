"""Checks that schemathesis does not have as `api.rs` needs them."""

import json
from urllib.parse import parse_qs, urlsplit

import jsonschema_rs
import schemathesis
from schemathesis.specs.openapi import checks


@schemathesis.check
def wrong_data_is_refused(ctx, response, case):
    """Is the check `negative_data_rejection`, but for requests that fit the document after all.

    Random data counts as wrong where it breaks one branch of an `anyOf`, also where it fits another, and a
    parameter also where it is right as the text that was sent, or was not sent for want of a value.
    """
    # What is wrong with a definition is the answer to its check.
    is_check = case.operation.path.endswith("/validation/check") and response.status_code == 200
    if is_check and response.content and not response.json()["isValid"]:
        return None
    if case.meta is not None and fits(case, response.request.url):
        return None
    return checks.negative_data_rejection(ctx, response, case)


def fits(case, url):
    wrong = {place.name for place, part in case.meta.components.items() if part.mode.is_negative}
    if not wrong or wrong - {"BODY", "QUERY"}:
        return False
    return ("BODY" not in wrong or body_fits(case)) and ("QUERY" not in wrong or query_fits(case, url))


def query_fits(case, url):
    sent = parse_qs(urlsplit(url).query, keep_blank_values=True)
    known = {parameter.name: parameter for parameter in case.operation.query}
    return sent.keys() <= known.keys() and all(
        parameter_fits(parameter, sent.get(name)) for name, parameter in known.items()
    )


def parameter_fits(parameter, values):
    if values is None:
        return not parameter.is_required
    readings = [values] + ([values[0], as_json(values[0])] if len(values) == 1 else [])
    return any(jsonschema_rs.is_valid(parameter.optimized_schema, one) for one in readings)


def as_json(text):
    """The number or the truth value that a text means; otherwise the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def body_fits(case):
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
