import { RequestValidator } from "express-openapi-validator/dist/middlewares/openapi.request.validator.js";
import type { OpenApiRequest, OpenAPIV3 } from "express-openapi-validator/dist/framework/types.js";
import type { Request, Response } from "express";
import type { OpenApiDocument, Operation } from "./document.ts";
import { formats, withoutExamples } from "./schema-checks.ts";

// All that depends on internals of express-openapi-validator. Its own middleware compiles every path's pattern at each
// request, answers HEAD with 405 and adds path parameters to the whole app; bench/README.md has the cost.
const options = {
  strict: false,
  validateSchema: false,
  validateFormats: true,
  formats,
  ajvFormats: { mode: "fast" },
  serDesMap: {},
  coerceTypes: false,
  useDefaults: true,
  allowUnknownQueryParameters: false,
} as const;

export type Place = { path: string; operation: Operation };

/** Errors: `status` 400 with the parameter in `errors[0].path` or `path`, as in `/query/limit`. */
type ValidateRequest = (req: Request, res: Response) => void;

const madeValidators = new WeakMap<OpenApiDocument, (place: Place) => ValidateRequest>();

export function makeRequestValidator(document: OpenApiDocument): (place: Place) => ValidateRequest {
  checkLibrary();
  const made = madeValidators.get(document) ?? bindValidator(new RequestValidator(withoutPaths(document), options));
  madeValidators.set(document, made);
  return made;
}

const bindValidator =
  (validator: RequestValidator) =>
  ({ path, operation }: Place): ValidateRequest => {
    const place = {
      expressRoute: path,
      openApiRoute: path,
      schema: withoutExamples<OpenAPIV3.OperationObject>(operation),
    };
    return (req, res) => {
      const request: Partial<OpenApiRequest> = req;
      request.openapi = { ...place, pathParams: req.params as Record<string, string>, serial: 0 };
      // Declared for Express 4.
      void validator.validate(req as unknown as OpenApiRequest, res as never, noNext);
    };
  };

// The handler must not run inside the validator's `try`.
const noNext = (() => undefined) as never;

const probe: OpenApiDocument = {
  openapi: "3.0.3",
  info: { title: "Probe", version: "1" },
  paths: {},
  components: {},
};
const probed: Place = {
  path: "/probe/{id}",
  operation: {
    operationId: "probe",
    parameters: [
      { name: "id", in: "path", required: true, schema: { type: "string", format: "uuid" } },
      { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 9 } },
    ],
    responses: {},
  },
};

let isChecked = false;

/** Tests every part of the library that the service relies on, once per process. Errors: names the missing part. */
export function checkLibrary(given: typeof RequestValidator = RequestValidator): void {
  if (isChecked && given === RequestValidator) return;
  const has = (what: string, holds: () => boolean) => {
    let reason: unknown;
    try {
      if (holds()) return;
    } catch (cause) {
      reason = cause;
    }
    throw new Error(
      `express-openapi-validator is not as src/platform/http/validator-library.ts needs it: ${what}. ` +
        "Install the version that package-lock.json names.",
      { cause: reason },
    );
  };
  const make = () => new given(withoutExamples<OpenAPIV3.DocumentV3>(probe), { ...options });
  const ask = (query: Record<string, string>, id: string) => {
    const originalUrl = `/probe/${id}?${new URLSearchParams(query).toString()}`;
    const req = { method: "GET", path: "/probe", originalUrl, headers: {}, params: { id }, query };
    bindValidator(make())(probed)(req as unknown as Request, {} as never);
    return req.query;
  };
  const refusal = (query: Record<string, string>, id: string) => {
    try {
      ask(query, id);
    } catch (error) {
      const { status, path, errors } = error as { status?: number; path?: string; errors?: { path: string }[] };
      return `${String(status)} ${errors?.[0]?.path ?? path ?? ""}`;
    }
    return "passed";
  };
  const id = "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10";
  has("a request that follows its operation passes, its query read", () =>
    Object.is((ask({ limit: "7" }, id) as Record<string, unknown>)["limit"], 7),
  );
  has("a wrong path parameter is refused by name", () => refusal({}, "7").startsWith("400 /params/id"));
  has("a wrong query parameter is refused by name", () => refusal({ limit: "10" }, id).startsWith("400 /query/limit"));
  isChecked = true;
}

/** Only the components that operations refer to: the validator goes through the whole document for each operation. */
function withoutPaths(document: OpenApiDocument): OpenAPIV3.DocumentV3 {
  const { schemas, parameters, securitySchemes } = document.components;
  return withoutExamples({ ...document, paths: {}, components: { schemas, parameters, securitySchemes } });
}
