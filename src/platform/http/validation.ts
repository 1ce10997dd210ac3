import type { RequestHandler } from "express";
import { AppError } from "../errors.ts";
import { readImage } from "../images/image.ts";
import { resolve, type OpenApiDocument, type Operation, type Parameter, type Schema } from "./document.ts";
import { makeSchemaChecks } from "./schema-checks.ts";

/** Makes the check of a request; it converts the query to numbers, booleans and lists. */
export function makeRequestCheck(document: OpenApiDocument): (operation: Operation) => RequestHandler {
  const { convert } = makeSchemaChecks(document);
  return ({ parameters = [] }) => {
    const fields = parameters
      .map((parameter) => resolve(document, parameter))
      .map((parameter) => ({ parameter, convert: convert(parameter.schema ?? {}) }));
    const queries = new Map(
      fields.filter(({ parameter }) => parameter.in === "query").map((field) => [field.parameter.name, field]),
    );
    const others = fields.filter(({ parameter }) => parameter.in !== "query");
    return (req, _res, next) => {
      for (const field of others) {
        const { in: place, name } = field.parameter;
        convertField(field, place === "path" ? req.params[name] : req.headers[name.toLowerCase()]);
      }
      if (queries.size === 0 && !req.url.includes("?")) return next();
      const value = convertQuery(readQuery(req.url, queries), queries);
      // The property of express parses the query anew each time.
      Object.defineProperty(req, "query", { value, writable: true, enumerable: true, configurable: true });
      next();
    };
  };
}

type Field = { parameter: Parameter; convert: (value: unknown) => { value: unknown } | null };

/** Undefined for an optional parameter that was not sent. */
function convertField({ parameter, convert }: Field, given: unknown): { value: unknown } | undefined {
  if (given === undefined && parameter.required !== true && parameter.schema?.default === undefined) return undefined;
  const converted = convert(given);
  if (converted === null) throw wrongParameter(parameter);
  return converted;
}

function convertQuery(given: ReadonlyMap<string, string[]>, queries: ReadonlyMap<string, Field>): object {
  const query: Record<string, unknown> = {};
  for (const [name, field] of queries) {
    const texts = given.get(name);
    const converted = convertField(field, isList(field.parameter) ? texts : texts?.[0]);
    if (converted !== undefined) query[name] = converted.value;
  }
  return query;
}

function wordsFor({ type, format, minimum, maximum }: Schema = {}): string {
  if (format === "uuid") return "a UUID";
  if (type === "integer") return `an integer from ${String(minimum)} to ${String(maximum)}`;
  return type === "boolean" ? "true or false" : "as described";
}

const invalid = (message: string) => new AppError("invalid", "invalid_request", message);

/** Characters that a client must percent-encode in a value. */
const reserved = /[:/?#[\]@!$&'()*+;]/;

/** Reads the values of known parameters. A list may be one value with commas, or repeated. */
function readQuery(url: string, known: ReadonlyMap<string, Field>): Map<string, string[]> {
  const values = new Map<string, string[]>();
  const at = url.indexOf("?");
  if (at === -1) return values;
  for (const part of url.slice(at + 1).split("&")) {
    if (part === "") continue;
    const [rawName = "", rawValue = ""] = part.split("=", 2);
    const name = decode(rawName.replaceAll("+", " "));
    const value = decode(part.slice(rawName.length + 1));
    const parameter = known.get(name)?.parameter;
    if (parameter === undefined) throw unknownParameter(name);
    const earlier = values.get(name) ?? [];
    if (!isList(parameter) && earlier.length > 0) throw repeatedParameter(name);
    if (value === "" || reserved.test(rawValue)) throw wrongParameter(parameter);
    if (isList(parameter)) earlier.push(...value.split(","));
    else if (!rawValue.includes(",") && (spellings[parameter.schema?.type ?? ""]?.test(value) ?? true))
      earlier.push(value);
    else throw wrongParameter(parameter);
    values.set(name, earlier);
  }
  return values;
}

/** `parameter` is safe to show. */
export class ParameterError extends AppError {
  readonly parameter: string;
  readonly fault: "unknown" | "wrong" | "repeated";

  constructor(fault: ParameterError["fault"], parameter: string, publicMessage: string) {
    super("invalid", fault === "repeated" ? "repeated_parameter" : "invalid_request", publicMessage);
    this.parameter = parameter;
    this.fault = fault;
  }
}

const showName = (name: string) => name.replace(/[^\w.-]/g, "?").slice(0, 40);

const unknownParameter = (name: string) =>
  new ParameterError("unknown", showName(name), `Unknown query parameter: ${showName(name)}.`);

const wrongParameter = ({ name, in: place, schema }: Parameter) =>
  new ParameterError("wrong", name, `The ${place} parameter ${name} must be ${wordsFor(schema)}.`);

const repeatedParameter = (name: string) =>
  new ParameterError("repeated", showName(name), `The query parameter ${showName(name)} is given more than once.`);

function decode(part: string): string {
  try {
    const text = decodeURIComponent(part);
    if (!text.includes("\0")) return text;
  } catch {}
  throw invalid("The address is not correctly percent-encoded.");
}

/** The library also accepts other spellings of numbers, such as 1e2 or 0x10. */
const spellings: Record<string, RegExp> = {
  integer: /^(0|-?[1-9]\d*)$/,
  number: /^-?(0|[1-9]\d*)(\.\d+)?$/,
  boolean: /^(true|false)$/,
};

const isList = (parameter: Parameter): boolean => parameter.in === "query" && parameter.schema?.type === "array";

export type BodyCheck = (body: unknown, status?: number) => void;

const checkPdf = (body: unknown): string[] | null =>
  Buffer.isBuffer(body) && body.subarray(0, 5).toString() === "%PDF-" ? null : ["not a PDF"];
const checkImage = (body: unknown): string[] | null =>
  Buffer.isBuffer(body) && readImage(body) !== null ? null : ["not an image"];

export function makeResponseCheck(document: OpenApiDocument): (operation: Operation) => BodyCheck {
  const { json } = makeSchemaChecks(document);
  return (operation) => {
    const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
    const checks = new Map<number, ((body: unknown) => object | null) | null>(
      successes.map(([status, response]) => {
        const { content } = resolve(document, response);
        if (content?.["application/pdf"] !== undefined) return [Number(status), checkPdf] as const;
        if (content?.["image/png"] !== undefined) return [Number(status), checkImage] as const;
        const schema = content?.["application/json"]?.schema;
        return [Number(status), schema === undefined ? null : json(schema)] as const;
      }),
    );
    return (body, status = 200) => {
      const check = checks.get(status);
      const faults = check ? check(body) : body === undefined && check === null ? null : ["no such answer"];
      if (faults === null) return;
      throw new AppError(
        "bug",
        "contract_broken",
        "Internal error",
        `${operation.operationId} answers against its contract: ${JSON.stringify(faults)}`,
      );
    };
  };
}
