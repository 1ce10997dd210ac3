import express, { type Request, type RequestHandler } from "express";
import { AppError, type PropertyFault } from "../errors.ts";
import { findJsonExcess, findJsonFault } from "../text/outside-json.ts";
import { resolve, type OpenApiDocument, type Schema } from "./document.ts";
import { Upload } from "./upload.ts";
import { oneOf } from "./validation.ts";
import { makeSchemaChecks, type Fault } from "./schema-checks.ts";
import type { OperationAtPath } from "./validator-library.ts";

const jsonType = "application/json";
const fileType = "application/octet-stream";
const limit = "256kb";
/** More than ids fit into the limit. */
const mostValues = 10_000;
const parse: RequestHandler = express.json({
  limit,
  strict: false,
  verify: (_req, _res, bytes) => {
    const excess = findJsonExcess(bytes, mostValues);
    if (excess !== null) throw new Error(excess);
  },
});

/** Makes the reader of JSON, the bytes of an image or an `Upload`. Errors: throws for any other kind of body. */
export function makeBodyReader(document: OpenApiDocument): (place: OperationAtPath) => RequestHandler | null {
  const { json, everyFault } = makeSchemaChecks(document);
  return ({ operation }) => {
    const { requestBody } = operation;
    if (requestBody === undefined) return null;
    const types = Object.keys(requestBody.content ?? {});
    if (types.length > 0 && types.every((type) => type.startsWith("image/"))) return makeBytesReader(types);
    const file = requestBody.content?.[fileType]?.schema;
    if (file !== undefined && types.length === 1) return makeFileReader(operation.operationId, resolve(document, file));
    const schema = requestBody.content?.[jsonType]?.schema;
    if (schema === undefined || types.length > 1)
      throw new Error(`${operation.operationId} must take a JSON body and no other, images or a file.`);
    const check = json(resolve(document, schema));
    const findFaults = everyFault(resolve(document, schema));
    return (req, res, next) => {
      if (!hasBody(req)) {
        if (requestBody.required === true) throw invalid("A JSON body is required.");
        req.body = undefined;
        return next();
      }
      if (req.is(jsonType) === false)
        throw new AppError("unsupported_type", "unsupported_type", `The body must be ${jsonType}.`);
      parse(req, res, (error?: unknown) => {
        if (error !== undefined) return next(inOurWords(error));
        const [fault] = check(req.body) ?? [];
        if (fault !== undefined)
          return next(invalid(describe(fault, req.body), listFaults(findFaults(req.body) ?? [], req.body)));
        const unstorable = findJsonFault(req.body);
        if (unstorable === null) return next();
        const [pointer, message] = [
          `/${unstorable.path.join("/")}`,
          `${nameProperty(unstorable.path.join("/"))} ${unstorable.fault}.`,
        ];
        next(invalid(message, [{ pointer, rule: "text_unprintable", message }]));
      });
    };
  };
}

function makeBytesReader(types: string[]): RequestHandler {
  const read: RequestHandler = express.raw({ limit, type: () => true });
  return (req, res, next) => {
    if (!hasBody(req)) throw invalid("A body is required.");
    if (req.is(types) === false)
      throw new AppError("unsupported_type", "unsupported_type", `The body must be ${types.join(", ")}.`);
    read(req, res, (error?: unknown) => next(error === undefined ? undefined : inOurWords(error)));
  };
}

function makeFileReader(operationId: string, { "x-max-bytes": maxBytes }: Schema): RequestHandler {
  if (typeof maxBytes !== "number") throw new Error(`The file of ${operationId} must have x-max-bytes.`);
  return (req, _res, next) => {
    if (hasBody(req) && (req.is(fileType) === false || req.headers["content-encoding"] !== undefined))
      throw new AppError("unsupported_type", "unsupported_type", `The body must be ${fileType}, not encoded.`);
    req.body = new Upload(req, maxBytes);
    next();
  };
}

const hasBody = ({ headers }: Request): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

const invalid = (message: string, faults: PropertyFault[] = []) =>
  new AppError("invalid", "invalid_request", message, undefined, { faults });

const mostFaults = 100;
/** Keywords that only report that no alternative fits; the faults of the alternatives say more. */
const summaries = new Set(["anyOf", "oneOf", "if", "not", "additionalProperties", "discriminator"]);

function listFaults(faults: readonly Fault[], body: unknown): PropertyFault[] {
  const named = faults.filter(({ keyword }) => !summaries.has(keyword)).slice(0, mostFaults);
  return named.flatMap((fault) => {
    const missing = fault.params?.["missingProperty"];
    const at = fault.instancePath.replace(/^\/value/, "") + (typeof missing === "string" ? `/${missing}` : "");
    return at === "" ? [] : [{ pointer: at, rule: fault.keyword, message: describe(fault, body) }];
  });
}

const described = (text: string) => text.replace(/[^\w./-]/g, "?").slice(0, 80);

function describe({ instancePath, message = "is not as described", params }: Fault, body: unknown): string {
  const at = instancePath.replace(/^\/value/, "").slice(1);
  const allowed = params?.["allowedValues"];
  if (Array.isArray(allowed)) {
    const value = at.split("/").reduce((of, name) => (of as Record<string, unknown>)[name], body);
    return `${nameProperty(at)} must be ${oneOf(allowed, value)}.`;
  }
  const unknown = params?.["additionalProperty"];
  if (typeof unknown === "string")
    return `The body has an unknown property: ${described(at === "" ? unknown : `${at}/${unknown}`)}.`;
  return `${nameProperty(at)} ${message}.`;
}

const nameProperty = (path: string): string => (path === "" ? "The body" : `The property ${described(path)}`);

function inOurWords(error: unknown): unknown {
  const { type, status } = error as { type?: string; status?: number };
  if (type === "entity.too.large")
    return new AppError("too_large", "body_too_large", "The body is larger than 256 KB.");
  if (type === "entity.verify.failed") return invalid(`The body ${(error as Error).message}.`);
  if (type === "entity.parse.failed") return invalid("The body is not valid JSON.");
  if (status === 415)
    return new AppError("unsupported_type", "unsupported_type", "The encoding of the body is not supported.");
  return status === 400 ? invalid("The body could not be read.") : error;
}

export const readHeaders = (names: readonly string[], req: Request): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (req.get(name) === undefined ? [] : [[name, req.get(name)!]])));
