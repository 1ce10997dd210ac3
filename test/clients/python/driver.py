"""Does with the generated Python clients what it is told on standard input, and prints JSON.

driver.py run: makes the calls of a scenario. driver.py types: tells the types of the models.
"""

import datetime
import importlib
import inspect
import json
import re
import sys


def snake(name):
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z\d])([A-Z])", r"\1_\2", name).replace("-", "_").lower()


def package(bundle):
    return importlib.import_module("schultor_" + re.sub(r"[^a-z0-9]+", "_", bundle))


def plain(value):
    return [plain(entry) for entry in value] if isinstance(value, list) else value.to_dict()


def call(step, url, access):
    client = package(step["bundle"])
    configuration = client.Configuration(host=url, **{snake(key): value for key, value in access[step["as"]].items()})
    api = getattr(client, step["api"])(client.ApiClient(configuration))
    parameters = {snake(name): value for name, value in step["parameters"].items()}
    try:
        value = getattr(api, snake(step["operation"]))(**parameters)
    except client.exceptions.ApiException as refused:
        # The client leaves the body of an error as text.
        code = client.OAuthError if step["bundle"] == "sign-on" else client.Problem if step["bundle"] == "idm" else None
        body = code.from_json(refused.body).to_dict() if code else json.loads(refused.body)
        return {"error": {"status": refused.status, "type": type(refused).__name__, "body": body}}
    if "keep" in step:
        access[step["keep"]] = {"accessToken": value.access_token}
    return {"value": plain(value)}


def values_of(model, field):
    """The values that the model's own validator lets through, found in the refusal of one that it does not."""
    for validator in field.class_validators.values():
        if not validator.func.__name__.endswith("_validate_enum"):
            continue
        try:
            validator.func(model, ["no such value"] if field.outer_type_ != field.type_ else "no such value")
        except ValueError as refused:
            return re.findall(r"'([^']*)'", str(refused))
    return None


def look(model, field):
    empty = model.construct(_fields_set={field.name}, **dict.fromkeys(model.__fields__))
    nullable = field.allow_none and field.alias in empty.to_dict()
    values = values_of(model, field)
    known = [(datetime.datetime, "date-time"), (datetime.date, "date"), (str, "text")]
    one = field.type_
    kind = next((kind for type, kind in known if inspect.isclass(one) and issubclass(one, type)), "other")
    is_list = field.shape != 1
    return {"kind": "enum" if values else kind, "list": is_list, "nullable": nullable, "values": values or []}


def models(bundle):
    found = inspect.getmembers(package(bundle), lambda member: inspect.isclass(member) and hasattr(member, "__fields__"))
    return {
        name: {field.alias: look(model, field) for field in model.__fields__.values()} for name, model in found
    }


told = json.load(sys.stdin)
if sys.argv[1] == "run":
    done = [call(step, told["url"], told["access"]) for step in told["steps"]]
else:
    done = {bundle: models(bundle) for bundle in told["bundles"]}
json.dump(done, sys.stdout, default=lambda value: value.isoformat())
