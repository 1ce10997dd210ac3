import { TemporaryFile } from "../temporary-files.ts";
import type { RequestHandler } from "express";
import { AppError } from "../errors.ts";
import { didYouMean } from "../text/did-you-mean.ts";
import { readImage } from "../images/image.ts";
import { resolve, type OpenApiDocument, type Operation, type Parameter, type Schema } from "./document.ts";
import { makeSchemaChecks, type Check } from "./schema-checks.ts";

export type Place = { path: string; operation: Operation };

type Described = Parameter & { schema: Schema; check: Check };

const places = ["query", "header", "path"] as const;

/** Checks parameters against the contract, and makes `req.query` what its schemas describe. Errors: ParameterError. */
export function makeRequestCheck(document: OpenApiDocument): (place: Place) => RequestHandler {
  const { text } = makeSchemaChecks(document);
  return ({ operation }) => {
    const all = (operation.parameters ?? []).map((parameter): Described => {
      const { schema: described = {}, ...rest } = resolve(document, parameter);
      const schema = resolve(document, described);
      return { ...rest, schema, check: text(schema) };
    });
    const sorted = places.flatMap((place) => all.filter((parameter) => parameter.in === place));
    const queries = new Map(
      all.flatMap((parameter) => (parameter.in === "query" ? [[parameter.name, parameter]] : [])),
    );
    return (req, _res, next) => {
      const sent = readQuery(req.url, queries);
      const query: Record<string, unknown> = {};
      for (const parameter of sorted) {
        const { name, in: place, required, schema, check } = parameter;
        const value = place === "query" ? sent.get(name) : place === "path" ? req.params[name] : req.get(name);
        if (value === undefined && required === true) throw wrongParameter(parameter);
        const read = value === undefined ? schema.default : readValue(schema, String(value));
        const isWrong = value !== undefined && (read === undefined || check(read) !== null);
        if (isWrong) throw wrongParameter(parameter, place === "header" ? undefined : value);
        if (place === "query" && read !== undefined) query[name] = read;
      }
      Object.defineProperty(req, "query", { value: query, writable: true, enumerable: true, configurable: true });
      next();
    };
  };
}

/** Not all that JavaScript takes for a number, such as 1e2 or 0x10. */
const numbers: Partial<Record<string, RegExp>> = {
  integer: /^(0|-?[1-9]\d*)$/,
  number: /^-?(0|[1-9]\d*)(\.\d+)?$/,
};

/** Also what clients of PHP and of Python send. */
const booleans = new Map([
  ...["true", "1", "True"].map((text) => [text, true] as const),
  ...["false", "0", "False"].map((text) => [text, false] as const),
]);

/** Undefined for a text that is no value of the type. */
function readValue({ type = "" }: Schema, text: string): unknown {
  if (type === "boolean") return booleans.get(text);
  if (type === "array") return text.split(",");
  const spelling = numbers[type];
  if (spelling === undefined) return text;
  return spelling.test(text) ? Number(text) : undefined;
}

function wordsFor({ type, format, minimum, maximum, enum: values }: Schema, value: unknown): string {
  if (values !== undefined) return oneOf(values, value);
  if (format === "uuid") return "a UUID";
  if (type === "integer") return `an integer from ${String(minimum)} to ${String(maximum)}`;
  return type === "boolean" ? "true or false" : "as described";
}

// A comma separates the values of a list.
const reserved = /[:/[\]@!$()*+;]/;

/** The texts of a query. Some generators repeat the parameter of a list: its values are joined. */
function readQuery(url: string, known: ReadonlyMap<string, Parameter>): Map<string, string> {
  const texts = new Map<string, string>();
  const at = url.indexOf("?");
  for (const part of at === -1 ? [] : url.slice(at + 1).split("&")) {
    const [written = "", ...rest] = part.split("=");
    const name = decode(written);
    const raw = rest.join("=");
    const text = decode(raw);
    if (part === "") continue;
    const parameter = known.get(name);
    if (parameter === undefined) throw unknownParameter(name, [...known.keys()]);
    const before = texts.get(name);
    const isList = parameter.schema?.type === "array";
    if (before !== undefined && !isList) throw repeatedParameter(name);
    if (text === "" || (parameter.allowReserved !== true && reserved.test(raw))) throw wrongParameter(parameter, text);
    texts.set(name, before === undefined ? text : `${before},${text}`);
  }
  return texts;
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
    const text = decodeURIComponent(part.replaceAll("+", " "));
    if (!text.includes("\0")) return text;
  } catch {}
  throw new AppError("invalid", "invalid_request", "The address is not correctly percent-encoded.");
}

export type BodyCheck = (body: unknown, status?: number) => void;

const checkPdf = (body: unknown): string[] | null =>
  Buffer.isBuffer(body) && body.subarray(0, 5).toString() === "%PDF-" ? null : ["not a PDF"];
const checkFile = (body: unknown): string[] | null =>
  Buffer.isBuffer(body) || body instanceof TemporaryFile ? null : ["not a file"];
const checkImage = (body: unknown): string[] | null =>
  Buffer.isBuffer(body) && readImage(body) !== null ? null : ["not an image"];

/** Makes the check of an operation's responses, which must match one of the documents; null without documents. */
export function makeResponseCheck(documents: readonly OpenApiDocument[], { operation }: Place): BodyCheck | null {
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
