import { RequestValidator } from "express-openapi-validator/dist/middlewares/openapi.request.validator.js";
import { ResponseValidator } from "express-openapi-validator/dist/middlewares/openapi.response.validator.js";
import type { OpenApiRequest, OpenAPIV3 } from "express-openapi-validator/dist/framework/types.js";
import type { Request, RequestHandler } from "express";
import { AppError } from "../errors.ts";
import type { OpenApiDocument, Operation } from "./document.ts";

// The validators of express-openapi-validator are taken without its router: that one compiles the pattern of
// every path at every request, answers HEAD with 405 and leaks path parameters into the whole app.
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const options = {
  strict: false,
  validateSchema: false,
  validateFormats: true,
  formats: { uuid: { type: "string", validate: uuid } },
  ajvFormats: { mode: "fast" },
  serDesMap: {},
  coerceTypes: false,
  useDefaults: true,
  allowUnknownQueryParameters: false,
} as const;

type Place = { path: string; operation: Operation };

/** Makes the check of a request against its operation; what passes has its query read into numbers and booleans. */
export function makeRequestCheck(document: OpenApiDocument): (place: Place) => RequestHandler {
  const validator = new RequestValidator(copyOf(document), options);
  return ({ path, operation }) => {
    const place = { expressRoute: path, openApiRoute: path, schema: structuredClone(operation) as unknown as OpenAPIV3.OperationObject };
    return (req, res, next) => {
      checkSpelling(req);
      // Without a body in the contract none is read, and its type must not choose (and fill) a cache of checks.
      if (operation.requestBody === undefined) delete req.headers["content-type"];
      const request: Partial<OpenApiRequest> = req;
      request.openapi = { ...place, pathParams: req.params as Record<string, string>, serial: 0 };
      // The declared type is of Express 4.
      void validator.validate(req as unknown as OpenApiRequest, res as never, next as never);
    };
  };
}

function checkSpelling(req: Request): void {
  const at = req.url.indexOf("?");
  if (at === -1) return;
  const seen = new Set<string>();
  for (const part of req.url.slice(at + 1).split("&")) {
    const name = decode((part.split("=", 1)[0] ?? "").replaceAll("+", " "));
    decode(part);
    if (seen.has(name)) throw new AppError("invalid", "repeated_parameter", "A parameter is given more than once.");
    if (name !== "") seen.add(name);
  }
}

function decode(part: string): string {
  try {
    const text = decodeURIComponent(part);
    if (!text.includes("\0")) return text;
  } catch {
    // answered below
  }
  throw new AppError("invalid", "malformed_address", "The address is not correctly percent-encoded.");
}

export type BodyCheck = (body: unknown) => void;

/** Makes the check of a 200 body against its operation: for tests and development, where it may cost time. */
export function makeResponseCheck(document: OpenApiDocument): (place: Place) => BodyCheck {
  const validator = new ResponseValidator(copyOf(document), { ...options, allErrors: true }, {}, 0);
  return ({ path, operation }) => {
    type Check = ((data: { response: unknown }) => boolean) & { errors?: unknown };
    const builder = validator as unknown as { buildValidators(responses: object, key: string): Record<string, Record<string, Check>> };
    const check = builder.buildValidators(structuredClone(operation.responses), path)["200"]?.["application/json"];
    return (body) => {
      if (check === undefined || check({ response: body })) return;
      throw new AppError("bug", "contract_broken", "Internal error", `${operation.operationId} answers against its contract: ${JSON.stringify(check.errors)}`);
    };
  };
}

function copyOf(document: OpenApiDocument): OpenAPIV3.DocumentV3 {
  return structuredClone(document) as unknown as OpenAPIV3.DocumentV3;
}
