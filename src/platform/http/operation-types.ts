import type { AppError } from "../errors.ts";
import type { JsonList, JsonMade, JsonRead, ListQuery, Missing, Page, ReadQuery } from "./answer.ts";

/** One operation as openapi-typescript describes it. */
type Described = { parameters: { query?: object; path?: object }; responses: object };

type BodyOf<Response> = Response extends { content: { "application/json": infer Body } } ? Body : never;
type BodyFor<Body> = Body extends readonly (infer Item)[]
  ? JsonList<Item>
  : Body extends object
    ? JsonRead<Body> | JsonMade<Body>
    : never;

/**
 * What a handler may answer: what comes out of the database where the contract has a 200, else a failure that it
 * describes.
 */
export type Answer<Op extends Described> = Op["responses"] extends { 200: infer Ok } ? BodyFor<BodyOf<Ok>> : AppError;

/** Parameters as the validator leaves them: of their types, in their bounds, nothing unknown among them. */
export type OperationRequest<Op extends Described, Caller> = {
  caller: Caller;
  path: Required<Op["parameters"]>["path"];
  query: NonNullable<Op["parameters"]["query"]>;
};

export type Handler<Op extends Described, Caller> = (request: OperationRequest<Op, Caller>) => Answer<Op>;

/** One handler for every operation of a document, by operationId. */
export type Handlers<Operations, Caller> = {
  [Id in keyof Operations]: Operations[Id] extends Described ? Handler<Operations[Id], Caller> : never;
};

type Asked = { client: string; id: string };
export const answerRead = <T>(query: ReadQuery<T>, { client, id }: Asked, missing: Missing): JsonRead<T> => ({
  kind: "read",
  query,
  client,
  id,
  missing,
});

export const answerMade = <T>(make: () => Promise<T>): JsonMade<T> => ({ kind: "made", make });

export const answerList = <T, Given extends Record<string, unknown>>(
  query: ListQuery<T, Given>,
  given: Given,
  missing: Missing | null,
  page: Page = {},
): JsonList<T> => ({
  kind: "list",
  query,
  given,
  missing,
  page,
});
