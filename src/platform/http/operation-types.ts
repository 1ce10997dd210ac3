import type { JsonDone, JsonList, JsonMade, JsonObject, JsonRead, JsonText, Later } from "./answer.ts";
import type { Caller as Connection } from "../concurrency/caller.ts";
import type { Described } from "../contract-types.ts";
import type { TemporaryFile } from "../temporary-files.ts";
import type { Upload } from "./upload.ts";

type BodyOf<Response> = Response extends { content: { "application/octet-stream": unknown } }
  ? TemporaryFile
  : Response extends { content: { "application/json": infer Body } }
    ? Body
    : Response extends { content: { "application/pdf": unknown } | Record<`image/${string}`, unknown> }
      ? Buffer
      : never;
type BodyFor<Body> = Body extends readonly (infer Item)[]
  ? JsonList<Item> | JsonMade<Body>
  : Body extends object
    ? JsonRead<Body> | JsonMade<Body> | JsonObject<Body> | JsonText<Body>
    : never;

type DoneWith<Status, Response> = {
  status: Status;
  headers?: Record<string, string>;
  later?: Later;
} & ([BodyOf<Response>] extends [never] ? { body?: undefined } : { body: BodyOf<Response> });
export type ChangeAnswer<Responses> = {
  [Status in Extract<keyof Responses, 200 | 201 | 202 | 204>]: DoneWith<Status, Responses[Status]>;
}[Extract<keyof Responses, 200 | 201 | 202 | 204>];

type IsRead<Responses> = Responses extends { 304: unknown } ? true : false;

type Answer<Op extends Described> =
  IsRead<Op["responses"]> extends true
    ? Op["responses"] extends { 200: infer Ok }
      ? BodyFor<BodyOf<Ok>>
      : never
    : JsonDone<ChangeAnswer<Op["responses"]>>;

type BodyGiven<Op> = Op extends { requestBody: { content: { "application/json": infer Body } } }
  ? Body
  : Op extends { requestBody?: { content: { "application/json": infer Body } } }
    ? Body | undefined
    : Op extends { requestBody: { content: { "application/octet-stream": string } } }
      ? Upload
      : Op extends { requestBody: { content: Record<`image/${string}`, unknown> } }
        ? Buffer
        : undefined;

type OperationRequest<Op extends Described, Caller> = {
  caller: Caller;
  path: Required<Op["parameters"]>["path"];
  query: NonNullable<Op["parameters"]["query"]>;
};

export type ChangeRequest<Op extends Described, Caller> = OperationRequest<Op, Caller> & {
  headers: NonNullable<Op["parameters"]["header"]>;
  body: BodyGiven<Op>;
  requestId: string;
  connection: Connection;
};

export type Handler<Op extends Described, Caller> = (
  request: IsRead<Op["responses"]> extends true ? OperationRequest<Op, Caller> : ChangeRequest<Op, Caller>,
) => Answer<Op>;

export type Handlers<Operations, Caller> = {
  [
    Id in keyof Operations as Operations[Id] extends { responses: { 501: unknown } } ? never : Id
  ]: Operations[Id] extends Described ? Handler<Operations[Id], Caller> : never;
};
