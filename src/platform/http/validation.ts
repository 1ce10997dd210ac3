import { TemporaryFile } from "../temporary-files.ts";
import type { Request, RequestHandler } from "express";
import { AppError } from "../errors.ts";
import { didYouMean } from "../text/did-you-mean.ts";
import { readImage } from "../images/image.ts";
import { resolve, type OpenApiDocument, type Operation, type Parameter, type Schema } from "./document.ts";
import { makeSchemaChecks } from "./schema-checks.ts";
import { makeRequestValidator, type OperationAtPath } from "./validator-library.ts";

export function makeRequestCheck(document: OpenApiDocument): (place: OperationAtPath) => RequestHandler {
  const makeValidator = makeRequestValidator(document);
  const schemas = makeSchemaChecks(document);
  return (place) => {
    const { operation } = place;
    const { requestBody: _body, ...withoutBody } = operation;
    const validate = makeValidator({ ...place, operation: withoutBody });
    const parameters = (operation.parameters ?? []).map((parameter) => {
      const { schema = {}, ...described } = resolve(document, parameter);
      return { ...described, schema: resolve(document, schema) };
    });
    const queries = new Map(
      parameters.filter((parameter) => parameter.in === "query").map((parameter) => [parameter.name, parameter]),
    );
    const inPath = parameters
      .filter((parameter) => parameter.in === "path")
      .map((parameter) => ({ parameter, check: schemas.text(parameter.schema ?? {}) }));
    const isAllInPath = parameters.every(mayBeMissingOutsidePath);
    const headers = parameters
      .filter(({ in: where, name }) => where === "header" && name !== "If-None-Match")
      .map(({ name }) => name.toLowerCase());
    return (req, res, next) => {
      // Fast path: most calls carry only ids.
      if (isAllInPath && !req.url.includes("?") && headers.every((name) => req.headers[name] === undefined)) {
        const wrong = inPath.find(({ parameter, check }) => check(req.params[parameter.name]) !== null);
        if (wrong) throw wrongParameter(wrong.parameter, req.params[wrong.parameter.name]);
        next();
        return;
      }
      checkNames(req, queries);
      joinLists(req, parameters);
      readBooleans(req, parameters);
      checkValues(req, parameters);
      // Otherwise a caller could fill the library's cache, which is keyed by type.
      delete req.headers["content-type"];
      try {
        validate(req, res);
      } catch (error) {
        throw inOurWords(error, parameters, req);
      }
      next();
    };
  };
}

const mayBeMissingOutsidePath = ({ in: where, required, schema }: Parameter) =>
  where === "path" || (required !== true && schema?.default === undefined);

function inOurWords(error: unknown, parameters: Parameter[], req: Request): unknown {
  if (!(error instanceof Error && "status" in error && error.status === 400)) return error;
  const details = error as { path?: string; errors?: { path: string }[] };
  const [, place, name = ""] = (details.errors?.[0]?.path ?? details.path ?? "").split("/");
  const at = places[place ?? ""] ?? "query";
  const known = parameters.find(
    (parameter) =>
      parameter.in === at && (parameter.name === name || (at === "header" && isSameHeader(parameter, name))),
  );
  return known === undefined
    ? unknownParameter(name)
    : wrongParameter(known, known.in === "query" ? req.query[name] : undefined);
}

const places: Record<string, string> = { params: "path", headers: "header" };

const isSameHeader = (parameter: Parameter, name: string) => parameter.name.toLowerCase() === name.toLowerCase();

function wordsFor({ type, format, minimum, maximum, enum: values }: Schema, value: unknown): string {
  if (values !== undefined) return oneOf(values, value);
  if (format === "uuid") return "a UUID";
  if (type === "integer") return `an integer from ${String(minimum)} to ${String(maximum)}`;
  return type === "boolean" ? "true or false" : "as described";
}

/** The library reads `name[x]` as part of `name` and fails on a list without `=`. */
function checkNames(req: Request, known: ReadonlyMap<string, Parameter>): void {
  const at = req.url.indexOf("?");
  if (at === -1) return;
  const seen = new Set<string>();
  for (const part of req.url.slice(at + 1).split("&")) {
    const name = decode((part.split("=", 1)[0] ?? "").replaceAll("+", " "));
    decode(part);
    if (name === "" && part === "") continue;
    const parameter = known.get(name);
    if (parameter === undefined) throw unknownParameter(name, [...known.keys()]);
    if (isList(parameter) && !part.includes("=")) throw wrongParameter(parameter);
    if (!isList(parameter) && seen.has(name)) throw repeatedParameter(name);
    seen.add(name);
  }
}

export class ParameterError extends AppError {
  readonly parameter: string;
  readonly fault: "unknown" | "wrong" | "repeated";
  /** The values of a list, empty without one. */
  readonly allowed: readonly string[];

  constructor(
    fault: ParameterError["fault"],
    parameter: string,
    publicMessage: string,
    allowed: readonly string[] = [],
  ) {
    super("invalid", fault === "repeated" ? "repeated_parameter" : "invalid_request", publicMessage);
    this.parameter = parameter;
    this.fault = fault;
    this.allowed = allowed;
  }
}

const showName = (name: string) => name.replace(/[^\w.-]/g, "?").slice(0, 40);

const unknownParameter = (name: string, known: readonly string[] = []) =>
  new ParameterError(
    "unknown",
    showName(name),
    `Unknown query parameter: ${showName(name)}.${didYouMean(name, known)}`,
  );

const wrongParameter = ({ name, in: place, schema = {} }: Parameter, value?: unknown) =>
  new ParameterError("wrong", name, `The ${place} parameter ${name} must be ${wordsFor(schema, value)}.`);

/** What is quoted comes from the request and stays out of logs: failure.ts. */
export function oneOf(allowed: readonly unknown[], value: unknown): string {
  const printable = typeof value === "string" ? value.replace(/[^\p{L}\p{N} ._:/-]/gu, "?").slice(0, 40) : "";
  return `one of ${allowed.map(String).join(", ")}${printable === "" ? "" : `, not "${printable}"`}`;
}

const repeatedParameter = (name: string) =>
  new ParameterError("repeated", showName(name), `The query parameter ${showName(name)} is given more than once.`);

function decode(part: string): string {
  try {
    const text = decodeURIComponent(part);
    if (!text.includes("\0")) return text;
  } catch {}
  throw new AppError("invalid", "invalid_request", "The address is not correctly percent-encoded.");
}

/** The library accepts everything that JavaScript takes for a number, such as 1e2 or 0x10. */
const spellings: Record<string, RegExp> = {
  integer: /^(0|-?[1-9]\d*)$/,
  number: /^-?(0|[1-9]\d*)(\.\d+)?$/,
  boolean: /^(true|false)$/,
};

function checkValues(req: Request, parameters: Parameter[]): void {
  for (const parameter of parameters) {
    const value = parameter.in === "query" ? req.query[parameter.name] : undefined;
    const spelling = spellings[parameter.schema?.type ?? ""];
    if (typeof value === "string" && spelling !== undefined && !spelling.test(value)) throw wrongParameter(parameter);
  }
}

/** Some generators ignore `explode: false` and repeat the parameter; joins the values. */
function joinLists(req: Request, parameters: Parameter[]): void {
  for (const { name } of parameters.filter(isList)) {
    const value = req.query[name];
    if (Array.isArray(value)) setQuery(req, name, value.map(String).join(","));
  }
}

/** What clients of PHP and of Python send. */
const otherBooleans: Partial<Record<string, string>> = { 1: "true", 0: "false", True: "true", False: "false" };

function readBooleans(req: Request, parameters: Parameter[]): void {
  for (const { name, in: place, schema } of parameters) {
    const value = place === "query" && schema?.type === "boolean" ? req.query[name] : undefined;
    const read = typeof value === "string" ? otherBooleans[value] : undefined;
    if (read !== undefined) setQuery(req, name, read);
  }
}

function setQuery(req: Request, name: string, text: string): void {
  const value = { ...req.query, [name]: text };
  Object.defineProperty(req, "query", { value, writable: true, enumerable: true, configurable: true });
}

const isList = (parameter: Parameter): boolean => parameter.in === "query" && parameter.schema?.type === "array";

export type BodyCheck = (body: unknown, status?: number) => void;

const checkPdf = (body: unknown): string[] | null =>
  Buffer.isBuffer(body) && body.subarray(0, 5).toString() === "%PDF-" ? null : ["not a PDF"];
const checkFile = (body: unknown): string[] | null =>
  Buffer.isBuffer(body) || body instanceof TemporaryFile ? null : ["not a file"];
const checkImage = (body: unknown): string[] | null =>
  Buffer.isBuffer(body) && readImage(body) !== null ? null : ["not an image"];

/** Makes the check of an operation's responses, which must match one of the documents; null without documents. */
export function makeResponseCheck(
  documents: readonly OpenApiDocument[],
  { operation }: OperationAtPath,
): BodyCheck | null {
  if (documents.length === 0) return null;
  const checks = documents.map((document) => makeFaultFinder(document, operation));
  return (body, status = 200) => {
    const faults = checks.map((findFaults) => findFaults(body, status));
    if (faults.includes(null)) return;
    const fault = `${operation.operationId} answers against its contract: ${JSON.stringify(faults[0])}`;
    throw new AppError("bug", "contract_broken", "Internal error", fault);
  };
}

function makeFaultFinder(document: OpenApiDocument, { responses }: Operation) {
  const { json } = makeSchemaChecks(document);
  const findCheck = (status: number): ((body: unknown) => object | null) | null => {
    const response = responses[status];
    if (response === undefined || status >= 300) return () => ["no such answer"];
    const { content } = resolve(document, response);
    if (["text/csv", "application/octet-stream"].some((type) => content?.[type] !== undefined)) return checkFile;
    if (content?.["application/pdf"] !== undefined) return checkPdf;
    if (content?.["image/png"] !== undefined) return checkImage;
    const schema = content?.["application/json"]?.schema;
    return schema === undefined ? null : json(schema);
  };
  return (body: unknown, status: number): object | null => {
    const check = findCheck(status);
    return check ? check(body) : body === undefined ? null : ["no such answer"];
  };
}
