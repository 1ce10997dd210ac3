import { RequestValidator } from "express-openapi-validator/dist/middlewares/openapi.request.validator.js";
import type { OpenApiRequest, OpenAPIV3 } from "express-openapi-validator/dist/framework/types.js";
import type { Request, Response } from "express";
import { collectComponents, listOperations, type OpenApiDocument, type Operation } from "./document.ts";
import { code, formats, withoutExamples } from "./schema-checks.ts";

// All that depends on internals of express-openapi-validator; test/contract/sign-on-held.test.ts tests them. Its own
// middleware compiles every path's pattern at each request, answers HEAD with 405 and adds path parameters to the whole
// app; bench/README.md has the cost.
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
  code,
} as const;

export type OperationAtPath = { path: string; operation: Operation };

/** Errors: `status` 400 with the parameter in `errors[0].path` or `path`, as in `/query/limit`. */
type ValidateRequest = (req: Request, res: Response) => void;

const madeValidators = new WeakMap<OpenApiDocument, (place: OperationAtPath) => ValidateRequest>();

export function makeRequestValidator(document: OpenApiDocument): (place: OperationAtPath) => ValidateRequest {
  const made = madeValidators.get(document) ?? bindValidator(new RequestValidator(withoutPaths(document), options));
  madeValidators.set(document, made);
  return made;
}

const bindValidator =
  (validator: RequestValidator) =>
  ({ path, operation }: OperationAtPath): ValidateRequest => {
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

/** Keeps only components of parameters, because the validator walks the whole document for each operation. */
function withoutPaths(document: OpenApiDocument): OpenAPIV3.DocumentV3 {
  const { parameters = {}, securitySchemes } = document.components;
  const used = [parameters, ...listOperations(document).map(({ operation }) => operation.parameters ?? [])];
  const { schemas } = collectComponents(document, used);
  return withoutExamples({ ...document, paths: {}, components: { schemas, parameters, securitySchemes } });
}
