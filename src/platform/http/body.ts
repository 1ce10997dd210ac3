import express, { type Request, type RequestHandler } from "express";
import { AppError } from "../errors.ts";
import { resolve, type OpenApiDocument } from "./document.ts";
import { makeSchemaChecks, type Fault, type Place } from "./validator-library.ts";

const jsonType = "application/json";
const parse: RequestHandler = express.json({ limit: "256kb", strict: false });

/**
 * Makes the reader of an operation's JSON body: what passes is as the contract describes it.
 *
 * Shape:  null for an operation without a body; a body that may be left out is undefined then.
 * Errors: throws while it is made when a body is described in another type than JSON.
 */
export function makeBodyReader(document: OpenApiDocument): (place: Place) => RequestHandler | null {
  const { json } = makeSchemaChecks(document);
  return ({ operation }) => {
    const { requestBody } = operation;
    if (requestBody === undefined) return null;
    const schema = requestBody.content?.[jsonType]?.schema;
    if (schema === undefined || Object.keys(requestBody.content ?? {}).length > 1)
      throw new Error(`${operation.operationId} must take a JSON body and no other.`);
    const check = json(resolve(document, schema));
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
        if (fault !== undefined) return next(invalid(describe(fault)));
        if (JSON.stringify(req.body).includes("\\u0000")) return next(invalid("The body contains a NUL character."));
        next();
      });
    };
  };
}

const hasBody = ({ headers }: Request): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

const invalid = (message: string) => new AppError("invalid", "invalid_request", message);

const described = (text: string) => text.replace(/[^\w./-]/g, "?").slice(0, 80);

function describe({ instancePath, message = "is not as described", params }: Fault): string {
  const at = instancePath.replace(/^\/value/, "").slice(1);
  const unknown = params?.["additionalProperty"];
  if (typeof unknown === "string")
    return `The body has an unknown property: ${described(at === "" ? unknown : `${at}/${unknown}`)}.`;
  return `${at === "" ? "The body" : `The property ${described(at)}`} ${message}.`;
}

/** Source: the `type` of errors of body-parser, which express.json is. */
function inOurWords(error: unknown): unknown {
  const { type, status } = error as { type?: string; status?: number };
  if (type === "entity.too.large")
    return new AppError("too_large", "body_too_large", "The body is larger than 256 KB.");
  if (type === "entity.parse.failed") return invalid("The body is not valid JSON.");
  if (status === 415)
    return new AppError("unsupported_type", "unsupported_type", "The encoding of the body is not supported.");
  return status === 400 ? invalid("The body could not be read.") : error;
}

/** Reads what an operation's contract names of the headers, by its names there. */
export const readHeaders = (names: readonly string[], req: Request): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (req.get(name) === undefined ? [] : [[name, req.get(name)!]])));
